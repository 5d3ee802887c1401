"""What ``dramaturg persona`` says of a run's scores, of agents without recordings, and of costs without a key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evaluation.files.bundled import baseline_root
from tests.judge_server import JudgeServer, plausible_answer


def test_what_to_do_about_a_missing_recording_does_it(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own" / "fluency" / "_default.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(
        "{dimension: fluency, agent_id: _default, target_type: agent, "
        "propositions: [{id: brief, claim: '{{agent_name}} is brief.', weight: 1}]}"
    )
    asked = ("--agents", "michael", "--dimensions", "fluency", "--propositions", "own")
    missing = run("persona", "run", "--mode", "mock", *asked)
    assert missing.exit_code == 3
    record, play = re.findall(r"`(dramaturg persona [^`]*)`", missing.stderr)[:2]
    with JudgeServer(content=plausible_answer).in_thread() as server:
        recorded = run(*record.split()[1:], *asked, "--base-url", server.url, "--model", "m")
    assert (recorded.exit_code, recorded.stderr.count("Recorded: ")) == (0, 1), recorded.stderr
    played = run(*play.split()[1:], *asked)
    assert played.exit_code == 0, played.stderr
    assert "is recorded" not in played.stderr


def test_no_baseline_is_written_into_the_shipped_folder_without_a_path(run: Any) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in baseline_root().iterdir()}
    refused = run("persona", "baseline")
    assert (refused.exit_code, "need a place" in refused.stderr) == (2, True)
    assert {path.name: path.stat().st_mtime_ns for path in baseline_root().iterdir()} == before


def test_an_estimate_needs_neither_key_nor_server(run: Any, write_game: Any) -> None:
    run("import", write_game())
    for command in (
        "persona run --mode synthetic",
        "insights game-1 --themes",
        "persona compare --mode live",
        "persona record x.jsonl",
        "experiment run debate-controversial --scale 0.05",
        "judge",
    ):
        done = run(*command.split(), "--estimate")
        assert done.exit_code == 0, done.stderr
        assert " to gpt-4o-mini" in done.stdout or " calls, " in done.stdout, command
    assert run("insights", "game-1", "--estimate").stdout == "No model would be asked.\n"


@pytest.mark.long
def test_several_experiments_end_in_one_table_without_the_paper_for_a_script(run: Any) -> None:
    done = run("experiment", "run", "all", "--scripted", "--scale", "0.01", "--steps", "8")
    assert done.exit_code == 0, done.stderr
    joint = done.stdout[done.stdout.rindex("Experiment  ") :].splitlines()
    assert joint[0].split()[:2] == ["Experiment", "Dimension"]
    brainstorming = [f"brainstorming-{name}" for name in ("average", "difficult-full", "difficult-variety")]
    names = [*brainstorming, "debate-controversial"]
    assert [line.split()[0] for line in joint[2:22]] == [name for name in names for _ in range(5)]
    assert "Paper" not in done.stdout
    assert "in the paper:" not in done.stdout
