"""Tables for the Experiments page: runs, reports, Table 1 and A/B tests. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dashboard.shared.local_time import local_time
from evaluation.escaping import cut
from evaluation.experiments.ab_results import BETTER_COLUMN
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.estimate import Estimate
from evaluation.experiments.plan import (
    AB_TEST,
    EXPERIMENT,
    ExperimentRecord,
    ExperimentStatus,
    StudyRun,
    joined,
    scenarios,
)
from evaluation.experiments.report import LEVEL, DirectionAgreement, direction_cell, verdict_words
from evaluation.experiments.table1 import (
    NO_VALUE,
    PUBLISHED_NAMES,
    published_experiments,
)
from evaluation.files.yaml_files import parse_model
from evaluation.persona.dimensions import LABELS
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT
from evaluation.store import Store
from evaluation.text.display import counted, listed
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


@dataclass(frozen=True, slots=True)
class MeasuredRuns:
    """One measure in percent of every run of an A/B test, for the picture.

    Attributes:
        label: The metric's, with what the tests show.
        runs: Variant -> the values of its runs; names are untrusted text.
    """

    label: str
    runs: Mapping[str, Sequence[float]]


def is_drawn(measure: str) -> bool:
    """Whether the picture of an A/B test has a measure: a metric in percent."""
    return measure in DEFINITIONS and DEFINITIONS[measure].scale == PERCENT


def measured_runs(results: Mapping[str, Any], rows: Mapping[str, Mapping[str, str]]) -> list[MeasuredRuns]:
    """The rubric's metrics in percent that an A/B test compared, as ``rows`` of its summary order them."""
    found = []
    for name in filter(is_drawn, rows):
        runs = {
            one["variant_name"]: [value for run in one["runs"] if (value := run["metrics"].get(name)) is not None]
            for one in results.get("variants", {}).values()
        }
        if any(runs.values()):
            symbol, _, shown = rows[name][BETTER_COLUMN].partition(" ")
            words = f"✓ {cut(shown, _LONGEST_NAME)}" if symbol == "✓" else shown
            found.append(MeasuredRuns(f"{DEFINITIONS[name].label}: {words}{_may_be(results, name)}", runs))
    return found


def _may_be(results: Mapping[str, Any], metric: str) -> str:
    """The range of the true difference of two variants, at the level that decided; empty for more variants."""
    held = [one["interval"] for one in results.get("comparisons", []) if one["metric_name"] == metric]
    if len(held) != 1 or None in (held[0]["low"], held[0]["high"]):
        return ""
    # Two shares cannot differ by more than 100 points.
    low, high = (max(-100.0, min(100.0, held[0][end])) for end in ("low", "high"))
    return f" ({low:+z.1f} to {high:+z.1f})".replace("-", "\u2212")


def stored_games(store: Store, games: Mapping[str, str]) -> dict[str, str]:
    """Those of the games that are still stored, by transcript id, with what they are called."""
    known = set(store.transcripts.ids())
    return {key: name for key, name in games.items() if key in known}
