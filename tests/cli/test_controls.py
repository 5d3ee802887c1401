"""Controls of scores: left out by ``evaluate``, computed by ``reevaluate``, and beside the scores in every output."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.labelled_games import load_games
from tests.cli.conftest import Run, WriteGame

GAME = load_games()[0][1]
KEYS = {"chance", "difference", "z", "p", "draws", "reason", "companion"}
PENDING = {"status": "pending"}


def controls_of(output: str) -> dict[str, dict[str, Any]]:
    found = json.loads(output)
    (one,) = found if isinstance(found, list) else [found]
    return {name: metric["control"] for name, metric in one["metrics"].items()}


def exported(run: Run) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(io.StringIO(run("export", "results", "--iteration", "v1").stdout))
    return {row["metric"]: row for row in rows}


def test_controls_are_left_out_computed_later_and_the_same_in_every_output(
    run: Run, write_game: WriteGame, tmp_path: Path
) -> None:
    path = tmp_path / "game.json"
    path.write_text(GAME.to_json(), encoding="utf-8")
    done = run("evaluate", path, "--format", "json", "--no-controls", "--iteration", "v1")
    assert controls_of(done.stdout)["coherence"] == PENDING
    run("import", write_game(), "--iteration", "v2")
    assert "not compared with scrambled copies yet" in run("show", GAME.id).stdout
    row = exported(run)["coherence"]
    assert (row["control_chance"], row["control_words"]) == ("", "not compared with scrambled copies yet")
    # Nothing is said of a comparison that was not made for any game.
    outputs = (("compare", "v1", "v2"), ("iterations",))
    assert all("scrambled copies" not in run(*output).stdout for output in outputs)

    assert "Compared the scores of 1 game with chance." in run("reevaluate", "--controls", GAME.id[:8]).stdout
    shown = controls_of(run("show", GAME.id, "--format", "json").stdout)
    assert all(set(control) == KEYS for name, control in shown.items() if name != "engagement")
    assert "better than scrambled copies, beyond luck (link strength 69, scrambled 50)" in run("show", GAME.id).stdout
    (first, _) = json.loads(run("iterations", "--format", "json").stdout)["iterations"]
    words = first["means"]["coherence"]["control"]["words"]
    assert words.startswith("better than scrambled copies in 1 of 1 game, mean link strength ")
    assert all(words in run(*output).stdout for output in outputs)
    rows = json.loads(run("export", "results", "--format", "json", "--iteration", "v1").stdout)
    assert {one["metric"]: one["control"] for one in rows} == shown
    row = exported(run)["coherence"]
    assert "better than scrambled copies, beyond luck" in row["control_words"]
    for key in ("chance", "difference", "z", "p", "draws"):
        assert float(row[f"control_{key}"]) == pytest.approx(shown["coherence"][key])
    for wrong in (("--iteration", "none"), ("12345678",)):
        assert run("reevaluate", "--controls", *wrong).exit_code == 2
