"""Tests: three games of an iteration, judged together by their means, and the chance that three in a row pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.escaping import cut
from evaluation.judged_by import apart_words
from evaluation.rubric.at_chance import ControlSummary, summarise_controls
from evaluation.rubric.definitions import ANTI_REPETITION, DEFAULT_THRESHOLDS, DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import (
    Scored,
    Verdict,
    VerdictStatus,
    apply_thresholds,
    critical_reasons,
    judge_scores,
    metric_changed,
    metric_control,
    metric_judges,
)
from evaluation.score import Coverage, Status, added_coverage, failure_beyond_score, status_of
from evaluation.text.display import counted, listed

TEST_SIZE = 3
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Game:
    """The scores of one game, and its cost if that was recorded.

    Attributes:
        name: By which people know it: "Game 2 · Prompt v1".
        metrics: By name; one that is missing could not be computed.
        total_usd: US dollars, ``None`` when unknown.
        cache_hit_rate: From 0 to 1, ``None`` when unknown.
        players: How many play; 0 when unknown.
        source: The format that it was read from; empty when unknown.
        original: Id of the earliest game that it repeats nearly word for word; empty for none.
    """

    transcript_id: str
    name: str
    metrics: Mapping[str, Scored]
    total_usd: float | None = None
    cache_hit_rate: float | None = None
    players: int = 0
    source: str = ""
    original: str = ""

    def score(self, metric: str) -> float:
        """Its score on a metric; NaN without one."""
        scored = self.metrics.get(metric)
        return math.nan if scored is None or scored.score is None else scored.score


@dataclass(frozen=True, slots=True)
class MetricMean:
    """The mean of a metric over games. Games without a score stay out of it.

    Attributes:
        score: The mean; ``None`` when no game has a score.
        values: The single scores behind the mean, in the games' order.
        waiting: How many games are pending or could not be computed.
        games: How many games there are, with or without a score.
        coverage: What the scores rest on together, for metrics that leave out what they cannot decide; else ``None``.
        controls: Those of the games that have a score; ``None`` where one is not computed yet.
        changed: How many rows behind these scores people changed.
    """

    status: Status
    score: float | None
    threshold: float
    reason: str
    values: tuple[float, ...]
    waiting: int
    games: int
    coverage: Coverage | None = None
    controls: tuple[Mapping[str, Any] | None, ...] = ()
    changed: int = 0

    @property
    def control(self) -> ControlSummary:
        """A summary of the controls."""
        return summarise_controls(self.controls)


@dataclass(frozen=True, slots=True)
class KnownMean:
    """The mean of a figure that not every game has recorded, over the ``known`` of ``games`` that have."""

    mean: float | None
    known: int
    games: int

    @property
    def is_complete(self) -> bool:
        """Whether every game recorded it."""
        return self.known == self.games > 0

    @property
    def partly(self) -> str:
        """Over how many games it was recorded, in words to append; empty where every game did."""
        return "" if self.is_complete else f" (recorded for {self.known} of {self.games} games)"


@dataclass(frozen=True, slots=True)
class GameFailure:
    """A game that failed, with every reason; ``is_critical`` when cost or engagement failed it."""

    transcript_id: str
    name: str
    reasons: tuple[str, ...]
    is_critical: bool

    @property
    def words(self) -> str:
        """One sentence for a list of reasons."""
        how = "failed critically" if self.is_critical else "failed"
        return f"{self.name} {how}: {' '.join(self.reasons)}"


@dataclass(frozen=True, slots=True)
class GameTest:
    """Games of one iteration that are judged together.

    Attributes:
        number: Its place within the iteration, from 1.
        size: How many games make it complete.
        verdict: See :func:`judge_games`.
        failures: The games in it that failed, also where the test passed.
    """

    iteration: str
    number: int
    size: int
    games: tuple[Game, ...]
    means: Mapping[str, MetricMean]
    cost_usd: KnownMean
    cache_hit_rate: KnownMean
    verdict: Verdict
    failures: tuple[GameFailure, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether it has all its games; one with fewer is shown, but proves nothing."""
        return len(self.games) >= self.size

    @property
    def has_passed(self) -> bool | None:
        """Whether it passed; ``None`` while that is open, and where too few metrics apply to tell."""
        decided = {VerdictStatus.PASSED: True, VerdictStatus.FAILED: False}
        return decided.get(self.verdict.status) if self.is_complete else None

    @property
    def warning(self) -> str:
        """The warning for a test with fewer games than it should have; else empty."""
        if self.is_complete:
            return ""
        return f"Only {counted(len(self.games), 'game')} of {self.size}: too few to rely on."


