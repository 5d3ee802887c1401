"""Reads LangSmith runs as the API and exports write them: a run a line or row, a list, ``{runs: [...]}``, or a tree.

JSON and JSON Lines. Runs of type ``llm`` are calls to models. ``session_id`` of a run is its project; the
conversation's id stands in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

FORMAT = "langsmith"

_THREADS = ("thread_id", "session_id", "conversation_id")
_USAGE = UsageNames(
    given=("prompt_tokens", "input_tokens"),
    made=("completion_tokens", "output_tokens"),
    cached=("input_token_details.cache_read",),
    written=("input_token_details.cache_creation",),
    thought=("output_token_details.reasoning",),
    total=("total_tokens",),
    cost="total_cost",
)
_RUN_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_ROOT_NAMES = frozenset({"LangGraph", "RunnableSequence", "RunnableLambda", "AgentExecutor"})


def _recognises(first: Any) -> bool:
    if isinstance(first, dict) and isinstance(first.get("runs"), list):
        first = first["runs"][0] if first["runs"] else None
    if not isinstance(first, dict) or "run_type" not in first:
        return False
    return any(key in first for key in ("dotted_order", "parent_run_id", "trace_id", "child_runs"))


def _calls(found: Iterable[Node]) -> list[ModelCall]:
    spans: list[Span] = []
    for record in found:
        held = record["runs"]
        for run in held.entries() if isinstance(held.value, list) else (record,):
            spans += _spans(run, None, None)
    tree = SpanTree(spans)
    ordered = sorted(tree.ordered, key=lambda span: (span.trace, span.attributes["order"]))
    calls = each_once(((span, _call(span, tree)) for span in ordered if span.attributes["type"] == "llm"), tree)
    calls.sort(key=lambda call: (call.start is None, call.start))
    # Where the calls hold nothing, the roots stand for them; where those hold nothing either, orphans do.
    others = [span for span in ordered if span.attributes["type"] != "llm"]
    for stand_ins in ([span for span in others if span.parent is None], list(filter(tree.is_orphan, others))):
        spoken = {call.conversation for call in calls if call.has_text}
        made = [_call(span, tree) for span in stand_ins]
        calls += [call for call in made if call.has_text and call.conversation not in spoken]
    return calls


def _spans(node: Node, parent: str | None, trace: str | None) -> Iterator[Span]:
    """A run and those that stand in it."""
    run_id = identifier(node["id"] if node["id"].value is not None else node["run_id"])
    trace = node["trace_id"].identifier_or_none() or trace or run_id
    extra = unpacked(node["extra"].value)
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    yield Span(
        trace=trace,
        id=run_id,
        parent=node["parent_run_id"].identifier_or_none() or parent,
        name=node["name"].text_or_none() or "",
        start=node["start_time"].time_or_none(),
        end=node["end_time"].time_or_none(),
        attributes={
            "type": node["run_type"].text(),
            "order": node["dotted_order"].text_or_none() or "",
            "inputs": unpacked(node["inputs"].value),
            "outputs": unpacked(node["outputs"].value),
            "metadata": metadata if isinstance(metadata, dict) else {},
            "counts": {key: node[key].value for key in _RUN_COUNTS if node[key].value is not None},
        },
    )
    for child in node["child_runs"].entries():
        yield from _spans(child, run_id, trace)


def _call(span: Span, tree: SpanTree) -> ModelCall:
    fields = span.attributes
    around = (span, *tree.ancestors(span))
    threads = (text_in(one.attributes["metadata"], *_THREADS) for one in around)
    made = turns_of(fields["outputs"], "assistant")
    return ModelCall(
        conversation=next(filter(None, threads), span.trace),
        agent=_agent(around),
        start=span.start,
        inputs=[turn for turn in made if turn.role == "system"] + _asked(fields["inputs"]),
        outputs=[turn for turn in made if turn.role != "system"],
        model=text_in(fields["metadata"], "ls_model_name") or None,
        usage=usage_of(_message_usage(fields["outputs"]) | fields["counts"], _USAGE),
        lacks_parent=tree.lacks_parent(span),
    )


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


def _asked(inputs: Any) -> list[Any]:
    """The input of a run; a model that completes text has ``prompts`` instead of messages."""
    prompts = inputs.get("prompts") if isinstance(inputs, dict) else None
    return turns_of(prompts[:1] if isinstance(prompts, list) else inputs, "user")


def _agent(around: Iterable[Span]) -> str | None:
    for one in around:
        if name := agent_name(one.attributes["metadata"].get("langgraph_node")):
            return name
        if one.attributes["type"] == "chain" and one.name not in _ROOT_NAMES and (name := agent_name(one.name)):
            return name
    return None


READER = trace_reader(FORMAT, _recognises, lambda found, _: _calls(found))
