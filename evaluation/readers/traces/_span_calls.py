"""Calls to models in spans, after OpenTelemetry's conventions for generative AI (all three) and OpenInference.

Spans of agents, chains and workflows repeat their calls' messages. They give names, and content only in a trace in
which no call to a model has any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation.readers.traces._spans import Event, Span, SpanTree, nested
from evaluation.readers.traces.message_shapes import turns_of
from evaluation.readers.traces.model_calls import CallUsage, ModelCall, UsageNames, agent_name, each_once, usage_of
from evaluation.readers.traces.turns import ChatTurn, ToolResult, as_text, text_in, unpacked

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
