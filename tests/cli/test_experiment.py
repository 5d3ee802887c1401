"""``dramaturg experiment``: Table 1, scenarios, scripted runs and their reports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest


def test_table1_as_json_and_as_tables(run: Any) -> None:
    rows = json.loads(run("experiment", "report", "table1", "--format", "json").stdout)
    assert len(rows) == 19
    assert set(rows[0]) >= {"experiment", "dimension", "treatment_mean", "control_sd", "difference", "p_value"}
    text = run("experiment", "report", "table1").stdout
    assert re.search(r"2\.1 +Ideas +2\.45 \(1\.54\) +4\.17 \(2\.50\) +-1\.72 ", text)


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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("run debate-controversial --scripted --model mine", "no model and no server is asked"),
        ("run debate-controversial --scripted --base-url http://localhost:1/v1", "no model and no server is asked"),
        ("run debate-controversial --scripted --scale 0", "Give a number from 0.01 to 1."),
        ("run debate-controversial --scale 0.1", "or try it scripted"),
        ("report abc", "There is no experiment 'abc'."),
    ],
)
def test_what_makes_no_run_and_no_report_is_refused(run: Any, arguments: str, why: str) -> None:
    refused = run("experiment", *arguments.split())
    assert (refused.exit_code, why in refused.stderr) == (2, True)
