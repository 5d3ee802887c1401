"""Reads OpenTelemetry traces as OTLP JSON, spans or logs: the conventions for generative AI, and OpenInference.

One export, a list of them, or one a line, also inside ``{data: ...}`` and ``{raw_otel_json: ...}``. A conversation is a
transcript: the calls under one conversation or session id, else those of one trace. Of the attributes only those that
are known to hold messages, names, tokens and costs are kept: others may hold keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.readers.base.document import Document
from evaluation.readers.base.reader import FileGame, FileReader
from evaluation.readers.base.records import first_record, records
from evaluation.readers.traces._otlp import holds_otlp, otlp_spans
from evaluation.readers.traces._span_calls import model_calls
from evaluation.readers.traces.conversation import conversation_games

FORMAT = "opentelemetry"


def _recognises(document: Document) -> bool:
    return holds_otlp(first_record(document))


def _read(document: Document) -> Iterator[FileGame]:
    calls = model_calls(otlp_spans(records(document)))
    yield from conversation_games(FORMAT, calls, document.limits)


READER = FileReader(FORMAT, _recognises, _read)
