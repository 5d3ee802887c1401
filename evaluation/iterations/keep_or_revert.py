"""Keep or revert: decide by a rule whether the change of an iteration helped against its reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from evaluation.escaping import cut
from evaluation.iterations.game_tests import (
    LONGEST_NAME,
    Game,
    GameFailure,
    MetricMean,
    failing_beyond_score,
    failures_by_game,
    judges_apart,
    mean_scores,
    metrics_of,
    with_open_engagement,
)
from evaluation.iterations.iteration import Iteration, RecordedDecision
from evaluation.rubric.advice import lowest_metric
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, DEFINITIONS, ENGAGEMENT, score_words
from evaluation.rubric.verdict import MetricScore, is_metric_at_chance
from evaluation.score import AT_CHANCE, Status
from evaluation.text.display import counted, half_up, listed, picked_data

FEWEST_GAMES = 3
"""On each side; with fewer nothing is decided."""

_SMALLEST_CHANGE = 1e-9


class Choice(StrEnum):
    """The rule's answer. ``not_yet`` waits for games, ratings or scores, ``undecidable`` for nothing.

    ``hidden`` stands in for it where ratings must not be seen yet.
    """

    KEEP = "keep"
    REVERT = "revert"
    NOT_YET = "not_yet"
    UNDECIDABLE = "undecidable"
    HIDDEN = "hidden"

    @property
    def words(self) -> str:
        """The answer in words: "keep", "revert", "cannot be decided yet", "cannot be decided"."""
        return _UNDECIDED.get(self, self.value)


_UNDECIDED = {
    Choice.NOT_YET: "cannot be decided yet",
    Choice.UNDECIDABLE: "cannot be decided",
    Choice.HIDDEN: "hidden until you have rated these games",
}


@dataclass(frozen=True)
class IterationSide:
    """An iteration with its games in the order of playing, judged by ``thresholds``.

    Every iteration is a side of its own decision, of those that it is the reference of, and perhaps of all as baseline.
    """

    iteration: Iteration
    games: tuple[Game, ...]
    thresholds: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_THRESHOLDS))

    @property
    def name(self) -> str:
        """The iteration's name."""
        return self.iteration.name

    @cached_property
    def means(self) -> Mapping[str, MetricMean]:
        """:func:`~evaluation.iterations.game_tests.mean_scores` of its games."""
        return mean_scores(self.games, self.thresholds)

    @cached_property
    def failed(self) -> list[GameFailure | None]:
        """:func:`~evaluation.iterations.game_tests.failures_by_game` of its games."""
        return failures_by_game(self.games, self.thresholds)

    @property
    def failures(self) -> tuple[GameFailure, ...]:
        """The games that failed, in their order."""
        return tuple(filter(None, self.failed))


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric's mean in the reference and in the iteration compared with it; both have a score."""

    metric: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """After minus before, on the metric's scale; above zero is better."""
        return self.after - self.before

    @property
    def is_none(self) -> bool:
        """Whether both are the same but for a rounding error."""
        return abs(self.difference) <= _SMALLEST_CHANGE


