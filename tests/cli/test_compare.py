"""``dramaturg compare``, its gate in the GitHub action, and controls in every output."""

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.labelled_games import load_games
from tests.cli.conftest import Run, WriteGame
from tests.dashboard_server import dramaturg


def test_a_comparison_in_every_format(run: Any, write_game: Any) -> None:
    for name, good in (("v1", False), ("v2", True)):
        run("iterations", "create", name)
        run("import", *[write_game(f"{name}-{n}", good=good) for n in range(3)], "--iteration", name)
    # Nothing is concluded before the games are compared with scrambled copies, so that comes first.
    done = run("compare", "v1", "v2")
    assert done.exit_code == 0
    told = json.loads(run("compare", "v1", "v2", "--format", "json").stdout)["evidence"]
    assert told == "Not shown to be better or worse than v1."
    assert "Every score was compared with chance." in run("reevaluate", "--controls").stderr
    assert run("compare", "v1", "v2").stdout == done.stdout
    assert done.stdout.startswith("From v1 (3 games) to v2 (3 games).\nNot shown to be better or worse than v1.")
    # What stands in columns fits a terminal; sentences wrap.
    columns = [line for line in done.stdout.splitlines() if "  " in line.strip()]
    assert len(columns) > 10
    assert max(map(len, columns)) <= 100
    assert "Keep or revert, against v1: cannot be decided yet" in done.stdout
    assert "Holds none of the strategic keywords" in done.stdout
    data = json.loads(run("compare", "v1", "v2", "--format", "json").stdout)
    assert [one["name"] for one in data["metrics"]][:2] == ["memory_accuracy", "strategic_depth"]
    depth = data["metrics"][1]
    # Three equal games on each side: no spread, so no test.
    assert (depth["outcome"], depth["welch"]["p"], depth["welch"]["reason"]) == (
        "cannot be tested",
        None,
        "no spread seen",
    )
    assert data["movers"][0]["examples"][0]["transcript_id"] in data["before"]["games"]
    for other in ("v9", "v1"):
        assert run("compare", "v1", other).exit_code == 2
    mixed = run("compare", "v1", write_game("loose").parent)
    assert mixed.exit_code == 2
    assert "An iteration and a path of games cannot be compared with each other." in mixed.stderr
    assert "--note" in run("iterations", "decide", "v2", "reverted", "--reason", "x").stderr


def test_two_folders_are_compared_without_a_database_and_the_gate_fails_for_no_luck(
    run: Any, write_game: Any, tmp_path: Any, no_database: Any
) -> None:
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, good in zip(folders, (True, False), strict=True):
        folder.mkdir()
        for number in range(4):
            write_game(f"{folder.name}-{number}", good=good).rename(folder / f"{number}.json")
    done = run("compare", *folders, "--format", "markdown")
    assert done.exit_code == 0, done.output
    assert "(4 games) to `" in done.stdout
    assert "| Depth |" in done.stdout
    assert not no_database.exists()
    # All games of a side are alike, so nothing can be tested, and nothing fails; a critical failure does.
    done = run("compare", *folders, "--gate")
    assert done.exit_code == 0
    assert "gate: passed; nothing can be decided yet, as no metric can be tested" in done.stderr
    write_game("dear", usd=9.0).rename(folders[1] / "dear.json")
    done = run("compare", *folders, "--gate")
    assert (done.exit_code, "gate: " in done.stderr) == (1, True)
    assert run("compare", *folders).exit_code == 0
    (folders[1] / "broken.json").write_text("{")
    assert run("compare", *folders, "--gate").exit_code == 2


