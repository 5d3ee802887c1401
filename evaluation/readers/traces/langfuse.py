"""Reads Langfuse exports: a trace with its observations, or rows of observations as API and batches write them.

JSON and JSON Lines. Generations are calls to models. Their input and output have the shape of the
framework that was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluation.readers.base.node import Node
from evaluation.readers.traces.conversation import trace_reader
from evaluation.readers.traces.message_shapes import turns_of
from evaluation.readers.traces.model_calls import (
    ModelCall,
    Span,
    SpanTree,
    UsageNames,
    agent_name,
    each_once,
    identifier,
    text_in,
    unpacked,
    usage_of,
)

FORMAT = "langfuse"

_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name", "graph.node.id", "langgraph_node", "gen_ai.agent.id")
_USAGE = UsageNames(
    given=("input",),
    made=("output",),
    cached=("input_cached_tokens", "input_cache_read", "cache_read_input_tokens", "prompt_details.cache_read"),
    written=("input_cache_creation", "cache_creation_input_tokens", "prompt_details.cache_write"),
    thought=("output_reasoning", "output_reasoning_tokens", "completion_details.reasoning"),
    total=("total",),
    cost="cost",
)


def _recognises(first: Any) -> bool:
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("observations"), list):
        return isinstance(first.get("trace"), dict) or _is_observation(_first(first["observations"]))
    return _is_observation(first) or _is_page(first)


def _first(values: list[Any]) -> Any:
    return values[0] if values else None


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or str(value.get("type")) not in _TYPES:
        return False
    has_trace = "traceId" in value or "trace_id" in value
    return has_trace and any(
        key in value for key in ("parentObservationId", "parent_observation_id", "startTime", "start_time")
    )


def _is_page(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("data"), list) and _is_observation(_first(value["data"]))


def _calls(found: Iterable[Node]) -> list[ModelCall]:
    sessions: dict[str, str] = {}
    spans: list[Span] = []
    bare: dict[str, Span] = {}
    for record in found:
        trace = record["trace"]
        if isinstance(trace.value, dict):
            whole = _trace_span(trace, sessions)
            bare[whole.trace] = whole
        is_held = isinstance(record["observations"].value, list)
        rows = record["observations"] if is_held else record["data"]
        spans += [_span(row, sessions) for row in (rows.entries() if isinstance(rows.value, list) else (record,))]
    tree = SpanTree(spans)
    by_trace: dict[str, list[Span]] = {name: [] for name in bare}
    for span in tree.ordered:
        by_trace.setdefault(span.trace, []).append(span)
    calls: list[ModelCall] = []
    for name, held in by_trace.items():
        generations = [span for span in held if span.attributes["type"] == "GENERATION"]
        made = each_once(((span, _call(span, tree, sessions)) for span in generations), tree)
        if not any(call.has_text for call in made):
            made += _around(held, bare.get(name), tree, sessions)
        calls += made
    return sorted(calls, key=lambda call: (call.start is None, call.start))


def _around(spans: list[Span], whole: Span | None, tree: SpanTree, sessions: Mapping[str, str]) -> Iterable[ModelCall]:
    """Stand-ins for generations that hold nothing, as in some exports: the trace's roots, or its own fields.

    Both mostly hold the same, so only one is read: the roots, unless the trace alone has an answer or a question. Spans
    whose parents are not in the file are read where neither holds anything.
    """
    roots = [_call(span, tree, sessions) for span in spans if span.parent is None]
    own = [_call(whole, tree, sessions)] if whole is not None else []
    told = max(roots, own, key=lambda calls: (any(call.outputs for call in calls), any(call.inputs for call in calls)))
    if not any(call.has_text for call in told):
        told = [_call(span, tree, sessions) for span in spans if tree.is_orphan(span)]
    return [call for call in told if call.has_text]


def _either(node: Node, *keys: str) -> Node:
    return next((node[key] for key in keys if node[key].value is not None), node[keys[0]])


def _trace_span(node: Node, sessions: dict[str, str]) -> Span:
    trace = identifier(node["id"])
    _keep_session(node, trace, sessions)
    content = {"input": node["input"].value, "output": node["output"].value, "type": "TRACE", "metadata": {}}
    return Span(trace, trace, None, "", _either(node, "timestamp", "createdAt").time_or_none(), content)


def _keep_session(node: Node, trace: str, sessions: dict[str, str]) -> None:
    session = _either(node, "sessionId", "session_id").identifier_or_none()
    if session:
        sessions.setdefault(trace, session)


def _span(node: Node, sessions: dict[str, str]) -> Span:
    trace = identifier(_either(node, "traceId", "trace_id"))
    _keep_session(node, trace, sessions)
    metadata = unpacked(node["metadata"].value)
    return Span(
        trace=trace,
        id=identifier(node["id"]),
        parent=_either(node, "parentObservationId", "parent_observation_id").identifier_or_none(),
        name=node["name"].text_or_none() or "",
        start=_either(node, "startTime", "start_time").time_or_none(),
        end=_either(node, "endTime", "end_time").time_or_none(),
        attributes={
            "type": node["type"].value,
            "input": node["input"].value,
            "output": node["output"].value,
            "model": _either(node, "model", "providedModelName", "provided_model_name").text_or_none(),
            "usage": unpacked(_either(node, "usageDetails", "usage_details").value),
            "cost": _either(node, "totalCost", "total_cost", "calculatedTotalCost").value,
            "metadata": metadata if isinstance(metadata, dict) else {},
        },
    )


def _call(span: Span, tree: SpanTree, sessions: Mapping[str, str]) -> ModelCall:
    fields = span.attributes
    usage = fields.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    made = turns_of(fields["output"], "assistant")
    return ModelCall(
        conversation=sessions.get(span.trace, span.trace),
        agent=_agent(span, tree),
        start=span.start,
        # A whole response repeats the instructions that it was asked with.
        inputs=[turn for turn in made if turn.role == "system"] + turns_of(fields["input"], "user"),
        outputs=[turn for turn in made if turn.role != "system"],
        model=fields.get("model"),
        usage=usage_of({**counts, "cost": fields.get("cost")}, _USAGE),
        lacks_parent=tree.lacks_parent(span),
    )


def _agent(span: Span, tree: SpanTree) -> str | None:
    for one in (span, *tree.ancestors(span)):
        metadata = one.attributes["metadata"]
        inner = unpacked(metadata.get("attributes"))
        fields = metadata | inner if isinstance(inner, dict) else metadata
        name = agent_name(text_in(fields, *_AGENTS))
        if name is None and one.attributes["type"] == "AGENT":
            name = agent_name(one.name)
        if name is not None:
            return name
    return None


READER = trace_reader(FORMAT, _recognises, lambda found, _: _calls(found))
