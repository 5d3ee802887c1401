"""The pytest plugin in a small project: recording, playing, one budget, cache and report; and strangers' projects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.files.bundled import baseline_root, recording_root
from evaluation.simulation.scripted.server import ScriptedServer
from evaluation.simulation.scripted.world import ScriptedWorld

PROJECT = """
def test_keeps_to_the_persona(dramaturg_agent, dramaturg_persona):
    found = dramaturg_persona(dramaturg_agent, at_least={"fluency": 0}, sample_size=2)
    assert found.sample_size

def test_is_perfect(dramaturg_persona):
    dramaturg_persona("jim", at_least={"fluency": 9.5}, sample_size=2)
"""


def pytest_in(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    names = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL", "PYTEST_ADDOPTS")
    held = {key: value for key, value in os.environ.items() if key not in names}
    loaded = [] if _is_installed() else ["-p", "evaluation.testing.pytest_plugin"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, "-W", "error", "-q", *options],
        cwd=folder,
        env=held | {"PYTHONPATH": str(Path(__file__).parents[3])} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _is_installed() -> bool:
    """Whether the entry point is known here; a checkout that was installed before it was added does not know it."""
    from importlib.metadata import entry_points

    return any(point.name == "dramaturg" for point in entry_points(group="pytest11"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_agents.py").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ndramaturg_agents = michael jim\n", encoding="utf-8")
    return tmp_path


def test_answers_are_recorded_once_cached_for_all_tests_and_played_back(project: Path) -> None:
    server = ScriptedServer(ScriptedWorld().answer)
    with server.in_thread() as running:
        address = {"OPENAI_BASE_URL": running.url, "DRAMATURG_MODEL": "scripted", "OPENAI_API_KEY": "x"}
        recorded = pytest_in(project, "--dramaturg-record", "tapes/answers.jsonl", **address)
        assert "1 failed, 2 passed" in recorded.stdout, recorded.stdout + recorded.stderr
        assert "Dramaturg" in recorded.stdout
        assert "Michael Scott: Fluency" in recorded.stdout
        assert "Jim Halpert, Fluency" in recorded.stdout
        # Everything is in the cache: no call is needed any more, whichever test asks.
        again = pytest_in(project, "--dramaturg-max-calls", "0", "--dramaturg-report", "out/report.json", **address)
        assert "1 failed, 2 passed" in again.stdout, again.stdout
        assert "Spent: 0 calls" in again.stdout
    rows = json.loads((project / "out" / "report.json").read_text("utf-8"))["evaluations"]
    assert [(row["agent"], row["outcome"]) for row in rows] == [
        ("Michael Scott", "passed"),
        ("Jim Halpert", "passed"),
        ("Jim Halpert", "failed"),
    ]
    played = pytest_in(project, "-p", "no:cacheprovider", "--dramaturg-recordings", "tapes/answers.jsonl")
    assert "1 failed, 2 passed" in played.stdout, played.stdout


def test_all_tests_share_one_budget(project: Path) -> None:
    with ScriptedServer(ScriptedWorld().answer).in_thread() as running:
        address = {"OPENAI_BASE_URL": running.url, "DRAMATURG_MODEL": "scripted", "OPENAI_API_KEY": "x"}
        done = pytest_in(project, "-p", "no:cacheprovider", "--dramaturg-max-calls", "1", **address)
    assert "Spent: 1 call" in done.stdout, done.stdout
    # The first test asks all its questions in one call; nothing is left for the other two.
    assert "2 failed, 1 passed" in done.stdout


def test_a_project_that_does_not_use_it_loads_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\ndef test_nothing_is_loaded():\n"
        "    heavy = {'duckdb', 'pydantic', 'litellm', 'numpy', 'pandas', 'evaluation.store', 'evaluation.judging'}\n"
        "    assert heavy & set(sys.modules) == set()\n",
        encoding="utf-8",
    )
    done = pytest_in(tmp_path, "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "Dramaturg" not in done.stdout


def test_the_shipped_recordings_play_in_it(project: Path) -> None:
    source = PROJECT.replace('at_least={"fluency": 0}, sample_size=2', f"baselines={str(baseline_root())!r}")
    (project / "test_agents.py").write_text(source, encoding="utf-8")
    done = pytest_in(project, "-p", "no:cacheprovider", "-k", "keeps", f"--dramaturg-recordings={recording_root()}")
    assert "2 passed" in done.stdout, done.stdout


def test_own_preconditions_come_from_a_file_that_the_environment_names(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(
        "from evaluation.judging.propositions.preconditions import register\n\n"
        "@register('is_loud')\ndef is_loud(*, target, **_):\n"
        "    return target.action is not None and target.action.text.isupper()\n",
        encoding="utf-8",
    )
    folder = tmp_path / "own" / "fluency"
    folder.mkdir(parents=True)
    (folder / "_default.yaml").write_text(
        "dimension: fluency\nagent_id: _default\npropositions:\n"
        "  - {id: shouts-well, claim: '{{agent_name}} shouts {{action}} well', precondition: is_loud}\n",
        encoding="utf-8",
    )
    checked = [sys.executable, "-m", "evaluation.cli.main", "propositions", "check", "--propositions", "own"]
    plain = {key: value for key, value in os.environ.items() if key != "DRAMATURG_PLUGINS"}
    plain["PYTHONPATH"] = str(Path(__file__).parents[3])

    def check(**environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            checked, cwd=tmp_path, env=plain | environment, capture_output=True, text=True, check=False
        )

    unknown, known = check(), check(DRAMATURG_PLUGINS="checks.py")
    assert unknown.returncode != 0
    assert "no registered precondition" in unknown.stdout + unknown.stderr
    assert known.returncode == 0, known.stdout + known.stderr
    missing = check(DRAMATURG_PLUGINS="gone.py")
    assert missing.returncode == 2, missing.stdout + missing.stderr
    assert "gone.py: The plug-in cannot be loaded" in missing.stderr