GAME = load_games()[0][1]
KEYS = {"value", "chance", "difference", "z", "p", "draws", "reason", "companion"}
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
    assert "than scrambled copies" not in run("iterations").stdout

    assert "Compared the scores of 1 game with chance." in run("reevaluate", "--controls", GAME.id[:8]).stdout
    shown = controls_of(run("show", GAME.id, "--format", "json").stdout)
    assert all(set(control) == KEYS for name, control in shown.items() if name != "engagement")
    assert (
        "better than scrambled copies, beyond luck (link strength 69, scrambled 50; with the same"
        in run("show", GAME.id).stdout
    )
    (first, _) = json.loads(run("iterations", "--format", "json").stdout)["iterations"]
    words = first["means"]["coherence"]["control"]["words"]
    assert words.startswith("better than scrambled copies in 1 of 1 game, mean link strength ")
    assert all(words in run(*output).stdout for output in (("compare", "v1", "v2"), ("iterations",)))
    rows = json.loads(run("export", "results", "--format", "json", "--iteration", "v1").stdout)
    assert {one["metric"]: one["control"] for one in rows} == shown
    row = exported(run)["coherence"]
    assert "better than scrambled copies, beyond luck" in row["control_words"]
    for key in ("value", "chance", "difference", "z", "p", "draws"):
        assert float(row[f"control_{key}"]) == pytest.approx(shown["coherence"][key])
    for wrong in (("--iteration", "none"), ("12345678",)):
        assert run("reevaluate", "--controls", *wrong).exit_code == 2


def test_the_reference_of_the_decision_is_compared_with_copies_too_and_trust_stands_beside(
    run: Run, write_game: WriteGame
) -> None:
    for name in ("v1", "v2", "v3"):
        run("iterations", "create", name, *(("--parent", "v2") if name == "v3" else ()))
        path = write_game(name)
        path.write_text(GAME.model_copy(update={"game_id": name}).to_json(), encoding="utf-8")
        run("import", path, "--iteration", name)
    said = run("compare", "v1", "v3", "--format", "json")
    assert json.loads(said.stdout)["decision"]["reference"] == "v2"
    assert "compared with scrambled copies first" in said.stderr
    (first, second, third) = json.loads(run("iterations", "--format", "json").stdout)["iterations"]
    assert all(one["means"]["coherence"]["control"]["words"] for one in (first, second, third))
    assert "Conversation coherence (some trust), v1: " in run("compare", "v1", "v3").stdout


ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples" / "native"


def scored(folder: Path, tmp_path: Path, **variables: str) -> tuple[int, str]:
    environment = {**os.environ, "DRAMATURG": dramaturg(), "INPUT_FOLDER": str(folder)}
    environment |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), **variables}
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "score_games.sh")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "summary.md").read_text() == done.stdout
    return done.returncode, done.stdout


def test_with_games_of_before_the_change_is_compared(tmp_path: Path) -> None:
    found, text = scored(SAMPLES / "prompt-v3", tmp_path, INPUT_BEFORE=str(SAMPLES / "prompt-v2"))
    assert "What moved the scores most" in text
    # Prompt v3 is lower in strategic depth than v2, beyond luck.
    assert (found, "worse beyond luck" in text) == (1, True)


def test_games_that_pass_the_gate_stand_in_a_table_on_the_page_of_the_run(tmp_path: Path) -> None:
    # A module of the checkout is not run.
    (tmp_path / "evaluation.py").write_text("raise SystemExit('taken')")
    games = tmp_path / "games"
    games.mkdir()
    shutil.copy(min((SAMPLES / "prompt-v4").glob("*.json")), games)
    found, table = scored(games, tmp_path)
    assert (found, table[:2]) == (0, "| ")


def test_a_name_like_an_option_is_wrong_usage(tmp_path: Path) -> None:
    assert scored(Path("--store"), tmp_path)[0] == 2


def test_no_input_is_put_into_a_command() -> None:
    text: Any = (ROOT / "action.yml").read_text()
    assert "${{ inputs" not in text.partition("run:")[2].partition("env:")[0]


def test_games_in_a_form_of_their_own_are_read_as_the_action_is_told(tmp_path: Path) -> None:
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for game in range(3):
            said = [
                {"nick": ("Ann", "Ben", "Cleo")[n % 3], "body": f"It is {side} {game}, turn {n}."} for n in range(9)
            ]
            (tmp_path / side / f"{game}.json").write_text(json.dumps({"talk": {"said": said}}))
    before = {"INPUT_BEFORE": str(tmp_path / "before")}
    assert scored(tmp_path / "after", tmp_path, **before)[0] == 2
    (tmp_path / "summary.md").unlink()
    assert scored(tmp_path / "after", tmp_path, **before, INPUT_READING="--as-read")[0] == 0
    (tmp_path / "summary.md").unlink()
    assert scored(tmp_path / "after", tmp_path, INPUT_READING="--as-read --map round=", INPUT_GATE="full")[0] == 1
