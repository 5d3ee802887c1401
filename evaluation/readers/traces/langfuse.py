"""Reads Langfuse exports: a trace with its observations, or rows of observations as API and batches write them.

JSON and JSON Lines. Generations are calls to models. Their input and output have the shape of the
framework that was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.readers._turns import ChatTurn, text_in, turns_of, unpacked
from evaluation.readers.document import Document, Node
from evaluation.readers.traces import calls
from evaluation.readers.traces._conversation import trace_reader

FORMAT = "langfuse"

_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name", "graph.node.id", "langgraph_node", "gen_ai.agent.id")


def _recognises(first: Any) -> bool:
    if not isinstance(first, dict):
        return False
    held = first.get("observations")
    inner = next((one for one in (held, first.get("data")) if isinstance(one, list)), [])
    is_whole = isinstance(held, list) and isinstance(first.get("trace"), dict)
    is_row = not isinstance(held, list) and _is_observation(first)
    return is_whole or is_row or any(map(_is_observation, inner[:1]))


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or str(value.get("type")) not in _TYPES:
        return False
    has_trace = "traceId" in value or "trace_id" in value
    about = ("parentObservationId", "parent_observation_id", "startTime", "start_time")
    return has_trace and any(key in value for key in about)


def _calls(found: Iterable[Node], _: Document) -> list[calls.Span]:
    spans: list[calls.Span] = []
    wholes: dict[str, calls.Span] = {}
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

    def stand_ins(held: list[calls.Span]) -> list[calls.Span]:
        """The roots, unless the trace's own fields alone have an answer or a question: mostly both hold the same."""
        roots = [span for span in held if span.parent is None and span.has_text]
        whole = wholes.get(held[0].trace)
        if whole is not None and whole.has_text and _captured([whole]) > _captured(roots):
            return [whole]
        return calls.roots_or_orphans(held)

    return calls.calls_in(spans, stand_ins)


def _captured(spans: list[calls.Span]) -> tuple[bool, bool]:
    return any(span.outputs for span in spans), any(span.inputs for span in spans)


def _whole(node: Node) -> calls.Span:
    """The trace itself, which holds what went in and came out of it."""
    trace = calls.identifier(node["id"])
    start = node.either("timestamp", "createdAt").time_or_none()
    inputs, outputs = _content(node)
    return calls.Span(trace=trace, id=trace, conversation=_session(node), start=start, inputs=inputs, outputs=outputs)


def _session(node: Node) -> str:
    return node.either("sessionId", "session_id").identifier_or_none() or ""


def _content(node: Node) -> tuple[list[ChatTurn], list[ChatTurn]]:
    return calls.asked_and_answered(turns_of(node["input"].value, "user"), turns_of(node["output"].value, "assistant"))


def _span(node: Node) -> calls.Span:
    kind, name = node["type"].value, node["name"].text_or_none() or ""
    usage = unpacked(node.either("usageDetails", "usage_details").value)
    cost = node.either("totalCost", "total_cost", "calculatedTotalCost").value
    inputs, outputs = _content(node)
    return calls.Span(
        trace=calls.identifier(node.either("traceId", "trace_id")),
        id=calls.identifier(node["id"]),
        parent=node.either("parentObservationId", "parent_observation_id").identifier_or_none(),
        kind="call" if kind == "GENERATION" else "",
        conversation=_session(node),
        agent=_agent(unpacked(node["metadata"].value)) or (calls.agent_name(name) if kind == "AGENT" else None),
        start=node.either("startTime", "start_time").time_or_none(),
        end=node.either("endTime", "end_time").time_or_none(),
        inputs=inputs,
        outputs=outputs,
        model=node.either("model", "providedModelName", "provided_model_name").text_or_none(),
        usage=calls.usage_of((usage if isinstance(usage, dict) else {}) | {"total_cost": cost}),
    )


def _agent(metadata: Any) -> str | None:
    if not isinstance(metadata, dict):
        return None
    inner = unpacked(metadata.get("attributes"))
    return calls.agent_name(text_in(metadata | inner if isinstance(inner, dict) else metadata, *_AGENTS))


READER = trace_reader(FORMAT, _recognises, _calls)