def form_tests(
    iteration: str,
    games: Sequence[Game],
    thresholds: Mapping[str, float] = DEFAULT_THRESHOLDS,
    size: int = TEST_SIZE,
    *,
    failed: Sequence[GameFailure | None] | None = None,
) -> tuple[GameTest, ...]:
    """The tests of an iteration: its games in the order given, ``size`` to a test, the last one perhaps with fewer.

    Args:
        iteration: Its name.
        games: All of them.
        thresholds: Today's, by metric.
        size: At least 1.
        failed: :func:`failures_by_game` of the same games, where the caller has them already.
    """
    if size < 1:
        raise ValueError(f"a test needs at least one game, not {size}")
    failed = failures_by_game(games, thresholds) if failed is None else failed
    tests = []
    for start in range(0, len(games), size):
        some = tuple(games[start : start + size])
        means = mean_scores(some, thresholds)
        cost, cache = known_mean(some, lambda game: game.total_usd), known_mean(some, lambda game: game.cache_hit_rate)
        own = tuple(filter(None, failed[start : start + size]))
        verdict = judge_games(means, cost.mean, own)
        tests.append(GameTest(iteration, start // size + 1, size, some, means, cost, cache, verdict, own))
    return tuple(tests)


def judge_games(
    means: Mapping[str, MetricMean], cost_usd: float | None, failures: Sequence[GameFailure] = ()
) -> Verdict:
    """The verdict on several games together: the rule for one transcript on their means, and no critical failure.

    A game that failed critically fails them all, whatever the means. Else engagement is pending while one of the games
    is unrated: a good mean of the others must not hide a bad game.

    Args:
        means: Of the games.
        cost_usd: Their mean cost; ``None`` when unknown.
        failures: The games that failed.
    """
    verdict = judge_scores(with_open_engagement(means), cost_usd)
    critical = tuple(failure.words for failure in failures if failure.is_critical)
    if not critical:
        return verdict
    return replace(verdict, status=VerdictStatus.FAILED, reasons=(*critical, *verdict.reasons))


def with_open_engagement(means: Mapping[str, MetricMean]) -> Mapping[str, MetricMean]:
    """The means as a verdict takes them: engagement is pending, without a score, while a game is unrated."""
    engagement = means[ENGAGEMENT.name]
    if not engagement.waiting:
        return means
    rated = len(engagement.values)
    reason = f"{rated} of {counted(engagement.games, 'game')} rated"
    unrated = MetricMean(
        Status.PENDING, None, engagement.threshold, reason, engagement.values, engagement.waiting, engagement.games
    )
    return {**means, ENGAGEMENT.name: unrated}


def failures_by_game(games: Sequence[Game], thresholds: Mapping[str, float]) -> list[GameFailure | None]:
    """For each game its failure, ``None`` where its verdict is not ``failed``."""
    return [_failure(game, thresholds) for game in games]


def _failure(game: Game, thresholds: Mapping[str, float]) -> GameFailure | None:
    metrics = game.metrics
    # Nearly all were judged by these, and there may be a hundred thousand.
    if any(one.threshold != thresholds.get(name, one.threshold) for name, one in metrics.items()):
        metrics = apply_thresholds(metrics, thresholds)
    verdict = judge_scores(metrics, game.total_usd)
    if verdict.status is not VerdictStatus.FAILED:
        return None
    critical = critical_reasons(metrics, game.total_usd)
    return GameFailure(game.transcript_id, game.name, critical or verdict.reasons[:1], bool(critical))


def mean_scores(games: Sequence[Game], thresholds: Mapping[str, float] = DEFAULT_THRESHOLDS) -> dict[str, MetricMean]:
    """Each metric's mean over the games that have a score, judged by ``thresholds``; in the rubric's order.

    A metric fails whatever its mean when half or more of the games with a score fail it whatever their score.
    """
    return {
        name: _mean([game.metrics.get(name) for game in games], thresholds.get(name, definition.threshold))
        for name, definition in DEFINITIONS.items()
    }


def _mean(scores: Sequence[Scored | None], threshold: float) -> MetricMean:
    computed = [one for one in scores if one is not None]
    scored = [one for one in computed if one.score is not None]
    values = tuple([one.score for one in scored if one.score is not None])
    waiting = (
        len(scores) - len(scored) - sum(one.score is None and one.status is not Status.PENDING for one in computed)
    )
    coverage = added_coverage([one.coverage for one in computed])
    if values:
        mean = math.fsum(values) / len(values)
        failure = _common_failure(scored)
        status = Status.FAILED if failure else status_of(mean, threshold)
        controls = tuple([metric_control(one) for one in scored])
        changed = sum(map(metric_changed, scored))
        return MetricMean(status, mean, threshold, failure, values, waiting, len(scores), coverage, controls, changed)
    status = Status.PENDING if waiting or not scores else Status.NOT_APPLICABLE
    reasons = {one.reason for one in computed if one.status is status}
    return MetricMean(status, None, threshold, ", ".join(sorted(reasons)), values, waiting, len(scores), coverage)


def metrics_of(games: Iterable[Game]) -> list[Mapping[str, Scored]]:
    """The games' scores, without the rest."""
    return [game.metrics for game in games]


def judges_apart(name: str, *sides: Iterable[Mapping[str, Scored]]) -> str:
    """By whom a metric was judged where games' judges differ, so that their scores do not compare; else empty.

    Such as "by rules in 3 games and by gpt-4o-mini in 2 games". Games without a score are left out.
    """
    scores = (game.get(name) for games in sides for game in games)
    return apart_words(metric_judges(one) for one in scores if one is not None and one.score is not None)


def game_coverage(name: str, games: Iterable[Game]) -> Coverage | None:
    """Coverage of a metric over some games; ``None`` for one that leaves nothing out."""
    return added_coverage(one.coverage for game in games if (one := game.metrics.get(name)) is not None)


def score_controls(name: str, games: Iterable[Game]) -> ControlSummary:
    """A summary of one metric's controls over games; games without a score are left out."""
    scores = (game.metrics.get(name) for game in games)
    return summarise_controls(metric_control(one) for one in scores if one is not None and one.score is not None)


def _common_failure(scored: Sequence[Scored]) -> str:
    """Why games together fail whatever their mean: half or more of those with a score do; else empty."""
    failures = [reason for one in scored if (reason := failure_beyond_score(one))]
    if 2 * len(failures) < len(scored) or not failures:
        return ""
    many = counted(len(scored), "game")
    return f"{len(failures)} of {many} {'fails' if len(scored) == 1 else 'fail'} by it: {failures[0]}"


def failing_beyond_score(games: Sequence[Game]) -> tuple[str, Game] | None:
    """A sentence on the games that fail Anti-repetition whatever their score, and the first; ``None`` without any.

    Such as 'Anti-repetition fails whatever its score in 3 of 3 games: robotic: "stay calm" stands in 18 of 53 messages,
    30 % or more.'
    """
    failing = [
        (reason, game)
        for game in games
        if (one := game.metrics.get(ANTI_REPETITION.name)) is not None and (reason := failure_beyond_score(one))
    ]
    if not failing:
        return None
    (reason, first), label = failing[0], ANTI_REPETITION.label
    return f"{label} fails whatever its score in {len(failing)} of {counted(len(games), 'game')}: {reason}.", first


def known_mean(games: Sequence[Game], figure: Callable[[Game], float | None]) -> KnownMean:
    """The mean of ``figure`` over the games that have recorded it."""
    values = [value for value in map(figure, games) if value is not None]
    mean = math.fsum(values) / len(values) if values else None
    return KnownMean(mean, len(values), len(games))


STREAK = 3
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance that the next three tests all pass, with its 95 % interval; all three from 0 to 1.

    Attributes:
        passed: How many of the ``tests`` that were decided passed.
    """

    value: float
    low: float
    high: float
    passed: int
    tests: int

    @property
    def words(self) -> str:
        """The chance with its interval and what it rests on."""
        return (
            f"Chance that the next three tests all pass: {100 * self.value:.0f} % (95 % interval {100 * self.low:.0f} "
            f"to {100 * self.high:.0f} %), from all {counted(self.tests, 'decided test')}, of which {self.passed} "
            f"passed."
        )


NO_CHANCE = "Chance that the next three tests all pass: unknown, no test is decided yet."


def chance_of_streak(tests: Sequence[GameTest]) -> Chance | None:
    """The cube of the pass rate over complete, decided tests; ``None`` when there is none.

    The interval is Jeffreys' for the pass rate (Beta(passed + 1/2, failed + 1/2), its lower end 0 when none passed and
    its upper end 1 when all did; Brown, Cai and DasGupta 2001), with both ends cubed. It supposes that the tests are
    alike: after a change of the prompt they need not be.
    """
    outcomes = [test.has_passed for test in tests if test.has_passed is not None]
    if not outcomes:
        return None
    passed, total = sum(outcomes), len(outcomes)
    low, high = jeffreys_interval(passed, total)
    return Chance((passed / total) ** STREAK, low**STREAK, high**STREAK, passed, total)


def jeffreys_interval(successes: int, trials: int) -> tuple[float, float]:
    """Jeffreys' 95 % interval for a proportion, both ends from 0 to 1.

    Raises:
        ValueError: No trial, or more successes than trials.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials")
    from scipy.special import betaincinv  # slow to import, and needed only where a chance is shown

    tail = (1.0 - _LEVEL) / 2.0
    a, b = successes + 0.5, trials - successes + 0.5
    low = 0.0 if successes == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if successes == trials else float(betaincinv(a, b, 1.0 - tail))
    return low, high


def distinct(before: Sequence[Game], after: Sequence[Game]) -> tuple[list[Game], list[Game]] | None:
    """Both sides with the first of games that repeat each other in place of them all; ``None`` where none repeats."""
    first: dict[str, str] = {}
    for game in (*before, *after):
        first.setdefault(game.original or game.transcript_id, game.transcript_id)
    kept = {*first.values()}
    old, new = ([game for game in side if game.transcript_id in kept] for side in (before, after))
    return None if len(old) + len(new) == len(before) + len(after) else (old, new)


def reserve_words(before: Sequence[Game], after: Sequence[Game]) -> str:
    """The reserve on a comparison of games that repeat each other or are of different kinds; else empty.

    Such as "Games that repeat others nearly word for word are not evidence of their own: 2 of 6 (Game 2 · v2 and 1
    more). Not all games are alike, which may move a score, too: before 8 to 10 players, after 7 players."
    """
    return " ".join((*_repeats(before, after), *_kinds(before, after)))


def _repeats(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    if (sides := distinct(before, after)) is not None:
        kept = {game.transcript_id for side in sides for game in side}
        first, *others = (cut(one.name, LONGEST_NAME) for one in (*before, *after) if one.transcript_id not in kept)
        which = (
            f"{len(others) + 1} of {len(before) + len(after)} ({first}{f' and {len(others)} more' if others else ''})"
        )
        yield f"Games that repeat others nearly word for word are not evidence of their own: {which}."


def _kinds(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    """A sentence where a game has more or fewer players than any of the other side, or a side another source."""
    sizes = [sorted({game.players for game in side if game.players}) for side in (before, after)]
    sources = [sorted({game.source for game in side if game.source}) for side in (before, after)]
    told = [
        f"{size[0]} to {size[-1]} players" if len(size) > 1 else counted(size[0], "player") for size in sizes if size
    ]
    if sources[0] != sources[1]:
        told = [f"{size} ({listed(source)})" for size, source in zip(told, sources, strict=False)]
    if len(told) == 2 and told[0] != told[1]:
        yield f"Not all games are alike, which may move a score, too: before {told[0]}, after {told[1]}."
