"""Reads LangSmith runs as the API and exports write them: a run a line or row, a list, ``{runs: [...]}``, or a tree.

JSON and JSON Lines. Runs of type ``llm`` are calls to models. ``session_id`` of a run is its project; the
conversation's id stands in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation.readers._turns import ChatTurn, text_in, turns_of, unpacked
from evaluation.readers.document import Document, Node
from evaluation.readers.traces import calls
from evaluation.readers.traces._conversation import trace_reader

FORMAT = "langsmith"

_THREADS = ("thread_id", "session_id", "conversation_id")
_RUN_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_ROOT_NAMES = frozenset({"LangGraph", "RunnableSequence", "RunnableLambda", "AgentExecutor"})


def _recognises(first: Any) -> bool:
    if isinstance(first, dict) and isinstance(first.get("runs"), list):
        first = first["runs"][0] if first["runs"] else None
    if not isinstance(first, dict) or "run_type" not in first:
        return False
    return any(key in first for key in ("dotted_order", "parent_run_id", "trace_id", "child_runs"))


def _calls(found: Iterable[Node], _: Document) -> list[calls.Span]:
    spans: list[tuple[str, calls.Span]] = []
    for record in found:
        held = record["runs"]
        for run in held.entries() if isinstance(held.value, list) else (record,):
            spans += _spans(run, None, None)
    # Runs that began at the same moment follow each other in the dotted order.
    return calls.calls_in([span for _, span in sorted(spans, key=lambda pair: pair[0])], calls.roots_or_orphans)


def _spans(node: Node, parent: str | None, trace: str | None) -> Iterator[tuple[str, calls.Span]]:
    """A run and those that stand in it, each with its place in the order of runs."""
    run_id = calls.identifier(node["id"] if node["id"].value is not None else node["run_id"])
    trace = node["trace_id"].identifier_or_none() or trace or run_id
    kind, name = node["run_type"].text(), node["name"].text_or_none() or ""
    extra, made = unpacked(node["extra"].value), unpacked(node["outputs"].value)
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    counts = {key: node[key].value for key in _RUN_COUNTS if node[key].value is not None}
    is_named = kind == "chain" and name not in _ROOT_NAMES
    inputs, outputs = calls.asked_and_answered(_asked(unpacked(node["inputs"].value)), turns_of(made, "assistant"))
    span = calls.Span(
        trace=trace,
        id=run_id,
        parent=node["parent_run_id"].identifier_or_none() or parent,
        kind="call" if kind == "llm" else "",
        conversation=text_in(metadata, *_THREADS),
        agent=calls.agent_name(metadata.get("langgraph_node")) or (calls.agent_name(name) if is_named else None),
        start=node["start_time"].time_or_none(),
        end=node["end_time"].time_or_none(),
        inputs=inputs,
        outputs=outputs,
        model=text_in(metadata, "ls_model_name") or None,
        usage=calls.usage_of(_message_usage(made) | counts),
    )
    yield node["dotted_order"].text_or_none() or "", span
    for child in node["child_runs"].entries():
        yield from _spans(child, run_id, trace)


def _message_usage(output: Any) -> dict[str, Any]:
    """The counts of tokens in a run's output, or in the message that it holds; none where LangChain gave none."""
    for _ in range(10):
        if isinstance(output, dict):
            if isinstance(usage := output.get("usage_metadata"), dict):
                return usage
            inner = (output.get(key) for key in ("generations", "messages", "message", "kwargs"))
            output = next((value for value in inner if isinstance(value, (list, dict))), None)
        elif isinstance(output, list) and output:
            output = output[-1]
    return {}


def _asked(inputs: Any) -> list[ChatTurn]:
    """The input of a run; a model that completes text has ``prompts`` instead of messages."""
    prompts = inputs.get("prompts") if isinstance(inputs, dict) else None
    return turns_of(prompts[:1] if isinstance(prompts, list) else inputs, "user")


READER = trace_reader(FORMAT, _recognises, _calls)
