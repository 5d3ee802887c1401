"""A study in words and tables: Table 1 beside a report in its layout, and an A/B test's variants, measures and runs.

Names of variants, measures and reasons are untrusted text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files

from pydantic import BaseModel

from evaluation.experiments.experiment import ExperimentPlan
from evaluation.experiments.results import (
    Activity,
    RunResult,
    Side,
    StatisticalComparison,
    StudyResult,
    VariantResults,
    measure_label,
    verdicts,
)
from evaluation.experiments.study import Study
from evaluation.files.bundled import parse_yaml
from evaluation.judging.propositions import Dimension
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.score import AT_CHANCE
from evaluation.statistics.intervals import LEVEL as LEVEL_OF_INTERVALS
from evaluation.statistics.intervals import Interval, proportion_interval
from evaluation.statistics.significance import LEVEL
from evaluation.statistics.words import outcome_counts, p_words, percent_interval
from evaluation.text.display import cost_text, counted, listed, significant_text


class PublishedRow(BaseModel):
    """One printed row; means and deviations are rounded to two digits.

    Attributes:
        dimension: Which of ours it is.
        key: The name of its scores in the raw file.
        p_value: As printed, "0.050" or "<0.001".
    """

    dimension: Dimension
    key: str
    treatment_mean: float
    treatment_sd: float
    control_mean: float
    control_sd: float
    difference: float
    p_value: str

    @property
    def direction(self) -> int:
        """1 or -1 for a mean that rose or fell beyond luck, 0 for one that may have done so by luck."""
        is_luck = float(self.p_value.lstrip("<")) > LEVEL
        return 0 if is_luck else 1 if self.difference > 0 else -1


class PublishedExperiment(BaseModel):
    """One experiment of the table.

    Attributes:
        name: Its number in the paper: "1", "2.1", "2.2" or "3".
        file: The name of the raw file.
    """

    name: str
    setting: str
    treatment: str
    file: str
    rows: tuple[PublishedRow, ...]


@cache
def published_experiments() -> tuple[PublishedExperiment, ...]:
    """The four experiments with their 19 rows, in the paper's order."""
    content = parse_yaml(files("evaluation.experiments").joinpath("table1_published.yaml").read_text("utf-8"))
    return tuple(map(PublishedExperiment.model_validate, content["experiments"]))


def published_rows(plan: ExperimentPlan) -> dict[str, PublishedRow]:
    """The paper's rows of an experiment by dimension; none for a script, which says nothing about agents."""
    name = None if plan.is_scripted else plan.scenario.published
    return {row.dimension: row for one in published_experiments() if one.name == name for row in one.rows}


class DirectionAgreement(StrEnum):
    """Whether the direction of a difference agrees with the published one, whatever its size.

    ``undecided``: the difference of this run may be chance, so its direction says nothing.
    """

    SAME = "same direction"
    OPPOSITE = "opposite direction"
    UNDECIDED = "undecided"
    UNPUBLISHED = "not in the paper"
    UNKNOWN = "cannot be compared"


def direction(found: StatisticalComparison, published: PublishedRow | None) -> DirectionAgreement:
    """The verdict on a difference: on its direction only."""
    if published is None:
        return DirectionAgreement.UNPUBLISHED
    if math.isnan(found.difference):
        return DirectionAgreement.UNKNOWN
    if not found.significant:
        return DirectionAgreement.UNDECIDED
    is_same = (found.difference > 0) == (published.difference > 0)
    return DirectionAgreement.SAME if is_same else DirectionAgreement.OPPOSITE


SCRIPTED_NOTE = (
    "A rehearsal, not a result: a script spoke and judged in place of a language model. It tests the pipeline and says "
    "nothing about any agent."
)
CAVEAT = (
    "Scores of agents in one conversation, and of one persona in several, are alike, so Welch's test takes them for "
    "more evidence than they are; the cluster-robust p counts each persona (each pair of conversations) once. Only the "
    "direction is compared with the paper: another model, other agents, other judges."
)
NO_VALUE = "–"

Row = dict[str, str]
Comparisons = Sequence[StatisticalComparison]


# Experiments.


def finding_words(rows: Comparisons) -> str:
    """The report in a sentence: "With the treatment: Ideas higher beyond luck; 4 other differences could be luck." """
    proven = [f"{row.label} {row_words(row)}" for row in rows if row.favours]
    counts = Counter(row_words(row) for row in rows if not row.favours)
    kind = "other difference" if proven else "difference"
    others = listed([f"{counted(number, kind)} {words}" for words, number in counts.items()])
    if not proven:
        return f"No effect of the treatment beyond luck: {'all ' if len(counts) == 1 < len(rows) else ''}{others}."
    return f"With the treatment: {'; '.join(filter(None, (listed(proven), others)))}."


def row_words(row: StatisticalComparison) -> str:
    """The verdict on a difference: "higher beyond luck", "could be luck". More is not better in each of the paper."""
    return row.words.replace("better", "higher").replace("worse", "lower")


