"""``dramaturg corrections``: what the gate did, and what is corrected for an agent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.store import Store


def attempt(number: int, score: float, text: str, feedback: str = "") -> Attempt:
    check = DimensionCheck("adherence", 7.0, MessageScore(score, "why \x1b[31m so", ("Be bold.",)))
    return Attempt(number, text, (check,), 0.5, is_similar=number == 0, feedback=feedback)


@pytest.fixture
def store(database: Path) -> Store:
    """Two messages: one of Michael's that passed after a retry, one of Dwight's that passed at once."""
    store = Store(database)
    first, second = attempt(0, 2, "Dull \x1b[2J text.", "Say something else."), attempt(1, 8, "Bold text.")
    store.corrections.add(GateResult("michael", second, GateOutcome.PASSED_AFTER_RETRY, (first, second)))
    only = attempt(1, 9, "Fact.")
    store.corrections.add(GateResult("dwight", only, GateOutcome.PASSED, (only,)))
    return store


@pytest.mark.parametrize("agent", ["channel:xyz", "channel:public"])
def test_nothing_is_corrected_for_a_channel(run: Any, store: Store, agent: str) -> None:
    before = store.agents.all()
    refused = run("corrections", "config", agent, "--set", "gate_fluency_enabled=true")
    assert refused.exit_code == 2
    assert f"{agent!r} is a channel, not an agent." in refused.stderr
    assert store.agents.all() == before


def test_settings_are_found_by_name_and_rename_nobody(run: Any, store: Store) -> None:
    assert run("corrections", "config", "Michael Scott", "--set", "max_correction_attempts=1").stderr == (
        "michael: stored.\n"
    )
    assert store.corrections.config("michael").max_correction_attempts == 1
    assert store.agents.get("michael").display_name == "Michael Scott"
    # Recordings hold the name: mock mode still finds them.
    assert run("persona", "run", "--mode", "mock", "--agents", "michael").exit_code == 0


def test_settings_are_shown_changed_refused_and_reset(run: Any, store: Store) -> None:
    rows = json.loads(run("corrections", "config", "dwight", "--format", "json").stdout)
    assert {row["name"]: row["value"] for row in rows} == CorrectionConfig().model_dump()
    assert all(row["value"] == row["default"] for row in rows)
    changed = (
        "--set",
        "gate_fluency_enabled=on",
        "--set",
        "gate_fluency_threshold=5.5",
        "--set",
        "max_correction_attempts=3",
    )
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


# The second is what Python makes of the bytes x\xff on a command line.
@pytest.mark.parametrize(("agent", "shown"), [("dwihgt", "dwihgt"), (os.fsdecode(b"x\xff"), "x\\udcff")])
@pytest.mark.parametrize(
    "arguments",
    [
        ("config", "AGENT"),
        ("config", "AGENT", "--reset"),
        ("config", "AGENT", "--set", "max_correction_attempts=1"),
    ],
    ids=" ".join,
)
def test_somebody_unheard_of_is_refused_and_no_agent_made(
    run: Any, store: Store, arguments: tuple[str, ...], agent: str, shown: str
) -> None:
    before = store.agents.all()
    done = run("corrections", *(agent if one == "AGENT" else one for one in arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"Nobody called '{shown}' speaks anywhere. Choose from: " in done.stderr
    assert store.agents.all() == before
    assert store.corrections.configs() == {}
