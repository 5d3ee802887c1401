"""A call to a model as all kinds of traces have it, and the names of the agents that made the calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from evaluation.readers.traces._spans import Span, SpanTree
from evaluation.readers.traces.turns import ChatTurn

UNNAMED = "assistant"
_LONGEST_NAME = 200
_AROUND_NAMES = re.compile(r"^(?:invoke_agent|agent run:?)\s+|(?:\._execute_core| run)$")


@dataclass(slots=True)
class CallUsage:
    """Tokens and dollars of one call; ``None`` is unknown. ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    total_usd: float | None = None


@dataclass(slots=True)
class ModelCall:
    """One call to a model.

    Attributes:
        conversation: Calls of one conversation make one transcript.
        agent: Who called; ``None`` where nothing names it.
        start: When.
        inputs: The whole history that the model was given, its instructions (role ``system``) included.
        outputs: Its answer.
        model: The model's name.
        usage: Tokens and cost.
        lacks_parent: Its span, or one around it, is part of a span that is not in the file: who called may be unknown.
    """

    conversation: str
    agent: str | None
    start: datetime | None
    inputs: list[ChatTurn]
    outputs: list[ChatTurn]
    model: str | None = None
    usage: CallUsage = field(default_factory=CallUsage)
    lacks_parent: bool = False

    @property
    def has_text(self) -> bool:
        """Whether anything was captured of it."""
        return any(not turn.is_empty for turn in [*self.inputs, *self.outputs])

    @property
    def answer(self) -> list[tuple[str, ...]]:
        """Its outputs for comparing with another call's."""
        return [turn.key for turn in self.outputs]

    def complete_from(self, other: ModelCall) -> None:
        """Takes what is unknown here from another record of the same call."""
        self.inputs = self.inputs or other.inputs
        self.model = self.model or other.model
        for one in fields(CallUsage):
            if getattr(self.usage, one.name) is None:
                setattr(self.usage, one.name, getattr(other.usage, one.name))


def each_once(recorded: Iterable[tuple[Span, ModelCall]], tree: SpanTree) -> list[ModelCall]:
    """The calls without those that repeat the answer of a call around them, in the order given.

    A client library records a framework's call again below it. What the outer record lacks (input, model, tokens,
    cost) is taken from the inner one. Calls without an answer all stay.

    Args:
        recorded: Each call with the span that recorded it.
        tree: The spans, by which a call stands in another.
    """
    pairs = list(recorded)
    kept: dict[tuple[str, str], ModelCall] = {}
    for span, call in sorted(pairs, key=lambda pair: sum(1 for _ in tree.ancestors(pair[0]))):
        around = (kept.get((one.trace, one.id)) for one in tree.ancestors(span))
        same = (one for one in around if one is not None and call.outputs and one.answer == call.answer)
        if (outer := next(same, None)) is not None:
            outer.complete_from(call)
        else:
            kept[span.trace, span.id] = call
    return [call for span, call in pairs if kept.get((span.trace, span.id)) is call]


def agent_name(written: Any) -> str | None:
    """An agent's name without what tools put around it ("invoke_agent Ann", "Ann run"); ``None`` for nothing."""
    if not isinstance(written, str):
        return None
    name = " ".join(_AROUND_NAMES.sub("", written.strip()).split())
    return name[:_LONGEST_NAME].strip() or None


@dataclass(frozen=True, slots=True)
class UsageNames:
    """The names under which a format keeps tokens and dollars; the first of each that holds a number counts.

    A dot leads into an object, unless the whole name stands there.

    Attributes:
        given: Tokens of the input.
        made: Tokens of the output.
        cached: Tokens that the provider read from its cache.
        written: Tokens that it wrote to its cache.
        thought: Tokens of reasoning.
        total: All tokens, by the export's own count.
        cost: Dollars.
    """

    given: tuple[str, ...]
    made: tuple[str, ...]
    cached: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    thought: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    cost: str = ""


def usage_of(found: Mapping[str, Any], names: UsageNames) -> CallUsage:
    """Tokens and cost of a call.

    Some providers and tools count cached tokens beside the input instead of among it, and reasoning beside the output.
    They do where the total is the sum of these parts, or where there are more cached tokens than input: then these
    parts are added.
    """
    given, made, cached = (_count(found, *keys) for keys in (names.given, names.made, names.cached))
    written, thought = (_count(found, *keys) or 0 for keys in (names.written, names.thought))
    total = _count(found, *names.total)
    if given is not None:
        rest = None if total is None else total - given - (made or 0)
        more_given, more_made = _beside(given, cached or 0, written, thought, rest)
        given += more_given
        made = None if made is None else made + more_made
    return CallUsage(given, cached, made, _number(found.get(names.cost)))


def _beside(given: int, cached: int, written: int, thought: int, rest: int | None) -> tuple[int, int]:
    """The tokens that input and output lack, where ``rest`` of the total stands in neither."""
    for kept in (cached, cached + written):
        for thoughts in (0, thought):
            if rest and rest == kept + thoughts:
                return kept, thoughts
    return (cached + written, 0) if cached > given else (0, 0)


def _count(found: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        group, _, key = name.partition(".")
        inner = found.get(group)
        number = _number(found[name] if name in found else inner.get(key) if isinstance(inner, dict) else None)
        if number is not None:
            return int(number)
    return None


def _number(value: Any) -> float | None:
    """A number from 0 to 10^12, also one that is written as text; ``None`` for anything else."""
    if isinstance(value, str) and len(value) < 30:
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1e12 else None
