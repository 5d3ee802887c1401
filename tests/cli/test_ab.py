"""``dramaturg ab``: on stored games, and what it says of a faulty file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, WriteGame
from tests.judge_server import JudgeServer


def test_the_printed_example_compares_games_of_two_iterations(run: Run, write_game: WriteGame, tmp_path: Path) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(run("ab", "--print-config").stdout, encoding="utf-8")
    assert "There is no iteration 'Prompt v1'" in run("ab", place).stderr
    for number in (1, 2):
        run(
            "import", write_game(f"a{number}"), write_game(f"b{number}", good=False), "--iteration", f"Prompt v{number}"
        )
    done = run("ab", place)
    assert done.exit_code == 0
    assert "Conversation coherence, before against after: " in done.stdout
    again = json.loads(run("ab", place, "--format", "json").stdout)
    assert again["primary"] == "coherence"
    assert all(one["is_resumed"] for one in again["variants"]["before"]["runs"])


GAMES = "transcripts\nvariants: {a: {iteration: one}, b: {iteration: one}}\n"
COHERENCE = "measures: {coherence: higher}\nprimary: coherence\n"
TALK = "simulation\nbase: {steps: 1, personas: [{name: Ann}]}\nvariants: {a: {}, b: {steps: 2}}\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"{GAMES}{COHERENCE}", "variants.a: It has no games."),
        (f"{GAMES}{COHERENCE}base: {{x: 1}}\n", "base: Stored games have no settings."),
        ("magic\nvariants: {a: {}, b: {}}\n", "ab.yaml:2: source: It should be 'transcripts' or "),
        (TALK, "Agents need a model to speak"),
        (f"{GAMES.replace('a: {iteration', 'a: {iteratoin')}{COHERENCE}", "variants.a: It names no games."),
        (f"{GAMES}measures: {{coherense: higher}}\nprimary: coherense\n", "Do you mean 'coherence'?"),
        (f"{GAMES}checks: false\n", "Stored games cannot have the measure 'validation_pass_rate'. Set checks: true."),
        (TALK.replace("steps: 2", "steps: many"), "variants.b with base: "),
        (TALK.replace("steps: 1", "steps: 1, corrections: {x: 1}"), "variants.a with base: corrections.x"),
    ],
)
def test_what_cannot_give_a_result_is_refused_with_its_place(run: Run, tmp_path: Path, source: str, said: str) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(f"name: x\nsource: {source}", encoding="utf-8")
    run("iterations", "create", "one")
    done = run("ab", place, "--mode", "offline")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_limits_on_the_command_line_reach_the_runs(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "simulated.yaml"
    place.write_text(
        f"name: x\nsource: {TALK}checks: false\nmeasures: {{total_messages: higher}}\nprimary: total_messages\n"
    )
    with JudgeServer().in_thread() as server:
        address = ("--mode", "live", "--base-url", server.url)
        done = run("ab", place, *address, "--budget", 0, "--max-calls", 0, "--format", "json")
    runs = [one for each in json.loads(done.stdout)["variants"].values() for one in each["runs"]]
    assert {one["status"] for one in runs} == {"skipped"}
