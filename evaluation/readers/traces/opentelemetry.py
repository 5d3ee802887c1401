"""Reads OpenTelemetry traces: the conventions for generative AI, and OpenInference as Phoenix exports it.

OTLP JSON, spans or logs: one export, a list of them, or one a line, also inside ``{data: ...}`` and
``{raw_otel_json: ...}``. A conversation is a transcript: the calls under one conversation or session id, else those of
one trace. Of the attributes only those that are known to hold messages, names, tokens and costs are kept: others may
hold keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from evaluation.readers._turns import ChatTurn, ToolResult, as_text, text_in, turns_of, unpacked
from evaluation.readers.document import Document, Node
from evaluation.readers.traces._conversation import trace_reader
from evaluation.readers.traces.calls import Span, agent_name, calls_in, identifier, usage_of

FORMAT = "opentelemetry"
PHOENIX = "phoenix"

_OPERATION = "gen_ai.operation.name"
_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
_KIND = "openinference.span.kind"
_INPUT, _OUTPUT, _INSTRUCTIONS = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_CHOICE = "gen_ai.choice"
_EVENT_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_AGENTS = ("gen_ai.agent.name", "agent.name", "gen_ai.agent.id", "graph.node.name", "graph.node.id")
_CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
)
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_BEFORE_COUNTS = re.compile(r"gen_ai\.usage\.|llm\.(?:usage|token_count)\.|llm\.(?=cost\.)")

_RESOURCES = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_SCOPES = (
    *("scopeSpans", "scope_spans", "scopeLogs", "scope_logs"),
    *("instrumentationLibrarySpans", "instrumentation_library_spans"),
)
_ITEMS = ("spans", "logRecords", "log_records")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano")
_TRACE_IDS = ("traceId", "trace_id")
_WRAPPERS = ("data", "raw_otel_json", "batches")
_MOST_WRAPPERS = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799 * 10**9


@dataclass(slots=True)
class _Record:
    """A span as the export has it: the fields of ``Span`` that say where it stands, and its attributes and events.

    An event, or a log record that belongs to the span, is its name and its attributes and body.
    """

    name: str
    place: dict[str, Any]
    fields: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def _span(record: _Record) -> Span:
    """The span with the messages that its attributes and events hold."""
    fields = record.fields
    inputs, outputs = _content(record)
    kind = _kind(fields, has_content=bool(inputs or outputs))
    if kind == "agent" and not (inputs or outputs):
        inputs, outputs = _agent_content(fields)
    if kind == "tool":
        inputs, outputs = [], _tool_result(record)
    counts = {_BEFORE_COUNTS.sub("", name): value for name, value in fields.items() if _BEFORE_COUNTS.match(name)}
    return Span(
        **record.place,
        kind=kind,
        conversation=text_in(fields, *_CONVERSATIONS),
        agent=_agent(record),
        inputs=inputs,
        outputs=outputs,
        model=text_in(fields, *_MODELS) or None,
        usage=usage_of(counts),
        size=len(fields) + len(record.events),
    )


def _kind(fields: Mapping[str, Any], *, has_content: bool) -> str:
    """The kind of a span, as ``Span.kind`` has it; log records say nothing of theirs."""
    stated, operation = fields.get(_KIND), fields.get(_OPERATION)
    kind = str(stated).upper()
    is_model = operation in _MODEL_OPERATIONS if isinstance(operation, str) else False
    is_request = not isinstance(operation, str) and fields.get("llm.request.type") in ("chat", "completion")
    if kind == "LLM" if isinstance(stated, str) else is_model or is_request:
        return "call"
    if kind == "TOOL" or operation == "execute_tool":
        return "tool"
    if kind in ("AGENT", "CHAIN") or operation in ("invoke_agent", "invoke_workflow"):
        return "agent"
    says_kind = any(key in fields for key in (_KIND, _OPERATION, "traceloop.span.kind"))
    return "unmarked" if has_content and not says_kind else ""


def _agent(record: _Record) -> str | None:
    fields = record.fields
    entity = fields.get("traceloop.entity.name") if fields.get("traceloop.span.kind") == "agent" else None
    own = record.name if str(fields.get(_KIND)).upper() == "AGENT" else None
    return agent_name(text_in(fields, *_AGENTS)) or agent_name(entity) or agent_name(own)


_Turns = tuple[list[ChatTurn], list[ChatTurn]]


def _content(record: _Record) -> _Turns:
    """Input and output of a span, by the first of the conventions that it follows."""
    found = (convention(record) for convention in (_newer, _older, _numbered))
    return next((turns for turns in found if any(turns)), ([], []))


def _newer(record: _Record) -> _Turns:
    inputs: list[ChatTurn] = []
    outputs: list[ChatTurn] = []
    for fields in (record.fields, *(event for _, event in record.events)):
        inputs = turns_of(fields.get(_INSTRUCTIONS), "system") + inputs
        inputs += turns_of(fields.get(_INPUT), "user")
        # Several messages of an output are alternatives, of which the first was used.
        outputs = outputs or turns_of(fields.get(_OUTPUT), "assistant")[:1]
    return inputs, outputs


def _older(record: _Record) -> _Turns:
    inputs: list[ChatTurn] = []
    outputs: list[ChatTurn] = []
    for name, fields in record.events:
        packed = unpacked(fields.get("gen_ai.event.content"))
        body = packed if isinstance(packed, dict) else fields
        if name in _EVENT_ROLES:
            inputs += _event_turns(body, _EVENT_ROLES[name])
        elif name == _CHOICE and not outputs:
            outputs = turns_of(body.get("message", body), "assistant")
    return inputs, outputs


def _event_turns(body: Mapping[str, Any], role: str) -> list[ChatTurn]:
    content = body.get("content")
    content = unpacked(content) if isinstance(content, str) and content.lstrip().startswith("[{") else content
    message = {key: body[key] for key in ("name", "id") if key in body}
    message |= {"role": body.get("role") or role, "content": content, "tool_calls": unpacked(body.get("tool_calls"))}
    return turns_of(message, role)


def _numbered(record: _Record) -> _Turns:
    """Messages in attributes with their number in the name: OpenLLMetry's, else OpenInference's."""
    for given, made in (("gen_ai.prompt", "gen_ai.completion"), ("llm.input_messages", "llm.output_messages")):
        inputs = turns_of(nested(record.fields, f"{given}.") or None, "user")
        outputs = turns_of(nested(record.fields, f"{made}.") or None, "assistant")[:1]
        if inputs or outputs:
            return inputs, outputs
    return [], []


def nested(fields: Mapping[str, Any], prefix: str = "", depth: int = 19) -> Any:
    """Attributes with dotted names as objects in each other, those with numbers for names as lists in their order.

    ``{"a.10.x": 1, "a.9.x": 2}`` gives ``{"a": [{"x": 2}, {"x": 1}]}``; gaps in the numbers are closed. Where a name
    stands for a value and for a group as well, the group counts.

    Args:
        fields: The attributes.
        prefix: Only those below it are taken, and it is left out.
        depth: How many names may stand in each other; the rest of a longer one is left out.
    """
    plain: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in fields.items():
        if name.startswith(prefix):
            first, dot, rest = name.removeprefix(prefix).partition(".")
            if dot and depth:
                groups.setdefault(first, {})[rest] = value
            else:
                plain[first] = value
    found = plain | {name: nested(group, depth=depth - 1) for name, group in groups.items()}
    if not found or not all(key.isascii() and key.isdigit() and len(key) < 10 for key in found):
        return found
    return [found[key] for key in sorted(found, key=int)]


def _agent_content(fields: Mapping[str, Any]) -> _Turns:
    """Input and output of an agent or chain that holds no messages."""
    output = unpacked(fields.get("output.value"))
    if isinstance(output, dict) and isinstance(output.get("raw"), str):
        if isinstance(output.get("tasks_output"), list):
            return [], []
        # CrewAI: the result of a task. The input beside it is a dump of objects that may hold keys: never read.
        task = text_in(output, "description")
        inputs = [ChatTurn("user", name="manager", texts=[task])] if task else []
        return inputs, [ChatTurn("assistant", texts=[output["raw"]])]
    asked = unpacked(fields.get("input.value"))
    is_chat = isinstance(asked, dict) and isinstance(asked.get("messages"), list)
    return (turns_of(asked, "user"), turns_of(output, "assistant")) if is_chat else ([], [])


def _tool_result(record: _Record) -> list[ChatTurn]:
    fields = record.fields
    text = as_text(fields.get("output.value", fields.get("gen_ai.tool.call.result")))
    call_id = f"{record.place['trace']}/{record.place['id']}"
    result = ToolResult(text, call_id, text_in(fields, "tool.name", "gen_ai.tool.name"))
    return [ChatTurn("tool", results=[result])] if text.strip() else []


def _agents_and_tools(spans: list[Span]) -> Iterator[Span]:
    """Texts of agents and tools as calls, of agents those alone below which no other agent has content."""
    agents = [span for span in spans if span.kind == "agent" and (span.inputs or span.outputs)]
    above = {one.id for span in agents for one in span.around}
    tools = [span for span in spans if span.kind == "tool" and span.outputs]
    for span in (*(span for span in agents if span.id not in above), *tools):
        call = partial(Span, conversation=span.conversation, agent=span.agent)
        if span.inputs:
            yield call(start=span.start, inputs=span.inputs)
        if span.outputs:
            yield call(start=span.end or span.start, outputs=span.outputs)


def holds_otlp(value: Any, depth: int = 0) -> bool:
    """Whether a JSON value holds OTLP, however broken: an export, or one span or log record of its own."""
    if not isinstance(value, dict) or depth > _MOST_WRAPPERS:
        return False
    if any(key in value for key in _RESOURCES) or _is_item(value):
        return True
    inner = (unpacked(value[key]) for key in _WRAPPERS if key in value)
    return any(holds_otlp(one[0] if isinstance(one, list) and one else one, depth + 1) for one in inner)


def _is_item(value: Mapping[str, Any]) -> bool:
    has_trace = any(key in value for key in _TRACE_IDS)
    return has_trace and any(key in value for key in (*_STARTS, "timeUnixNano", "time_unix_nano"))


def otlp_calls(records: Iterable[Node]) -> list[Span]:
    """The calls to models in all exports; log records become events of their span, or of a span made for them.

    In a trace whose calls hold nothing, what its agents and tools said stands for them. A trace without any of these
    gives no call.

    Raises:
        BrokenTranscriptError: A part is of another type, or a time or an id is missing or none.
    """
    spans: list[_Record] = []
    logs: dict[tuple[str, str], _Record] = {}
    for item in (item for record in records for item in _items(record, 0)):
        if any(key in item.fields() for key in _STARTS):
            spans.append(_otlp_span(item))
        else:
            _add_log(item, logs)
    by_id = {(one.place["trace"], one.place["id"]): one for one in spans}
    for key, log in logs.items():
        if key in by_id:
            by_id[key].events.extend(log.events)
        else:
            spans.append(log)
    return calls_in(map(_span, spans), _agents_and_tools)


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
    if _is_item(fields):
        yield node
    for key in _WRAPPERS:
        if key in fields and depth < _MOST_WRAPPERS:
            yield from _items(Node(unpacked(fields[key]), f"{node.path}.{key}"), depth + 1)


def _otlp_span(node: Node) -> _Record:
    place = {
        "trace": identifier(node.either(*_TRACE_IDS)),
        "id": identifier(node.either("spanId", "span_id")),
        "parent": node.either("parentSpanId", "parent_span_id").identifier_or_none(),
        "start": _nanoseconds(node.either(*_STARTS)),
        "end": _nanoseconds(node.either("endTimeUnixNano", "end_time_unix_nano")),
    }
    events = [(one["name"].text_or_none() or "", _attributes(one["attributes"])) for one in node["events"].entries()]
    return _Record(node["name"].text_or_none() or "", place, _attributes(node["attributes"]), events)


def _add_log(node: Node, logs: dict[tuple[str, str], _Record]) -> None:
    """Keeps a log record as an event of the span that it belongs to."""
    trace = node.either(*_TRACE_IDS).identifier_or_none() or "logs"
    span_id = node.either("spanId", "span_id").identifier_or_none() or "logs"
    fields = _attributes(node["attributes"])
    body = _decoded(node["body"].value)
    name = node.either("eventName", "event_name").text_or_none() or fields.get("event.name")
    start = _nanoseconds(node.either("timeUnixNano", "time_unix_nano"))
    record = logs.setdefault((trace, span_id), _Record("", {"trace": trace, "id": span_id, "start": start}, {}))
    held = body if isinstance(body, dict) else {"content": body}
    record.events.append((name if isinstance(name, str) else "", fields | held))


def _nanoseconds(node: Node) -> datetime | None:
    """A time in nanoseconds since 1970, written as a number or as digits; ``None`` for null, nothing and 0."""
    written = node.value
    if written in (None, "", 0, "0"):
        return None
    if isinstance(written, str) and written.isascii() and written.isdigit() and len(written) < 22:
        written = int(written)
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, bool) or not isinstance(written, int) or not 0 <= written <= _LATEST:
        raise node.wrong("a time in nanoseconds since 1970")
    return _EPOCH + timedelta(microseconds=written // 1000)


def _attributes(node: Node) -> dict[str, Any]:
    """Attributes as a plain mapping, from OTLP's list of keys and typed values or from a flat object."""
    if isinstance(node.value, dict):
        return dict(node.value)
    pairs = ((entry["key"].text_or_none(), entry["value"].value) for entry in node.entries())
    return {key: _decoded(value) for key, value in pairs if key}


def _decoded(value: Any) -> Any:
    """The plain value of one of OTLP's typed ones; any other as it is."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, held),) = value.items()
        inner = held.get("values") if isinstance(held, dict) else None
        if kind in ("arrayValue", "array_value"):
            return [_decoded(one) for one in inner] if isinstance(inner, list) else []
        if kind in ("kvlistValue", "kvlist_value"):
            pairs = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
            return {one["key"]: _decoded(one.get("value")) for one in pairs if isinstance(one.get("key"), str)}
        if kind.endswith(("Value", "_value")):
            return held
    return value


def _attribute_calls(found: Iterable[Node], document: Document) -> list[Span]:
    """The calls in spans of which a file holds the attributes alone: they are one conversation, in the file's order."""
    trace = document.game_id(PHOENIX)
    records = (
        _Record("", {"trace": trace, "id": str(number)}, dict(record.fields()))
        for number, record in enumerate(found, start=1)
    )
    return calls_in(map(_span, records), _agents_and_tools)


PHOENIX_READER = trace_reader(PHOENIX, lambda first: isinstance(first, dict) and _KIND in first, _attribute_calls)
READER = trace_reader(FORMAT, holds_otlp, lambda found, _: otlp_calls(found))
