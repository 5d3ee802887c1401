"""``dramaturg report``: one file, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def two(run: Any, write_game: Any) -> None:
    run("evaluate", write_game("one"), write_game("two"), "--iteration", "v1")
    run("evaluate", write_game("three"), write_game("four", good=False), "--iteration", "v2")


def test_an_iteration_and_a_comparison_are_written(run: Any, two: None, tmp_path: Path) -> None:
    path = tmp_path / "one.html"
    done = run("report", "v1", "-o", str(path))
    assert (done.exit_code, done.stdout) == (0, f"Wrote {path}.\n")
    assert path.read_text("utf-8").startswith("<!doctype html>\n<html")
    assert run("report", "v1", "-o", str(path)).exit_code == 2
    assert run("report", "--compare", "v1", "v2", "-o", str(path), "--force").exit_code == 0
    assert "v1 compared with v2" in path.read_text("utf-8")


@pytest.mark.parametrize("arguments", [(), ("v1", "--compare", "v1", "v2"), ("v9",), ("--compare", "v1", "v1")])
def test_what_cannot_be_reported_leaves_no_file(
    run: Any, two: None, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "none.html"
    assert run("report", *arguments, "-o", str(path)).exit_code == 2
    assert not path.exists()
