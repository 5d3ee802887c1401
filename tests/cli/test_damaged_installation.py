"""A scorer that fails, as in a damaged installation: everything else goes on, and the exit code says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evaluation
from evaluation.rubric.definitions import DEFINITIONS

Dramaturg = Callable[..., "subprocess.CompletedProcess[str]"]
# Memory accuracy cannot look for claims without these keywords; no other metric reads them.
KEYWORDS = Path("rubric", "keywords", "memory_en.yaml")


@pytest.fixture
def damaged(tmp_path: Path) -> Dramaturg:
    """Runs the command line of a copy of the package that lacks memory accuracy's keywords."""
    package = tmp_path / "installation" / "evaluation"
    shutil.copytree(Path(evaluation.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / KEYWORDS).write_text("[]\n", encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(package.parent), "DRAMATURG_DB": str(tmp_path / "damaged.duckdb")}

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "evaluation.cli.main", *map(str, arguments)]
        return subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
        )

    return run


def test_the_other_metrics_are_printed_and_the_code_is_3(damaged: Dramaturg, write_game: Any) -> None:
    done = damaged("evaluate", write_game(), "--no-store", "--format", "json")
    assert done.returncode == 3, done.stderr
    [output] = json.loads(done.stdout)
    assert list(output["metrics"]) == list(DEFINITIONS)
    missing = output["metrics"]["memory_accuracy"]
    assert (missing["status"], missing["score"], missing["ledger"]) == ("pending", None, [])
    assert missing["reason"].startswith("could not be computed: ")
    assert output["metrics"]["anti_repetition"]["score"] == 100.0
    # The reader needs the same file for all that it reads.
    assert [failure["metric"] for failure in output["failures"]] == list(DEFINITIONS)[:3]
    assert "game-1.json: Memory accuracy could not be computed." in done.stderr
    assert "error: 1 game could not be scored on every metric." in done.stderr
