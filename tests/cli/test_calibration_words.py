"""Every command that prints a judged score says whether its judge is calibrated, and says so in the same words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store
from evaluation.store.ratings.calibration_marks import JudgedClaim

FLUENCY = ("--agents", "jim", "--dimensions", "fluency")
OFFLINE = (*FLUENCY, "--mode", "offline")
UNKNOWN = "Not calibrated: people marked too few judgements of {} blind ({} 0"
RULES = UNKNOWN.format("rules-1", "Fluency")


@pytest.fixture(autouse=True)
def without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL", "DRAMATURG_PROPOSITIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("form", ["table", "markdown", "junit", "json"])
@pytest.mark.parametrize("command", ["run", "compare"])
def test_persona_commands_say_it_in_every_format(run: Any, command: str, form: str) -> None:
    said = run("persona", command, *OFFLINE, "--format", form).stdout
    assert RULES in said
    if form == "junit":
        assert f"<system-out>{RULES}" in said


@pytest.mark.parametrize("form", ["table", "json"])
def test_lists_of_runs_say_it(run: Any, form: str) -> None:
    run("persona", "run", *OFFLINE)
    assert RULES in run("persona", "runs", "--format", form).stdout


def test_baseline_and_record_say_it(run: Any, tmp_path: Path) -> None:
    assert RULES in run("persona", "baseline", *OFFLINE, "--baselines", tmp_path / "b").stdout
    recorded = run("persona", "record", tmp_path / "r.jsonl", *FLUENCY, "--mode", "scripted").stdout
    assert "Not calibrated: people marked too few judgements of" in recorded


def test_the_pull_request_comment_says_it(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "comment"
    main = [sys.executable, "-c", "import sys; from evaluation.cli.main import main; main()"]
    command = [*main, "persona", "comment", "check", str(folder), *OFFLINE, "--db", str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert RULES in json.loads((folder / "comparison.json").read_text("utf-8"))["calibration"]
    assert "Not calibrated: people marked too few judgements of rules-1 blind" in (folder / "comment.md").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_experiments_say_it(run: Any, form: str) -> None:
    options = ("brainstorming-difficult-variety", "--scripted", "--scale", 0.01, "--steps", 8, "--batched", "--yes")
    done = run("experiment", "run", *options, "--sample-size", 1, "--format", form)
    assert done.exit_code == 0, done.stderr
    words = "Not calibrated: people marked too few judgements of scripted"
    assert words in done.stdout
    (record,) = json.loads(run("experiment", "runs", "--format", "json").stdout)
    assert words in record["calibration"]
    assert words in run("experiment", "report", record["id"], "--format", form).stdout


def mark_all(database: Path, dimension: str, times: int = 30) -> None:
    store = Store(database)
    for at in range(times):
        asked = JudgedClaim(f"{at:064}", "rules-1", dimension, "p", "Claim", 5, "Jim", "Words", "", "")
        store.calibration_marks.add(asked, "Ann", 5)
    store.close()


def test_a_calibrated_judge_is_told_so_for_its_own_dimensions_only(run: Any, database: Path) -> None:
    mark_all(database, "fluency")
    found = run("persona", "run", *OFFLINE).stdout
    assert "Calibrated: people marked at least 30 judgements of rules-1 blind in each dimension." in found
    assert "Not calibrated" not in found
    both = run("persona", "run", "--agents", "jim", "--dimensions", "fluency,consistency", "--mode", "offline").stdout
    assert "of rules-1 blind (Consistency 0" in both
    # Of each judge only those dimensions are told that it scored.
    told = run("persona", "runs").stdout
    assert "Consistency 0" in told
    assert "Fluency 30" not in told


def test_no_json_with_a_judged_score_leaves_it_out(run: Any) -> None:
    for command in (("run",), ("compare",)):
        found = json.loads(run("persona", *command, *OFFLINE, "--format", "json").stdout)
        for one in found if isinstance(found, list) else [found]:
            assert RULES in one["calibration"], command
