"""``dramaturg reevaluate --controls``, and controls in ``evaluate`` and ``show``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.labelled_games import load_games

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
    assert "compared with chance" in run("reevaluate", "--controls").stderr
    shown = controls_of(run("show", GAME.id, "--format", "json").stdout)
    assert shown["coherence"] == computed["coherence"]
    assert "better than scrambled copies, beyond luck (link strength 69, scrambled 50)" in run("show", GAME.id).stdout


def test_controls_can_be_left_out_and_computed_later(run, tmp_path: Path) -> None:
    done = run("evaluate", written(tmp_path), "--format", "json", "--no-controls")
    assert controls_of(done.stdout)["coherence"] == PENDING
    assert "not compared with scrambled copies yet" in run("show", GAME.id).stdout
    assert "Compared the scores of 1 game with chance." in run("reevaluate", "--controls").stdout
    assert controls_of(run("show", GAME.id, "--format", "json").stdout)["coherence"] != PENDING
    assert run("reevaluate", "--controls", GAME.id[:8]).exit_code == 0
    for wrong in (("--iteration", "none"), ("12345678",)):
        assert run("reevaluate", "--controls", *wrong).exit_code == 2


def test_every_output_says_beside_its_scores_whether_they_can_be_told_from_chance(run, tmp_path: Path) -> None:
    for number, name in enumerate(("v1", "v2")):
        run("iterations", "create", name)
        path = tmp_path / f"{name}.json"
        path.write_text(load_games()[number][1].to_json(), encoding="utf-8")
        run("import", path, "--iteration", name)
    # Nothing is said of a comparison that was not made for any game.
    assert "scrambled copies" not in run("compare", "v1", "v2").stdout
    assert "scrambled copies" not in run("iterations").stdout
    assert run("reevaluate", "--controls").exit_code == 0
    own = json.loads(run("show", load_games()[0][1].id, "--format", "json").stdout)["metrics"]["coherence"]["control"]
    value, chance = own["companion"]["value"], own["companion"]["chance"]
    told = f"better than scrambled copies in 1 of 1 game, mean link strength {value:.0f} (scrambled {chance:.0f})"

    for output in (run("compare", "v1", "v2"), run("iterations")):
        assert f"Conversation coherence: {told}" in output.stdout
    compared = json.loads(run("compare", "v1", "v2", "--format", "json").stdout)["metrics"]
    (coherence,) = [one["control"]["before"] for one in compared if one["name"] == "coherence"]
    (first, _) = json.loads(run("iterations", "--format", "json").stdout)["iterations"]
    for control in (coherence, first["means"]["coherence"]["control"]):
        assert (control["chance"], control["companion"]["value"], control["words"]) == (own["chance"], value, told)


def test_exports_of_results_hold_controls_by_the_same_keys(run, tmp_path: Path) -> None:
    run("import", written(tmp_path))
    (row, *_) = csv.DictReader(io.StringIO(run("export", "results").stdout))
    assert (row["control_chance"], row["control_words"]) == ("", "not compared with scrambled copies yet")
    run("reevaluate", "--controls")
    shown = controls_of(run("show", GAME.id, "--format", "json").stdout)
    exported = {one["metric"]: one for one in json.loads(run("export", "results", "--format", "json").stdout)}
    assert {name: one["control"] for name, one in exported.items()} == shown
    assert "better than scrambled copies, beyond luck" in exported["coherence"]["control_words"]
    path = tmp_path / "results.parquet"
    run("export", "results", "--format", "parquet", "--output", path)
    table = pd.read_parquet(path).set_index("metric")
    text = {one["metric"]: one for one in csv.DictReader(io.StringIO(run("export", "results").stdout))}
    for key in ("chance", "difference", "z", "p", "draws"):
        assert table.loc["coherence", f"control_{key}"] == shown["coherence"][key]
        assert float(text["coherence"][f"control_{key}"]) == pytest.approx(shown["coherence"][key])
    assert table.loc["coherence", "control_companion_value"] == shown["coherence"]["companion"]["value"]