@dataclass(frozen=True, slots=True)
class Decision:
    """Keep or revert, with what speaks for it.

    Attributes:
        choice: The rule's answer.
        reference: Name of the iteration that it is compared with.
        baseline: Name of the baseline, where one stands before the iteration.
        target: The metric that decides; ``None`` when none was named and the reference has no score.
        is_target_named: Whether the target was named, not taken as the reference's lowest.
        tested_alone: The target where it was named before the games; ``None`` otherwise.
        change: The target's change; ``None`` when it has no score on one of the sides.
        baseline_change: The same against the baseline; ``None`` where that is the reference, or has no score.
        passed_before: How many metrics pass in the reference; not those that are no better than scrambled copies on
            one of the sides.
        passed_after: The same in the iteration.
        fell: The other metrics whose mean is lower than in the reference, the largest fall first.
        reasons: Every reason in words, the deciding ones first.
        missing: What must come before a decision, in words.
        outlook: What the rule will say once all games are rated, in words; empty unless ratings alone are missing and
            decide it.
        foregone: What the rule will say however the open games are rated; ``None`` where that is open.
        explanation: Those of ``reasons`` that are neither critical failures nor among ``missing``; ``outlook`` first
            where ratings may still change the answer.
        recorded: What a person decided; ``None`` while nobody has.
    """

    choice: Choice
    reference: str
    baseline: str | None
    target: str | None
    is_target_named: bool
    tested_alone: str | None = None
    change: MetricChange | None = None
    baseline_change: MetricChange | None = None
    passed_before: int = 0
    passed_after: int = 0
    fell: tuple[MetricChange, ...] = ()
    reasons: tuple[str, ...] = ()
    recorded: RecordedDecision | None = None
    missing: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
    outlook: str = ""
    foregone: Choice | None = None

    @property
    def answer(self) -> Choice:
        """The rule's answer, or the one that it will give however the open games are rated."""
        return self.foregone or self.choice

    @property
    def words(self) -> str:
        """:attr:`answer` in words."""
        return self.outlook if self.foregone else self.choice.words

    @property
    def differs_from_baseline(self) -> bool:
        """Whether the baseline stands before the iteration and is not its reference."""
        return self.baseline is not None and self.baseline != self.reference

    @property
    def baseline_words(self) -> str:
        """The second line: the target against the baseline. Empty where the baseline is the reference."""
        if not self.differs_from_baseline or self.target is None:
            return ""
        # A name may be as long as a sentence, and what follows it must not be cut off where lines are short.
        name = cut(str(self.baseline), LONGEST_NAME)
        if self.baseline_change is None:
            return f"Against the baseline {name}: {DEFINITIONS[self.target].label} cannot be compared."
        return f"Against the baseline {name}: {_change_words(self.baseline_change)}."

    def without_ratings(self) -> Decision:
        """The decision for somebody who must not see the ratings that it rests on: none of what these can change."""
        is_named = self.is_target_named
        # The lowest metric of the reference depends on its ratings, and whether it is computed is among these.
        target, missing = (self.target, self.missing) if is_named else (None, ())
        return Decision(
            Choice.HIDDEN,
            self.reference,
            self.baseline,
            target,
            is_named,
            self.tested_alone,
            recorded=self.recorded,
            missing=missing,
        )

    def as_dict(self) -> dict[str, Any]:
        """The decision as every JSON output shows it."""
        return {
            **picked_data(
                self, "choice", "foregone", "reference", "baseline", "target", "is_target_named", "tested_alone"
            ),
            "change": self.change and self.change.difference,
            "baseline_change": self.baseline_change and self.baseline_change.difference,
            **picked_data(self, "passed_before", "passed_after", "reasons"),
            "fell": {fall.metric: fall.difference for fall in self.fell},
            "recorded": self.recorded and self.recorded.as_dict(),
        }


def decide(candidate: IterationSide, reference: IterationSide, baseline: IterationSide | None = None) -> Decision:
    """Whether to keep the candidate's change (rubric 1.0, iteration cycle).

    In this order: *revert* when a game of the candidate failed critically; *not yet* with fewer than 3 games on a side,
    an unrated game, a target that is not computed yet, or a metric of different judges; *undecidable* when the target
    applies to no game of a side; *revert* when the target's mean is not above the reference's, or fewer metrics pass;
    else *keep*. An unknown cost decides nothing, and a reason says so.

    Args:
        candidate: The iteration whose change is in question. Where it names no target, the reference's lowest decides.
        reference: What it is compared with, see :func:`~evaluation.iterations.iteration.reference_of`.
        baseline: Shown beside it; ``None`` where none stands before the candidate.
    """
    return _Weighing(candidate, reference, baseline).decision()


def unnamed_target_words(target: str | None) -> str:
    """Sentence for a decision without a named target, with the one that decides; ``None`` where it must not be seen."""
    label = f": {DEFINITIONS[target].label}" if target else ""
    return f"No target was named, so the reference's lowest decides{label}."


