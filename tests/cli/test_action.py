"""The GitHub action's entry scores a folder of games by the gate, and takes nothing else from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.dashboard_server import dramaturg

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples" / "native"


def scored(folder: Path, tmp_path: Path, **variables: str) -> tuple[int, str]:
    environment = {**os.environ, "DRAMATURG": dramaturg(), "INPUT_FOLDER": str(folder)}
    environment |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), **variables}
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "score_games.sh")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "summary.md").read_text() == done.stdout
    return done.returncode, done.stdout


def test_with_games_of_before_the_change_is_compared(tmp_path: Path) -> None:
    found, text = scored(SAMPLES / "prompt-v2", tmp_path, INPUT_BEFORE=str(SAMPLES / "prompt-v4"))
    assert "What moved the scores most" in text
    # Prompt v2 is lower in personality diversity than v4, beyond luck.
    assert (found, "worse beyond luck" in text) == (1, True)


def test_games_that_pass_the_gate_stand_in_a_table_on_the_page_of_the_run(tmp_path: Path) -> None:
    # A module of the checkout is not run.
    (tmp_path / "evaluation.py").write_text("raise SystemExit('taken')")
    games = tmp_path / "games"
    games.mkdir()
    shutil.copy(min((SAMPLES / "prompt-v4").glob("*.json")), games)
    found, table = scored(games, tmp_path)
    assert (found, table[:2]) == (0, "| ")


def test_a_name_like_an_option_is_wrong_usage(tmp_path: Path) -> None:
    assert scored(Path("--store"), tmp_path)[0] == 2


def test_no_input_is_put_into_a_command() -> None:
    text: Any = (ROOT / "action.yml").read_text()
    assert "${{ inputs" not in text.partition("run:")[2].partition("env:")[0]
