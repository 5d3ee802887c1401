"""``dramaturg ab``: on numbers and on stored games, and what it says of a faulty file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.experiments.ab.config import ABConfig
from evaluation.store import Store
from evaluation.workflows.experiments.ab_tests import _judge_config
from tests.cli.conftest import Run, WriteGame


def test_the_sample_runs_and_names_a_winner(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(run("ab", "--print-config").stdout, encoding="utf-8")
    done = run("ab", place)
    assert done.exit_code == 0
    assert "Take short answers: it is better on quality than every other variant." in done.stdout
    assert (tmp_path / "ab.runs.jsonl").read_text("utf-8").count("\n") == 8
    again = json.loads(run("ab", place, "--format", "json").stdout)
    assert again["winner"] == "short answers"
    assert all(one["is_resumed"] for one in again["variants"]["long answers"]["runs"])


def test_iterations_of_stored_games_without_a_key(run: Run, write_game: WriteGame, tmp_path: Path) -> None:
    for name, good in (("g1", True), ("g2", True), ("b1", False), ("b2", False)):
        run("evaluate", write_game(name, good=good), "--iteration", "good" if good else "bad")
    place = tmp_path / "games.yaml"
    place.write_text(
        "name: Games\nsource: transcripts\nvariants:\n  before: {iteration: bad}\n  after: {iteration: good}\n"
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


def test_faults_name_their_line(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "faulty.yaml"
    place.write_text("name: x\nsource: magic\nvariants:\n  a: {}\n  b: {}\n", encoding="utf-8")
    done = run("ab", place)
    assert done.exit_code == 2
    assert "faulty.yaml:2: source: It should be 'metrics', 'transcripts' or 'simulation'" in done.stderr


def test_simulated_runs_need_a_model(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "simulated.yaml"
    place.write_text(
        "name: x\nsource: simulation\nbase: {steps: 1, personas: [{name: Ann}]}\nvariants:\n  a: {}\n  b: {steps: 2}\n",
        encoding="utf-8",
    )
    done = run("ab", place, "--mode", "offline")
    assert done.exit_code == 2
    assert "Agents need a model to speak" in done.stderr


def test_the_judge_is_the_users_own_unless_the_file_says_something_of_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_MODEL", "openai/mine")
    store, options = Store(":memory:"), {"mode": None, "model": None, "base_url": None}
    fixed: dict[str, Any] = {"name": "x", "source": "transcripts", "variants": {"a": {}, "b": {}}}
    assert _judge_config(store, ABConfig(**fixed), options).model == "openai/mine"
    named = ABConfig(**fixed, evaluation={"evaluation_model": "openai/theirs"})
    assert _judge_config(store, named, options).model == "openai/theirs"
    assert _judge_config(store, named, {**options, "model": "openai/given"}).model == "openai/given"
