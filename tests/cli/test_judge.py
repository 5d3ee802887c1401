"""``dramaturg judge``: a model reads games; what it costs, what it decides, how to give that back."""

import json
import re
import socket
from typing import Any

import pytest

from tests.judge_questions import entry
from tests.judge_server import JudgeServer


def test_only_the_games_asked_for(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two"))
    nobody = ("--base-url", "http://127.0.0.1:9/v1", "--max-calls", 0, "--format", "json")
    report = json.loads(run("judge", "--iteration", "v1", *nobody).stdout)
    assert (report["transcripts"], report["messages"], report["read"], report["judge"]) == (1, 6, 0, "live")
    assert json.loads(run("judge", "two", *nobody).stdout)["transcripts"] == 1
    for wrong in ("nothing", "--iteration nope", "--mode psychic", "--budget -1"):
        assert run("judge", *wrong.split()).exit_code == 2, wrong


def test_a_dead_address_is_a_failure_also_when_the_budget_ends_the_tries(run: Any, write_game: Any) -> None:
    run("import", write_game())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        done = run("judge", "--mode", "live", "--base-url", address, "--max-calls", "1", "--format", "json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["calls"], found["read"], found["errors"]) == (3, 1, 0, 1)


def test_a_live_run_is_estimated_limited_and_tells_its_progress_and_cost(run: Any, write_game: Any) -> None:
    quote = {"quote": "a pattern at this table", "kind": "vote", "reason": "He did.", "verdict": "accurate"}

    def read(_: dict[str, Any]) -> str:
        found = [entry(number) for number in range(1, 7)]
        found[0]["references"] = [quote, quote | {"quote": "nobody wrote this"}]
        return json.dumps({"messages": found})

    run("import", write_game())
    with JudgeServer(content=read).in_thread() as server:
        ask = ("judge", "--base-url", server.url, "--model", "local-model")
        estimate = run(*ask, "--estimate")
        assert (estimate.exit_code, server.tally.asked.total()) == (0, 0)
        assert "1 question, 1 call to local-model, cost not known" in estimate.stdout
        refused = run(*ask, "--budget", "1")
        assert (refused.exit_code, server.tally.asked.total()) == (2, 0)
        assert "--max-calls beside --budget" in refused.stderr
        done = run(*ask, "--budget", "1", "--max-calls", "3", "--timeout", "30", "--concurrency", "2")
        assert server.tally.asked.total() == 1
        again = run(*ask)
        assert server.tally.asked.total() == 1
    assert (done.exit_code, again.exit_code) == (0, 0)
    assert "local-model (live): 6 of 6 messages in 1 game read" in done.stdout
    assert "0 of 12 rows otherwise than before. 0 calls" in again.stdout
    assert "Left out 1 time: a reference was quoted that does not stand in the message." in done.stderr
    assert re.search(r"1 of 1 game done, \d+\.\d a (second|minute), 1 call, cost not known: game-1", done.stderr)
    # Two of the six state a reason, which stands against the model; by the rule all six are strategic.
    depth, memory = [("show", "game-1", "--metric", name) for name in ("strategic_depth", "memory_accuracy")]
    assert run(*depth).stdout.startswith("Strategic depth: 33.3 %")
    assert "judge:local-model" in run(*memory).stdout
    assert " back" in run("judge", "--withdraw", "Ada").stdout
    assert run(*depth).stdout.startswith("Strategic depth: 100.0 %")


def test_imports_are_read_where_settings_say_so(run: Any, write_game: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer(content=lambda _: json.dumps({"messages": [entry(1)]})).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run("import", write_game("silent"))
        assert server.tally.asked.total() == 0
        assert run("settings", "--set", "judge.imports=maybe").exit_code == 2
        assert "judge.imports" in run("settings", "--set", "judge.imports=on").stdout
        done = run("import", write_game("told"), write_game("silent"))
        # One call about the six messages of the new game, and one more about the five that the answer left out.
        assert server.tally.asked.total() == 2
        assert "1 of 6 messages in 1 game read" in done.stderr
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert "read" not in run("import", write_game("fourth")).stderr
