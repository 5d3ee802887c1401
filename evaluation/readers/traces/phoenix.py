"""Reads spans as Phoenix writes them (its JSON and its data frames), and single spans of OpenInference as flat maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.traces._span_calls import model_calls
from evaluation.readers.traces._spans import Span, identifier
from evaluation.readers.traces._trace_files import trace_reader
from evaluation.readers.traces.model_calls import ModelCall
from evaluation.readers.traces.turns import unpacked

FORMAT = "phoenix"

_KIND = "openinference.span.kind"
_LISTS = ("data", "spans")


def _recognises(first: Any) -> bool:
    for key in _LISTS:
        if isinstance(first, dict) and isinstance(first.get(key), list) and first[key]:
            first = first[key][0]
    return isinstance(first, dict) and (_is_row(first) or _KIND in first)


def _is_row(value: Mapping[str, Any]) -> bool:
    context = value.get("context")
    has_context = isinstance(context, dict) and "trace_id" in context and "span_id" in context
    return (has_context or "context.span_id" in value) and any(
        key in value for key in ("span_kind", "attributes", f"attributes.{_KIND}", "parent_id")
    )


def _calls(document: Document) -> Callable[[Iterable[Node]], list[ModelCall]]:
    return lambda found: model_calls(_spans(found, document.game_id(FORMAT)))


def _spans(found: Iterable[Node], unnamed: str) -> Iterator[Span]:
    for number, record in enumerate(found, start=1):
        if _KIND in record.fields():
            yield Span(unnamed, str(number), None, "", None, dict(record.fields()))
            continue
        held = next((record[key] for key in _LISTS if isinstance(record[key].value, list)), None)
        for row in (record,) if held is None else held.entries():
            yield _span(row)


def _span(row: Node) -> Span:
    context = row["context"]
    fields = dict(_flat(unpacked(row["attributes"].value)))
    for name, value in row.fields().items():
        if name.startswith("attributes."):
            fields |= dict(_flat(value, name.removeprefix("attributes.")))
    if isinstance(kind := row["span_kind"].value, str):
        fields.setdefault(_KIND, kind)
    return Span(
        trace=identifier(context["trace_id"] if context.value is not None else row["context.trace_id"]),
        id=identifier(context["span_id"] if context.value is not None else row["context.span_id"]),
        parent=row["parent_id"].identifier_or_none(),
        name=row["name"].text_or_none() or "",
        start=row["start_time"].time_or_none(),
        end=row["end_time"].time_or_none(),
        attributes=fields,
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Attributes under their full names; lists stay."""
    if not isinstance(value, dict):
        if name:
            yield name, value
        return
    for key, inner in value.items():
        yield from _flat(inner, f"{name}.{key}" if name else key)


READER = trace_reader(FORMAT, _recognises, _calls)
