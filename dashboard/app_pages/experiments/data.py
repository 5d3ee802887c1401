"""Tables for the Experiments page: runs, reports, Table 1 and A/B tests. Independent of Streamlit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean
from typing import Any

from dashboard.shared.clicked_marks import MarkTarget, MarkTargets
from dashboard.shared.local_time import local_time
from evaluation.escaping import cut
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.estimate import Estimate
from evaluation.experiments.plan import (
    AB_TEST,
    EXPERIMENT,
    ExperimentRecord,
    ExperimentStatus,
    Side,
    StudyRun,
    joined,
    scenarios,
)
from evaluation.experiments.report import LEVEL, DirectionAgreement, direction_cell, row_words, verdict_words
from evaluation.experiments.table1 import (
    NO_VALUE,
    PUBLISHED_NAMES,
    published_experiments,
)
from evaluation.files.yaml_files import parse_model
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import LABELS
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.score import AT_CHANCE, PERCENT
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import change_words
from evaluation.store import Store
from evaluation.text.display import counted, fixed, listed
from evaluation.workflows.ab_tests import estimate_ab_test

_COULD_BE_LUCK = "could be luck"
_MOST_RUNS = 200
_LONGEST_NAME = 16


@dataclass(frozen=True, slots=True)
class ShownRun:
    """An experiment with how far it is.

    Attributes:
        sessions: Its conversations as far as they are stored.
        evaluated: How many of them are evaluated.
        wanted: How many there will be.
    """

    record: ExperimentRecord
    sessions: tuple[StudyRun, ...]
    evaluated: int
    wanted: int

    @property
    def status(self) -> str:
        """In words; whether a running one still runs is told by its job."""
        words = {ExperimentStatus.COMPLETED: "✓ done", ExperimentStatus.FAILED: "✗ failed"}
        progress = f"{self.evaluated} of {self.wanted} conversations"
        return words.get(self.record.status, f"… {self.record.status}: {progress}")

    @property
    def title(self) -> str:
        """The speaker, the scenario, when it began, and its status while it is not done; untrusted text."""
        record = self.record
        speaker = "Script" if record.is_scripted else str(record.config["model"])
        status = "" if record.status == ExperimentStatus.COMPLETED else f", {self.status}"
        return f"{speaker}: {record.name}, {local_time(record.created_at)}{status}"

    @property
    def trouble(self) -> str:
        """Why it stopped or failed; may hold what a server said."""
        return str((self.record.results or {}).get("error") or self.record.stopped)


def shown_runs(store: Store) -> list[ShownRun]:
    """The latest experiments, the newest first; A/B tests and what else has no scenario are left out."""
    with store.unit():
        found = store.experiments.all(EXPERIMENT)[:_MOST_RUNS]
        return [_shown(store, each) for each in found]


def _shown(store: Store, record: ExperimentRecord) -> ShownRun:
    runs = joined(store.experiments.runs(record.id))
    sessions = tuple([run for run in runs if run.transcript_id])
    return ShownRun(
        record,
        sessions,
        sum(bool(run.scores) for run in runs),
        int(record.config.get("conversations") or 0) or len(sessions),
    )


_TREATMENTS = {
    "action correction": "a message that falls short is written again before it is sent",
    "variety intervention": "agents are asked for something new when no new idea comes",
}


def treatment_words(treatment: str) -> str:
    """A scenario's treatment with what the built-in ones do: "variety intervention (agents are asked ...)"."""
    for name, meaning in _TREATMENTS.items():
        treatment = treatment.replace(name, f"{name} ({meaning})")
    return treatment


def session_names(run: ShownRun) -> dict[str, str]:
    """A readable name for each stored conversation, by transcript: "pair 3, treatment"."""
    ordered = sorted(run.sessions, key=lambda run: (run.unit, run.arm))
    return {run.transcript_id: f"pair {run.unit + 1}, {run.arm}" for run in ordered}


def table1_directions(runs: Sequence[ShownRun]) -> list[tuple[str, list[dict[str, str]], list[str]]]:
    """The directions of the paper's differences, and those of our latest runs by a model where there are any.

    Returns:
        Titles and tables: one row per experiment, one column per dimension, "▼ 0.92" for lower with corrections; ours
        begin with a symbol for the same or the opposite direction. With each table the ids of the runs of its rows,
        none for the paper's.
    """
    latest = _latest_by_experiment(runs)
    ours = {
        (name, row["paper_label"]): _our_arrow(row)
        for name, run in latest.items()
        for row in run.record.rows
        if row["published"]
    }
    shown = [("In the paper", _matrix(_published_cells()), list[str]())]
    if ours:
        shown.append(
            (
                "Here, in the latest runs",
                _matrix(ours),
                [latest[name].record.id for name in dict.fromkeys(name for name, _ in ours)],
            )
        )
    return shown


