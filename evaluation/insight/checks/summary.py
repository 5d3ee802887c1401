"""Pass rates and means of checks by iteration, check and player."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from evaluation.statistics.intervals import Interval, mean_interval, proportion_interval

EVERYBODY = ""
"""In the place of a player: all of them together."""


@dataclass(frozen=True, slots=True)
class ScoredCheck:
    """A check with a score: of which game and iteration, what was checked, and who said it."""

    iteration: str
    transcript_id: str
    check_type: str
    agent: str
    score: float
    passed: bool


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """One check of one player, or of everybody, in one iteration.

    Attributes:
        iteration: Its name; empty for games of none.
        check_type: Which check.
        agent: The player; ``EVERYBODY`` for all.
        n: Scored checks.
        games: Games that they come from.
        passed: How many of the checks passed.
        pass_interval: Of the share that passed, Wilson's over checks as if they were independent.
        mean: Of the games' mean scores, 0 to 1.
        interval: Of that mean over games; none for a single game.
    """

    iteration: str
    check_type: str
    agent: str
    n: int
    games: int
    passed: int
    pass_interval: Interval
    mean: float
    interval: Interval

    @property
    def pass_rate(self) -> float:
        """The share of checks that passed, 0 to 1."""
        return self.passed / self.n


def check_summaries(checks: Iterable[ScoredCheck]) -> list[CheckSummary]:
    """The summary of every check: iterations and checks in the order given, everybody before the players by name.

    A game is the unit of the mean and its interval, whatever the number of its checks.
    """
    groups: dict[tuple[str, str, str], list[ScoredCheck]] = defaultdict(list)
    for one in checks:
        for agent in dict.fromkeys((EVERYBODY, one.agent)):
            groups[one.iteration, one.check_type, agent].append(one)
    iterations = list(dict.fromkeys(iteration for iteration, _, _ in groups))
    kinds = list(dict.fromkeys(kind for _, kind, _ in groups))
    ordered = sorted(groups, key=lambda key: (iterations.index(key[0]), kinds.index(key[1]), key[2]))
    return [_summary(*key, groups[key]) for key in ordered]


def _summary(iteration: str, check_type: str, agent: str, held: list[ScoredCheck]) -> CheckSummary:
    by_game: dict[str, list[float]] = defaultdict(list)
    for one in held:
        by_game[one.transcript_id].append(one.score)
    means = [fmean(scores) for scores in by_game.values()]
    passed = sum(one.passed for one in held)
    return CheckSummary(
        iteration=iteration,
        check_type=check_type,
        agent=agent,
        n=len(held),
        games=len(means),
        passed=passed,
        pass_interval=proportion_interval(passed, len(held), is_within_game=len(means) == 1),
        mean=fmean(means),
        interval=mean_interval(means, limits=(0.0, 1.0)),
    )
