"""``dramaturg controls``, and controls in ``evaluate`` and ``show``."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.label_drawing import load_games

GAME = load_games()[0][1]
KEYS = {"chance", "difference", "z", "p", "draws", "reason", "companion"}
PENDING = {"status": "pending"}


def written(folder: Path) -> str:
    path = folder / "game.json"
    path.write_text(GAME.to_json(), encoding="utf-8")
    return str(path)


def controls_of(output: str) -> dict[str, dict[str, object]]:
    found = json.loads(output)
    (one,) = found if isinstance(found, list) else [found]
    return {name: metric["control"] for name, metric in one["metrics"].items()}


def test_evaluate_computes_controls_and_keeps_them(run, tmp_path: Path) -> None:
    done = run("evaluate", written(tmp_path), "--format", "json")
    assert done.exit_code == 0, done.stderr
    computed = controls_of(done.stdout)
    assert all(set(control) == KEYS for name, control in computed.items() if name != "engagement")
    assert computed["coherence"]["companion"]["value"] > 60
    assert "compared with chance" in run("controls").stderr
    shown = controls_of(run("show", GAME.id, "--format", "json").stdout)
    assert shown["coherence"] == computed["coherence"]
    assert "clearly above chance (link strength 69, chance 50)" in run("show", GAME.id).stdout


def test_controls_can_be_left_out_and_computed_later(run, tmp_path: Path) -> None:
    done = run("evaluate", written(tmp_path), "--format", "json", "--no-controls")
    assert set(map(str, controls_of(done.stdout).values())) == {str(PENDING)}
    assert "not compared with chance yet" in run("show", GAME.id).stdout
    assert "Compared the scores of 1 game with chance." in run("controls").stdout
    assert controls_of(run("show", GAME.id, "--format", "json").stdout)["coherence"] != PENDING
    assert run("controls", GAME.id[:8]).exit_code == 0


def test_an_iteration_or_transcript_that_is_not_there_is_refused(run) -> None:
    assert run("controls", "--iteration", "none").exit_code == 2
    assert run("controls", "12345678").exit_code == 2
    assert run("controls", "12345678", "--iteration", "none").exit_code == 2


def test_nothing_is_stored_that_was_not_to_be(run, tmp_path: Path) -> None:
    done = run("evaluate", written(tmp_path), "--no-store", "--format", "json")
    assert controls_of(done.stdout)["coherence"]["draws"] == 200