def _published_cells() -> dict[tuple[str, str], str]:
    return {
        (experiment.name, row.dimension): _COULD_BE_LUCK if float(row.p.lstrip("<")) > LEVEL else _arrow(row.difference)
        for experiment in published_experiments()
        for row in experiment.rows
    }


def published_words() -> str:
    """Tell in a sentence whether corrections helped in the paper, by its tests."""
    cells = list(_published_cells().values())
    worse, better = (sum(sign in cell for cell in cells) for sign in "▼▲")
    answer = "more often not" if worse > better else "more often than not" if better > worse else "as often as not"
    return f"Did corrections help? In the paper {answer}: {_helped_words(cells)}, of {counted(len(cells), 'mean')}."


def _helped_words(cells: Sequence[str]) -> str:
    """ "10 worse, 5 better and 4 could be luck"; empty without a difference."""
    counts = {
        "worse": sum("▼" in cell for cell in cells),
        "better": sum("▲" in cell for cell in cells),
        _COULD_BE_LUCK: sum(cell == _COULD_BE_LUCK for cell in cells),
    }
    return listed([f"{number} {words}" for words, number in counts.items() if number])


def _our_arrow(row: Mapping[str, Any]) -> str:
    if row["difference"] is None:
        return NO_VALUE
    if row["direction"] == DirectionAgreement.UNDECIDED:
        return _COULD_BE_LUCK
    return f"{direction_cell(row['direction'])[0]} {_arrow(row['difference'])}"


def _arrow(difference: float) -> str:
    return f"{'▲' if difference > 0 else '▼'} {difference:+.2f}".replace("-", "\u2212")


def _matrix(cells: Mapping[tuple[str, str], str]) -> list[dict[str, str]]:
    titles = {each.published: each.title for each in scenarios().values()}
    return [
        {
            "Experiment": f"{name}: {titles[name].removeprefix('Brainstorming, ')}",
            "With corrections": _helped_words([cell for (own, _), cell in cells.items() if own == name]),
        }
        | {LABELS[one]: cells.get((name, label), NO_VALUE) for one, label in PUBLISHED_NAMES.items()}
        for name in dict.fromkeys(name for name, _ in cells)
    ]


def table1_words(runs: Sequence[ShownRun]) -> str:
    """Tell in a sentence how far our latest runs by a model agree with the paper."""
    words = verdict_words([row for run in _latest_by_experiment(runs).values() for row in run.record.rows])
    return words or "No model has run one of the paper's four experiments here, so nothing can be compared yet."


def _latest_by_experiment(runs: Sequence[ShownRun]) -> dict[str, ShownRun]:
    """The latest finished run by a model of each published experiment; a script's says nothing about agents."""
    by_models = [run for run in reversed(runs) if run.record.rows and not run.record.is_scripted]
    return {name: run for run in by_models if (name := run.record.config["scenario"].get("published"))}


def ab_tests(store: Store) -> list[ExperimentRecord]:
    """The A/B tests that were started here or by ``dramaturg ab``, the latest first."""
    return store.experiments.all(AB_TEST)


def example_test() -> str:
    """The configuration of an A/B test of simulated conversations that comes with Dramaturg."""
    return (files("evaluation.experiments") / "ab_simulation.yaml").read_text("utf-8")


def read_ab_test(name: str, content: bytes) -> ABConfig:
    """The A/B test in the content of a file.

    Raises:
        InputError: It has faults: one line ``file:line: field: what is wrong`` for each.
    """
    return parse_model(content, ABConfig, name)


def ab_estimate(store: Store, name: str, content: bytes) -> Estimate:
    """The expected calls of what is left of the test in a file.

    Raises:
        InputError: It has faults, or can give no result.
    """
    test = read_ab_test(name, content)
    return estimate_ab_test(store, test, {})


def is_drawn(measure: str) -> bool:
    """Whether the picture of an A/B test has a measure: a metric in percent."""
    return measure in DEFINITIONS and DEFINITIONS[measure].scale == PERCENT


Row = tuple[dict[str, Any], MarkTargets]
"""A row for ``cockpit_rows.js``, and what its marks open."""


