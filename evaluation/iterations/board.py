"""The board: everything known about the iterations, from the tables of a store to the decisions with their evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from evaluation.iterations.checklist import Checklist, checklist
from evaluation.iterations.game_tests import (
    TEST_SIZE,
    Chance,
    Game,
    GameTest,
    KnownMean,
    MetricMean,
    chance_of_streak,
    distinct,
    form_tests,
    game_coverage,
    judge_games,
    judges_apart,
    known_mean,
    metrics_of,
    score_controls,
)
from evaluation.iterations.iteration import Iteration, baseline_before, current_iteration, reference_of
from evaluation.iterations.keep_or_revert import (
    FEWEST_GAMES,
    Choice,
    Decision,
    IterationSide,
    at_chance_reserve,
    decide,
)
from evaluation.rubric.advice import lowest_metric
from evaluation.rubric.definitions import ANTI_REPETITION, DEFAULT_THRESHOLDS, DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import MetricScore, Verdict, is_metric_at_chance, metric_control
from evaluation.score import PERCENT, Status
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.statistics.words import MOST_GAMES_SAID, directions_words, more_games, more_words, needs_many
from evaluation.text.display import counted, listed

if TYPE_CHECKING:
    import pandas


_RULES = {Choice.KEEP: "keep", Choice.REVERT: "revert"}


def measure_games(
    name: str, before: Sequence[Game], after: Sequence[Game], pairs: Sequence[tuple[str, str]] = ()
) -> Measure:
    """One metric of two sets of games, for a comparison.

    Args:
        name: Of the metric.
        before: Games of the reference.
        after: Games of the iteration in question.
        pairs: Ids of games that share a scenario or seed, before and after.
    """
    scale = DEFINITIONS[name].scale
    judged = judges_apart(name, metrics_of(before), metrics_of(after))
    old, new = ({game.transcript_id: game.score(name) for game in games} for games in (before, after))
    kept = distinct(before, after)
    return Measure(
        [game.score(name) for game in before],
        [game.score(name) for game in after],
        [(old[one], new[other]) for one, other in pairs],
        scale.limits,
        "%" if scale == PERCENT else "",
        f"judged {judged}, and verdicts of different judges do not compare" if judged else "",
        is_low_evidence=any(
            one is not None and one.is_low for one in map(partial(game_coverage, name), (before, after))
        ),
        at_chance=(score_controls(name, before).is_at_chance, score_controls(name, after).is_at_chance),
        waiting=(_waiting(before, name), _waiting(after, name)),
        fair=_fair_repetition(before, after) if name == ANTI_REPETITION.name else None,
        distinct=kept and ([game.score(name) for game in kept[0]], [game.score(name) for game in kept[1]]),
    )


def _fair_repetition(before: Sequence[Game], after: Sequence[Game]) -> tuple[Sequence[float], Sequence[float]] | None:
    """The rates of repetition within windows of one length, negative, as less is better.

    A short game repeats less whatever its players do, so the score alone shows no difference between games of
    different lengths. ``None`` while the rate of a game is not computed yet.
    """
    sides = []
    for games in (before, after):
        scored = [one for game in games if (one := game.metrics.get(ANTI_REPETITION.name)) and one.score is not None]
        controls = [metric_control(one) for one in scored]
        if any(control is None or control.get("status") == "pending" for control in controls):
            return None
        rates = [(control.get("companion") or {}).get("value") for control in controls if control]
        sides.append([math.nan if rate is None else -rate for rate in rates])
    return sides[0], sides[1]


def _waiting(games: Sequence[Game], name: str) -> int:
    return sum((one := game.metrics.get(name)) is not None and one.status is Status.PENDING for game in games)


def differences(decision: Decision, before: Sequence[Game], after: Sequence[Game]) -> Mapping[str, Difference]:
    """The differences between the games of a decision's reference and of its iteration, by metric.

    A target that was named before the games is tested alone. One that was named after them, or taken as the reference's
    lowest, is adjusted together with all other metrics.
    """
    measures = {name: measure_games(name, before, after) for name in DEFINITIONS}
    return compare(measures, primary=decision.tested_alone)


def disagreement_words(decision: Decision, found: Mapping[str, Difference], *, is_reference_alone: bool = False) -> str:
    """One sentence where the rule and the games do not say the same; empty where they do.

    Before anything is decided, and where the rule keeps, it is what got worse beyond luck: the rule looks at the target
    and at thresholds alone.

    Args:
        decision: The rule's.
        found: See :func:`differences`.
        is_reference_alone: Whether a target that is at chance is so in the reference only.
    """
    worse = [DEFINITIONS[name].label for name, one in found.items() if one.outcome is Outcome.WORSE]
    if worse and decision.answer in (Choice.KEEP, Choice.NOT_YET):
        rule = "the rule says keep" if decision.choice is Choice.KEEP else decision.words
        return (
            f"{rule[0].upper()}{rule[1:]}, but {listed(worse)} {'is' if len(worse) == 1 else 'are'} worse beyond luck."
        )
    target = found.get(decision.target or "")
    if target is None or decision.choice not in _RULES:
        return ""
    rule, agreeing = _RULES[decision.choice], Outcome.BETTER if decision.choice is Choice.KEEP else Outcome.WORSE
    if target.outcome is agreeing:
        return ""
    label = DEFINITIONS[target.name].label
    if target.outcome is Outcome.UNTESTABLE:
        return f"The rule says {rule}, but no test of {label} is possible: {target.welch.reason}."
    if target.outcome is Outcome.AT_CHANCE:
        whose = decision.reference if is_reference_alone else ""
        fell = f"; {listed(worse)} {'is' if len(worse) == 1 else 'are'} worse beyond luck" if worse else ""
        return f"The rule says {rule}{at_chance_reserve(target.name, whose)}{fell}."
    if target.outcome in (Outcome.LOW_EVIDENCE, Outcome.ON_REPEATS):
        why = ": too few of its cases were settled" if target.outcome is Outcome.LOW_EVIDENCE else ""
        return f"The rule says {rule}, but {label} rests {target.words}{why}."
    if target.outcome is Outcome.AT_EQUAL_LENGTH:
        return f"The rule says {rule}, but {label} {target.words}."
    if target.outcome is Outcome.NO_EVIDENCE:
        change = decision.change
        if change is None or change.is_none:
            return f"The rule says {rule}, but the games show no difference of {label}, so no number would settle it."
        seen = "rise" if change.difference > 0 else "fall"
        return f"The rule says {rule}, but the {seen} of {label} could be luck: {_games_that_settle(target)}."
    verb = "rose" if target.outcome is Outcome.BETTER else "fell"
    return f"The rule says {rule} although {label} {verb} beyond luck."


def _games_that_settle(target: Difference) -> str:
    more = f"more than {MOST_GAMES_SAID} games on each side"
    if not needs_many(target):
        more = more_words(target) if any(more_games(target)) else "1 game more on each side"
    return f"{more} would settle it, if the difference is as large as seen"


def regression_words(decision: Decision, reference: Mapping[str, MetricMean]) -> str:
    """The warning beside a target that failed in the reference, and so may have been chosen for that; else empty.

    The figure is from simulations without any change, see ``docs/deciding.md``.
    """
    target = decision.target
    if target is None or decision.change is None or reference[target].status is not Status.FAILED:
        return ""
    return (
        f"{DEFINITIONS[target].label} failed in the reference. A metric that was lowest once mostly rises the next "
        "time, even without a change. Play more games to be sure."
    )


def games_by_iteration(
    summaries: pandas.DataFrame,
    metrics: Mapping[str, Mapping[str, MetricScore]],
    originals: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[Game]]:
    """Each iteration's games by its name, in the order in which they were added.

    Args:
        summaries: One row per transcript: ``transcript_id``, ``game``, ``iteration``, ``position`` (in the
            iteration), ``players``, ``source_format``, ``total_usd``, ``cache_hit_rate``. Transcripts of no iteration
            are left out.
        metrics: By transcript and metric.
        originals: The earliest game that each one repeats, see ``Transcripts.originals``.
    """
    games: dict[str, list[Game]] = {}
    held = summaries[summaries["iteration"].notna()].sort_values(["iteration", "position"], kind="stable")
    names = ("iteration", "transcript_id", "game", "players", "source_format", "total_usd", "cache_hit_rate")
    for iteration, key, name, players, source, usd, hit_rate in zip(
        *(held[one].tolist() for one in names), strict=True
    ):
        scores, original = metrics.get(key, {}), originals.get(key, "")
        game = Game(key, name, scores, _number(usd), _number(hit_rate), players, source, original)
        games.setdefault(iteration, []).append(game)
    return games


def _number(value: object) -> float | None:
    # Nearly every one, and there are tens of thousands.
    if type(value) is float and value == value:
        return value
    # A missing number stands in a table as None, NaN or pandas.NA.
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)


@dataclass(frozen=True, slots=True)
class IterationSummary:
    """One iteration with its games, tests and means.

    Attributes:
        means: Each metric over all games of the iteration that have a score.
        verdict: Of all its games together, see :func:`~evaluation.iterations.game_tests.judge_games`; ``None`` without
            games.
        lowest: The metric with the largest shortfall, else the least headroom; ``None`` without scores.
        decision: Keep or revert against its reference; ``None`` when it has none.
    """

    iteration: Iteration
    games: tuple[Game, ...]
    tests: tuple[GameTest, ...]
    means: Mapping[str, MetricMean]
    cost_usd: KnownMean
    cache_hit_rate: KnownMean
    verdict: Verdict | None
    lowest: str | None
    decision: Decision | None

    @property
    def answer(self) -> str:
        """Whether the change is better, after its name: the person's decision, else the rule's answer.

        Such as "kept, against the rule", "the rule says keep", "cannot be decided yet", "the baseline".
        """
        if self.iteration.recorded is not None:
            return self.iteration.recorded.fate_words
        if self.decision is not None:
            words = self.decision.words
            return f"the rule says {words}" if self.decision.choice in _RULES else words
        return "the baseline" if self.iteration.is_baseline else "nothing to compare it with"

    def without_ratings(self) -> IterationSummary:
        """The iteration with :meth:`Decision.without_ratings`; what a person decided stays."""
        return replace(self, decision=self.decision and self.decision.without_ratings())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for its reader: no games yet, or tests with too few."""
        if not self.games:
            return ("No games yet.",)
        return tuple(f"Test {test.number}: {test.warning}" for test in self.tests if test.warning)


