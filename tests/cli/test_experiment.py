"""``dramaturg experiment`` and ``ab``: Table 1, scripted runs, reports, and what a file of variants may say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, WriteGame
from tests.judge_server import JudgeServer


def test_table1_as_json_and_as_tables(run: Any) -> None:
    rows = json.loads(run("experiment", "report", "table1", "--format", "json").stdout)
    assert len(rows) == 19
    assert set(rows[0]) >= {"experiment", "dimension", "treatment_mean", "control_sd", "difference", "p_value"}
    text = run("experiment", "report", "table1").stdout
    assert re.search(r"2\.1 +Ideas +2\.45 \(1\.54\) +4\.17 \(2\.50\) +-1\.72 ", text)


def test_a_scripted_run_needs_no_key_and_is_marked_everywhere(run: Any) -> None:
    name = "brainstorming-difficult-variety"
    options = (name, "--scale", "0.01", "--steps", "8", "--batched", "--scripted", "--sample-size", "1")
    # 11 calls for 8 people, 128 messages, 16 * 4 and 4 * 2 judgements; 64 questions whether anything is new.
    assert "211 to 275 calls" in run("experiment", "run", *options, "--estimate").stdout
    done = run("experiment", "run", *options)
    assert done.exit_code == 0
    assert done.stdout.startswith("A rehearsal, not a result: a script spoke and judged")
    assert "Paper" not in done.stdout
    assert "Stepped in: variety" in done.stdout
    assert "in the paper:" not in done.stdout
    again = json.loads(run("experiment", "run", *options, "--format", "json").stdout)
    assert (again["is_scripted"], again["status"], len(again["rows"])) == (True, "completed", 5)
    assert "simulation" in run("list").stdout


def test_nothing_is_spent_without_consent(run: Any, monkeypatch: Any, tmp_path: Path) -> None:
    prices = tmp_path / "pricing.yaml"
    prices.write_text("nobody: {input: 1, output: 2}\n")
    monkeypatch.setenv("DRAMATURG_PRICING", str(prices))
    address = ("--base-url", "http://127.0.0.1:9/v1", "--model", "nobody")
    done = run("experiment", "run", "debate-controversial", "--scale", "0.1", *address)
    assert done.exit_code == 2
    assert " to write, at most about " in done.stderr
    assert "Say --yes." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("run debate-controversial --scripted --model mine", "no model and no server is asked"),
        ("run debate-controversial --scripted --base-url http://localhost:1/v1", "no model and no server is asked"),
        ("run debate-controversial --scripted --scale 0", "Give a number from 0.01 to 1."),
        ("run debate-controversial --scale 0.1", "or try it scripted"),
        ("report abc", "'table1'"),
    ],
)
def test_what_makes_no_run_and_no_report_is_refused(run: Any, arguments: str, why: str) -> None:
    refused = run("experiment", *arguments.split())
    assert (refused.exit_code, why in refused.stderr) == (2, True)


def test_the_printed_example_compares_games_of_two_iterations(run: Run, write_game: WriteGame, tmp_path: Path) -> None:
    place = tmp_path / "ab.yaml"
    place.write_text(run("ab", "--print-config").stdout, encoding="utf-8")
    assert "No iteration has the whole name 'Prompt v1'" in run("ab", place).stderr
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