_DIRECTION_WORDS = {
    DirectionAgreement.SAME: "the same way here",
    DirectionAgreement.OPPOSITE: "the other way here",
    DirectionAgreement.UNDECIDED: "could be luck here",
    DirectionAgreement.UNKNOWN: "cannot be compared",
}


def verdict_words(studies: Iterable[Study]) -> str:
    """The verdicts of experiments in a sentence; empty where the paper has no row of theirs."""
    counts = Counter(
        direction(row, published.get(row.metric_name))
        for study in studies
        for published in [published_rows(study.experiment)]
        for row in study.result.comparisons
    )
    told = [f"{counts[each]} {words}" for each, words in _DIRECTION_WORDS.items() if counts[each]]
    if not told:
        return ""
    compared = counted(sum(counts[each] for each in _DIRECTION_WORDS), "difference")
    return f"Of {compared} in the paper: {', '.join(told)}. Only directions are compared, not sizes."


def activity_words(result: StudyResult) -> str:
    """Tell in a sentence how often the treatment of an experiment took effect; empty before its end."""
    own = result.activity.get(Side.TREATMENT)
    if not result.comparisons or own is None:
        return ""
    parts = [f"{part} {counted(number, 'time')}" for part, number in own.fired.items() if number]
    if not parts:
        return "It never took effect, so the two sides differ by chance alone. More steps may help."
    return f"In {counted(own.messages, 'message')} it took effect: {listed(parts)}."


def activity_cells(study: Study) -> list[Row]:
    """The effects of corrections on both sides, and what that cost; none before the end.

    A treatment without a gate has no rows about one.
    """
    treatment, control = (study.result.activity.get(side) for side in (Side.TREATMENT, Side.CONTROL))
    if not study.result.comparisons or treatment is None or control is None:
        return []

    def row(label: str, cell: Callable[[Activity], str]) -> Row:
        return {"What happened": label, "Treatment": cell(treatment), "Control": cell(control)}

    gate = {"Checked by the gate": "checked", "Sent back at first": "sent_back", "Corrected": "corrected"}
    counts = {"Messages by agents": "messages", **(gate if treatment.checked else {})}
    return [
        *(row(label, partial(_count, name)) for label, name in counts.items()),
        *(
            row(f"Stepped in: {part}", partial(_fired, part))
            for part in dict.fromkeys((*treatment.looked, *control.looked))
        ),
        row("Calls to the model", partial(_count, "calls")),
        row("Cost in US dollars", lambda one: "not known" if one.unpriced_calls else f"{one.cost_usd:.4f}"),
    ]


def _count(name: str, activity: Activity) -> str:
    return f"{getattr(activity, name):,}"


def _fired(part: str, activity: Activity) -> str:
    return f"{activity.fired[part]:,} of {counted(activity.looked[part], 'check')}"


def report_cells(study: Study) -> list[Row]:
    """The report by column in the layout of Table 1; the paper's values beside ours, where it has any."""
    published = published_rows(study.experiment)
    found = []
    for row in study.result.comparisons:
        cells = {
            "Dimension": row.label,
            "Treatment": _mean_cell(row.mean_b, row.sd_b),
            "Control": _mean_cell(row.mean_a, row.sd_a),
            "Difference": _change_cell(row.difference),
            "95 % interval": f"{row.interval.low:+z.2f} to {row.interval.high:+z.2f}"
            if row.interval.low is not None and row.interval.high is not None
            else row.interval.note or NO_VALUE,
            "Effect of the treatment": row_words(row),
            "n": f"{row.n_b} / {row.n_a}",
            "p": _p_cell(row.p_value),
            "p (Holm)": _p_cell(row.p_holm),
            "p (clusters)": _p_cell(row.p_clustered),
            "d": _change_cell(row.effect_size),
        }
        if theirs := published.get(row.metric_name):
            cells |= {"Direction": direction_cell(direction(row, theirs)), **_paper_cells(theirs)}
        found.append(cells)
    return found


def direction_cell(verdict: DirectionAgreement) -> str:
    """The verdict on a direction, with the symbol that colours it."""
    words = {"same direction": "✓ same", "opposite direction": "✗ opposite", "undecided": "– could be luck"}
    return words.get(verdict, verdict)


def table1_cells() -> list[Row]:
    """The paper's 19 rows by column."""
    return [
        {"Experiment": experiment.name, "Dimension": measure_label(row.dimension), **_paper_cells(row)}
        for experiment in published_experiments()
        for row in experiment.rows
    ]


def _paper_cells(row: PublishedRow) -> Row:
    return {
        "Paper: treatment": _mean_cell(row.treatment_mean, row.treatment_sd),
        "Paper: control": _mean_cell(row.control_mean, row.control_sd),
        "Paper: difference": _change_cell(row.difference),
        "Paper: p": row.p_value,
    }


def _mean_cell(mean: float, sd: float) -> str:
    """ "5.81 (1.66)"; a dash where there is nothing."""
    return NO_VALUE if math.isnan(mean) else f"{mean:.2f} ({NO_VALUE if math.isnan(sd) else f'{sd:.2f}'})"


def _change_cell(value: float) -> str:
    return NO_VALUE if math.isnan(value) else f"{value:+z.2f}"


