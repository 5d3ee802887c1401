"""``dramaturg experiment``: Table 1, scenarios, scripted runs and their reports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluation.cli._experiment_runs import run_all
from evaluation.cli.options import JudgeChoice, ListFormat
from evaluation.experiments.plan import ExperimentPlan, scenario_named
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store

WANTED = {
    *("experiment", "dimension", "treatment_mean", "treatment_sd", "control_mean"),
    *("control_sd", "difference", "p_value", "cohens_d", "n_treatment", "n_control"),
}


def test_table1_as_json_and_as_tables(run: Any, data_root: Path) -> None:
    folder = data_root / "tinytroupe" / "table1_raw"
    rows = json.loads(run("experiment", "report", "table1", "--from-raw", folder, "--format", "json").stdout)
    assert len(rows) == 19
    assert all(set(row) >= WANTED for row in rows)
    text = run("experiment", "report", "table1", "--from-raw", folder).stdout
    assert "19 of 19 rows have the published values." in text
    assert "n counts scores, not people" in text
    assert re.search(r"2\.1 +Ideas +2\.45 \(1\.54\) +4\.17 \(2\.50\) +-1\.72 +\S+ +20 / 24 +-1\.72 ", text)


def test_without_raw_files_the_published_table_is_printed(run: Any) -> None:
    rows = json.loads(run("experiment", "report", "table1", "--format", "json").stdout)
    assert len(rows) == 19
    assert rows[4]["difference"] == 4.43
    assert "8.28 (2.34)" in run("experiment", "report", "table1").stdout


def test_a_scripted_run_needs_no_key_and_is_marked_everywhere(run: Any) -> None:
    name = "brainstorming-difficult-variety"
    options = (name, "--scale", "0.01", "--steps", "8", "--batched", "--scripted", "--sample-size", "1")
    # 11 calls for 8 people, 128 messages, 16 * 4 and 4 * 2 judgements; 64 questions whether anything is new.
    assert "211 to 275 calls" in run("experiment", "run", *options, "--estimate").stdout
    assert run("experiment", "report").stderr.startswith("No experiment was run yet.")
    done = run("experiment", "run", *options)
    assert done.exit_code == 0
    assert done.stdout.startswith("A rehearsal, not a result: a script spoke and judged")
    assert "Paper" not in done.stdout
    assert "Stepped in: variety" in done.stdout
    assert "in the paper:" not in done.stdout
    [listed] = json.loads(run("experiment", "report", "--format", "json").stdout)
    assert (listed["is_scripted"], listed["status"], len(listed["rows"])) == (True, "completed", 5)
    report = run("experiment", "report", listed["id"][:8]).stdout
    assert report.startswith("A rehearsal")
    assert "Adherence" in report
    assert "simulation" in run("list").stdout


def test_nothing_is_spent_without_consent(run: Any, monkeypatch: Any, tmp_path: Path) -> None:
    prices = tmp_path / "pricing.yaml"
    prices.write_text("nobody: {input: 1, output: 2}\n")
    monkeypatch.setenv("DRAMATURG_PRICING", str(prices))
    address = ("--base-url", "http://127.0.0.1:9/v1", "--model", "nobody")
    done = run("experiment", "run", "debate-controversial", "--scale", "0.1", *address)
    assert done.exit_code == 2
    assert " to write, at most about " in done.stderr
    assert "Say --yes." in done.stderr


def test_reports_of_nothing_are_refused(run: Any, tmp_path: Path) -> None:
    assert "There is no experiment 'abc'." in run("experiment", "report", "abc").stderr
    assert run("experiment", "report", "table1", "--from-raw", tmp_path).exit_code == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--scripted", "--model", "mine"), "no model and no server is asked"),
        (("--scripted", "--base-url", "http://localhost:1/v1"), "no model and no server is asked"),
        (("--scale", "0"), "give a share above 0"),
        (("--scale", "0.1"), "or try it scripted"),
    ],
)
def test_what_makes_no_run_is_refused(run: Any, options: tuple[str, ...], why: str) -> None:
    refused = run("experiment", "run", "debate-controversial", *options)
    assert refused.exit_code == 2
    assert why in refused.stderr


def test_several_experiments_are_one_list(capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(":memory:")
    small = {"scale": 0.01, "steps": 8, "sample_size": 1, "is_batched": True}
    plans = [
        ExperimentPlan(
            scenario_named("brainstorming-difficult-variety"), SCRIPTED_MODEL, seed=seed, effects=True, **small
        )
        for seed in (0, 1)
    ]
    run_all(store, plans, JudgeChoice({}, is_estimate=False), ListFormat.JSON, yes=True)
    assert [each["seed"] for each in json.loads(capsys.readouterr().out)] == [0, 1]
    run_all(store, plans[:1], JudgeChoice({}, is_estimate=False), ListFormat.JSON, yes=True)
    assert json.loads(capsys.readouterr().out)["seed"] == 0
