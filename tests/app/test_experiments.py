"""The Experiments page: marked scripts, stopped runs that go on, the paper, and A/B tests from their form."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.app_pages.experiments import data
from dashboard.shared.version_notes import trust_facts
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import EXPERIMENT, ExperimentPlan, scenario_named
from evaluation.experiments.results import RunResult, Side, StudyResult, study_result
from evaluation.experiments.study import Study
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.workflows.jobs import latest_order
from evaluation.workflows.studies import run_as_job
from tests.app.drawn import data_of, wait_for_jobs
from tests.judge_server import JudgeServer, scripted

NAME = "brainstorming-difficult-variety"


def small_plan(seed: int = 0) -> ExperimentPlan:
    scenario = scenario_named(NAME)
    return ExperimentPlan(scenario, SCRIPTED_MODEL, 0.01, seed, steps=8, sample_size=1, is_batched=True, effects=True)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with one finished run; made once, as that takes a second or two."""
    path = tmp_path_factory.mktemp("done") / "done.duckdb"
    store = Store(path)
    run_as_job(store, small_plan(), {})
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
    # The rows of marks of the Overview: without and with the treatment, a dot a conversation, open without it.
    [run] = data.shown_studies(finished, EXPERIMENT)
    talks = {one.transcript_id: one.variant for one in run.runs}
    assert data_of(app, "cockpit")["rows"] == [row for row, _ in data.mark_rows(run)]
    assert data_of(app, "cockpit")["now"] == "with it"
    for row, (drawn, targets) in zip(run.study.result.comparisons, data.mark_rows(run), strict=True):
        if drawn["texts"]["current"].endswith(" of 9"):
            assert drawn["after"] == pytest.approx(row.mean_b / 9)
        sides = [talks[one.transcript_id] == "control" for one in targets["game"]]
        assert sides == [one["isBefore"] for one in drawn["games"]] == sorted(sides, reverse=True)
        assert len(set(sides)) == 2


def test_two_variants_stand_as_rows_of_marks_with_the_range_of_their_difference() -> None:
    values = {"a": [30.0, 34.0, 38.0], "b": [80.0, 84.0, 88.0], "c": [1.0, 2.0, 3.0]}
    measures = {"coherence": "higher", "total_tokens": "neither"}

    def scored(score: float) -> dict[str, MetricScore]:
        return {"coherence": MetricScore(Status.FAILED, score, 90.0)}

    def shown(*names: str) -> data.ShownStudy:
        runs = {
            name: [
                RunResult(name, at, f"{name}{at}", metrics={"coherence": one}, scored=scored(one))
                for at, one in enumerate(values[name])
            ]
            for name in names
        }
        result = study_result(runs, measures, primary="coherence", is_paired=False)
        test = ABConfig(
            name="t", source="transcripts", variants={key: {} for key in names}, measures=measures, primary="coherence"
        )
        study = Study(test.id, test, result=result)
        return data.ShownStudy(study, tuple(study.result.runs))

    [(row, targets)] = data.mark_rows(shown("a", "b"))
    # Means 34 and 84, sds 4: a standard error of 4 * sqrt(2 / 3) = 3.266 times t(0.975; 4) = 2.776 is 9.07.
    assert (row["before"], row["after"]) == (0.34, 0.84)
    assert row["interval"] == pytest.approx([0.749, 0.931], abs=1e-3)
    assert row["texts"]["threshold"] == "true change +40.9 to +59.1"
    assert row["texts"]["outcome"] == "▲ better beyond luck"
    # Both sides have their games, those of the first open.
    assert [one["place"] for one in row["games"] if one["isBefore"]] == [0.3, 0.34, 0.38]
    assert [one["place"] for one in row["games"] if not one["isBefore"]] == [0.8, 0.84, 0.88]
    assert [one.transcript_id for one in targets["game"]] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    decides = "no measure was chosen to decide, so it is the usual one"
    test = ABConfig(name="t", source="transcripts", variants={"a": {}, "b": {}}, measures=measures)
    [fact] = trust_facts(["coherence"], "coherence", "The recommendation", test.decides)
    assert fact.text == f"{decides}: Conversation coherence, some trust"
    # No difference of two shares is larger than 100 points.
    values["b"] = [0.0, 100.0, 100.0]
    [(wide, _)] = data.mark_rows(shown("a", "b"))
    assert wide["texts"]["threshold"].endswith(" to +100.0")
    # Three variants stand in the table alone.
    assert data.mark_rows(shown("a", "b", "c")) == []