@dataclass(frozen=True, slots=True)
class Board:
    """All iterations in their order, and what their tests taken together say.

    Attributes:
        current: The latest iteration that has games, else the latest; ``None`` when there is none. Its sign-off counts.
        chance: Of the next three tests passing; ``None`` while no complete test is decided.
    """

    iterations: tuple[IterationSummary, ...]
    checklist: Checklist
    chance: Chance | None
    current: IterationSummary | None

    @property
    def tests(self) -> tuple[GameTest, ...]:
        """All tests, oldest iteration first."""
        return tuple(test for summary in self.iterations for test in summary.tests)

    @property
    def baseline(self) -> IterationSummary | None:
        """The iteration that is marked as the baseline; ``None`` when none is."""
        return next((summary for summary in self.iterations if summary.iteration.is_baseline), None)

    def decision_words(self, name: str) -> tuple[str, ...]:
        """The sentences beside the decision on an iteration, in reading order.

        Its reasons, the baseline where that is not the reference, where the games do not say what the rule says, and
        the warning about a target that was low. Empty without a decision.

        Raises:
            KeyError: There is no iteration of that name.
        """
        summary = self[name]
        decision = summary.decision
        if decision is None:
            return ()
        reference = self[decision.reference]
        beside = decision.baseline_words, self.disagreement(summary)
        warning = regression_words(decision, reference.means)
        return (*decision.reasons, *filter(None, (*beside, warning)))

    def disagreement(self, shown: IterationSummary) -> str:
        """:func:`disagreement_words` of an iteration against its reference; empty without a decision."""
        decision = shown.decision
        if decision is None:
            return ""
        reference, own = self[decision.reference], shown.means.get(decision.target or "")
        is_alone = own is not None and not is_metric_at_chance(own)
        found = differences(decision, reference.games, shown.games)
        return disagreement_words(decision, found, is_reference_alone=is_alone)

    def newer_than(self, name: str) -> IterationSummary | None:
        """The newest iteration, where it is newer than the one of that name and has too few games for a test."""
        newest = self.iterations[-1] if self.iterations else None
        if newest is None or newest.iteration.name == name or len(newest.games) >= FEWEST_GAMES:
            return None
        return newest

    @property
    def waiting_before(self) -> IterationSummary | None:
        """The latest earlier iteration that waits for a rating or a decision; ``None`` once one after it was decided.

        Only one with games enough to be decided on, and a reference.
        """
        earlier = [one for one in self.iterations if one is not self.current]
        for summary in reversed(earlier):
            if summary.iteration.recorded is not None:
                break
            if summary.decision is not None and len(summary.games) >= FEWEST_GAMES:
                return summary
        return None

    def directions_words(self, name: str) -> str:
        """:func:`~evaluation.statistics.words.directions_words` of an iteration and its reference; empty without one.

        Whether that is luck is another question.

        Raises:
            KeyError: There is no iteration of that name.
        """
        shown = self[name]
        if shown.decision is None or not shown.games:
            return ""
        reference = self[shown.decision.reference].games
        found = differences(shown.decision, reference, shown.games)
        return directions_words(found.values(), len(shown.games), len(reference)) if reference else ""

    def __getitem__(self, name: str) -> IterationSummary:
        """The iteration of that name; ``KeyError`` when there is none."""
        for summary in self.iterations:
            if summary.iteration.name == name:
                return summary
        raise KeyError(name)


