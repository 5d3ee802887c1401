"""Who decides against the rule says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.errors import InputError
from evaluation.iterations.iteration import Fate
from evaluation.store import Store
from evaluation.workflows.iterations import record_decision


def test_a_decision_against_the_rule_needs_a_note(tmp_path: Path) -> None:
    store = Store(tmp_path / "decisions.duckdb")
    store.iterations.create("old")
    store.iterations.create("new", parent="old", change="Shorter")
    with pytest.raises(InputError, match="Say in a note why the decision departs from it"):
        record_decision(store, "new", Fate.KEPT, who="Ada", reason="Reads better")
    assert store.iterations.get("new").recorded is None
    held = record_decision(store, "new", Fate.KEPT, who="Ada", reason="Reads better", note="No games yet")
    assert held.recorded.note == "No games yet"
    store.close()
