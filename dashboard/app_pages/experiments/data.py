"""Tables for the Experiments page: runs, reports, Table 1 and A/B tests. Independent of Streamlit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from dashboard.shared.formatting import signed_cell
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.conversation import stored_activity
from evaluation.experiments.estimate import ABEstimate
from evaluation.experiments.plan import ExperimentPlan, ExperimentRecord, ExperimentStatus, Session, Side, scenarios
from evaluation.experiments.table1 import Table1Row, published_experiments, table1_from_raw
from evaluation.files.yaml_files import parse_model
from evaluation.judging.model_client.budget import SPENT
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.words import p_words
from evaluation.store import Store
from evaluation.store.experiments import AB
from evaluation.text.display import counted
from evaluation.workflows.ab_tests import StoredRuns, estimate_ab_test

_NONE = "–"
_MOST_RUNS = 200
_SIDES = {Side.TREATMENT: "treatment", Side.CONTROL: "control"}


@dataclass(frozen=True, slots=True)
class ShownRun:
    """An experiment with how far it is.

    Attributes:
        sessions: Its conversations as far as they are stored.
        evaluated: How many of them are evaluated.
        wanted: How many there will be.
    """

    record: ExperimentRecord
    sessions: tuple[Session, ...]
    evaluated: int
    wanted: int

    @property
    def status(self) -> str:
        """In words; whether a running one still runs is told by its job."""
        words = {ExperimentStatus.COMPLETED: "✓ done", ExperimentStatus.FAILED: "✗ failed"}
        progress = f"{self.evaluated} of {self.wanted} conversations"
        return words.get(self.record.status, f"… {self.record.status}: {progress}")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The report's rows; none before the end."""
        return list((self.record.results or {}).get("rows", []))

    @property
    def trouble(self) -> str:
        """Why it stopped or failed; may hold what a server said."""
        results = self.record.results or {}
        return str(results.get("error") or results.get("stopped") or "")

    @property
    def is_out_of_budget(self) -> bool:
        """Whether it stopped because its limit of money or calls was reached."""
        return (self.record.results or {}).get("stopped") == SPENT


def shown_runs(store: Store) -> list[ShownRun]:
    """The latest experiments, the newest first; A/B tests and what else has no scenario are left out."""
    with store.unit():
        found = [each for each in store.experiments.all() if each.config.get("kind") == "experiment"][:_MOST_RUNS]
        return [_shown(store, each) for each in found]


def _shown(store: Store, record: ExperimentRecord) -> ShownRun:
    sessions = tuple(store.experiments.sessions(record.id))
    evaluated = len({(each.side, each.environment) for each in store.experiments.scores(record.id)})
    return ShownRun(record, sessions, evaluated, int(record.config.get("conversations") or 0) or len(sessions))


def runs_frame(found: Sequence[ShownRun]) -> pd.DataFrame:
    """One row per experiment, the newest first."""
    return pd.DataFrame(
        [
            {
                "Run": each.record.id[:8],
                "Scenario": each.record.scenario,
                "Status": each.status,
                "Scale": f"{each.record.scale:g}",
                "Seed": each.record.seed,
                "Layout": str(each.record.config.get("layout", "")),
                "Speaks and judges": "a script (no model)"
                if each.record.is_scripted
                else str(each.record.config["model"]),
                "Begun (UTC)": f"{each.record.created_at:%Y-%m-%d %H:%M}",
            }
            for each in found
        ]
    )


def scenario_frame() -> pd.DataFrame:
    """The scenarios with their full sizes."""
    return pd.DataFrame(
        [
            {
                "Scenario": each.id,
                "What it is": each.title,
                "Treatment": each.treatment_words,
                "Agents": each.agents,
                "Conversations": each.environments,
                "Steps": each.steps,
                "Table 1": each.published or _NONE,
            }
            for each in scenarios().values()
        ]
    )


def report_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A report in the layout of Table 1, the paper's values beside ours."""
    return pd.DataFrame([_report_line(row) for row in rows])