def make_board(
    iterations: Sequence[Iteration],
    games: Mapping[str, Sequence[Game]],
    thresholds: Mapping[str, float] = DEFAULT_THRESHOLDS,
    size: int = TEST_SIZE,
) -> Board:
    """The board over ``iterations``.

    Args:
        iterations: In any order; their positions decide.
        games: Each iteration's games by its name, in the order in which they were added.
        thresholds: Today's thresholds by metric; the rubric's where one is left out.
        size: How many games make a test.
    """
    ordered = sorted(iterations, key=lambda iteration: iteration.position)
    sides = {one.name: IterationSide(one, tuple(games.get(one.name, ())), thresholds) for one in ordered}
    summaries = tuple(_summary(sides[one.name], sides, ordered, size) for one in ordered)
    tests = [test for summary in summaries for test in summary.tests]
    name = current_iteration(list(sides), {name for name, side in sides.items() if side.games})
    current = next((summary for summary in summaries if summary.iteration.name == name), None)
    return Board(summaries, checklist(tests, current.iteration if current else None), chance_of_streak(tests), current)


def _summary(
    own: IterationSide, sides: Mapping[str, IterationSide], ordered: Sequence[Iteration], size: int
) -> IterationSummary:
    means = own.means
    cost = known_mean(own.games, lambda game: game.total_usd)
    reference, baseline = reference_of(own.iteration, ordered), baseline_before(own.iteration, ordered)
    return IterationSummary(
        iteration=own.iteration,
        games=own.games,
        tests=form_tests(own.name, own.games, own.thresholds, size, failed=own.failed),
        means=means,
        cost_usd=cost,
        cache_hit_rate=known_mean(own.games, lambda game: game.cache_hit_rate),
        verdict=judge_games(means, cost.mean, own.failures) if own.games else None,
        lowest=lowest_metric(means),
        decision=decide(own, sides[reference.name], sides[baseline.name] if baseline else None) if reference else None,
    )


