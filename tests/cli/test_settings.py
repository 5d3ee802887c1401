"""``dramaturg settings``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import Limits
from evaluation.store import Store


def values(run: Any) -> dict[str, float]:
    return {row["name"]: row["value"] for row in json.loads(run("settings", "--format", "json").stdout)}


def test_settings_are_shown_changed_and_return_to_their_defaults(run: Any, database: Path) -> None:
    assert "threshold.engagement" in run("settings").stdout
    assert (values(run)["test_size"], values(run)["limit.messages"]) == (3, 5_000)
    run("settings", "--set", "threshold.engagement=3.5", "--set", "test_size=4", "--set", "limit.messages=100")
    store = Store(database)
    assert store.settings.thresholds()["engagement"] == 3.5
    assert store.settings.test_size() == 4
    assert store.settings.limits().messages == 100
    run("settings", "--set", "threshold.engagement=", "--set", "test_size=", "--set", "limit.messages=")
    assert store.settings.thresholds()["engagement"] == 3.0
    assert store.settings.test_size() == 3
    assert store.settings.limits() == Limits()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("threshold.engagement", "is not of the form NAME=VALUE"),
        ("colour=3", "is not a setting"),
        ("threshold.colour=3", "is not a metric"),
        ("threshold.engagement=9", "Give a number from 1 to 5"),
        ("threshold.engagement=high", "is not a number"),
        ("test_size=inf", "is not a whole number"),
        ("limit.files=0", "cannot be the limit"),
    ],
)
def test_a_wrong_change_is_explained_and_nothing_changes(run: Any, database: Path, change: str, reason: str) -> None:
    done = run("settings", "--set", "test_size=5", "--set", change)
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.replace("│", " ").split())
    assert Store(database).settings.test_size() == 3
