"""Take the spans and log records out of OTLP JSON, in the wrappers that collectors and tools put around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation.readers.base.node import Node
from evaluation.readers.traces._spans import Event, Span, identifier, nanoseconds
from evaluation.readers.traces.turns import unpacked

_RESOURCES = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_SCOPES = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
    "scopeLogs",
    "scope_logs",
)
_STARTS = ("startTimeUnixNano", "start_time_unix_nano")
_ITEMS = ("spans", "logRecords", "log_records")
_WRAPPERS = ("data", "raw_otel_json", "batches")
_MOST_WRAPPERS = 3


def holds_otlp(value: Any, depth: int = 0) -> bool:
    """Whether a JSON value holds OTLP, however broken: an export, or one span or log record of its own."""
    if not isinstance(value, dict) or depth > _MOST_WRAPPERS:
        return False
    if any(key in value for key in _RESOURCES) or _is_item(value):
        return True
    inner = [value[key] for key in _WRAPPERS if key in value]
    return any(holds_otlp(_first(unpacked(one)), depth + 1) for one in inner)


def otlp_spans(records: Iterable[Node]) -> Iterator[Span]:
    """The spans of all exports; log records become events of their span, or of a span made for them.

    Raises:
        BrokenTranscriptError: A part is of another type, or a time or an id is missing or none.
    """
    logs: dict[tuple[str, str], Span] = {}
    spans: dict[tuple[str, str], Span] = {}
    for record in records:
        for item in _items(record, 0):
            if any(key in item.fields() for key in _STARTS):
                span = _span(item)
                spans[span.trace, span.id] = span
                yield span
            else:
                _add_log(item, logs)
    for key, made in logs.items():
        if key in spans:
            # Events are shared with the span that was handed out; a tree is built only when all have been read.
            spans[key].events.extend(made.events)
        else:
            yield made


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _is_item(value: dict[str, Any]) -> bool:
    has_trace = "traceId" in value or "trace_id" in value
    is_span = has_trace and any(key in value for key in _STARTS)
    return is_span or (has_trace and ("timeUnixNano" in value or "time_unix_nano" in value))


def _items(node: Node, depth: int) -> Iterator[Node]:
    """Spans and log records of an export."""
    if isinstance(node.value, list):
        for entry in node.entries():
            yield from _items(entry, depth)
        return
    fields = node.fields()
    for key in _RESOURCES:
        for resource in node[key].entries() if key in fields else ():
            for scopes in (resource[name] for name in _SCOPES):
                for scope in scopes.entries():
                    yield from (item for name in _ITEMS for item in scope[name].entries())
    if _is_item(dict(fields)):
        yield node
    for key in _WRAPPERS:
        if key in fields and depth < _MOST_WRAPPERS:
            yield from _items(Node(unpacked(fields[key]), f"{node.path}.{key}"), depth + 1)


def _span(node: Node) -> Span:
    return Span(
        trace=identifier(_either(node, "traceId", "trace_id")),
        id=identifier(_either(node, "spanId", "span_id")),
        parent=_either(node, "parentSpanId", "parent_span_id").identifier_or_none(),
        name=node["name"].text_or_none() or "",
        start=nanoseconds(_either(node, *_STARTS)),
        attributes=attributes(node["attributes"]),
        events=[
            Event(one["name"].text_or_none() or "", attributes(one["attributes"])) for one in node["events"].entries()
        ],
        end=nanoseconds(_either(node, "endTimeUnixNano", "end_time_unix_nano")),
    )


def _either(node: Node, key: str, other: str) -> Node:
    return node[key] if node[other].value is None else node[other]


def _add_log(node: Node, logs: dict[tuple[str, str], Span]) -> None:
    """Keeps a log record as an event of the span that it belongs to."""
    trace = _either(node, "traceId", "trace_id").identifier_or_none() or "logs"
    span_id = _either(node, "spanId", "span_id").identifier_or_none() or "logs"
    fields = attributes(node["attributes"])
    body = decoded(node["body"].value)
    name = _either(node, "eventName", "event_name").text_or_none() or fields.get("event.name")
    time = nanoseconds(_either(node, "timeUnixNano", "time_unix_nano"))
    span = logs.setdefault((trace, span_id), Span(trace, span_id, None, "", time, {}))
    held = body if isinstance(body, dict) else {"content": body}
    span.events.append(Event(name if isinstance(name, str) else "", fields | held))


def attributes(node: Node) -> dict[str, Any]:
    """Attributes as a plain mapping, from OTLP's list of keys and typed values or from a flat object.

    Raises:
        BrokenTranscriptError: They are neither.
    """
    if isinstance(node.value, dict):
        return dict(node.value)
    found = {}
    for entry in node.entries():
        key = entry["key"].text_or_none()
        if key:
            found[key] = decoded(entry["value"].value)
    return found


def decoded(value: Any) -> Any:
    """The plain value of one of OTLP's typed ones; any other as it is."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, held),) = value.items()
        inner = held.get("values") if isinstance(held, dict) else None
        if kind in ("arrayValue", "array_value"):
            return [decoded(one) for one in inner] if isinstance(inner, list) else []
        if kind in ("kvlistValue", "kvlist_value"):
            pairs = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
            return {one["key"]: decoded(one.get("value")) for one in pairs if isinstance(one.get("key"), str)}
        if kind.endswith(("Value", "_value")):
            return held
    return value
