"""Runs of a study, one of each arm on each unit; every pair of arms compared; and the winner with its reasons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import combinations
from statistics import fmean
from typing import Literal, Self

from evaluation.corrections.action_gate import GateOutcome, GateResult
from evaluation.corrections.statistics import SIMILARITY
from evaluation.insight.validator import ValidationResult
from evaluation.judging.model_client.budget import CallCounts
from evaluation.persona.dimensions import LABELS
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import AT_CHANCE
from evaluation.statistics.comparison import DOUBTED, Measure, Outcome, compare
from evaluation.statistics.intervals import Interval, Limits
from evaluation.statistics.significance import LEVEL, clustered_difference
from evaluation.statistics.words import p_words
from evaluation.text.display import counted, significant_text

Better = Literal["higher", "lower", "neither"]
"""Which direction of a measure is better; ``neither`` is compared but decides nothing."""
RunStatus = Literal["done", "failed", "skipped"]


class Side(StrEnum):
    """An arm of an experiment: with the corrections in question, or without any."""

    CONTROL = "control"
    TREATMENT = "treatment"


_CORRECTED = frozenset({GateOutcome.CORRECTED, GateOutcome.PASSED_AFTER_RETRY})


@dataclass(slots=True)
class Activity(CallCounts):
    """Counts of what corrections did on one side, or in one conversation, and of all its calls to the model.

    Attributes:
        messages: Messages by agents.
        checked: Those that the gate looked at.
        sent_back: Those whose first text did not pass.
        corrected: Those of which a rewritten text was sent.
        looked: By part, how often it was looked whether it should take effect.
        fired: By part, how often it did: a check that sent a text back, an intervention that was applied.
    """

    messages: int = 0
    checked: int = 0
    sent_back: int = 0
    corrected: int = 0
    looked: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)

    def note_check(self, result: GateResult) -> None:
        """Counts a message that the gate looked at."""
        self.checked += 1
        self.sent_back += not result.attempts[0].is_passed
        self.corrected += result.outcome in _CORRECTED
        for attempt in result.attempts:
            for check in attempt.checks:
                self.note(check.dimension, not check.is_passed)
            if attempt.similarity is not None:
                self.note(SIMILARITY, attempt.is_similar)

    def note(self, part: str, has_fired: bool) -> None:
        """Counts a part of the treatment that might have taken effect, and whether it did."""
        self.looked[part] += 1
        self.fired[part] += has_fired

    def __add__(self, other: Self) -> Activity:
        return Activity(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class AgentScore:
    """The score of an agent, or of the whole conversation where ``agent`` is empty.

    Attributes:
        score: 0 to 9, a count for ideas; ``None`` when nothing could be scored.
    """

    agent: str
    dimension: str
    score: float | None


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run of one arm on one unit, or a part of it: what is known later is stored as a part of its own.

    Attributes:
        variant: The arm: a side of an experiment, or the name of a variant.
        run_index: The unit, from 0. In an experiment both sides of one have the same agents; in a simulated A/B test
            all variants of one have the same seed.
        transcript_id: The game that it became or that it is; empty while none is stored.
        scores: Of its agents; none while it is not evaluated.
        activity: What corrections did in it, and its calls, those of its checks included.
        seed: The seed that it got.
        status: Only ``done`` has measures. ``failed``: it could not be run. ``skipped``: a limit was reached.
        metrics: Measures of the whole run by name; ``None`` where a figure is not known.
        validations: Checks of its messages.
        detail: Why it failed or was skipped.
        is_resumed: Whether it was run by an earlier call.
        scored: A stored game's scores on the rubric's metrics, with what each rests on.
        original: Id of the earliest game that it repeats nearly word for word; empty for none.
        key: Changes with everything that decides the result.
    """

    variant: str
    run_index: int
    transcript_id: str = ""
    scores: tuple[AgentScore, ...] = ()
    activity: Activity = field(default_factory=Activity)
    seed: int = 0
    status: RunStatus = "done"
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    validations: tuple[ValidationResult, ...] = ()
    detail: str = ""
    is_resumed: bool = False
    scored: Mapping[str, MetricScore] = field(default_factory=dict)
    original: str = ""
    key: str = ""

    def values(self, measure: str) -> dict[str, float]:
        """The known values of a measure: by agent, and of the whole run without an agent's name."""
        whole = self.metrics.get(measure)
        scores = {one.agent: one.score for one in self.scores if one.dimension == measure and one.score is not None}
        return scores if whole is None else {"": float(whole)}


