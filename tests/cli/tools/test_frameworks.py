"""``examples/record_frameworks.py`` records games of the frameworks themselves: ``pytest tests/cli/tools -m long``."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import read_path
from tests.cli.tools import own_environments

pytestmark = pytest.mark.long
HERE = Path(__file__).parent


@pytest.mark.parametrize("framework", ["autogen", "langgraph", "crewai"])
def test_a_game_of_a_framework_is_recorded_and_evaluated(run: Any, tmp_path: Path, framework: str) -> None:
    requirements = "crewai.txt" if framework == "crewai" else "frameworks.txt"
    programs = own_environments.install(HERE / requirements, f"tools-{requirements.removesuffix('.txt')}")
    command = [str(programs / "python"), str(HERE / "record_game.py"), framework, str(tmp_path / "games")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-2000:]
    (path,) = (tmp_path / "games").iterdir()
    (found,) = read_path(path)
    assert found.transcript is not None, found.error
    said = [(one.speaker, one.text) for one in found.transcript.messages if one.speaker != "user"]
    assert [speaker for speaker, _ in said] == ["Ann", "Ben"]
    assert all("I suspect you." in text for _, text in said)
    assert run("evaluate", path).exit_code in (0, 1)