def test_a_run_that_stopped_says_why_and_goes_on_with_its_options_and_another_limit(open_page, finished, words) -> None:
    options = {"max_usd": None, "max_calls": 20, "concurrency": 4, "base_url": None}
    stopped = small_plan(1).id
    run_as_job(finished, small_plan(1), options)
    app = open_page("experiments", experiment=stopped)
    said = words(app)
    assert "This run is not done: 0 of 4 conversations are evaluated." in said
    assert "Why it stopped: budget" in said
    assert "It goes on as it was started, with at most 20 calls from now on." in said
    app.number_input(key=f"go_on_{stopped}_calls").set_value(30).run()
    app.button(key="go_on_experiment").click().run()
    assert not app.exception
    wait_for_jobs()
    job = finished.jobs.list()[0]
    assert job.state is JobState.DONE, job.message
    plan = small_plan(1)
    assert latest_order(finished, plan.kind, plan.id)["options"] == options | {"max_calls": 30}


def test_runs_by_a_model_are_held_against_the_papers_directions(finished) -> None:
    (run,) = data.shown_studies(finished, EXPERIMENT)
    rows = {row.metric_name: row for row in run.study.result.comparisons}
    lower = replace(rows["fluency"], difference=-1.0, significant=True, favours=Side.CONTROL)
    found = (lower, replace(rows["ideas_quantity"], significant=False))
    plan = replace(run.study.experiment, effects=None)
    model = replace(run, study=replace(run.study, plan=plan, result=StudyResult(comparisons=found)))
    assert data.table1_words([model]).startswith("Of 2 differences in the paper: 1 the same way here, 1 could be luck")


VIEW = {"experiments_view": "A/B tests", "start_ab": "true"}
SIMULATED = f"""
name: Steps
source: simulation
base: {{model: {SCRIPTED_MODEL}, steps: 2, personas: [{{name: Ann}}, {{name: Ben}}]}}
variants: {{two: {{}}, three: {{steps: 3}}}}
runs_per_variant: 2
measures: {{total_messages: higher}}
primary: total_messages
checks: false
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with JudgeServer(content=scripted(ScriptedWorld().answer)).in_thread() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("DRAMATURG_MODEL", SCRIPTED_MODEL)
        yield running


def test_a_simulated_test_is_estimated_first_keeps_its_limit_and_goes_on(open_page, store, words, server) -> None:
    app = open_page("experiments", **VIEW)
    app.text_area(key="ab_text").set_value(SIMULATED).run()
    assert "4 runs: 20 calls, at most 26,000 tokens to read and 1,400 to write, cost not known." in words(app)
    assert server.tally.asked.total() == 0
    app.number_input(key="ab_calls").set_value(8)
    app.button(key="start_ab_test").click().run()
    wait_for_jobs()
    app.run()
    assert not app.exception
    assert "Runs: 1 done, 3 skipped: budget." in words(app)
    assert "It goes on as it was started, with at most 8 calls from now on." in words(app)
    assert len(store.transcripts.ids()) == 1
    app.button(key="go_on_ab_test").click().run()
    wait_for_jobs()
    app.run()
    assert "Runs: 2 done, 2 skipped: budget." in words(app)
    assert server.tally.asked.total() <= 16