def variant_rows(results: Mapping[str, Any], measures: Iterable[str]) -> list[Row]:
    """The metrics in percent of an A/B test of two variants, in the order of ``measures``; empty for more variants."""
    found = {one["metric_name"]: one for one in results.get("comparisons", [])}
    if len(results.get("variants", {})) != 2:
        return []
    rows = []
    for one in (found[name] for name in filter(is_drawn, measures) if name in found):
        definition = DEFINITIONS[one["metric_name"]]
        sides = [
            [(run["metrics"].get(definition.name), run) for run in results["variants"][one[side]]["runs"]]
            for side in ("variant_a", "variant_b")
        ]
        before, after = ([(value, run) for value, run in side if value is not None] for side in sides)
        words = Outcome.NO_EVIDENCE.words if one["significant"] is not None else Outcome.UNTESTABLE.words
        if one["favours"]:
            is_better = one["favours"] == one["variant_b"]
            words = f"{'▲' if is_better else '▼'} {(Outcome.BETTER if is_better else Outcome.WORSE).words}"
        elif one["reason"] == AT_CHANCE:
            words = AT_CHANCE
        texts = {
            "before": f"{one['variant_a']}: {score_words(definition, one['mean_a'])}",
            "after": f"{one['variant_b']}: {score_words(definition, one['mean_b'])}",
            "current": score_words(definition, one["mean_b"]),
            "change": change_words(_number(one["difference"]), "%"),
            "outcome": words,
        }
        games = [(value, f"{_run_name(run)}: {value:.1f} %", run["reference"]) for value, run in after]
        opened = [run["reference"] for _, run in before]
        span = (one["interval"]["low"], one["interval"]["high"])
        means = (one["mean_a"], one["mean_b"])
        rows.append(_row(definition.label, texts, means, span, 100.0, games, opened, metric=definition.name))
    return rows


def _run_name(run: Mapping[str, Any]) -> str:
    return f"{cut(run['variant'], _LONGEST_NAME)}, run {run['run_index'] + 1}"


def treatment_rows(run: ShownRun) -> list[Row]:
    """The two sides of an experiment in every dimension; each dot is a conversation with the treatment."""
    rows = []
    for row in run.record.rows:
        is_count = row["dimension"] == Dimension.IDEAS_QUANTITY
        means = {
            (one.arm, one.unit): fmean(values)
            for one in run.sessions
            if (
                values := [
                    each.score for each in one.scores if each.dimension == row["dimension"] and each.score is not None
                ]
            )
        }
        span = (row["difference_low"], row["difference_high"])
        most = max(9.0, (row["control_mean"] or 0.0) + (span[1] or 0.0), *means.values()) if is_count else 9.0
        of = "" if is_count else " of 9"
        sign = {"higher": "▲ ", "lower": "▼ "}.get("" if is_count else row["outcome"], "")
        paper = f"paper: {change_words(row['published']['difference'], '')}" if row["published"] else ""
        texts = {
            "before": f"without: {_value(row['control_mean'])}{of}",
            "after": f"with the treatment: {_value(row['treatment_mean'])}{of}",
            "current": f"{_value(row['treatment_mean'])}{of}",
            "change": change_words(_number(row["difference"]), ""),
            "outcome": f"{sign}{row_words(row)}",
            "range": paper,
        }
        treated = [one for one in run.sessions if one.arm == Side.TREATMENT and (one.arm, one.unit) in means]
        games = [
            (means[one.arm, one.unit], f"pair {one.unit + 1}: {means[one.arm, one.unit]:.1f}", one.transcript_id)
            for one in treated
        ]
        opened = [one.transcript_id for one in run.sessions if one.arm == Side.CONTROL]
        rows.append(_row(row["label"], texts, (row["control_mean"], row["treatment_mean"]), span, most, games, opened))
    return rows


def _row(
    label: str,
    texts: Mapping[str, str],
    means: tuple[float | None, float | None],
    span: tuple[float | None, float | None],
    most: float,
    games: Sequence[tuple[float, str, str]],
    before: Sequence[str],
    metric: str = "",
) -> Row:
    """A row without threshold; the band is where the mean after may truly lie, by the range of the difference."""

    def share(value: float | None) -> float | None:
        return None if value is None or math.isnan(value) else min(1.0, max(0.0, value / most))

    low, high = span
    is_known = low is not None and high is not None and means[0] is not None
    # Two values on a scale cannot differ by more than it is long.
    ends = [max(-most, min(most, end)) for end in (low, high) if end is not None] if is_known else []
    aim = "; ".join(filter(None, (" to ".join(fixed(end, signed=True) for end in ends), texts.get("range"))))
    row = {
        "label": label,
        "words": f"{label}: {texts['after']}, {texts['before']}; {texts['outcome']}; {aim}.",
        "isTarget": False,
        "threshold": None,
        "before": share(means[0]),
        "after": share(means[1]),
        "interval": [share((means[0] or 0.0) + end) for end in ends] or None,
        "status": None,
        "texts": {"no_score": "no score", **texts, "threshold": aim, "range": ""},
        "games": [{"place": share(value), "label": words} for value, words, _ in games],
    }
    after = tuple([MarkTarget(metric, transcript_id=game) for _, _, game in games])
    reference = tuple([MarkTarget(metric, transcript_id=game) for game in before[:1]])
    return row, {"metric": after[:1], "after": after[:1], "before": reference, "game": after}


def _value(mean: float | None) -> str:
    return "no score" if mean is None else fixed(mean)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def stored_games(store: Store, games: Mapping[str, str]) -> dict[str, str]:
    """Those of the games that are still stored, by transcript id, with what they are called."""
    known = set(store.transcripts.ids())
    return {key: name for key, name in games.items() if key in known}
