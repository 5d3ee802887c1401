"""The Experiments page: empty, at work, stopped and done; Table 1 beside the paper; a run from the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.app_pages.experiments import data
from evaluation.experiments.ab_results import RunResult, VariantResults, comparisons
from evaluation.experiments.ab_runner import ABTestResult
from evaluation.experiments.plan import ExperimentPlan, ExperimentStatus, scenario_named
from evaluation.experiments.table1 import table1_cells
from evaluation.judging.judge_config import DEFAULT_MODEL, judge_config
from evaluation.judging.model_client.budget import Budget
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.workflows.experiment_runs import latest_options, run_as_job, run_experiment
from tests.app.drawn import assert_inert, tables, wait_for_jobs
from tests.games import game_of

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


def test_before_any_run_the_page_says_what_one_is_and_offers_one(open_page, database, words) -> None:
    app = open_page("experiments")
    assert not app.exception
    said = words(app)
    assert "No experiments yet" in said
    assert "only the script can speak and judge" in said
    assert "to write, no cost." in said
    # A tenth of 40 environments of 5.
    assert "20 agents in 4 pairs of conversations, 10 steps: 1,087 to 4,887 calls" in said
    app.number_input(key="experiment_scale").set_value(0.2).run()
    assert "40 agents in 8 pairs of conversations" in words(app)


def test_an_example_is_loaded_by_a_button(open_page, store, words) -> None:
    app = open_page("experiments")
    app.button(key="example_experiment").click().run()
    wait_for_jobs()
    app.run()
    assert not app.exception
    assert "In 64 messages it stepped in: variety 5 times." in words(app)
    assert len(store.transcripts.ids()) == 4


def test_a_price_of_ones_own_is_known_at_once(open_page, database, words, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    app = open_page("experiments", start="true")
    listed = words(app).split(" to write, at most about ")[1].split(" US dollars")[0]
    prices = tmp_path / "pricing.yaml"
    prices.write_text(f"{DEFAULT_MODEL}: {{input: 1000, output: 2000}}\n")
    monkeypatch.setenv("DRAMATURG_PRICING", str(prices))
    app.run()
    own = words(app).split(" to write, at most about ")[1].split(" US dollars")[0]
    assert float(own.replace(",", "")) > 100 * float(listed.replace(",", ""))


def test_a_scripted_report_is_marked_and_not_held_beside_the_paper(open_page, finished, words, table) -> None:
    app = open_page("experiments")
    assert not app.exception
    assert "Script: " in app.selectbox(key="chosen_experiment").options[0]
    report = table(app)
    assert "Voice distinctness" in report
    # The paper's 4.74 (1.55), and no empty columns in their place.
    assert "Paper" not in report
    said = words(app)
    assert "Stepped in: variety" in table(app, 1)
    assert "A rehearsal, not a result: a script spoke and judged" in said
    assert "in the paper:" not in said
    # Ideas are counted, so they have an axis of their own.
    marks, ideas = (str(one.proto) for one in app.get("plotly_chart"))
    assert "Treatment minus control. Adherence" in marks
    assert "Treatment minus control. Ideas" in ideas


def test_a_run_is_chosen_by_the_url_and_its_conversations_can_be_read(open_page, finished, words) -> None:
    run_experiment(finished, small_plan(1), CONFIG, provider=ScriptedProvider(ScriptedWorld()), budget=Budget(calls=20))
    first, second = (small_plan(seed).record.id for seed in (0, 1))
    app = open_page("experiments", experiment=first)
    assert app.selectbox(key="chosen_experiment").value == first
    transcript = app.selectbox(key=f"conversation_{first}").value
    app.button(key="read_conversation").click().run()
    assert not app.exception
    assert app.query_params["transcript"] in (transcript, [transcript])
    app = open_page("experiments", experiment=second)
    assert "This run is not done: 0 of 4 conversations are evaluated." in words(app)
    assert "Why it stopped: budget" in words(app)
    app.button(key="go_on_experiment").click().run()
    assert not app.exception
    wait_for_jobs()
    job = finished.jobs.list()[0]
    assert job.state is JobState.DONE, job.message
    assert finished.experiments.get(second).results["rows"]


def test_going_on_keeps_the_options_and_takes_a_new_limit(open_page, database, words) -> None:
    store, plan = Store(database), small_plan()
    options = {"max_usd": None, "max_calls": 20, "concurrency": 4, "base_url": "http://127.0.0.1:9/v1"}
    config = judge_config({"mode": "live", "model": SCRIPTED_MODEL, "max_calls": 20}, environment={})
    run_as_job(store, plan, config, options=options, provider=ScriptedProvider(ScriptedWorld()))
    app = open_page("experiments")
    assert "It goes on as it was started, with at most 20 calls from now on." in words(app)
    app.number_input(key=f"go_on_calls_{plan.record.id}").set_value(0).run()
    app.button(key="go_on_experiment").click().run()
    assert not app.exception
    wait_for_jobs()
    assert len(store.jobs.list()) == 2
    assert latest_options(store, plan.record.id) == options | {"max_calls": 0}


def test_table_1_has_19_rows_with_ours_beside_them(open_page, finished, words) -> None:
    app = open_page("experiments", experiments_view="The paper")
    assert not app.exception
    said = words(app)
    assert "In the paper more often not: 10 worse, 5 better and 4 could be luck, of 19 means." in said
    assert "No model has run one of the paper's four experiments here" in said
    assert list(tables(app)[0]["With corrections"])[2:] == [
        "2 worse, 1 better and 2 could be luck",
        "2 better and 2 could be luck",
    ]
    # The paper's directions alone, as a script says nothing; fluency of experiment 3 has a p of 0.454.
    assert list(tables(app)[0]["Fluency"]) == ["▼ \u22120.52", "▼ \u22123.13", "could be luck", "could be luck"]
    frame = tables(app)[1]
    assert len(frame) == 19
    app.button(key="run_for_table1").click().run()
    assert app.button(key="start_experiment")


def test_table_1_is_recomputed_from_files_that_are_handed_in(open_page, database, words, data_root: Path) -> None:
    app = open_page("experiments", experiments_view="The paper")
    paths = sorted((data_root / "tinytroupe" / "table1_raw").glob("*.json"))
    app.file_uploader[0].upload(paths[0].name, paths[0].read_bytes(), "application/json").run()
    assert "No such file or directory." in words(app)
    cells = table1_cells(data.recomputed([(path.name, path.read_bytes()) for path in paths]))
    assert [row["As published"] for row in cells] == ["✓ yes"] * 19


def test_ab_tests_stand_with_their_recommendation(open_page, store, words, table, hostile) -> None:
    app = open_page("experiments", experiments_view="A/B tests")
    assert "No A/B tests yet" in words(app)
    comparison = {"metric_name": "coherence", "variant_a": "short", "variant_b": hostile, "favours": hostile}
    comparison |= {"n_a": 3, "n_b": 4, "mean_a": 6.0, "mean_b": 7.5, "difference": 1.5, "p_holm": 0.01}
    comparison |= {"interval": {"low": 0.5, "high": 2.5}, "significant": True, "practical_difference": True}
    results = {"recommendation": f"Take {hostile}.", "reasons": [hostile], "comparisons": [comparison]}
    first = store.experiments.keep_ab_test({"name": "Prompts"}, {"comparisons": []})
    assert store.experiments.keep_ab_test({"name": "Prompts"}, results) == first
    app = open_page("experiments", experiments_view="A/B tests")
    assert not app.exception
    assert f"✓ {hostile}" in table(app)
    assert "0.010" in table(app, 1)
    assert "✓ yes" in table(app, 1)
    assert "Take <img" in words(app)
    assert not any("evil.example" in str(each.proto) for each in (*app.markdown, *app.caption, *app.info))


def test_an_ab_test_shows_runs_by_status_small_costs_and_links_to_games(open_page, store, words, table) -> None:
    game = game_of([("Ann", "Fine words.")])
    with store.unit(write=True):
        store.transcripts.add(game, source_name="A/B test")

    def run(index: int, status: str, **more: object) -> RunResult:
        return RunResult("short", index, index, status, **more)  # type: ignore[arg-type]

    done = run(0, "done", metrics={"estimated_cost_usd": 0.0000123}, reference=game.id)
    runs = (done, *(run(index, "skipped", detail="budget") for index in range(1, 4)), run(4, "failed", detail="Gone."))
    variant = VariantResults("short", runs, {"estimated_cost_usd": 0.0000123}, None)
    ended = "2026-02-03T04:05:06+00:00"
    result = ABTestResult("Costs", {"short": variant}, (), "q", None, "No winner.", (), 0.00002, ended)
    store.experiments.keep_ab_test({"name": "Costs"}, result.as_dict())
    app = open_page("experiments", experiments_view="A/B tests")
    assert not app.exception
    assert "Runs: 1 done, 1 failed, 3 skipped: budget. Spent: 0.00002 USD. Ended 2026-02-03 04:05 UTC." in words(app)
    assert "0.0000123 USD" in tables(app)[-1].to_string()
    [games] = [each for each in app.selectbox if each.label == "Game of a run"]
    assert games.options == ["short, run 1"]


def test_hostile_words_stand_in_inert_elements_only(open_page, store, words, hostile) -> None:
    plan = small_plan()
    store.experiments.begin(plan.record)
    store.experiments.end(plan.record.id, ExperimentStatus.FAILED, {"error": hostile})
    app = open_page("experiments")
    assert_inert(app)


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
    (line,) = ours.to_dict("records")
    assert line["Experiment"].startswith("2.2: ")
    assert (line["Fluency"], line["Ideas"], runs) == ("✓ ▼ \u22121.00", "could be luck", [record.id])


def test_an_ab_test_of_iterations_draws_its_stored_games_and_their_means(open_page, store, words) -> None:
    def variant(name: str, values: tuple[float, ...]) -> VariantResults:
        runs = tuple(RunResult(name, at, at, "done", metrics={"coherence": value}) for at, value in enumerate(values))
        return VariantResults(name, runs, {"coherence": sum(values) / len(values)}, None)

    variants = {"v1": variant("v1", (40.0, 50.0)), "v2": variant("v2", (80.0, 90.0))}
    compared = comparisons(variants, {"coherence": "higher"}, primary="coherence", threshold=0.1, is_paired=False)
    ended = "2026-02-03T04:05:06+00:00"
    result = ABTestResult("Two", variants, tuple(compared), "coherence", None, "No winner.", (), 0.0, ended)
    store.experiments.keep_ab_test({"name": "Two", "source": "transcripts"}, result.as_dict())
    app = open_page("experiments", experiments_view="A/B tests")
    assert not app.exception
    assert "Marks are stored games, a line is their mean." in words(app)
    assert "45.0 %" in str(app.get("plotly_chart")[0].proto)