def _report_line(row: Mapping[str, Any]) -> dict[str, Any]:
    theirs = row["published"] or {}
    low, high = row["difference_low"], row["difference_high"]
    interval = row["interval_note"] or _NONE if low is None else signed_cell(f"{low:+z.2f} to {high:+z.2f}")
    return {
        "Dimension": row["label"],
        "Treatment": mean_cell(row["treatment_mean"], row["treatment_sd"]),
        "Control": mean_cell(row["control_mean"], row["control_sd"]),
        "Difference": change_cell(row["difference"]),
        "95 % interval": interval,
        "Treatment is": row["outcome"],
        "Paper: difference": change_cell(theirs.get("difference")),
        "Direction": direction_cell(row["direction"]),
        "n": f"{row['n_treatment']} / {row['n_control']}",
        "p": p_cell(row["p_value"]),
        "p (Holm)": p_cell(row["p_holm"]),
        "p (clusters)": p_cell(row["p_cluster_robust"]),
        "d": change_cell(row["cohens_d"]),
        "Paper: treatment": mean_cell(theirs.get("treatment_mean"), theirs.get("treatment_sd")),
        "Paper: control": mean_cell(theirs.get("control_mean"), theirs.get("control_sd")),
        "Paper: p": theirs.get("p_value", _NONE),
    }


def activity_frame(record: ExperimentRecord) -> pd.DataFrame:
    """Number of times each part of the treatment took effect, and calls and cost of each side; empty for older runs."""
    return pd.DataFrame(stored_activity(record), columns=["What happened", "Treatment", "Control"])


def direction_cell(direction: str) -> str:
    """The verdict on a direction, with the symbol that colours it."""
    return {"same direction": "✓ same", "opposite direction": "✗ opposite"}.get(direction, direction)


def mean_cell(mean: float | None, sd: float | None) -> str:
    """ "5.81 (1.66)"; a dash where there is nothing."""
    return _NONE if mean is None else f"{mean:.2f} ({_NONE if sd is None else f'{sd:.2f}'})"


def change_cell(value: float | None) -> str:
    """A difference with its sign."""
    return _NONE if value is None else signed_cell(f"{value:+z.2f}")


def p_cell(value: float | None) -> str:
    """A p-value to three digits."""
    return _NONE if value is None else p_words(value)


def session_names(run: ShownRun) -> dict[str, str]:
    """A readable name for each stored conversation, by transcript: "pair 3, treatment"."""
    ordered = sorted(run.sessions, key=lambda each: (each.environment, each.side))
    return {each.transcript_id: f"pair {each.environment + 1}, {_SIDES[each.side]}" for each in ordered}


def table1_frame(raw: Sequence[Table1Row], runs: Sequence[ShownRun]) -> pd.DataFrame:
    """The paper's 19 rows; beside them the raw scores recomputed, where given, and the latest run of each scenario."""
    latest = _latest_by_experiment(runs)
    recomputed = {(row.experiment.name, row.published.dimension): row for row in raw}
    titles = {one.published: one.title for one in scenarios().values()}
    lines = []
    for experiment in published_experiments():
        for row in experiment.rows:
            line = {
                "Experiment": f"{experiment.name} {titles.get(experiment.name, experiment.setting)}",
                "Dimension": row.dimension,
                "Paper: treatment": mean_cell(row.treatment_mean, row.treatment_sd),
                "Paper: control": mean_cell(row.control_mean, row.control_sd),
                "Paper: difference": change_cell(row.difference),
                "Paper: p": row.p,
            }
            if raw:
                line |= _recomputed_cells(recomputed[experiment.name, row.dimension])
            lines.append(line | _our_cells(latest.get(experiment.name), row.dimension))
    return pd.DataFrame(lines)


def _recomputed_cells(row: Table1Row) -> dict[str, str]:
    low, high = row.found.interval.low, row.found.interval.high
    return {
        "Raw: difference": change_cell(row.found.difference),
        "Raw: 95 % interval": _NONE if low is None or high is None else signed_cell(f"{low:+z.2f} to {high:+z.2f}"),
        "Raw: d": change_cell(row.found.effect.value),
        "Raw: p (Holm)": p_words(row.found.p_holm),
        "As published": "✓ yes" if row.has_published_values else "✗ no",
    }