class _Weighing:
    """One decision in the making."""

    def __init__(self, candidate: IterationSide, reference: IterationSide, baseline: IterationSide | None) -> None:
        self.candidate, self.reference, self.baseline = candidate, reference, baseline
        self.before, self.after = both = reference.means, candidate.means
        self.named = candidate.iteration.target_metric
        self.target = self.named or lowest_metric(self.before)
        self.apart = {
            name: words
            for name in DEFINITIONS
            if (words := judges_apart(name, metrics_of(reference.games), metrics_of(candidate.games)))
        }
        self.change = None if self.target in self.apart else _change(self.target, self.after, self.before)
        # Of both sides: one may not be compared with scrambled copies yet.
        self.at_chance = [
            name
            for name in DEFINITIONS
            if any(is_metric_at_chance(means[name]) for means in both)
            and any(means[name].status is Status.PASSED for means in both)
        ]
        self.passed_before, self.passed_after = (
            sum(one.status is Status.PASSED for name, one in means.items() if name not in self.at_chance)
            for means in map(with_open_engagement, both)
        )
        self.fell = tuple(sorted(self._falls(), key=lambda one: one.difference / DEFINITIONS[one.metric].scale.width))
        self.critical = [one.words for one in candidate.failures if one.is_critical]
        is_beside = (
            baseline
            and self.target
            and not judges_apart(self.target, metrics_of(baseline.games), metrics_of(candidate.games))
        )
        self.baseline_change = _change(self.target, self.after, baseline.means) if baseline and is_beside else None

    def decision(self) -> Decision:
        choice = self._choice()
        differs = self.baseline is not None and self.baseline.name != self.reference.name
        missing = tuple(self._missing())
        outlook, foregone = self._outlook(choice)
        explanation = (*([outlook] if outlook and not foregone else []), *self._explanation(choice))
        return Decision(
            choice,
            self.reference.name,
            self.baseline.name if self.baseline else None,
            self.target,
            self.named is not None,
            self.candidate.iteration.tested_alone,
            self.change,
            self.baseline_change if differs else None,
            self.passed_before,
            self.passed_after,
            self.fell,
            (*self.critical, *missing, *explanation),
            self.candidate.iteration.recorded,
            missing,
            explanation,
            outlook,
            foregone,
        )

    def _choice(self) -> Choice:
        if self.critical:
            return Choice.REVERT
        if any(self._missing()):
            return Choice.NOT_YET
        if self.change is None:
            return Choice.UNDECIDABLE
        rose = self.change.difference > _SMALLEST_CHANGE
        return Choice.KEEP if rose and self.passed_after >= self.passed_before else Choice.REVERT

    def _sides(self) -> tuple[tuple[str, IterationSide, Mapping[str, MetricMean]], ...]:
        return ("this iteration", self.candidate, self.after), ("the reference", self.reference, self.before)

    def _missing(self) -> Iterator[str]:
        """Steps that must come before a decision."""
        after, before = len(self.candidate.games), len(self.reference.games)
        if min(after, before) < FEWEST_GAMES:
            here, there = counted(after, "game"), counted(before, "game")
            yield f"{here} here, {there} in the reference: {FEWEST_GAMES} on each side are needed."
        for place, _, means in self._sides():
            rated = means[ENGAGEMENT.name]
            if rated.waiting:
                yield f"{rated.waiting} of {counted(rated.games, 'game')} of {place} not rated yet."
        for place, side, means in self._sides():
            waits = side.games and self.target and means[self.target].status is Status.PENDING
            if self.target and waits and self.target != ENGAGEMENT.name:
                yield f"{DEFINITIONS[self.target].label}, the target, is not computed yet in {place}."
        # Passes are counted over all metrics, so none may have different judges.
        for words in dict.fromkeys(self.apart.values()):
            names = _labels(name for name, one in self.apart.items() if one == words)
            yield f"{names}: judged {words}. Have one judge read all of them, or give its rows back to the rules."

    def _outlook(self, choice: Choice) -> tuple[str, Choice | None]:
        """The rule's answer once every game is rated, and that answer where no rating can change it.

        From deciding with each open rating at its limit.
        """
        waiting = [means[ENGAGEMENT.name].waiting for _, _, means in self._sides()]
        is_only_rating = len(list(self._missing())) == sum(map(bool, waiting))
        if choice is not Choice.NOT_YET or not is_only_rating:
            return "", None
        limit, (low, high) = self.candidate.thresholds[ENGAGEMENT.name], ENGAGEMENT.scale.limits
        # Means of ratings count where they are the target, or may choose it; else whether they pass.
        is_rating = self.target == ENGAGEMENT.name or (self.named is None and waiting[1] > 0)
        # A low rating of a game of the candidate reverts by itself.
        own = (limit, high) if is_rating and waiting[0] else (limit,)
        others = [low + step / 2 for step in range(int(2 * (high - low)) + 1)] if is_rating else [low, high]
        references = [_rated(self.reference, score) for score in (others if waiting[1] else others[:1])]
        found = [decide(_rated(self.candidate, score), reference) for score in own for reference in references]
        answers = {one.choice for one in found}
        if answers == {Choice.REVERT} or (len(answers) == 1 and not waiting[0]):
            (answer,) = answers
            games = f"the {counted(sum(waiting), 'open game')} {'is' if sum(waiting) == 1 else 'are'}"
            reserve = self._reserve() if answer is Choice.KEEP else ""
            return f"the rule will say {answer.words}{reserve}, however {games} rated", answer
        rated, lower = ("If rated", "if lower") if waiting[0] == 1 else ("If all are rated", "if one is lower")
        if len(answers) == 1:
            said = f"{Choice.KEEP.words}{self._reserve()}"
            return f"{rated} {limit:g} or more, the rule will say {said}; {lower}, {Choice.REVERT.words}.", None
        rises = [one.change is not None and one.change.difference > _SMALLEST_CHANGE for one in found]
        if {one.target for one in found} == {ENGAGEMENT.name} and rises == [one.choice is Choice.KEEP for one in found]:
            least = f" and no game of it is rated below {limit:g}" if waiting[0] else ""
            means = "the mean rating of this iteration is above that of the reference"
            return f"If {means}{least}, the rule will say {Choice.KEEP.words}; else {Choice.REVERT.words}.", None
        return (
            "The metric that decides depends on the ratings of the reference." if is_rating and not self.named else "",
            None,
        )

    def _reserve(self) -> str:
        """The reserve beside a coming "keep": the rule looks at means alone."""
        if self.target is None or not is_metric_at_chance(self.after[self.target]):
            return ""
        return at_chance_reserve(self.target)

    def _explanation(self, choice: Choice) -> Iterator[str]:
        if choice is Choice.UNDECIDABLE:
            yield self._inapplicable()
        if self.target is not None and self.named is None:
            yield unnamed_target_words(self.target)
        if self.candidate.iteration.is_target_late and self.named:
            label = DEFINITIONS[self.named].label
            yield f"{label} became the target when games were there already, so it is tested together with the others."
        if self.change:
            yield f"{_change_words(self.change, ', the target,')}."
        passed = f"passed in the reference, {self.passed_after} here."
        if self.at_chance:
            # Those that count: whoever adds up the list of passes finds more.
            yield f"Of {len(DEFINITIONS) - len(self.at_chance)} metrics, {self.passed_before} {passed}"
            sides = {
                side.iteration.name: [name for name in self.at_chance if is_metric_at_chance(side.means[name])]
                for side in (self.reference, self.candidate)
            }
            yield not_counted_words(sides)
        else:
            yield f"{counted(self.passed_before, 'metric')} {passed}"
        at_chance = [one for one in self.fell if is_metric_at_chance(self.before[one.metric])]
        for words, falls in (
            ("Lower than in the reference", [one for one in self.fell if one not in at_chance]),
            (f"Lower, but nothing is concluded, as the reference is {AT_CHANCE}", at_chance),
        ):
            if falls:
                yield f"{words}: {listed([_fall_words(one) for one in falls])}."
        if beyond := failing_beyond_score(self.candidate.games):
            yield beyond[0]
        yield from self._partly_known()
        yield from self._unknown_costs()

    def _inapplicable(self) -> str:
        if self.target is None:
            return "The reference has no score, so there is nothing to compare with."
        where = listed([place for place, _, means in self._sides() if means[str(self.target)].score is None])
        return f"{DEFINITIONS[self.target].label}, the target, does not apply to the games of {where}."

    def _partly_known(self) -> Iterator[str]:
        for name, mean in self.after.items():
            if mean.waiting and mean.values and name != ENGAGEMENT.name:
                known = f"{len(mean.values)} of {counted(mean.games, 'game')}"
                yield f"{DEFINITIONS[name].label} rests on {known}; the others are pending."

    def _unknown_costs(self) -> Iterator[str]:
        games = self.candidate.games
        unknown = sum(game.total_usd is None for game in games)
        if unknown:
            yield f"The cost of {unknown} of {counted(len(games), 'game')} is unknown and did not enter the decision."

    def _falls(self) -> Iterator[MetricChange]:
        for name in DEFINITIONS:
            is_other = name != self.target and name not in self.apart
            change = _change(name, self.after, self.before) if is_other else None
            if change is not None and change.difference < -_SMALLEST_CHANGE:
                yield change


