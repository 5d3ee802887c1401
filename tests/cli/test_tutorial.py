"""The tutorial's commands, one after the other: each works, and what the page quotes is what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"


def steps() -> list[tuple[str, list[str]]]:
    """Each command with the lines that are quoted behind it."""
    found: list[tuple[str, list[str]]] = []
    is_quoted = False
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("    dramaturg "):
            found.append((line.strip().removeprefix("dramaturg "), []))
        elif line.startswith("```"):
            is_quoted = line == "```text"
        elif is_quoted:
            found[-1][1].append(line)
    return found


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_every_command_prints_what_the_page_says(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = steps()
    assert len(commands) == 13
    assert sum(len(quoted) for _, quoted in commands) == 12
    for command, quoted in commands:
        done = run(*shlex.split(command))
        assert done.exit_code == 0, f"{command}: {done.output}"
        for line in quoted:
            assert plain(line) in plain(done.stdout), f"{command}: {line}"
