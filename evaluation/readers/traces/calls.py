"""Calls to models as all kinds of traces have them: who called, in which conversation, with which tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._turns import ChatTurn
from evaluation.readers.document import Node

_LONGEST_NAME = 200
_AROUND_NAMES = re.compile(r"^(?:invoke_agent|agent run:?)\s+|(?:\._execute_core| run)$")
# Names of counts in all formats; the first that holds a number counts. A dot leads into an object, unless the whole
# name stands there.
# In LangSmith, the run's own counts (prompt, completion) stand before those of the message in it.
_GIVEN = ("prompt_tokens", "input_tokens", "prompt", "input")
_MADE = ("completion_tokens", "output_tokens", "completion", "output")
_CACHED = (
    *("cache_read.input_tokens", "cache_read_input_tokens", "input_cached_tokens", "input_cache_read"),
    *("prompt_details.cache_read", "input_token_details.cache_read"),
)
_WRITTEN = (
    *("cache_creation.input_tokens", "cache_write.input_tokens", "cache_creation_input_tokens", "input_cache_creation"),
    *("prompt_details.cache_write", "input_token_details.cache_creation"),
)
_THOUGHT = (
    *("reasoning.output_tokens", "output_reasoning", "output_reasoning_tokens"),
    *("completion_details.reasoning", "output_token_details.reasoning"),
)
_TOTAL = ("total_tokens", "total")
_COST = ("cost.total", "total_cost", "cost")


CallUsage = dict[str, float | None]
"""Tokens and dollars of one call by the names of ``Cost``; what is missing or ``None`` is unknown. ``cached_tokens``
are part of ``input_tokens``."""


@dataclass(slots=True, kw_only=True)
class Span:
    """One span, run or observation: a call to a model, or what stands around calls.

    ``agent`` and ``conversation`` are what the span itself says, until :func:`calls_in` gives those of the spans around
    it to those that say nothing.

    Attributes:
        conversation: Calls of one conversation make one transcript.
        agent: Who called; ``None`` where nothing names it.
        start: When.
        end: When it ended; ``None`` where the export was written before.
        inputs: The whole history that the model was given, its instructions (role ``system``) included.
        outputs: Its answer.
        model: The model's name.
        usage: Tokens and cost.
        lacks_parent: It, or a span around it, is part of a span that is not in the file: who called may be unknown.
        trace: The trace that it belongs to.
        id: Its id, unique in the trace.
        parent: The id of the span that it is part of.
        kind: ``call``; ``unmarked`` for one that holds messages and says nothing of its kind; ``agent``, ``tool``; or
            empty.
        size: How much the export says of it.
        around: Its parent, the parent's parent, and so on, at most a hundred; a circle ends where it began, and so does
            a parent that is not in the file: the span counts as a root.
        is_orphan: Whether its parent is not in the file.
    """

    conversation: str = ""
    agent: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    inputs: list[ChatTurn] = field(default_factory=list)
    outputs: list[ChatTurn] = field(default_factory=list)
    model: str | None = None
    usage: CallUsage = field(default_factory=dict)
    lacks_parent: bool = False
    trace: str = ""
    id: str = ""
    parent: str | None = None
    kind: str = ""
    size: int = 0
    around: list[Span] = field(default_factory=list, repr=False)
    is_orphan: bool = False

    @property
    def has_text(self) -> bool:
        """Whether anything was captured of it."""
        return any(not turn.is_empty for turn in [*self.inputs, *self.outputs])

    @property
    def answer(self) -> list[tuple[str, ...]]:
        """Its outputs for comparing with another call's."""
        return [turn.key for turn in self.outputs]


def _settled(spans: Iterable[Span]) -> list[Span]:
    """Each span once, in order of their start, parents before children.

    Each gets the agent and the conversation of the nearest span around it that names one. Without a conversation there,
    the only one in the trace counts, else the trace.
    """
    by_id: dict[tuple[str, str | None], Span] = {}
    for span in spans:
        known = by_id.get((span.trace, span.id))
        # Some tools export a span again each time it grows: the last with an end and most to say is whole.
        if known is None or (span.end is not None, span.size) >= (known.end is not None, known.size):
            by_id[span.trace, span.id] = span
    named: dict[str, set[str]] = {}
    for span in by_id.values():
        named.setdefault(span.trace, set()).update([span.conversation] if span.conversation else [])
        span.is_orphan = bool(span.parent) and (span.trace, span.parent) not in by_id
        one, seen = span, {span.id}
        while len(span.around) < 100 and one.parent:
            parent = by_id.get((one.trace, one.parent))
            if parent is None or parent.id in seen:
                break
            seen.add(parent.id)
            span.around.append(parent)
            one = parent
    chains = [(span, *span.around) for span in by_id.values()]
    agents = [next((one.agent for one in chain if one.agent), None) for chain in chains]
    stated = [next((one.conversation for one in chain if one.conversation), "") for chain in chains]
    for chain, agent, conversation in zip(chains, agents, stated, strict=True):
        span, names = chain[0], named[chain[0].trace]
        span.agent, span.lacks_parent = agent, any(one.is_orphan for one in chain)
        span.conversation = conversation or (next(iter(names)) if len(names) == 1 else span.trace)
    far = datetime.max.replace(tzinfo=UTC)
    return sorted(by_id.values(), key=lambda span: (span.start or far, len(span.around)))


