"""Find the round that a clause speaks of: "in round 2", "last round", "two rounds ago", "earlier"."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.rubric.clauses.grammar import patterns_for
from evaluation.rubric.clauses.passage import Passage

# A time expression this close before its clause is shown with it.
_NEAR = 3


@dataclass(frozen=True, slots=True)
class When:
    """A time as said: ``round`` (its number), ``ago`` (rounds back), ``last``, ``this``, ``earlier`` or ``any``."""

    kind: Literal["round", "ago", "last", "this", "earlier", "any"]
    number: int | None = None

    def round_for(self, current: int | None) -> int | None:
        """The round meant by somebody who speaks in round ``current``; ``None`` when none in particular is."""
        if self.kind == "round":
            return self.number
        if current is None:
            return None
        back = {"this": 0, "last": 1, "ago": self.number}.get(self.kind)
        return None if back is None else current - back


EARLIER_ANY_TIME = When("any")


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time with its first and last word."""

    when: When
    first: int
    last: int

    def widen(self, first: int, last: int) -> tuple[int, int]:
        """The clause from ``first`` to ``last`` together with this expression, where it stands beside it."""
        if self.first > last:
            return first, self.last
        return (self.first if first - self.last <= _NEAR else first), last


def find_times(passage: Passage, language: str) -> tuple[TimeExpression, ...]:
    """The time expressions of a message, in order."""
    found: dict[int, TimeExpression] = {}
    for pattern in patterns_for("memory", language, "times").tried_on(passage.symbols):
        for match in pattern.regex.finditer(passage.code):
            number = None
            if "number" in match.re.groupindex:
                number = passage.grammar.number(passage.coded.words[match.start("number")])
                number = 1 if number is None else number
            when = When(pattern.attributes["when"], number)
            found.setdefault(match.end(), TimeExpression(when, match.start(), match.end() - 1))
    return tuple(sorted(found.values(), key=_first))


def assign_time(
    passage: Passage, times: Sequence[TimeExpression], clause: tuple[int, int], before: int, following: int
) -> TimeExpression | None:
    """The time expression that belongs to the clause between the words of ``clause``.

    One after the verb comes first ("voted for Bravo in round 2"), unless a conjunction or a comma hands it to the next
    clause; then the one directly before it; then one that opens the sentence and so rules all of it.

    Args:
        passage: The message.
        times: Its time expressions, in order.
        clause: First word of the form and the one after its last.
        before: The word after the verb of the clause before; 0 for the first.
        following: The verb of the next clause; the end of the message for the last.
    """
    start, end = passage.sentence(clause[0])
    inside = times[bisect_left(times, start, key=_first) : bisect_right(times, end, key=_first)]
    if not inside:
        return None
    own = [time for time in inside if clause[0] <= time.first and time.last < min(following, end)]
    own = [time for time in own if not _is_cut_off(passage, clause[1], time.first, following < end)]
    if own:
        return _most_precise(own)
    leading = [time for time in inside if before <= time.first and 0 <= clause[0] - time.last - 1 <= _NEAR]
    leading = [time for time in leading if not _belongs_before(passage, before, time, start)]
    if leading:
        return _most_precise(leading)
    opening = [time for time in inside if time.last < clause[0] and _opens(passage, start, time.first)]
    return opening[0] if opening else None


def _first(time: TimeExpression) -> int:
    return time.first


def _is_cut_off(passage: Passage, end: int, time: int, has_next: bool) -> bool:
    """Whether something between a clause's end and a time expression makes that part of another clause."""
    boundaries = "and comma stop but because while so finite" if has_next else "stop but because finite"
    return passage.any_of(boundaries, end, time - 1)


def _belongs_before(passage: Passage, before: int, time: TimeExpression, start: int) -> bool:
    """Whether a time expression between two clauses belongs to the first: no boundary parts them."""
    if passage.any_of("stop but because finite", time.last + 1, time.last + _NEAR - 1):
        return True
    return before > start and not passage.any_of("and comma stop but because so", before, time.first - 1)


def _opens(passage: Passage, start: int, first: int) -> bool:
    """Whether a time expression opens the sentence, and so rules all of it."""
    return all(passage.has(at, "opening") for at in range(start, first))


def _most_precise(times: Sequence[TimeExpression]) -> TimeExpression:
    return min(times, key=lambda time: time.when.kind in ("earlier", "this"))
