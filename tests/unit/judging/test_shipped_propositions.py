"""The proposition files that come with Dramaturg have the specification's shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3] / "propositions"
FILES = sorted(ROOT.rglob("*.yaml"))
TOP_LEVEL = {"dimension", "agent_id", "include_personas", "target_type", "first_n", "last_n", "propositions"}
PROPOSITION = {"id", "claim", "weight", "inverted", "recommendations_for_improvement", "double_check", "precondition"}


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text("utf-8"))


def test_every_dimension_has_defaults() -> None:
    dimensions = {"adherence", "consistency", "fluency", "convergence", "ideas_quantity", "suitability"}
    assert {path.parent.name for path in ROOT.glob("*/_default.yaml")} == dimensions


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_names_its_dimension_agent_and_claims(path: Path) -> None:
    document = load(path)
    assert set(document) <= TOP_LEVEL
    assert document["dimension"] == path.parent.name
    assert document["agent_id"] == path.stem
    assert document["target_type"] in {"agent", "environment"}
    for proposition in document["propositions"]:
        assert set(proposition) <= PROPOSITION
        assert 0 <= proposition["weight"] <= 1
        assert proposition["claim"].strip()
