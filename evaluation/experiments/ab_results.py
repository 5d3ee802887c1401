"""Runs of an A/B test, what they add up to for each variant, the winner with its reasons, and the tables of these."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

from evaluation.judged_by import Judges, apart_words
from evaluation.rubric.control_words import is_at_chance
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.score import AT_CHANCE
from evaluation.statistics.comparison import Difference, Measure, compare, holm
from evaluation.statistics.intervals import Interval, proportion_interval
from evaluation.statistics.tests import LEVEL
from evaluation.statistics.words import p_words, percent_interval
from evaluation.text.display import cost_text, counted, listed, significant_text

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
        leads: How far a score lies above that of scrambled copies, by measure; without those that were not compared.
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
    leads: Mapping[str, float] = field(default_factory=dict)

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
        reason: Why no test is possible, or that the variant that looks better is no better than scrambled copies; else
            empty.
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
            at_chance=(_is_at_chance(first, name), _is_at_chance(second, name)),
        )
        for name in names
    }


def _is_at_chance(variant: VariantResults, measure: str) -> bool:
    return is_at_chance(run.leads.get(measure) for run in variant.runs)


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
        favours = pair[(one.difference > 0) == (better == "higher")]
    at_chance = [_is_at_chance(side, one.name) for side in pair]
    seems_better = at_chance[one.difference > 0]
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
        favours=None if seems_better or favours is None else favours.variant_name,
        reason=AT_CHANCE if seems_better else one.welch.reason,
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
    if any(one.reason == AT_CHANCE for one in own):
        return f"No winner: {label} is {AT_CHANCE}."
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
    if one.reason == AT_CHANCE:
        return f"{means}; {AT_CHANCE}."
    practical = "a practical difference" if one.practical_difference else "no practical difference"
    if one.significant is None:
        return f"{means}, {practical}; no test is possible: {one.reason}."
    verdict = "significant" if one.significant else "not significant"
    adjusted = f", {p_words(one.p_holm)} after Holm's adjustment" if one.p_holm != one.p_value else ""
    p_values = f"p {p_words(one.p_value)}{adjusted}"
    return f"{means}, {practical}, {verdict} ({p_values})."


NOT_KNOWN = significant_text(None)
LEVEL_OF_INTERVALS = 0.95
"""Intervals at another level, as the adjustment asks for, say so."""

BETTER_COLUMN = "Better beyond luck"
"""The column of what the tests of a measure show."""

_Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class ABSummary:
    """A result in words; names of variants, measures and reasons are untrusted text.

    Attributes:
        basis: What the recommendation rests on, in sentences; empty where that is not known.
        measures: One row for each measure by its name, the deciding one first: which variant is better beyond luck, and
            every mean.
        runs: All runs by status: "2 done, 6 skipped: budget".
        spent: What runs and judging cost, in US dollars.
        variants: One row for each variant: runs by status, checks that passed, and the mean of every measure.
        comparisons: One row for each pair of variants and measure, b minus a; of one pair under the variants' names.
        every_run: One row for each run: variant, number, seed, status with its reason, and cost.
        games: Stored transcripts by the run that each is: "short answers, run 2".
    """

    basis: str
    measures: dict[str, _Row]
    runs: str
    spent: str
    variants: list[_Row]
    comparisons: list[_Row]
    every_run: list[_Row]
    games: Mapping[str, str]


def ab_summary(results: Mapping[str, Any]) -> ABSummary:
    """The result in words.

    Args:
        results: As ``ABTestResult.as_dict`` gives them.
    """
    variants = list(results.get("variants", {}).values())
    runs = [run for one in variants for run in one["runs"]]
    measures: dict[str, list[Mapping[str, Any]]] = {}
    primary = results.get("primary")
    for one in sorted(results.get("comparisons", []), key=lambda one: one["metric_name"] != primary):
        measures.setdefault(one["metric_name"], []).append(one)
    return ABSummary(
        basis=_basis(measures, primary),
        measures={name: _measure(name, pairs) for name, pairs in measures.items()},
        runs=runs_by_status(runs),
        spent=cost_text(results.get("spent_usd")),
        variants=[_variant(one) for one in variants],
        comparisons=[_pair_row(one, is_only_pair=len(variants) == 2) for one in results.get("comparisons", [])],
        every_run=[_run(run) for run in runs],
        games={
            run["reference"]: f"{run['variant']}, run {run['run_index'] + 1}" for run in runs if run.get("reference")
        },
    )


def runs_by_status(runs: Iterable[Mapping[str, Any]]) -> str:
    """Number of runs by status, skipped ones by their reason: "2 done, 1 failed, 6 skipped: budget"."""
    counts = Counter(_status(run) for run in runs)
    ordered = sorted(counts, key=lambda status: (list(_SYMBOLS).index(status.split(":")[0]), status))
    return ", ".join(f"{counts[status]} {status}" for status in ordered) or "none"


_SYMBOLS = {"done": "✓", "failed": "✗", "skipped": "–"}


def _status(run: Mapping[str, Any]) -> str:
    return f"skipped: {run['detail']}" if run["status"] == "skipped" and run["detail"] else str(run["status"])


def _variant(one: Mapping[str, Any]) -> _Row:
    means = {f"Mean {measure_label(name)}": significant_text(value) for name, value in one["avg_metrics"].items()}
    return {
        "Variant": one["variant_name"],
        "Runs": runs_by_status(one["runs"]),
        "Checks passed": _pass_rate(one.get("checks_passed"), one.get("checks_scored")),
        **means,
    }


def _pass_rate(passed: int | None, scored: int | None) -> str:
    """ "75 % (6 of 8), 41 to 93 %": the interval is Wilson's, over checks as if they were independent."""
    if passed is None or not scored:
        return NOT_KNOWN
    interval = percent_interval(proportion_interval(passed, scored))
    return f"{100 * passed / scored:.0f} % ({passed} of {scored}), {interval}"