def joined(parts: Iterable[RunResult]) -> list[RunResult]:
    """One run of an experiment for each side and unit, in this order; of transcripts and scores the first stay."""
    runs: dict[tuple[str, int], RunResult] = {}
    for part in parts:
        place = part.variant, part.run_index
        known = runs.get(place, RunResult(*place))
        runs[place] = replace(
            known,
            transcript_id=known.transcript_id or part.transcript_id,
            scores=known.scores or part.scores,
            activity=known.activity + part.activity,
        )
    return [runs[place] for place in sorted(runs)]


def verdicts(runs: Iterable[RunResult]) -> list[bool]:
    """Whether each scored check of the runs passed."""
    return [one.passed for run in runs for one in run.validations if one.passed is not None]


def passed_share(runs: Iterable[RunResult]) -> float | None:
    """Passed over scored checks of all runs together; skipped ones and those without a score do not count."""
    found = verdicts(runs)
    return sum(found) / len(found) if found else None


@dataclass(frozen=True, slots=True)
class VariantResults:
    """All runs of a variant.

    Attributes:
        avg_metrics: Mean over the runs that have a value; ``None`` where none has.
        validation_pass_rate: As ``passed_share`` gives it.
    """

    variant_name: str
    runs: tuple[RunResult, ...]
    avg_metrics: Mapping[str, float | None]
    validation_pass_rate: float | None


def variant_results(name: str, runs: Sequence[RunResult], measures: Iterable[str]) -> VariantResults:
    """Sums up the runs of a variant."""
    known = {one: [value for run in runs for value in run.values(one).values()] for one in measures}
    averages = {one: fmean(values) if values else None for one, values in known.items()}
    return VariantResults(name, tuple(runs), averages, passed_share(runs))


@dataclass(frozen=True, slots=True)
class StatisticalComparison:
    """One measure of two arms, b minus a: two variants, or treatment minus control.

    Attributes:
        better: Which direction is better.
        n_a: Values of a, one for each run, or each agent in each conversation.
        mean_a: Their mean, NaN without a value.
        sd_a: Their standard deviation (ddof 1), NaN with fewer than two.
        difference: Of the means.
        interval: Of the difference, Welch's; of variants at the level that decides it, else at 95 %.
        p_value: Welch's t-test, two-sided; NaN where no test is possible.
        p_holm: The same, adjusted (Holm) over the pairs of the deciding measure, or over the pairs of all others.
        p_clustered: The same difference with each agent, or unit, counted once; NaN where units have nothing in common.
        significant: Whether ``p_holm`` is at most 0.05; ``None`` where no test is possible.
        practical_difference: Whether the difference is more than the configured share (10 %) of the larger mean. The
            ADR calls this significant; it is not.
        paired_p: The sign-flip test over pairs of one unit, exact up to 16 of them; ``None`` without pairs. It decides
            nothing.
        effect_size: Cohen's d, NaN where there is none.
        detectable: The smallest difference that so many runs would find in 8 of 10 tests; NaN when unknown.
        runs_needed: On each side, to find a difference as large as this; ``None`` when that has no answer.
        favours: The arm that is better by a significant difference without ``doubt``; ``None`` for neither.
        reason: Why no test is possible; else empty.
        unscored: How many scores are missing, on either side.
        doubt: Why nothing is concluded whatever the test says, in the words of every comparison: "on low evidence".
            Empty for no doubt.
    """

    metric_name: str
    better: Better
    variant_a: str
    variant_b: str
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    sd_a: float
    sd_b: float
    difference: float
    interval: Interval
    p_value: float
    p_holm: float
    p_clustered: float
    significant: bool | None
    practical_difference: bool | None
    paired_p: float | None
    effect_size: float
    detectable: float
    runs_needed: int | None
    favours: str | None
    reason: str = ""
    unscored: int = 0
    doubt: str = ""

    @property
    def label(self) -> str:
        """The measure's name for people."""
        return measure_label(self.metric_name)

    @property
    def outcome(self) -> Outcome:
        """The verdict on b, where one direction is better."""
        if self.doubt:
            return Outcome.AT_CHANCE if self.doubt == AT_CHANCE else Outcome.LOW_EVIDENCE
        if self.significant is None:
            return Outcome.UNTESTABLE
        if self.favours is None:
            return Outcome.NO_EVIDENCE
        return Outcome.BETTER if self.favours == self.variant_b else Outcome.WORSE

    @property
    def words(self) -> str:
        """The verdict on b: "better beyond luck", "on low evidence", "could be luck"."""
        return self.doubt or self.outcome.words


_LABELS = {name: one.label for name, one in DEFINITIONS.items()} | {str(one): label for one, label in LABELS.items()}


def measure_label(name: str) -> str:
    """The label of a metric of the rubric or a dimension of agents; of another measure its name."""
    return _LABELS.get(name, name)


_Values = Mapping[tuple[int, str], float]
"""A measure of one arm by unit and agent."""