def calls_in(spans: Iterable[Span], stand_ins: Callable[[list[Span]], Iterable[Span]]) -> list[Span]:
    """The calls to models in the order in which they began.

    Args:
        spans: Of one file.
        stand_ins: What stands for the calls of a trace when these hold nothing, from all spans of the trace.
    """
    traces: dict[str, list[Span]] = {}
    for span in _settled(spans):
        traces.setdefault(span.trace, []).append(span)
    calls: list[Span] = []
    for held in traces.values():
        wanted = "call" if any(span.kind == "call" for span in held) else "unmarked"
        found = _each_once([span for span in held if span.kind == wanted])
        calls += found
        if not any(call.has_text for call in found):
            calls += stand_ins(held)
    return sorted(calls, key=lambda call: (call.start is None, call.start))


def roots_or_orphans(spans: list[Span]) -> list[Span]:
    """The outermost spans that hold text, as stand-ins for calls; where there are none, those without their parents."""
    roots = [span for span in spans if span.parent is None and span.has_text]
    return roots or [span for span in spans if span.is_orphan and span.has_text]


def _each_once(spans: list[Span]) -> list[Span]:
    """The calls without those that repeat the answer of a call around them, in the order given.

    A client library records a framework's call again below it. What the outer record lacks (input, model, tokens,
    cost) is taken from the inner one. Calls without an answer all stay.
    """
    kept: set[str] = set()
    for span in sorted(spans, key=lambda span: len(span.around)):
        same = (one for one in span.around if one.id in kept and span.outputs and one.answer == span.answer)
        if (outer := next(same, None)) is not None:
            outer.inputs, outer.model = outer.inputs or span.inputs, outer.model or span.model
            outer.usage = span.usage | {name: count for name, count in outer.usage.items() if count is not None}
        else:
            kept.add(span.id)
    return [span for span in spans if span.id in kept]


def agent_name(written: Any) -> str | None:
    """An agent's name without what tools put around it ("invoke_agent Ann", "Ann run"); ``None`` for nothing."""
    if not isinstance(written, str):
        return None
    name = " ".join(_AROUND_NAMES.sub("", written.strip()).split())
    return name[:_LONGEST_NAME].strip() or None


def identifier(node: Node) -> str:
    """An id as text; ids are compared as they are written, whether hexadecimal or base64.

    Raises:
        BrokenTranscriptError: There is none.
    """
    found = node.identifier_or_none()
    if found is None:
        raise BrokenTranscriptError("The span has no id.", place=node.path, remedy="Export the trace again.")
    return found


def asked_and_answered(asked: list[ChatTurn], made: list[ChatTurn]) -> tuple[list[ChatTurn], list[ChatTurn]]:
    """Inputs and outputs of a call; a whole response repeats the instructions that it was asked with."""
    return [turn for turn in made if turn.role == "system"] + asked, [turn for turn in made if turn.role != "system"]


def usage_of(found: Any) -> CallUsage:
    """Tokens and cost of a call, whatever format named them.

    Some providers and tools count cached tokens beside the input instead of among it, and reasoning beside the output.
    They do where the total is the sum of these parts, or where there are more cached tokens than input: then these
    parts are added.
    """
    if not isinstance(found, dict):
        return {}
    given, made, cached = _count(found, _GIVEN), _count(found, _MADE), _count(found, _CACHED)
    written, thought = _count(found, _WRITTEN) or 0, _count(found, _THOUGHT) or 0
    total = _count(found, _TOTAL)
    if given is not None:
        rest = None if total is None else total - given - (made or 0)
        more_given, more_made = _beside(given, cached or 0, written, thought, rest)
        given += more_given
        made = None if made is None else made + more_made
    dollars = _number(found, _COST)
    return {"input_tokens": given, "cached_tokens": cached, "output_tokens": made, "total_usd": dollars}


def _beside(given: int, cached: int, written: int, thought: int, rest: int | None) -> tuple[int, int]:
    """The tokens that input and output lack, where ``rest`` of the total stands in neither."""
    for kept in (cached, cached + written):
        for thoughts in (0, thought):
            if rest and rest == kept + thoughts:
                return kept, thoughts
    return (cached + written, 0) if cached > given else (0, 0)


def _count(found: Mapping[str, Any], names: Iterable[str]) -> int | None:
    number = _number(found, names)
    return None if number is None else int(number)


def _number(found: Mapping[str, Any], names: Iterable[str]) -> float | None:
    """The first number from 0 to 10^12 under one of the names, also one that is written as text."""
    for name in names:
        group, _, key = name.partition(".")
        inner = found.get(group)
        value = found[name] if name in found else inner.get(key) if isinstance(inner, dict) else None
        with suppress(ValueError):
            value = float(value) if isinstance(value, str) and len(value) < 30 else value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e12:
            return float(value)
    return None


def summed_cost(usages: Sequence[CallUsage]) -> dict[str, Any] | None:
    """The fields of ``Cost`` over calls to models, from those that are known; ``None`` when nothing is."""

    def total(name: str) -> Any:
        known = [count for usage in usages if (count := usage.get(name)) is not None]
        return sum(known) if known else None

    cost = {name: total(name) for name in ("total_usd", "input_tokens", "cached_tokens", "output_tokens")}
    given, cached = cost["input_tokens"], cost["cached_tokens"]
    cost["cache_hit_rate"] = min(cached / given, 1) if given and cached is not None else None
    return cost if any(cost.values()) else None