def _pair_row(one: Mapping[str, Any], *, is_only_pair: bool) -> _Row:
    first, second = one["variant_a"], one["variant_b"]
    columns = ("Mean of A (runs)", "Mean of B (runs)", "B minus A")
    if is_only_pair:
        columns = (f"{first} (runs)", f"{second} (runs)", "Difference")
    values = (
        f"{significant_text(one['mean_a'])} ({one['n_a']})",
        f"{significant_text(one['mean_b'])} ({one['n_b']})",
        significant_text(one["difference"], signed=True),
    )
    return {
        "Measure": measure_label(one["metric_name"]),
        "Better": one["favours"] or "neither",
        **({} if is_only_pair else {"A": first, "B": second}),
        **dict(zip(columns, values, strict=True)),
        "Interval": _interval(one["interval"]),
        "Effect size": significant_text(one.get("effect_size"), signed=True),
        "p": _p(one.get("p_value")),
        "p (Holm)": _p(one["p_holm"]),
        "Significant": {True: "✓ yes", False: "no", None: "untestable"}[one["significant"]],
        "Practical": {True: "yes", False: "no", None: "untestable"}[one["practical_difference"]],
        "Detectable": significant_text(one.get("detectable")),
    }


def _basis(measures: Mapping[str, Sequence[Mapping[str, Any]]], primary: str | None) -> str:
    own = measures.get(primary or "", ())
    if not own:
        return ""
    means = {
        one[f"variant_{side}"]: f"{_mean(one, side)} ({counted(one[f'n_{side}'], 'run')})"
        for one in own
        for side in ("a", "b")
    }
    told = f"{measure_label(str(primary))}: {listed([f'{name} {mean}' for name, mean in means.items()])}."
    others = [name for name in measures if name != primary]
    proven = [
        name for name in others if any(one["significant"] and one.get("reason") != AT_CHANCE for one in measures[name])
    ]
    if proven:
        return f"{told} Differences beyond luck on other measures: {listed(list(map(measure_label, proven)))}."
    return f"{told} No difference beyond luck on {counted(len(others), 'other measure')}." if others else told


def _measure(name: str, pairs: Sequence[Mapping[str, Any]]) -> _Row:
    means = {one[f"variant_{side}"]: _mean(one, side) for one in pairs for side in ("a", "b")}
    return {"Measure": measure_label(name), BETTER_COLUMN: _shown_by(pairs), **means}


def _mean(one: Mapping[str, Any], side: str) -> str:
    """With its unit, where the measure is a metric of the rubric."""
    value, metric = one[f"mean_{side}"], DEFINITIONS.get(one["metric_name"])
    return significant_text(value) if metric is None or value is None else score_words(metric, value)


def _shown_by(pairs: Sequence[Mapping[str, Any]]) -> str:
    """The result of the tests of one measure together: the differences beyond luck; where there is none, why not."""
    if any(one.get("reason") == AT_CHANCE for one in pairs):
        return f"≈ {AT_CHANCE}"
    proven = [_proven_words(one, has_others=len(pairs) > 1) for one in pairs if one["significant"]]
    if proven:
        is_decided = any(one["significant"] and one["practical_difference"] and one["favours"] for one in pairs)
        return f"{'✓' if is_decided else '–'} {', '.join(proven)}"
    return "? cannot be tested" if all(one["significant"] is None for one in pairs) else "– could be luck"


def _proven_words(one: Mapping[str, Any], *, has_others: bool) -> str:
    names = one["variant_a"], one["variant_b"]
    better = one["favours"]
    if not one["practical_difference"]:
        return f"{' and '.join(names)} differ too little to matter"
    if not better:
        return f"{' and '.join(names)} differ, neither is better"
    return f"{better} (than {names[better == names[0]]})" if has_others else str(better)


def _interval(interval: Mapping[str, Any]) -> str:
    low, high = interval.get("low"), interval.get("high")
    if low is None or high is None:
        return str(interval.get("note") or NOT_KNOWN)
    level = interval.get("level") or LEVEL_OF_INTERVALS
    at = "" if math.isclose(level, LEVEL_OF_INTERVALS) else f" ({100 * level:.1f} %)"
    return f"{significant_text(low, signed=True)} to {significant_text(high, signed=True)}{at}"


def _p(value: float | None) -> str:
    return p_words(math.nan if value is None else value)


def _run(run: Mapping[str, Any]) -> _Row:
    status = f"failed: {run['detail']}" if run["status"] == "failed" else _status(run)
    return {
        "Variant": run["variant"],
        "Run": str(run["run_index"] + 1),
        "Seed": str(run["seed"]),
        "Status": f"{_SYMBOLS[run['status']]} {status}",
        "Cost": cost_text(run["cost_usd"]),
    }
