"""Reads Langfuse exports: a trace with its observations, or rows of observations as API and batches write them.

JSON and JSON Lines. Generations are calls to models. Their input and output have the shape of the
framework that was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.readers._turns import ChatTurn, text_in, turns_of, unpacked
from evaluation.readers.document import Document, Node
from evaluation.readers.traces._conversation import trace_reader
from evaluation.readers.traces.calls import (
    Span,
    agent_name,
    asked_and_answered,
    calls_in,
    identifier,
    roots_or_orphans,
    usage_of,
)

FORMAT = "langfuse"

_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name", "graph.node.id", "langgraph_node", "gen_ai.agent.id")


def _recognises(first: Any) -> bool:
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("observations"), list):
        return isinstance(first.get("trace"), dict) or _is_observation(_first(first["observations"]))
    return _is_observation(first) or (isinstance(first.get("data"), list) and _is_observation(_first(first["data"])))


def _first(values: list[Any]) -> Any:
    return values[0] if values else None


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or str(value.get("type")) not in _TYPES:
        return False
    has_trace = "traceId" in value or "trace_id" in value
    return has_trace and any(
        key in value for key in ("parentObservationId", "parent_observation_id", "startTime", "start_time")
    )


def _calls(found: Iterable[Node], _: Document) -> list[Span]:
    spans: list[Span] = []
    wholes: dict[str, Span] = {}
    for record in found:
        if isinstance(record["trace"].value, dict):
            whole = _whole(record["trace"])
            wholes[whole.trace] = whole
        held = record["observations"] if isinstance(record["observations"].value, list) else record["data"]
        spans += map(_span, held.entries() if isinstance(held.value, list) else (record,))
    sessions = {span.trace: span.conversation for span in (*wholes.values(), *spans) if span.conversation}
    traces = {span.trace for span in spans}
    # A trace without observations is its own and only span.
    spans += [whole for whole in wholes.values() if whole.trace not in traces]
    for span in (*spans, *wholes.values()):
        span.conversation = sessions.get(span.trace, span.trace)

    def stand_ins(held: list[Span]) -> list[Span]:
        """The roots, unless the trace's own fields alone have an answer or a question: mostly both hold the same."""
        roots = [span for span in held if span.parent is None and span.has_text]
        whole = wholes.get(held[0].trace)
        if whole is not None and whole.has_text and _captured([whole]) > _captured(roots):
            return [whole]
        return roots_or_orphans(held)

    return calls_in(spans, stand_ins)


def _captured(spans: list[Span]) -> tuple[bool, bool]:
    return any(span.outputs for span in spans), any(span.inputs for span in spans)


def _whole(node: Node) -> Span:
    """The trace itself, which holds what went in and came out of it."""
    trace = identifier(node["id"])
    inputs, outputs = _content(node)
    return Span(
        trace=trace,
        id=trace,
        conversation=_session(node),
        start=node.either("timestamp", "createdAt").time_or_none(),
        inputs=inputs,
        outputs=outputs,
    )


def _session(node: Node) -> str:
    return node.either("sessionId", "session_id").identifier_or_none() or ""


def _content(node: Node) -> tuple[list[ChatTurn], list[ChatTurn]]:
    return asked_and_answered(turns_of(node["input"].value, "user"), turns_of(node["output"].value, "assistant"))


def _span(node: Node) -> Span:
    kind, name = node["type"].value, node["name"].text_or_none() or ""
    usage = unpacked(node.either("usageDetails", "usage_details").value)
    cost = node.either("totalCost", "total_cost", "calculatedTotalCost").value
    inputs, outputs = _content(node)
    return Span(
        trace=identifier(node.either("traceId", "trace_id")),
        id=identifier(node["id"]),
        parent=node.either("parentObservationId", "parent_observation_id").identifier_or_none(),
        kind="call" if kind == "GENERATION" else "",
        conversation=_session(node),
        agent=_agent(unpacked(node["metadata"].value)) or (agent_name(name) if kind == "AGENT" else None),
        start=node.either("startTime", "start_time").time_or_none(),
        end=node.either("endTime", "end_time").time_or_none(),
        inputs=inputs,
        outputs=outputs,
        model=node.either("model", "providedModelName", "provided_model_name").text_or_none(),
        usage=usage_of((usage if isinstance(usage, dict) else {}) | {"total_cost": cost}),
    )


def _agent(metadata: Any) -> str | None:
    if not isinstance(metadata, dict):
        return None
    inner = unpacked(metadata.get("attributes"))
    return agent_name(text_in(metadata | inner if isinstance(inner, dict) else metadata, *_AGENTS))


READER = trace_reader(FORMAT, _recognises, _calls)
