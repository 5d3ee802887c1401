"""Preconditions of a plug-in, in processes of their own: by a file, by a module, or refused with the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = [sys.executable, "-m", "evaluation.cli.main"]
SOURCE = """
from evaluation.judging.propositions import register


@register("is_monday")
def is_monday(target, additional_context, variables):
    return False
"""
FILE = "dimension: fluency\nagent_id: _default\npropositions:\n  - {id: a, claim: It is so., precondition: is_monday}\n"

Plugged = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def plugged(database: Path, tmp_path: Path) -> Plugged:
    """Checks a proposition file that names the precondition of a plug-in."""
    file = tmp_path / "fluency" / "_default.yaml"
    file.parent.mkdir()
    file.write_text(FILE, encoding="utf-8")

    def run(plugins: object = "", installed: object = ROOT) -> subprocess.CompletedProcess[str]:
        own = {
            "DRAMATURG_DB": str(database),
            "DRAMATURG_PLUGINS": str(plugins),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{installed}",
        }
        command = [*MAIN, "propositions", "check", str(file)]
        return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)

    return run


def test_a_file_registers_a_precondition(plugged: Plugged, tmp_path: Path) -> None:
    assert "'is_monday'" in plugged().stdout
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    for done in (plugged(path), plugged("mine", installed=tmp_path)):
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("undefined_name\n", "name 'undefined_name' is not defined"),
    ],
)
def test_a_bad_plug_in_is_refused_with_its_module(plugged: Plugged, tmp_path: Path, source: str, fault: str) -> None:
    path = tmp_path / "bad_plugin.py"
    path.write_text(source, encoding="utf-8")
    done = plugged(path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert fault in done.stderr
    assert "bad_plugin.py" in done.stderr
    assert "Traceback" not in done.stderr
