"""Pairs of games that people judge blind: which of the two was better to watch."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evaluation.statistics.intervals import Interval, proportion_interval
from evaluation.text.display import counted


class PairChoice(StrEnum):
    """The answer to "Which was better to watch?"."""

    LEFT = "left"
    RIGHT = "right"
    NO_DIFFERENCE = "no difference"


@dataclass(frozen=True, slots=True)
class GamePair:
    """Two games as they stand beside each other; the ids of their transcripts."""

    left: str
    right: str

    @property
    def games(self) -> frozenset[str]:
        """Both, whichever side they stand on."""
        return frozenset((self.left, self.right))


@dataclass(frozen=True, slots=True)
class PairJudgement:
    """One person's answer about one pair.

    Attributes:
        given_at: With its time zone, as is ``withdrawn_at``.
        withdrawn_at: ``None`` while the answer holds.
    """

    id: str
    rater: str
    pair: GamePair
    choice: PairChoice
    given_at: datetime
    withdrawn_at: datetime | None = None

    @property
    def better(self) -> str | None:
        """The id of the game that was better to watch; ``None`` for no difference."""
        chosen = {PairChoice.LEFT: self.pair.left, PairChoice.RIGHT: self.pair.right}
        return chosen.get(self.choice)


def game_pairs(
    rater: str, before: Sequence[str], after: Sequence[str], alike: Iterable[tuple[str, str]] = ()
) -> list[GamePair]:
    """The pairs that a rater judges, in an order and with sides of this rater's own, the same every time.

    Args:
        rater: The name, from which order and sides are drawn.
        before: Ids of the games of one iteration.
        after: Ids of the games of the other.
        alike: Pairs of one scenario or seed, before and after. Only these are judged where there are any; else every
            game of the smaller side is paired with a game of the other, drawn for this rater.
    """
    held = [pair for pair in alike if pair[0] in before and pair[1] in after]
    if not held:
        held = list(zip(_shuffled(rater, before), _shuffled(rater, after), strict=False))
    ordered = sorted(held, key=lambda pair: _drawn(rater, "order", *pair))
    return [GamePair(*(pair if _drawn(rater, "side", *pair)[0] < 128 else pair[::-1])) for pair in ordered]


def next_pair(pairs: Iterable[GamePair], judged: Collection[frozenset[str]]) -> GamePair | None:
    """The first pair whose games the rater has not judged against each other; ``None`` when none is left."""
    return next((pair for pair in pairs if pair.games not in judged), None)


def _shuffled(rater: str, games: Sequence[str]) -> list[str]:
    return sorted(games, key=lambda game: _drawn(rater, "game", game))


def _drawn(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class PairResult:
    """The judgements of two iterations' games against each other.

    Attributes:
        better: How often the game of the later side was the better one.
        worse: How often that of the earlier side was.
        no_difference: How often neither.
        raters: How many people judged.
        pairs: How many pairs of games they judged.
        interval: Wilson's 95 % interval of the win rate, judgements taken as independent of each other.
    """

    better: int
    worse: int
    no_difference: int
    raters: int
    pairs: int
    interval: Interval

    @property
    def judged(self) -> int:
        """Number of judgements."""
        return self.decided + self.no_difference

    @property
    def decided(self) -> int:
        """Number of judgements that prefer one of the games."""
        return self.better + self.worse

    @property
    def win_rate(self) -> float | None:
        """Share of the decided judgements, from 0 to 1, in which the later side's game was better."""
        return self.better / self.decided if self.decided else None

    @property
    def words(self) -> str:
        """All of it in a sentence."""
        people = f"{counted(self.raters, 'rater')}, {counted(self.pairs, 'pair')} of games"
        if self.win_rate is None:
            undecided = (
                f"{counted(self.no_difference, 'judgement')} of no difference" if self.judged else "No judgement"
            )
            return f"{undecided} yet: no win rate." if not self.judged else f"{undecided}: no win rate. {people}."
        low, high = self.interval.low, self.interval.high
        between = "" if low is None or high is None else f" (95 % interval {100 * low:.0f} to {100 * high:.0f} %)"
        aside = f"; {self.no_difference} of no difference" if self.no_difference else ""
        return (
            f"After was better in {self.better} of {counted(self.decided, 'decided judgement')}, "
            f"{100 * self.win_rate:.0f} %{between}{aside}. {people}."
        )


def pair_result(judgements: Iterable[PairJudgement], before: Collection[str], after: Collection[str]) -> PairResult:
    """The win rate of the later games against the earlier ones, from the judgements that hold.

    Args:
        judgements: Those about other games are left out.
        before: Ids of the games of the earlier side.
        after: Ids of those of the later one.
    """
    counts = {True: 0, False: 0, None: 0}
    raters, pairs = set(), set()
    for one in held_between(judgements, before, after):
        counts[None if one.better is None else one.better in after] += 1
        raters.add(one.rater)
        pairs.add(one.pair.games)
    interval = proportion_interval(counts[True], counts[True] + counts[False])
    return PairResult(counts[True], counts[False], counts[None], len(raters), len(pairs), interval)


def held_between(
    judgements: Iterable[PairJudgement], before: Collection[str], after: Collection[str]
) -> list[PairJudgement]:
    """The judgements that hold, of a game of one side against one of the other."""
    return [
        one
        for one in judgements
        if one.withdrawn_at is None
        and any(first in before and second in after for first, second in _both_ways(one.pair))
    ]


def _both_ways(pair: GamePair) -> tuple[tuple[str, str], tuple[str, str]]:
    return (pair.left, pair.right), (pair.right, pair.left)
