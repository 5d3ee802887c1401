"""``dramaturg corrections``: what the gate did, and what is corrected for an agent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evaluation.corrections.config import CorrectionConfig
from evaluation.store import Store


@pytest.fixture
def store(database: Path) -> Store:
    return Store(database)


def test_settings_are_shown_changed_refused_and_reset(run: Any, store: Store) -> None:
    rows = json.loads(run("corrections", "config", "dwight", "--format", "json").stdout)
    assert {row["name"]: row["value"] for row in rows} == CorrectionConfig().model_dump()
    assert all(row["value"] == row["default"] for row in rows)
    values = ("gate_fluency_enabled=on", "gate_fluency_threshold=5.5", "max_correction_attempts=3")
    changed = [part for value in values for part in ("--set", value)]
    assert run("corrections", "config", "dwight", *changed).stderr == "dwight: stored.\n"
    held = CorrectionConfig(gate_fluency_enabled=True, gate_fluency_threshold=5.5, max_correction_attempts=3)
    assert store.corrections.config("dwight") == held
    for wrong in ("gate_fluency_threshold=12", "nothing=1", "gate_fluency_enabled=maybe", "no pair"):
        refused = run("corrections", "config", "dwight", "--set", "max_correction_attempts=1", "--set", wrong)
        assert refused.exit_code == 2
        assert wrong.partition("=")[0] in refused.stderr
    assert store.corrections.config("dwight") == held
    run("corrections", "config", "dwight", "--set", "max_correction_attempts=")
    assert store.corrections.config("dwight").max_correction_attempts == 2
    assert "Judge" not in run("corrections", "config", "dwight", "--reset").stdout.splitlines()[0]
    assert store.corrections.configs() == {}


# The last is what Python makes of the bytes x\xff on a command line.
@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("channel:public", "'channel:public' is a channel, not an agent."),
        ("dwihgt", "Nobody called 'dwihgt' speaks anywhere. Choose from: "),
        (os.fsdecode(b"x\xff"), "Nobody called 'x\\udcff' speaks anywhere. Choose from: "),
    ],
)
def test_who_is_no_agent_is_refused_and_none_is_made(run: Any, store: Store, agent: str, why: str) -> None:
    before = store.agents.all()
    for options in ((), ("--reset",), ("--set", "max_correction_attempts=1")):
        done = run("corrections", "config", agent, *options)
        assert (done.exit_code, done.stdout, why in done.stderr) == (2, "", True)
    assert store.agents.all() == before
    assert store.corrections.configs() == {}
