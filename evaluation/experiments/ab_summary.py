"""The tables of an A/B test's result: what the command line, Markdown and the page show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.experiments.ab_results import measure_label
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.statistics.intervals import proportion_interval
from evaluation.statistics.words import p_words, percent_interval
from evaluation.text.display import cost_text, counted, listed, significant_text

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
        comparisons=[_comparison(one, is_only_pair=len(variants) == 2) for one in results.get("comparisons", [])],
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


def _comparison(one: Mapping[str, Any], *, is_only_pair: bool) -> _Row:
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
    proven = [name for name in others if any(one["significant"] for one in measures[name])]
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
