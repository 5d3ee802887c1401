"""``dramaturg ab``: on numbers and on stored games, and what it says of a faulty file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.experiments.ab_runner import ABConfig
from evaluation.simulation.scripted_world import ScriptedWorld
from evaluation.store import Store
from evaluation.workflows.ab_tests import ab_judge_config
from tests.cli.conftest import Run, WriteGame
from tests.judge_server import JudgeServer, scripted


def test_the_sample_runs_and_names_a_winner(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(run("ab", "--print-config").stdout, encoding="utf-8")
    done = run("ab", place)
    assert done.exit_code == 0
    assert "Take short answers: it is better on quality than long answers, beyond luck." in done.stdout
    again = json.loads(run("ab", place, "--format", "json").stdout)
    assert again["winner"] == "short answers"
    assert all(one["is_resumed"] for one in again["variants"]["long answers"]["runs"])


def test_iterations_of_stored_games_without_a_key(run: Run, write_game: WriteGame, tmp_path: Path) -> None:
    for name, good in (("g1", True), ("g2", True), ("b1", False), ("b2", False)):
        run("evaluate", write_game(name, good=good), "--iteration", "good" if good else "bad")
    place = tmp_path / "games.yaml"
    place.write_text(
        "name: Games\nsource: transcripts\nchecks: true\n"
        "variants:\n  before: {iteration: bad}\n  after: {iteration: good}\n"
        "measures: {strategic_depth: higher, total_messages: neither, validation_pass_rate: higher}\n"
        "primary: strategic_depth\n",
        encoding="utf-8",
    )
    done = run("ab", place, "--mode", "offline", "--format", "json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["variants"]["before"]["avg_metrics"]["total_messages"] == 4
    assert found["variants"]["after"]["avg_metrics"]["total_messages"] == 6
    assert found["variants"]["after"]["validation_pass_rate"] is None, "nobody could check"
    assert found["winner"] is None
    assert "cannot be tested" in found["recommendation"]


def test_the_judge_is_the_users_own_unless_the_file_says_something_of_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_MODEL", "openai/mine")
    store, options = Store(":memory:"), {"mode": None, "model": None, "base_url": None}
    fixed: dict[str, Any] = {"name": "x", "source": "transcripts", "variants": {"a": {}, "b": {}}}
    assert ab_judge_config(store, ABConfig(**fixed), options).model == "openai/mine"
    named = ABConfig(**fixed, evaluation={"evaluation_model": "openai/theirs"})
    assert ab_judge_config(store, named, options).model == "openai/theirs"
    assert ab_judge_config(store, named, {**options, "model": "openai/given"}).model == "openai/given"


QUALITY = "measures: {quality: higher}\nprimary: quality\n"


@pytest.mark.parametrize(
    ("a", "measures", "said"),
    [
        ("{rnus: [{quality: 1}]}", QUALITY, "variants.a.rnus"),
        ("{runs: []}", QUALITY, "variants.a: It has"),
        ("{runs: [{quality: 1}, {}]}", QUALITY, "variants.a.runs, number 2: This run is empty"),
        ("{runs: [{quality: 1}]}", QUALITY.replace("quality", "qualty"), "They have quality. Do you mean"),
        ("{runs: [{quality: 1}]}", "", "primary: The runs in the file cannot have"),
    ],
)
def test_what_cannot_give_a_result_is_refused_with_its_place(
    run: Run, tmp_path: Path, a: str, measures: str, said: str
) -> None:
    place = tmp_path / "ab.yaml"
    runs = f"variants:\n  a: {a}\n  b: {{runs: [{{quality: 2}}]}}\n{measures}"
    place.write_text(f"name: x\nsource: metrics\nchecks: false\n{runs}", encoding="utf-8")
    done = run("ab", place)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


GAMES = "transcripts\nvariants: {a: {iteration: one}, b: {iteration: one}}\n"
TALK = "simulation\nbase: {steps: 1, personas: [{name: Ann}]}\nvariants: {a: {}, b: {steps: 2}}\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("magic\nvariants: {a: {}, b: {}}\n", "ab.yaml:2: source: It should be 'metrics', "),
        (TALK, "Agents need a model to speak"),
        (GAMES.replace("a: {iteration", "a: {iteratoin"), "variants.a.iteratoin"),
        (f"{GAMES}measures: {{coherense: higher}}\nprimary: coherense\n", "Do you mean 'coherence'?"),
        (f"{GAMES}checks: false\n", "Stored games cannot have the measure 'validation_pass_rate'. Set checks: true."),
        (TALK.replace("steps: 2", "steps: many"), "variants.b with base: "),
        (TALK.replace("steps: 1", "steps: 1, corrections: {x: 1}"), "variants.a with correction settings: x"),
    ],
)
def test_faults_of_games_and_simulations_are_refused_before_a_run(
    run: Run, tmp_path: Path, source: str, said: str
) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(f"name: x\nsource: {source}", encoding="utf-8")
    done = run("ab", place, "--mode", "offline")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_a_budget_on_the_command_line_holds_beside_that_of_the_file(run: Run, tmp_path: Path) -> None:
    store, options = Store(":memory:"), {"mode": None, "model": None, "base_url": None}
    fixed: dict[str, Any] = {"name": "x", "source": "transcripts", "variants": {"a": {}, "b": {}}}
    assert ab_judge_config(store, ABConfig(**fixed), {**options, "max_usd": 2.0}).max_usd == 2.0
    assert ab_judge_config(store, ABConfig(**fixed, max_usd=1.0), {**options, "max_usd": 2.0}).max_usd == 1.0
    place = tmp_path / "simulated.yaml"
    place.write_text(
        "name: x\nsource: simulation\nchecks: false\nbase: {steps: 1, personas: [{name: Ann}]}\n"
        "variants:\n  a: {}\n  b: {steps: 2}\nmeasures: {total_messages: higher}\nprimary: total_messages\n",
        encoding="utf-8",
    )
    with JudgeServer(content=scripted(ScriptedWorld().answer)).in_thread() as server:
        address = ("--mode", "live", "--base-url", server.url, "--model", "scripted")
        done = run("ab", place, *address, "--budget", 0, "--max-calls", 0, "--format", "json")
    runs = [one for each in json.loads(done.stdout)["variants"].values() for one in each["runs"]]
    assert {one["status"] for one in runs} == {"skipped"}
