"""Reads OpenTelemetry traces as OTLP JSON, spans or logs: the conventions for generative AI, and OpenInference.

One export, a list of them, or one a line, also inside ``{data: ...}`` and ``{raw_otel_json: ...}``. A conversation is a
transcript: the calls under one conversation or session id, else those of one trace. Of the attributes only those that
are known to hold messages, names, tokens and costs are kept: others may hold keys.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.readers.base.node import Node
from evaluation.readers.traces._otlp import holds_otlp, otlp_spans
from evaluation.readers.traces._span_calls import model_calls
from evaluation.readers.traces._trace_files import trace_reader
from evaluation.readers.traces.model_calls import ModelCall

FORMAT = "opentelemetry"


def _calls(found: Iterable[Node]) -> list[ModelCall]:
    return model_calls(otlp_spans(found))


READER = trace_reader(FORMAT, holds_otlp, lambda _: _calls)
