"""Inspect and Argilla read what is written for them: ``pytest tests/cli/tools -m long``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tools import own_environments

pytestmark = pytest.mark.long
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def programs() -> Path:
    return own_environments.install(HERE / "readers.txt", "tools-readers")


def told(programs: Path, script: str, *paths: Path) -> Any:
    """What a script of this folder prints, as JSON on its last line."""
    command = [str(programs / "python"), str(HERE / script), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_argilla_reads_records_and_settings(programs: Path, run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game("one"))
    assert run("rate", "one", "--rater", "Sample rater A", "--score", "4", "--answers", "yyn-y").exit_code == 0
    before = run("export", "ratings").stdout
    records, settings = tmp_path / "records.json", tmp_path / "settings.json"
    assert run("export", "argilla", "--output", records).exit_code == 0
    assert run("export", "argilla", "--settings", "--output", settings).exit_code == 0
    seen = told(programs, "read_with_argilla.py", records, settings)
    questions = {f"question_{number}": False for number in range(1, 6)}
    assert seen["questions"] == {"score": True, **questions, "comment": False}
    assert seen["fields"] == ["chat"]
    (sent,) = seen["sent"]
    assert [one["status"] for one in sent["responses"]] == ["submitted"]
    back = tmp_path / "back.json"
    back.write_text(json.dumps(seen["records"]), encoding="utf-8")
    done = run("rate", "import", back)
    assert (done.exit_code, run("export", "ratings").stdout) == (0, before), done.stderr
