"""The Experiments page: a report of a script is marked, a stopped run goes on, and runs stand below the paper's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.app_pages.experiments import data
from evaluation.experiments.plan import ExperimentPlan, scenario_named
from evaluation.judging.judge_config import judge_config
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.workflows.studies import latest_options, run_as_job
from tests.app.drawn import data_of, wait_for_jobs

CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})
NAME = "brainstorming-difficult-variety"


def small_plan(seed: int = 0) -> ExperimentPlan:
    scenario = scenario_named(NAME)
    return ExperimentPlan(scenario, SCRIPTED_MODEL, 0.01, seed, steps=8, sample_size=1, is_batched=True, effects=True)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with one finished run; made once, as that takes a second or two."""
    path = tmp_path_factory.mktemp("done") / "done.duckdb"
    store = Store(path)
    run_as_job(store, small_plan(), CONFIG, provider=ScriptedProvider(ScriptedWorld()))
    store.close()
    return path.read_bytes()


@pytest.fixture
def finished(database: Path, done: bytes) -> Store:
    database.write_bytes(done)
    return Store(database)


def test_a_scripted_report_is_marked_and_not_held_beside_the_paper(open_page, finished, words, table) -> None:
    app = open_page("experiments")
    assert not app.exception
    assert "Script: " in app.selectbox(key="chosen_experiment").options[0]
    # The paper's 4.74 (1.55), and no empty columns in their place.
    assert "Paper" not in table(app)
    said = words(app)
    assert "A rehearsal, not a result" in said
    assert "A script spoke and judged in place of a language model." in said
    assert "in the paper:" not in said
    # The rows of marks of the Overview: without and with the treatment, a dot a conversation with it.
    [run] = data.shown_runs(finished)
    treated = [one.transcript_id for one in run.sessions if one.arm == "treatment"]
    assert data_of(app, "cockpit")["rows"] == [row for row, _ in data.treatment_rows(run)]
    for row, (drawn, targets) in zip(run.record.rows, data.treatment_rows(run), strict=True):
        if drawn["texts"]["current"].endswith(" of 9"):
            assert drawn["after"] == pytest.approx(row["treatment_mean"] / 9)
        assert [one.transcript_id for one in targets["game"]] == treated[: len(drawn["games"])]


def test_two_variants_stand_as_rows_of_marks_with_the_range_of_their_difference() -> None:
    values = {"a": [30.0, 34.0, 38.0], "b": [80.0, 84.0, 88.0]}
    variants = {
        name: {
            "runs": [
                {"variant": name, "run_index": place, "reference": f"{name}{place}", "metrics": {"coherence": value}}
                for place, value in enumerate(held)
            ]
        }
        for name, held in values.items()
    }
    compared = {"metric_name": "coherence", "variant_a": "a", "variant_b": "b", "mean_a": 34.0, "mean_b": 84.0}
    compared |= {"difference": 50.0, "interval": {"low": 40.0, "high": 120.0}, "significant": True, "favours": "b"}
    results = {"variants": variants, "comparisons": [compared | {"reason": ""}]}
    [(row, targets)] = data.variant_rows(results, ["coherence", "total_tokens"])
    assert (row["before"], row["after"], row["interval"]) == (0.34, 0.84, [0.74, 1.0])
    # No difference of two shares is larger than 100 points.
    assert row["texts"]["threshold"] == "+40.0 to +100.0"
    assert row["texts"]["outcome"] == "▲ better beyond luck"
    assert [one["place"] for one in row["games"]] == [0.8, 0.84, 0.88]
    assert [one.transcript_id for one in targets["game"]] == ["b0", "b1", "b2"]
    # Three variants stand in the table alone.
    assert data.variant_rows(results | {"variants": variants | {"c": {"runs": []}}}, ["coherence"]) == []


def test_a_run_that_stopped_says_why_and_goes_on_with_its_options_and_another_limit(open_page, finished, words) -> None:
    options = {"max_usd": None, "max_calls": 20, "concurrency": 4, "base_url": None}
    config = judge_config({"mode": "live", "model": SCRIPTED_MODEL, "max_calls": 20}, environment={})
    stopped = small_plan(1).record.id
    run_as_job(finished, small_plan(1), config, options=options, provider=ScriptedProvider(ScriptedWorld()))
    app = open_page("experiments", experiment=stopped)
    said = words(app)
    assert "This run is not done: 0 of 4 conversations are evaluated." in said
    assert "Why it stopped: budget" in said
    assert "It goes on as it was started, with at most 20 calls from now on." in said
    app.number_input(key=f"go_on_{stopped}_calls").set_value(9_999).run()
    app.button(key="go_on_experiment").click().run()
    assert not app.exception
    wait_for_jobs()
    job = finished.jobs.list()[0]
    assert job.state is JobState.DONE, job.message
    assert latest_options(finished, small_plan(1).record) == options | {"max_calls": 9_999}
    assert finished.experiments.get(stopped).results["rows"]


def test_runs_by_a_model_stand_below_the_papers_directions(finished) -> None:
    (run,) = data.shown_runs(finished)
    row = {"paper_label": "Fluency", "difference": -1.0, "direction": "same direction"}
    row["published"] = {"difference": -0.33}
    rows = [row, row | {"paper_label": "Ideas Qty.", "difference": 2.0, "direction": "undecided"}]
    record = replace(run.record, config={**run.record.config, "is_scripted": False}, results={"rows": rows})
    model = replace(run, record=record)
    assert data.table1_words([model]).startswith("Of 2 differences in the paper: 1 the same way here, 1 could be luck")
    _, (title, ours, runs) = data.table1_directions([model])
    assert title == "Here, in the latest runs"
    # A row for the one experiment that was run; it opens that run.
    (line,) = ours
    assert line["Experiment"].startswith("2.2: ")
    assert (line["Fluency"], line["Ideas"], runs) == ("✓ ▼ \u22121.00", "could be luck", [record.id])
