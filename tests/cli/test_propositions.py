"""``dramaturg propositions``: faults with their lines, what applies to whom, and preconditions of plug-ins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.judging.propositions import TargetType
from evaluation.persona.agents import Agent
from evaluation.store import Store

GOOD = "dimension: fluency\nagent_id: {agent}\npropositions:\n  - id: own-a\n    claim: '{{{{agent_name}}}} mumbles'\n"
BAD = "dimension: fluency\nagent_id: ann\nfirst_n: x\npropositions:\n  - id: a\n    weight: 7\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_error_is_listed_with_its_line_and_the_exit_code_is_2(run: Any, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.yaml", BAD)
    done = run("propositions", "check", bad)
    assert done.exit_code == 2
    assert done.stdout.splitlines() == [
        f"{bad}:2: warning: agent_id: No agent 'ann' is known. It applies once there is one.",
        f"{bad}:3: first_n: 'x' is not a number of messages. Give a whole number from 0 to 10,000.",
        f"{bad}:5: propositions[0].claim: It is missing. Add 'claim: ...'.",
        f"{bad}:6: propositions[0].weight: 7 is not a weight. Give a number from 0 (does not count) to 1.",
    ]
    assert done.stderr == "1 file, 0 propositions, 3 errors.\n"


def test_several_files_folders_and_one_that_is_not_there(run: Any, tmp_path: Path) -> None:
    write(tmp_path / "fluency" / "michael.yaml", GOOD.format(agent="michael"))
    gone = tmp_path / "a\x1b[31m.yaml"
    done = run("propositions", "check", tmp_path / "fluency", gone, "--format", "json")
    assert done.exit_code == 2
    [fault] = json.loads(done.stdout)
    assert (fault["file"], fault["line"], fault["field"], fault["kind"]) == (str(gone), 1, "file", "error")
    # A file's name cannot steer the terminal.
    assert "\x1b" not in done.stdout + run("propositions", "check", gone).stdout


@pytest.mark.usefixtures("no_database")
def test_an_unknown_agent_is_only_a_warning_and_a_stored_one_is_none(run: Any, tmp_path: Path, database: Path) -> None:
    file = write(tmp_path / "zoe.yaml", GOOD.format(agent="zoe"))
    done = run("propositions", "check", file)
    assert done.exit_code == 0
    assert "warning: agent_id: No agent 'zoe' is known." in done.stdout
    assert not database.exists()
    store = Store(database)
    store.agents.ensure([Agent("zoe", "Zoe", TargetType.AGENT)])
    store.close()
    assert run("propositions", "check", file).stdout == ""


ROOT = Path(__file__).parents[2]
SOURCE = """
from evaluation.judging.propositions import register


@register("is_monday")
def is_monday(target, additional_context, variables):
    return False
"""
FILE = "dimension: fluency\nagent_id: _default\npropositions:\n  - {id: a, claim: It is so., precondition: is_monday}\n"


def checked(database: Path, tmp_path: Path, plugins: object = "") -> subprocess.CompletedProcess[str]:
    """Checks a proposition file that names the precondition of a plug-in; modules in ``tmp_path`` can be imported."""
    file = write(tmp_path / "fluency" / "_default.yaml", FILE)
    own = {"DRAMATURG_DB": str(database), "DRAMATURG_PLUGINS": str(plugins)}
    own |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-m", "evaluation.cli.main", "propositions", "check", str(file)]
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)


def test_a_plug_in_registers_a_precondition(database: Path, tmp_path: Path) -> None:
    assert "'is_monday'" in checked(database, tmp_path).stdout
    path = write(tmp_path / "mine.py", SOURCE)
    for plugin in (path, "mine"):
        done = checked(database, tmp_path, plugin)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_bad_plug_in_is_refused_with_its_module(database: Path, tmp_path: Path) -> None:
    done = checked(database, tmp_path, write(tmp_path / "bad_plugin.py", "undefined_name\n"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "name 'undefined_name' is not defined" in done.stderr
    assert "bad_plugin.py" in done.stderr
    assert "Traceback" not in done.stderr