def at_chance_reserve(target: str, whose: str = "") -> str:
    """The reserve behind an answer of the rule whose target is at chance, wherever that answer stands.

    ``whose`` names an iteration that it is true of alone.
    """
    of = f" of {cut(whose, LONGEST_NAME)}" if whose else ""
    return f", but {DEFINITIONS[target].label}{of} is {AT_CHANCE}"


def not_counted_words(at_chance: Mapping[str, Collection[str]]) -> str:
    """A sentence on the metrics that do not count, as they are at chance on a side, and on which; empty without any.

    Args:
        at_chance: The metrics by the name of the iteration whose scores are at chance; one of two counts for both.
    """
    told = [
        DEFINITIONS[name].label
        + f" ({'both' if len(sides) > 1 else cut(sides[0], LONGEST_NAME)})" * (len(at_chance) > 1)
        for name in DEFINITIONS
        if (sides := [side for side, names in at_chance.items() if name in names])
    ]
    return f"{AT_CHANCE.capitalize()}, so not counted: {listed(told)}." if told else ""


def _labels(metrics: Iterable[str]) -> str:
    return listed([DEFINITIONS[name].label for name in metrics])


def _rated(side: IterationSide, score: float) -> IterationSide:
    """The side as it were if every unrated game had that score for engagement."""
    limit = side.thresholds[ENGAGEMENT.name]
    given = MetricScore(Status.PASSED if score >= limit else Status.FAILED, score, limit)
    games = (
        game
        if (held := game.metrics.get(ENGAGEMENT.name)) is not None and held.score is not None
        else replace(game, metrics={**game.metrics, ENGAGEMENT.name: given})
        for game in side.games
    )
    return IterationSide(side.iteration, tuple(games), side.thresholds)


def _change(name: str | None, after: Mapping[str, MetricMean], before: Mapping[str, MetricMean]) -> MetricChange | None:
    if name is None:
        return None
    old, new = before[name].score, after[name].score
    return None if old is None or new is None else MetricChange(name, old, new)


def _change_words(change: MetricChange, apposition: str = "") -> str:
    definition = DEFINITIONS[change.metric]
    subject = f"{definition.label}{apposition}"
    if change.is_none:
        return f"{subject} stayed at {score_words(definition, change.before)}{' and did not rise' * bool(apposition)}"
    verb = "rose" if change.difference > 0 else "fell"
    before, after = _both_words(change)
    return f"{subject} {verb} from {before} to {after}"


def _fall_words(change: MetricChange) -> str:
    before, after = _both_words(change)
    return f"{DEFINITIONS[change.metric].label} ({before} to {after})"


def _both_words(change: MetricChange) -> tuple[str, str]:
    definition = DEFINITIONS[change.metric]
    # As many as tell the two apart.
    digits = next((place for place in range(1, 9) if half_up(change.before, place) != half_up(change.after, place)), 9)
    return score_words(definition, change.before, digits), score_words(definition, change.after, digits)
