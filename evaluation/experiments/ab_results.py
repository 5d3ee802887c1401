"""Runs of an A/B test, what they add up to for each variant, and the winner with its reasons in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

from evaluation.judged_by import Judges, apart_words
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.comparison import Difference, Measure, compare, holm
from evaluation.statistics.intervals import Interval
from evaluation.statistics.tests import LEVEL
from evaluation.statistics.words import p_words
from evaluation.text.display import counted, significant_text

Better = Literal["higher", "lower", "neither"]
"""Which direction of a measure is better; ``neither`` is compared but decides nothing."""


RunStatus = Literal["done", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run.

    Attributes:
        variant: Of which variant.
        run_index: From 0.
        seed: The seed that it got.
        status: Only ``done`` has metrics. ``failed``: it could not be run. ``skipped``: a limit was reached.
        metrics: By name; ``None`` where a figure is not known.
        validations: Checks of its messages, as ``ValidationResult.as_dict`` gives them.
        detail: Why it failed or was skipped.
        reference: The stored transcript that it is; empty for none.
        is_resumed: Whether it was run by an earlier call.
        judges: Who judged the measures that a judge decided.
        cost_usd: What it and its checks cost; ``None`` when a price is not known.
    """

    variant: str
    run_index: int
    seed: int
    status: RunStatus
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    validations: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""
    reference: str = ""
    is_resumed: bool = False
    judges: Mapping[str, Judges] = field(default_factory=dict)
    cost_usd: float | None = 0.0

    def value(self, measure: str) -> float:
        """The run's value, NaN where it has none."""
        found = self.metrics.get(measure)
        return math.nan if found is None else float(found)