def _p_cell(value: float) -> str:
    return NO_VALUE if math.isnan(value) else p_words(value)


def missing_words(rows: Comparisons) -> str:
    """The dimensions of which scores are missing, in a sentence; empty where none is."""
    lost = [f"{row.label}: {row.unscored}" for row in rows if row.unscored]
    return f"Scores that are missing: {', '.join(lost)}." if lost else ""


# A/B tests.


def runs_by_status(runs: Iterable[RunResult]) -> str:
    """Number of runs by status, skipped ones by their reason: "2 done, 1 failed, 6 skipped: budget"."""
    counts = Counter(_status(run) for run in runs)
    ordered = sorted(counts, key=lambda status: (list(_SYMBOLS).index(status.split(":")[0]), status))
    return ", ".join(f"{counts[status]} {status}" for status in ordered) or "none"


_SYMBOLS = {"done": "✓", "failed": "✗", "skipped": "–"}


def _status(run: RunResult) -> str:
    return f"skipped: {run.detail}" if run.status == "skipped" and run.detail else run.status


def variant_cells(one: VariantResults) -> Row:
    """A variant: its runs by status, checks that passed, and the mean of every measure.

    The interval of the share of checks is Wilson's, as if they were independent.
    """
    found = verdicts(one.runs)
    passed = significant_text(None)
    if found:
        interval = percent_interval(proportion_interval(sum(found), len(found)))
        passed = f"{100 * sum(found) / len(found):.0f} % ({sum(found)} of {len(found)}), {interval}"
    means = {f"Mean {measure_label(name)}": significant_text(value) for name, value in one.avg_metrics.items()}
    return {"Variant": one.variant_name, "Runs": runs_by_status(one.runs), "Checks passed": passed, **means}


def run_cells(run: RunResult) -> Row:
    """A run: variant, number, seed, status with its reason, and cost."""
    status = f"failed: {run.detail}" if run.status == "failed" else _status(run)
    return {
        "Variant": run.variant,
        "Run": str(run.run_index + 1),
        "Seed": str(run.seed),
        "Status": f"{_SYMBOLS[run.status]} {status}",
        "Cost": cost_text(run.activity.known_usd),
    }


def comparison_cells(one: StatisticalComparison, *, is_only_pair: bool) -> Row:
    """A pair of variants and a measure, b minus a; an only pair stands under the variants' names."""
    first, second = one.variant_a, one.variant_b
    columns = (f"{first} (runs)", f"{second} (runs)", "Difference")
    if not is_only_pair:
        columns = ("Mean of A (runs)", "Mean of B (runs)", "B minus A")
    values = (
        f"{significant_text(one.mean_a)} ({one.n_a})",
        f"{significant_text(one.mean_b)} ({one.n_b})",
        significant_text(one.difference, signed=True),
    )
    return {
        "Measure": one.label,
        "Better": one.favours or ("≈ " * (one.doubt == AT_CHANCE) + (one.doubt or "neither")),
        **({} if is_only_pair else {"A": first, "B": second}),
        **dict(zip(columns, values, strict=True)),
        "Interval": _interval(one.interval),
        "Effect size": significant_text(one.effect_size, signed=True),
        "p": p_words(one.p_value),
        "p (Holm)": p_words(one.p_holm),
        "Significant": {True: "yes" if one.doubt else "✓ yes", False: "no", None: "untestable"}[one.significant],
        "Practical": {True: "yes", False: "no", None: "untestable"}[one.practical_difference],
        "Detectable": significant_text(one.detectable),
    }


def _interval(interval: Interval) -> str:
    """Intervals at another level than 95 %, as the adjustment asks for, say so."""
    low, high = interval.low, interval.high
    if low is None or high is None:
        return interval.note or significant_text(None)
    at = "" if math.isclose(interval.level, LEVEL_OF_INTERVALS) else f" ({100 * interval.level:.1f} %)"
    return f"{significant_text(low, signed=True)} to {significant_text(high, signed=True)}{at}"


def basis_words(result: StudyResult) -> str:
    """The figures that the recommendation rests on, in sentences; empty where that is not known."""
    own = [one for one in result.comparisons if one.metric_name == result.primary]
    if not own:
        return ""
    metric, means = DEFINITIONS.get(result.primary), {}
    for one in own:
        for name, mean, n in ((one.variant_a, one.mean_a, one.n_a), (one.variant_b, one.mean_b, one.n_b)):
            value = significant_text(mean) if metric is None or math.isnan(mean) else score_words(metric, mean)
            means[name] = f"{name} {value} ({counted(n, 'run')})"
    told = f"{own[0].label}: {listed(list(means.values()))}."
    others = [one for one in result.comparisons if one.metric_name != result.primary]
    proven = [one for one in others if one.significant and not one.doubt]
    beyond = [f"beyond luck on {listed(list(dict.fromkeys(one.label for one in proven)))}"] if proven else []
    found = outcome_counts(beyond, [one.words for one in others if one not in proven])
    return f"{told} Other differences: {found}." if found else told