@dataclass(frozen=True, slots=True)
class VersionMix:
    """A metric whose results among some games are of several versions, or of one that is not today's.

    Attributes:
        metric: Its name.
        games: How many games each version scored, oldest version first.
        today: The version of the definition that would score a game now.
    """

    metric: str
    games: Mapping[str, int]
    today: str

    @property
    def is_mixed(self) -> bool:
        """Whether several versions meet; else all results are of one, which is not today's."""
        return len(self.games) > 1

    @property
    def words(self) -> str:
        """The fault in a sentence or two; the remedy is to evaluate the games again."""
        label = DEFINITIONS[self.metric].label
        by_version = [f"by version {version} in {counted(count, 'game')}" for version, count in self.games.items()]
        said = f"{label} was computed {listed(by_version)}"
        if self.is_mixed:
            return f"{said}: these scores do not compare."
        return f"{said}; today's definition is version {self.today}."


def version_mixes(
    scores: pandas.DataFrame, today: Mapping[str, str], among: Collection[str] | None = None
) -> tuple[VersionMix, ...]:
    """The metrics that need to be evaluated again before their scores can be compared, in the rubric's order.

    Engagement comes from raters, so it is never among them.

    Args:
        scores: One row per transcript and metric: ``transcript_id``, ``metric``, ``version``.
        today: The version under which each metric's results are stored now.
        among: Ids of the transcripts that are compared; ``None`` for all.
    """
    chosen = scores if among is None else scores[scores["transcript_id"].isin(list(among))]
    found: dict[str, dict[str, int]] = {}
    for (metric, version), count in Counter(zip(chosen["metric"], chosen["version"], strict=True)).items():
        found.setdefault(metric, {})[version] = count
    # "10" is newer than "9".
    return tuple(
        VersionMix(name, dict(sorted(found[name].items(), key=lambda one: (len(one[0]), one[0]))), today[name])
        for name in DEFINITIONS
        if name in found and name != ENGAGEMENT.name and found[name].keys() != {today[name]}
    )