def _values(runs: Sequence[RunResult], measure: str) -> _Values:
    return {(run.run_index, agent): value for run in runs for agent, value in run.values(measure).items()}


def _measure(arms: Sequence[Sequence[RunResult]], name: str, limits: Limits, *, is_paired: bool) -> Measure:
    from evaluation.iterations.board import measure_games  # a store is opened without it
    from evaluation.iterations.game_tests import Game

    old, new = (
        [Game(run.transcript_id, run.variant, run.scored, original=run.original) for run in runs if name in run.scored]
        for runs in arms
    )
    if old and new:
        return measure_games(name, old, new)
    before, after = (_values(runs, name) for runs in arms)
    return Measure(
        list(before.values()),
        list(after.values()),
        [(before[key], after[key]) for key in before if key in after] if is_paired else [],
        limits,
        is_low_evidence=name in DEFINITIONS,
    )


def _clustered_p(before: _Values, after: _Values) -> float:
    owners = [[agent or unit for unit, agent in side] for side in (after, before)]
    return clustered_difference(list(after.values()), list(before.values()), *owners).p


_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The outcome of a study.

    Attributes:
        variants: By arm, in the order of the plan; none while nothing was run.
        comparisons: Every pair of arms on every measure, the deciding one first; none before the end.
        primary: The measure that decides; empty for an experiment.
        stopped: Why it did not come to its end ("budget", "cancelled"); empty when it did. Run it again to go on.
        error: What made it fail; may hold what a server said.
    """

    variants: Mapping[str, VariantResults] = field(default_factory=dict)
    comparisons: tuple[StatisticalComparison, ...] = ()
    primary: str = ""
    stopped: str = ""
    error: str = ""

    @property
    def runs(self) -> list[RunResult]:
        """The runs of all arms."""
        return [run for one in self.variants.values() for run in one.runs]

    @property
    def failed(self) -> int:
        """Runs that could not be run."""
        return sum(run.status == "failed" for run in self.runs)

    @property
    def skipped(self) -> int:
        """Runs that a limit did not allow."""
        return sum(run.status == "skipped" for run in self.runs)

    @property
    def activity(self) -> dict[str, Activity]:
        """The effects of corrections, and the calls, by arm."""
        return {name: sum((run.activity for run in one.runs), Activity()) for name, one in self.variants.items()}

    @property
    def spent_usd(self) -> float | None:
        """The cost of runs and their judging; ``None`` when a price is not known."""
        return sum((run.activity for run in self.runs), Activity()).known_usd

    @property
    def winner(self) -> str | None:
        """The variant that beats every other one on the primary measure: significantly, and by a practical difference.

        ``None`` when the runs do not show one.
        """
        favoured = [one.favours for one in self._deciding if one.practical_difference]
        others = len(self.variants) - 1
        return next((name for name in self.variants if favoured.count(name) == others), None) if others > 0 else None

    @property
    def recommendation(self) -> str:
        """One sentence on what to do."""
        best, own, label = self.winner, self._deciding, measure_label(self.primary)
        if best is not None:
            worse = [one.label for one in self._against(best)]
            but = f", but weigh that it is worse on {', '.join(worse)}" if worse else ""
            others = self.variants.keys() - {best}
            than = min(others) if len(others) == 1 else "every other variant"
            return f"Take {best}: it is better on {label} than {than}, beyond luck{but}."
        if doubt := next((one.doubt for one in own if one.doubt), ""):
            verb = "is " if doubt == AT_CHANCE else "rests " * doubt.startswith("on ")
            return f"No winner: {label} {verb}{doubt}."
        if all(one.significant is None for one in own):
            return f"No winner: {label} cannot be tested ({own[0].reason if own else 'no runs'})."
        if any(one.significant and not one.practical_difference for one in own):
            return f"No winner: a difference on {label} is real, but too small to matter in practice."
        proven = [
            f"{one.favours} is better than {one.variant_b if one.favours == one.variant_a else one.variant_a}"
            for one in own
            if one.favours
        ]
        if proven:
            told = f"{'; '.join(proven)}, but no variant is better than every other beyond luck"
            return f"No winner yet: on {label} {told}."
        needed = [one.runs_needed for one in own if one.runs_needed is not None]
        more = f" If it is as large as seen, {max(needed)} runs of each variant would show it." if needed else ""
        return f"No winner yet: the difference on {label} could be luck.{more}"

    @property
    def reasons(self) -> list[str]:
        """The reasons for the decision: the primary measure, other significant ones, and the checks without a score."""
        others = [one for one in self.comparisons if one.metric_name != self.primary and one.significant]
        lines = [sentence(one) for one in (*self._deciding, *others)]
        lines += [f"Against it: {sentence(one)}" for one in self._against(self.winner)]
        checks = [one for run in self.runs for one in run.validations]
        unscored = Counter(one.explanation[:_LONGEST_REASON] for one in checks if one.score is None)
        for reason, count in unscored.most_common(1):
            total = f"{unscored.total()} of {len(checks)} checks have no score"
            lines.append(f"{total}; {count} of them: {reason.rstrip('.')}.")
        return list(dict.fromkeys(lines))

    @property
    def _deciding(self) -> list[StatisticalComparison]:
        return [one for one in self.comparisons if one.metric_name == self.primary]

    def _against(self, best: str | None) -> list[StatisticalComparison]:
        pairs = [one for one in self.comparisons if best in (one.variant_a, one.variant_b)]
        return [one for one in pairs if one.favours not in (None, best)]


def study_result(
    runs: Mapping[str, Sequence[RunResult]],
    measures: Mapping[str, Better],
    *,
    primary: str | None = None,
    threshold: float = 0.1,
    is_paired: bool = True,
    limits: Mapping[str, Limits] | None = None,
    stopped: str = "",
) -> StudyResult:
    """Sums up the runs of each arm, and compares every pair of arms on every measure.

    The deciding measure is tested apart from the others, as the comparison of two iterations tests its target.

    Args:
        runs: By arm.
        measures: By name, with the better direction.
        primary: The measure that decides; ``None`` where all count alike.
        threshold: The share of the larger mean from which on a difference is practical.
        is_paired: Whether runs on the same unit belong together.
        limits: The ends of the scale of each measure that has some.
        stopped: Why it is not at its end: then nothing is compared.
    """
    variants = {name: variant_results(name, own, measures) for name, own in runs.items()}
    if stopped:
        return StudyResult(variants, stopped=stopped)
    pairs = list(combinations(runs, 2))
    rows = []
    for family in ([name for name in measures if (name == primary) is decides] for decides in (True, False)):
        places = [(names, measure) for names in pairs for measure in family]
        compared = {
            str(place): _measure([runs[arm] for arm in names], name, (limits or {}).get(name), is_paired=is_paired)
            for place, (names, name) in enumerate(places)
        }
        for (names, name), one in zip(places, compare(compared).values(), strict=True):
            sides = [runs[arm] for arm in names]
            is_proven = one.outcome in (Outcome.BETTER, Outcome.WORSE) and measures[name] != "neither"
            is_doubted = one.outcome in DOUBTED
            scores = [each.score for side in sides for run in side for each in run.scores if each.dimension == name]
            larger = max(abs(one.before.mean), abs(one.after.mean))
            rows.append(
                StatisticalComparison(
                    name,
                    measures[name],
                    *names,
                    one.before.n,
                    one.after.n,
                    one.before.mean,
                    one.after.mean,
                    one.before.sd,
                    one.after.sd,
                    one.difference,
                    one.deciding_interval if primary else one.interval,
                    one.welch.p,
                    one.p_holm,
                    _clustered_p(*(_values(side, name) for side in sides)) if is_paired else math.nan,
                    None if math.isnan(one.p_holm) else one.p_holm <= LEVEL,
                    None if math.isnan(one.difference) else abs(one.difference) > threshold * larger,
                    one.paired.sign_flip.p if one.paired and one.paired.n else None,
                    one.effect.value,
                    one.detectable,
                    one.games_needed,
                    names[(one.difference > 0) == (measures[name] == "higher")] if is_proven else None,
                    one.welch.reason,
                    sum(score is None for score in scores),
                    one.words if is_doubted else "",
                )
            )
    return StudyResult(variants, tuple(rows), primary or "")


def sentence(one: StatisticalComparison) -> str:
    """A comparison in words."""
    name = f"{one.label}, {one.variant_a} against {one.variant_b}"
    if math.isnan(one.difference):
        unknown = [side for side, n in ((one.variant_a, one.n_a), (one.variant_b, one.n_b)) if not n]
        return f"{name}: " + (
            f"not known of {' and of '.join(unknown)}." if unknown else f"not compared: {one.reason}."
        )
    means = (
        f"{name}: {significant_text(one.mean_a)} ({counted(one.n_a, 'run')}) and "
        f"{significant_text(one.mean_b)} ({counted(one.n_b, 'run')})"
    )
    if one.doubt:
        return f"{means}; {one.doubt}."
    practical = "a practical difference" if one.practical_difference else "no practical difference"
    if one.significant is None:
        return f"{means}, {practical}; no test is possible: {one.reason}."
    verdict = "significant" if one.significant else "not significant"
    adjusted = f", {p_words(one.p_holm)} after Holm's adjustment" if one.p_holm != one.p_value else ""
    return f"{means}, {practical}, {verdict} (p {p_words(one.p_value)}{adjusted})."