@dataclass(frozen=True, slots=True)
class VariantResults:
    """All runs of a variant.

    Attributes:
        avg_metrics: Mean over the runs that have a value; ``None`` where none has.
        validation_pass_rate: Passed over scored checks of all its runs together; ``None`` when none was scored.
    """

    variant_name: str
    runs: tuple[RunResult, ...]
    avg_metrics: Mapping[str, float | None]
    validation_pass_rate: float | None

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scored check of all its runs passed."""
        return [bool(one["passed"]) for run in self.runs for one in run.validations if one["passed"] is not None]


@dataclass(frozen=True, slots=True)
class StatisticalComparison:
    """One measure of two variants, b minus a.

    Attributes:
        better: Which direction is better.
        n_a: Runs of a with a value.
        n_b: The same of b.
        mean_a: Their mean, NaN without a value.
        mean_b: The same of b.
        difference: Of the means.
        interval: Of the difference, Welch's; of two variants at the level that decides it, of more at 95 %.
        p_value: Welch's t-test, two-sided; NaN where no test is possible.
        p_holm: The same, adjusted (Holm) over the pairs of the deciding measure, or over the pairs of all others.
        significant: Whether ``p_holm`` is at most 0.05; ``None`` where no test is possible.
        practical_difference: Whether the difference is more than the configured share (10 %) of the larger mean. The
            ADR calls this significant; it is not.
        paired_p: The sign-flip test over runs with the same seed, exact up to 16 of them; ``None`` without pairs. It
            decides nothing.
        effect_size: Cohen's d, NaN where there is none.
        detectable: The smallest difference that so many runs would find in 8 of 10 tests; NaN when unknown.
        runs_needed: On each side, to find a difference as large as this; ``None`` when that has no answer.
        favours: The variant that is better by a significant difference; ``None`` for neither.
        reason: Why no test is possible; empty where one is.
    """

    metric_name: str
    better: Better
    variant_a: str
    variant_b: str
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval
    p_value: float
    p_holm: float
    significant: bool | None
    practical_difference: bool | None
    paired_p: float | None
    effect_size: float
    detectable: float
    runs_needed: int | None
    favours: str | None
    reason: str = ""


def comparisons(
    variants: Mapping[str, VariantResults],
    measures: Mapping[str, Better],
    *,
    primary: str,
    threshold: float,
    is_paired: bool,
) -> list[StatisticalComparison]:
    """Every pair of variants on every measure.

    The deciding measure is tested apart from the others, as the comparison of two iterations tests its target.

    Args:
        variants: By name.
        measures: By name, with the better direction.
        primary: The measure that decides.
        threshold: The share of the larger mean from which on a difference is practical.
        is_paired: Whether runs with the same seed belong together.
    """
    found = [
        (one, pair)
        for pair in combinations(variants.values(), 2)
        for one in compare(_measures(*pair, measures, is_paired), primary=primary).values()
    ]
    adjusted: dict[int, float] = {}
    for is_primary in (True, False):
        family = [place for place, (one, _) in enumerate(found) if (one.name == primary) is is_primary]
        adjusted |= zip(family, holm(found[place][0].welch.p for place in family), strict=True)
    return [
        _comparison(
            one,
            pair,
            measures[one.name],
            threshold,
            adjusted[place],
            one.deciding_interval if len(variants) == 2 else one.interval,
        )
        for place, (one, pair) in enumerate(found)
    ]


def _measures(
    first: VariantResults, second: VariantResults, names: Mapping[str, Better], is_paired: bool
) -> dict[str, Measure]:
    runs = (*first.runs, *second.runs)
    by_seed = {run.seed: run for run in second.runs}
    pairs = [(run, by_seed[run.seed]) for run in first.runs if run.seed in by_seed] if is_paired else []
    return {
        name: Measure(
            before=[run.value(name) for run in first.runs],
            after=[run.value(name) for run in second.runs],
            pairs=[(one.value(name), other.value(name)) for one, other in pairs],
            apart=f"judged {words}, and verdicts of different judges do not compare"
            if (words := apart_words(run.judges.get(name, ()) for run in runs if not math.isnan(run.value(name))))
            else "",
        )
        for name in names
    }


def _comparison(
    one: Difference,
    pair: tuple[VariantResults, VariantResults],
    better: Better,
    threshold: float,
    p_holm: float,
    interval: Interval,
) -> StatisticalComparison:
    first, second = (side.variant_name for side in pair)
    significant = None if math.isnan(p_holm) else p_holm <= LEVEL
    favours = None
    if significant and better != "neither":
        favours = second if (one.difference > 0) == (better == "higher") else first
    larger = max(abs(one.before.mean), abs(one.after.mean))
    is_known = not math.isnan(one.difference)
    return StatisticalComparison(
        metric_name=one.name,
        better=better,
        variant_a=first,
        variant_b=second,
        n_a=one.before.n,
        n_b=one.after.n,
        mean_a=one.before.mean,
        mean_b=one.after.mean,
        difference=one.difference,
        interval=interval,
        p_value=one.welch.p,
        p_holm=p_holm,
        significant=significant,
        practical_difference=abs(one.difference) > threshold * larger if is_known else None,
        paired_p=one.paired.sign_flip.p if one.paired and one.paired.n else None,
        effect_size=one.effect.value,
        detectable=one.detectable,
        runs_needed=one.games_needed,
        favours=favours,
        reason=one.welch.reason,
    )


def measure_label(name: str) -> str:
    """The label of a metric of the rubric; of another measure its name."""
    return DEFINITIONS[name].label if name in DEFINITIONS else name


def winner(found: Sequence[StatisticalComparison], variants: Sequence[str], primary: str) -> str | None:
    """The variant that beats every other one on the primary measure: significantly, and by a practical difference."""
    decisive = [one for one in found if one.metric_name == primary and one.practical_difference]
    for name in variants:
        if sum(one.favours == name for one in decisive) == len(variants) - 1:
            return name
    return None


def recommendation(found: Sequence[StatisticalComparison], best: str | None, primary: str) -> str:
    """One sentence on what to do."""
    label = measure_label(primary)
    if best is not None:
        worse = [measure_label(one.metric_name) for one in _against(found, best)]
        but = f", but weigh that it is worse on {', '.join(worse)}" if worse else ""
        others = ({one.variant_a for one in found} | {one.variant_b for one in found}) - {best}
        than = min(others) if len(others) == 1 else "every other variant"
        return f"Take {best}: it is better on {label} than {than}, beyond luck{but}."
    own = [one for one in found if one.metric_name == primary]
    if all(one.significant is None for one in own):
        return f"No winner: {label} cannot be tested ({own[0].reason})."
    if any(one.significant and not one.practical_difference for one in own):
        return f"No winner: a difference on {label} is real, but too small to matter in practice."
    proven = [one for one in own if one.favours]
    if proven:
        pairs = "; ".join(f"{one.favours} is better than {_other(one)}" for one in proven)
        return f"No winner yet: on {label} {pairs}, but no variant is better than every other beyond luck."
    needed = [one.runs_needed for one in own if one.runs_needed is not None]
    more = f" If it is as large as seen, {max(needed)} runs of each variant would show it." if needed else ""
    return f"No winner yet: the difference on {label} could be luck.{more}"


def _other(one: StatisticalComparison) -> str:
    return one.variant_b if one.favours == one.variant_a else one.variant_a


def reasons(found: Sequence[StatisticalComparison], best: str | None, primary: str) -> list[str]:
    """The reasons for the decision, the primary measure first, then other significant measures."""
    own = [one for one in found if one.metric_name == primary]
    others = [one for one in found if one.metric_name != primary and one.significant]
    lines = [sentence(one) for one in (*own, *others)]
    if best is not None:
        lines += [f"Against it: {sentence(one)}" for one in _against(found, best)]
    return list(dict.fromkeys(lines))


def _against(found: Sequence[StatisticalComparison], best: str) -> Iterator[StatisticalComparison]:
    yield from (one for one in found if one.favours not in (None, best) and best in (one.variant_a, one.variant_b))


def sentence(one: StatisticalComparison) -> str:
    """A comparison in words."""
    name = f"{measure_label(one.metric_name)}, {one.variant_a} against {one.variant_b}"
    if math.isnan(one.difference):
        unknown = [side for side, n in ((one.variant_a, one.n_a), (one.variant_b, one.n_b)) if not n]
        return f"{name}: " + (
            f"not known of {' and of '.join(unknown)}." if unknown else f"not compared: {one.reason}."
        )
    means = (
        f"{name}: {significant_text(one.mean_a)} ({counted(one.n_a, 'run')}) and "
        f"{significant_text(one.mean_b)} ({counted(one.n_b, 'run')})"
    )
    practical = "a practical difference" if one.practical_difference else "no practical difference"
    if one.significant is None:
        return f"{means}, {practical}; no test is possible: {one.reason}."
    verdict = "significant" if one.significant else "not significant"
    adjusted = f", {p_words(one.p_holm)} after Holm's adjustment" if one.p_holm != one.p_value else ""
    p_values = f"p {p_words(one.p_value)}{adjusted}"
    return f"{means}, {practical}, {verdict} ({p_values})."