def _our_cells(run: ShownRun | None, dimension: str) -> dict[str, str]:
    row = next((each for each in run.rows if each["paper_label"] == dimension), None) if run else None
    if run is None or row is None:
        return {"Here: difference": _NONE, "Direction": "not run yet", "By": _NONE}
    by = "script" if run.record.is_scripted else str(run.record.config["model"])
    return {
        "Here: difference": change_cell(row["difference"]),
        "Direction": "run by a script" if run.record.is_scripted else direction_cell(row["direction"]),
        "By": f"{by}, {run.record.id[:8]}",
    }


def _latest_by_experiment(runs: Sequence[ShownRun]) -> dict[str, ShownRun]:
    """The latest finished run of each published experiment; a script's only where no model has run it."""
    found: dict[str, ShownRun] = {}
    finished = [each for each in reversed(runs) if each.rows]
    for run in sorted(finished, key=lambda each: not each.record.is_scripted):
        published = run.record.config["scenario"].get("published")
        if published:
            found[published] = run
    return found


def ab_tests(store: Store) -> list[ExperimentRecord]:
    """The A/B tests that were started here or by ``dramaturg ab``, the latest first."""
    return [each for each in store.experiments.all() if each.config.get("kind") == AB]


def example_test(name: str) -> str:
    """The content of a configuration that comes with Dramaturg."""
    return (files("evaluation.experiments") / name).read_text("utf-8")


def read_ab_test(name: str, content: bytes) -> ABConfig:
    """The A/B test in the content of a file.

    Raises:
        InputError: It has faults: one line ``file:line: field: what is wrong`` for each.
    """
    return parse_model(content, ABConfig, name)


def ab_estimate(store: Store, name: str, content: bytes) -> ABEstimate:
    """The expected calls of what is left of the test in a file.

    Raises:
        InputError: It has faults, or can give no result.
    """
    test = read_ab_test(name, content)
    return estimate_ab_test(store, test, StoredRuns.of(store, test), {})


def ab_frame(rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Rows of an A/B test's summary as cells: status symbols, and signs that no spreadsheet takes for a formula."""
    return pd.DataFrame(
        [{metric_words(name): metric_words(_ab_cell(name, cell)) for name, cell in row.items()} for row in rows]
    )


def metric_words(text: str) -> str:
    """The text with the labels of metrics in place of their names."""
    for name, definition in DEFINITIONS.items():
        text = re.sub(rf"\b{name}\b", definition.label, text)
    return text


def _ab_cell(name: str, cell: str) -> str:
    if name == "Significant" and cell == "yes":
        return "✓ yes"
    if name == "Status":
        return {"done": "✓ done"}.get(cell, f"✗ {cell}" if cell.startswith("failed") else f"– {cell}")
    return signed_cell(cell) if name in _SIGNED else cell


_SIGNED = {"B minus A", "95 % interval", "Effect size"}


def stored_games(store: Store, games: Mapping[str, str]) -> dict[str, str]:
    """Those of the games that are still stored, by transcript id, with what they are called."""
    known = set(store.transcripts.ids())
    return {key: name for key, name in games.items() if key in known}


def recomputed(given: Sequence[tuple[str, bytes]]) -> list[Table1Row]:
    """Table 1 from raw files that somebody uploaded, as name and content.

    Raises:
        InputError: One of the four is missing, or is not what the experiment wrote.
    """
    wanted = {experiment.file for experiment in published_experiments()}
    with TemporaryDirectory() as folder:
        for name, content in given:
            if name in wanted:
                (Path(folder) / name).write_bytes(content)
        return table1_from_raw(Path(folder))


def size_words(plan: ExperimentPlan) -> str:
    """The size of a plan: "20 agents in 4 pairs of conversations, 10 steps"."""
    design = plan.design
    pairs = counted(len(design.rooms), "pair")
    return f"{counted(design.personas, 'agent')} in {pairs} of conversations, {counted(plan.step_count, 'step')}"
