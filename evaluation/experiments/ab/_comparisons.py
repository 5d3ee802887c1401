"""Compare the variants of an A/B test: the better one, the difference, and whether the runs suffice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from evaluation.experiments.ab.config import Better
from evaluation.experiments.ab.results import RunResult, StatisticalComparison, VariantResults
from evaluation.statistics import Difference, holm
from evaluation.statistics.comparison import Measure, compare
from evaluation.statistics.tests import LEVEL
from evaluation.statistics.words import p_words
from evaluation.text.display import significant_text

_LONGEST_REASON = 200


def comparisons(
    variants: Mapping[str, VariantResults], measures: Mapping[str, Better], *, threshold: float, is_paired: bool
) -> list[StatisticalComparison]:
    """Every pair of variants on every measure; Holm's adjustment runs over all of them.

    Args:
        variants: By name.
        measures: By name, with the better direction.
        threshold: The share of the larger mean from which on a difference is practical.
        is_paired: Whether runs with the same seed belong together.
    """
    found = [
        _comparison(one, (first, second), measures[one.name], threshold)
        for first, second in combinations(variants.values(), 2)
        for one in compare(_measures(first, second, measures, is_paired)).differences
    ]
    adjusted = holm(one.p_value for one in found)
    return [_judged(one, p) for one, p in zip(found, adjusted, strict=True)]


def _measures(
    first: VariantResults, second: VariantResults, names: Mapping[str, Better], is_paired: bool
) -> dict[str, Measure]:
    by_seed = {run.seed: run for run in second.runs}
    pairs = [(run, by_seed[run.seed]) for run in first.runs if run.seed in by_seed] if is_paired else []
    return {
        name: Measure(
            before=[run.value(name) for run in first.runs],
            after=[run.value(name) for run in second.runs],
            pairs=[(one.value(name), other.value(name)) for one, other in pairs],
        )
        for name in names
    }


def _comparison(
    one: Difference, pair: tuple[VariantResults, VariantResults], better: Better, threshold: float
) -> StatisticalComparison:
    first, second = pair
    larger = max(abs(one.before.mean), abs(one.after.mean))
    is_known = not math.isnan(one.difference)
    return StatisticalComparison(
        metric_name=one.name,
        better=better,
        variant_a=first.variant_name,
        variant_b=second.variant_name,
        n_a=one.before.n,
        n_b=one.after.n,
        mean_a=one.before.mean,
        mean_b=one.after.mean,
        difference=one.difference,
        interval=one.interval,
        p_value=one.welch.p,
        p_holm=math.nan,
        significant=None,
        practical_difference=abs(one.difference) > threshold * larger if is_known else None,
        paired_p=one.paired.sign_flip.p if one.paired and one.paired.n else None,
        effect_size=one.effect.value,
        detectable=one.detectable,
        runs_needed=one.games_needed,
        favours=None,
        reason=one.welch.reason,
    )


def _judged(one: StatisticalComparison, p_holm: float) -> StatisticalComparison:
    if math.isnan(p_holm):
        return one
    is_significant = p_holm <= LEVEL
    favours = None
    if is_significant and one.better != "neither":
        favours = one.variant_b if (one.difference > 0) == (one.better == "higher") else one.variant_a
    return replace(one, p_holm=p_holm, significant=is_significant, favours=favours)


def winner(found: Sequence[StatisticalComparison], variants: Sequence[str], primary: str) -> str | None:
    """The variant that beats every other one on the primary measure: significantly, and by a practical difference."""
    decisive = [one for one in found if one.metric_name == primary and one.practical_difference]
    for name in variants:
        if sum(one.favours == name for one in decisive) == len(variants) - 1:
            return name
    return None


def recommendation(found: Sequence[StatisticalComparison], best: str | None, primary: str) -> str:
    """One sentence on what to do."""
    if best is not None:
        worse = [one.metric_name for one in _against(found, best)]
        but = f", but weigh that it is worse on {', '.join(worse)}" if worse else ""
        return f"Take {best}: it is better on {primary} than every other variant{but}."
    own = [one for one in found if one.metric_name == primary]
    if all(one.significant is None for one in own):
        return f"No winner: {primary} cannot be tested ({own[0].reason})."
    if any(one.significant and not one.practical_difference for one in own):
        return f"No winner: a difference on {primary} is real, but too small to matter in practice."
    needed = [one.runs_needed for one in own if one.runs_needed is not None]
    more = f" A difference as large as seen would take {max(needed)} runs of each variant." if needed else ""
    return f"No winner: the runs show no difference on {primary} that chance alone would not.{more}"


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
    name = f"{one.metric_name}, {one.variant_a} against {one.variant_b}"
    if math.isnan(one.difference):
        unknown = [side for side, n in ((one.variant_a, one.n_a), (one.variant_b, one.n_b)) if not n]
        return f"{name}: not known of {' and of '.join(unknown)}."
    means = (
        f"{name}: {significant_text(one.mean_a)} ({one.n_a} runs) and {significant_text(one.mean_b)} ({one.n_b} runs)"
    )
    practical = "a practical difference" if one.practical_difference else "no practical difference"
    if one.significant is None:
        return f"{means}, {practical}; no test is possible: {one.reason}."
    verdict = "significant" if one.significant else "not significant"
    p_values = f"p {p_words(one.p_value)}, {p_words(one.p_holm)} after Holm's adjustment"
    return f"{means}, {practical}, {verdict} ({p_values})."


def unscored_checks(runs: Sequence[RunResult]) -> list[str]:
    """The number of checks without a score, with the commonest reason; empty when all have one."""
    checks = [one for run in runs for one in run.validations]
    unscored = Counter(str(one["explanation"])[:_LONGEST_REASON] for one in checks if one["score"] is None)
    if not unscored:
        return []
    reason, count = unscored.most_common(1)[0]
    return [f"{unscored.total()} of {len(checks)} checks have no score; {count} of them: {reason.rstrip('.')}."]


def passed_share(runs: Sequence[RunResult]) -> float | None:
    """Passed over scored checks of all runs together; skipped ones and those without a score do not count."""
    verdicts = [bool(one["passed"]) for run in runs for one in run.validations if one["passed"] is not None]
    return sum(verdicts) / len(verdicts) if verdicts else None
