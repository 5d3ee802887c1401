"""The pre-commit hook: its definition is whole, and its entry refuses a faulty proposition and takes a good one."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evaluation.files.bundled import proposition_root

ROOT = Path(__file__).parents[3]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def run_hook(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Runs the entry as pre-commit does: in the repository, with the names of the changed files behind it."""
    command, *arguments = shlex.split(HOOK["entry"])
    found = Path(sys.executable).with_name(command)
    return subprocess.run([found, *arguments, *files], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("path", ["propositions/fluency/ann.yaml", "evals/propositions/adherence/_default.yaml"])
def test_it_runs_for_propositions_wherever_they_lie(path: str) -> None:
    assert re.search(HOOK["files"], path)
    assert not re.search(HOOK["files"], "notes/my_propositions/ann.yaml")


def test_a_faulty_proposition_is_refused_with_its_line_and_a_good_one_is_not(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_bytes((proposition_root() / "adherence" / "jim.yaml").read_bytes())
    bad = tmp_path / "bad.yaml"
    bad.write_text("dimension: fluency\nagent_id: jim\npropositions:\n  - id: a\n    weight: 7\n", encoding="utf-8")
    assert run_hook(tmp_path, good).returncode == 0
    done = run_hook(tmp_path, good, bad)
    assert done.returncode == 2
    assert "bad.yaml:5: propositions[0].weight: 7 is not a weight." in done.stdout
