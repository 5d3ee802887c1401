"""Reads OpenTelemetry traces as OTLP JSON, spans or logs: the conventions for generative AI, and OpenInference.

One export, a list of them, or one a line, also inside ``{data: ...}`` and ``{raw_otel_json: ...}``. A conversation is a
transcript: the calls under one conversation or session id, else those of one trace. Of the attributes only those that
are known to hold messages, names, tokens and costs are kept: others may hold keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.traces.conversation import trace_reader
from evaluation.readers.traces.message_shapes import turns_of
from evaluation.readers.traces.model_calls import (
    CallUsage,
    ChatTurn,
    Event,
    ModelCall,
    Span,
    SpanTree,
    ToolResult,
    UsageNames,
    agent_name,
    as_text,
    each_once,
    identifier,
    nanoseconds,
    nested,
    text_in,
    unpacked,
    usage_of,
)

FORMAT = "opentelemetry"


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
_USAGE = UsageNames(
    given=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    made=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    cached=(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    written=(
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ),
    thought=("gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"),
    total=("gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"),
    cost="llm.cost.total",
)


def model_calls(spans: Iterable[Span]) -> list[ModelCall]:
    """The calls to models in the order in which they began.

    In a trace whose calls hold nothing, what its agents and tools said stands for them. A trace without any of these
    gives no call.
    """
    tree = SpanTree(spans)
    conversations = _Conversations(tree)
    by_trace: dict[str, list[Span]] = {}
    for span in tree.ordered:
        by_trace.setdefault(span.trace, []).append(span)
    calls: list[ModelCall] = []
    for trace_spans in by_trace.values():
        are_marked = any(_is_marked_call(span) for span in trace_spans)
        is_call = _is_marked_call if are_marked else _may_be_call
        recorded = ((span, _call(span, tree, conversations)) for span in trace_spans if is_call(span))
        found = each_once(recorded, tree)
        if not any(call.has_text for call in found):
            found += list(_other_content(trace_spans, tree, conversations))
        calls += found
    return calls


def _is_marked_call(span: Span) -> bool:
    """Whether a span says that it is a call to a model, and not an agent, a tool or a chain around it."""
    fields = span.attributes
    if isinstance(kind := fields.get(_KIND), str):
        return kind.upper() == "LLM"
    if isinstance(operation := fields.get(_OPERATION), str):
        return operation in _MODEL_OPERATIONS
    return fields.get("llm.request.type") in ("chat", "completion")


def _may_be_call(span: Span) -> bool:
    """Whether a span that says nothing of its kind holds messages, as log records alone do."""
    says_kind = any(key in span.attributes for key in (_KIND, _OPERATION, "traceloop.span.kind"))
    return not says_kind and any(_content(span))


class _Conversations:
    """The conversation that a span belongs to."""

    def __init__(self, tree: SpanTree) -> None:
        self._tree = tree
        self._only: dict[str, set[str]] = {}
        for span in tree.ordered:
            if name := text_in(span.attributes, *_CONVERSATIONS):
                self._only.setdefault(span.trace, set()).add(name)

    def of(self, span: Span) -> str:
        """Its own or its nearest ancestor's id, else the only one in its trace, else the trace's."""
        for one in (span, *self._tree.ancestors(span)):
            if name := text_in(one.attributes, *_CONVERSATIONS):
                return name
        names = self._only.get(span.trace, set())
        return next(iter(names)) if len(names) == 1 else span.trace


def _agent(span: Span, tree: SpanTree) -> str | None:
    for one in (span, *tree.ancestors(span)):
        fields = one.attributes
        name = agent_name(text_in(fields, *_AGENTS))
        if name is None and fields.get("traceloop.span.kind") == "agent":
            name = agent_name(fields.get("traceloop.entity.name"))
        if name is None and str(fields.get(_KIND)).upper() == "AGENT":
            name = agent_name(one.name)
        if name is not None:
            return name
    return None


def _call(span: Span, tree: SpanTree, conversations: _Conversations) -> ModelCall:
    inputs, outputs = _content(span)
    return ModelCall(
        conversation=conversations.of(span),
        agent=_agent(span, tree),
        start=span.start,
        inputs=inputs,
        outputs=outputs,
        model=text_in(span.attributes, *_MODELS) or None,
        usage=usage_of(span.attributes, _USAGE),
        lacks_parent=tree.lacks_parent(span),
    )


def _content(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    """Input and output of a span, by the first of the conventions that it follows."""
    for convention in (_newer, _older, _indexed, _openinference):
        inputs, outputs = convention(span)
        if inputs or outputs:
            return inputs, outputs
    return [], []


def _newer(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    inputs: list[ChatTurn] = []
    outputs: list[ChatTurn] = []
    for fields in (span.attributes, *(event.fields for event in span.events)):
        inputs = turns_of(fields.get(_INSTRUCTIONS), "system") + inputs
        inputs += turns_of(fields.get(_INPUT), "user")
        # Several messages of an output are alternatives, of which the first was used.
        outputs = outputs or turns_of(fields.get(_OUTPUT), "assistant")[:1]
    return inputs, outputs


def _older(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    inputs: list[ChatTurn] = []
    outputs: list[ChatTurn] = []
    for event in span.events:
        if event.name in _EVENT_ROLES:
            inputs += _event_turns(event, _EVENT_ROLES[event.name])
        elif event.name == _CHOICE and not outputs:
            body = _body(event)
            outputs = turns_of(body.get("message", body), "assistant")
    return inputs, outputs


def _event_turns(event: Event, role: str) -> list[ChatTurn]:
    body = _body(event)
    content, calls = body.get("content"), body.get("tool_calls")
    content = unpacked(content) if isinstance(content, str) and content.lstrip().startswith("[{") else content
    message = {key: body[key] for key in ("name", "id") if key in body}
    return turns_of(
        message | {"role": body.get("role") or role, "content": content, "tool_calls": unpacked(calls)}, role
    )


def _body(event: Event) -> Mapping[str, Any]:
    packed = unpacked(event.fields.get("gen_ai.event.content"))
    return packed if isinstance(packed, dict) else event.fields


def _indexed(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    return (
        turns_of(_messages(nested(span.attributes, "gen_ai.prompt.")), "user"),
        turns_of(_messages(nested(span.attributes, "gen_ai.completion.")), "assistant")[:1],
    )


def _openinference(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    given, made = "llm.input_messages", "llm.output_messages"
    fields = span.attributes
    return (
        turns_of(_messages(fields.get(given) or nested(fields, f"{given}.")), "user"),
        turns_of(_messages(fields.get(made) or nested(fields, f"{made}.")), "assistant")[:1],
    )


def _messages(value: Any) -> Any:
    """Messages whose keys may be dotted, as a list; nothing where there are none."""
    value = unpacked(value)
    if isinstance(value, list):
        return [nested(one) if isinstance(one, dict) else one for one in value]
    return value if isinstance(value, str) else None


def _other_content(spans: list[Span], tree: SpanTree, conversations: _Conversations) -> Iterator[ModelCall]:
    """Content of agents and tools, of those alone below which no other agent has content."""
    agents = {span.id: _agent_content(span) for span in spans if _is_agent(span)}
    above = {one.id for span in spans if any(agents.get(span.id, ())) for one in tree.ancestors(span)}
    found: list[ModelCall] = []
    for span in spans:
        inputs, outputs = agents.get(span.id, ([], [])) if span.id not in above else ([], [])
        if result := _tool_result(span):
            outputs = [ChatTurn("tool", results=[result])]
        name, conversation = _agent(span, tree), conversations.of(span)
        if inputs:
            found.append(ModelCall(conversation, name, span.start, inputs, []))
        if outputs:
            found.append(ModelCall(conversation, name, span.end or span.start, [], outputs, usage=CallUsage()))
    yield from sorted(found, key=lambda call: (call.start is None, call.start))


def _is_agent(span: Span) -> bool:
    kind = str(span.attributes.get(_KIND, "")).upper()
    operation = span.attributes.get(_OPERATION)
    return kind in ("AGENT", "CHAIN") or operation in ("invoke_agent", "invoke_workflow")


def _agent_content(span: Span) -> tuple[list[ChatTurn], list[ChatTurn]]:
    inputs, outputs = _content(span)
    if inputs or outputs:
        return inputs, outputs
    output = unpacked(span.attributes.get("output.value"))
    if isinstance(output, dict) and isinstance(output.get("raw"), str):
        if isinstance(output.get("tasks_output"), list):
            return [], []
        # CrewAI: the result of a task. The input beside it is a dump of objects that may hold keys: never read.
        task = text_in(output, "description")
        inputs = [ChatTurn("user", name="manager", texts=[task])] if task else []
        return inputs, [ChatTurn("assistant", texts=[output["raw"]])]
    asked = unpacked(span.attributes.get("input.value"))
    is_chat = isinstance(asked, dict) and isinstance(asked.get("messages"), list)
    return turns_of(asked, "user") if is_chat else [], turns_of(output, "assistant") if is_chat else []


def _tool_result(span: Span) -> ToolResult | None:
    fields = span.attributes
    is_tool = str(fields.get(_KIND, "")).upper() == "TOOL" or fields.get(_OPERATION) == "execute_tool"
    text = as_text(fields.get("output.value", fields.get("gen_ai.tool.call.result")))
    if not is_tool or not text.strip():
        return None
    return ToolResult(text, f"{span.trace}/{span.id}", text_in(fields, "tool.name", "gen_ai.tool.name"))


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
    return any(holds_otlp(_first_of(unpacked(one)), depth + 1) for one in inner)


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
                span = _otlp_span(item)
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


def _first_of(value: Any) -> Any:
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


def _otlp_span(node: Node) -> Span:
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


PHOENIX = "phoenix"

_SPAN_KIND = "openinference.span.kind"
_LISTS = ("data", "spans")


def _is_phoenix(first: Any) -> bool:
    for key in _LISTS:
        if isinstance(first, dict) and isinstance(first.get(key), list) and first[key]:
            first = first[key][0]
    return isinstance(first, dict) and (_is_row(first) or _SPAN_KIND in first)


def _is_row(value: Mapping[str, Any]) -> bool:
    context = value.get("context")
    has_context = isinstance(context, dict) and "trace_id" in context and "span_id" in context
    return (has_context or "context.span_id" in value) and any(
        key in value for key in ("span_kind", "attributes", f"attributes.{_SPAN_KIND}", "parent_id")
    )


def _phoenix_calls(found: Iterable[Node], document: Document) -> list[ModelCall]:
    return model_calls(_phoenix_spans(found, document.game_id(PHOENIX)))


def _phoenix_spans(found: Iterable[Node], unnamed: str) -> Iterator[Span]:
    for number, record in enumerate(found, start=1):
        if _SPAN_KIND in record.fields():
            yield Span(unnamed, str(number), None, "", None, dict(record.fields()))
            continue
        held = next((record[key] for key in _LISTS if isinstance(record[key].value, list)), None)
        for row in (record,) if held is None else held.entries():
            yield _phoenix_span(row)


def _phoenix_span(row: Node) -> Span:
    context = row["context"]
    fields = dict(_flat(unpacked(row["attributes"].value)))
    for name, value in row.fields().items():
        if name.startswith("attributes."):
            fields |= dict(_flat(value, name.removeprefix("attributes.")))
    if isinstance(kind := row["span_kind"].value, str):
        fields.setdefault(_SPAN_KIND, kind)
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


PHOENIX_READER = trace_reader(PHOENIX, _is_phoenix, _phoenix_calls)
READER = trace_reader(FORMAT, holds_otlp, lambda found, _: model_calls(otlp_spans(found)))
