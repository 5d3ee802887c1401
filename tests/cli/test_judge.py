"""``dramaturg judge``: who decides, what it costs, what is left to the rule, and how to give it back."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import pytest

from evaluation.cli.ratings.judge import _say
from evaluation.cli.shared.options import ListFormat
from evaluation.judging.judge_config import ChosenJudge
from evaluation.judging.judges.scripted import ScriptedJudge
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.protocol import JudgeKind, JudgeRequest, LabelAnswer
from evaluation.store import Store
from evaluation.workflows.judging import judge_stored
from tests.judge_server import JudgeServer


@pytest.fixture(autouse=True)
def without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_model_nothing_is_decided_and_it_says_why(run: Any, write_game: Any) -> None:
    run("import", write_game())
    before = run("show", "game-1", "--format", "json").stdout
    done = run("judge")
    assert done.exit_code == 0
    # 6 messages: 6 rows of depth and 5 of coherence; alignments are unknown and nothing is unverified.
    assert "(offline) decided 0 of 11 rows in 1 game" in done.stdout
    assert "11 left to the rule: needs an LLM judge" in done.stderr
    assert run("show", "game-1", "--format", "json").stdout == before


def test_only_the_games_and_metrics_asked_for(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two"))
    report = json.loads(run("judge", "--iteration", "v1", "--metric", "coherence", "--format", "json").stdout)
    assert (report["transcripts"], report["asked"], report["decided"], report["judge"]) == (1, 5, 0, "offline")
    assert json.loads(run("judge", "two", "--format", "json").stdout)["transcripts"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing",),
        ("--iteration", "nope"),
        ("--mode", "psychic"),
        ("--base-url", "ftp://x"),
        ("--base-url", "http://a:99999999/v1"),
        ("--budget", "-1"),
    ],
)
def test_wrong_usage_is_refused(run: Any, write_game: Any, arguments: tuple[str, ...]) -> None:
    run("import", write_game())
    assert run("judge", *arguments).exit_code == 2


def scripted(store: Store, script: Any) -> Any:
    judge = ScriptedJudge(script, model="small-model")
    chosen = ChosenJudge(judge, JudgeKind.SCRIPTED, "small-model", Budget())
    ids = [str(each) for each in store.transcripts.summaries()["transcript_id"]]
    return judge_stored(store, ids, chosen, metrics=["strategic_depth"]), chosen


def shallow_or_fault(request: JudgeRequest) -> LabelAnswer | str | None:
    if "[M1]" in request.claim:
        return LabelAnswer(reason="A mood.", label="shallow", confidence=0.9)
    return "the server hung up" if "[M2]" in request.claim else None


def test_what_a_model_decides_moves_the_score_until_it_is_withdrawn(
    run: Any, write_game: Any, database: Any, capsys: Any
) -> None:
    run("import", write_game())
    store = Store(database)
    tally, chosen = scripted(store, shallow_or_fault)
    store.close()
    assert (tally.asked, tally.decided, tally.changed, tally.errors) == (6, 1, 1, 1)
    _say(tally, chosen, ListFormat.TABLE)
    said = capsys.readouterr()
    assert "small-model (scripted) decided 1 of 6 rows in 1 game; 1 otherwise than the rule." in said.out
    assert "1 left to the rule: the server hung up." in said.err
    # The rule counts 6 of 6; the judge takes one away.
    assert run("show", "game-1", "--metric", "strategic_depth").stdout.startswith("Strategic depth: 83.3 %")
    assert "(judge)" in run("show", "game-1", "--metric", "strategic_depth").stdout
    assert "Ada gave 1 row back" in run("judge", "--withdraw", "Ada").stdout
    assert run("show", "game-1", "--metric", "strategic_depth").stdout.startswith("Strategic depth: 100.0 %")


def test_a_dead_address_is_a_failure_also_when_the_budget_ends_the_tries(run: Any, write_game: Any) -> None:
    run("import", write_game())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        done = run("judge", "--mode", "live", "--base-url", address, "--max-calls", "1", "--format", "json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["calls"], found["decided"]) == (3, 1, 0)
    assert found["errors"] >= 1
    assert found["errors"] + found["skipped"] == found["asked"]


def test_a_live_run_is_estimated_limited_and_tells_its_progress_and_cost(run: Any, write_game: Any) -> None:
    def label(body: dict[str, Any]) -> str:
        answer = {"reason": "So it reads.", "label": "shallow", "confidence": 0.9, "citations": []}
        items = re.findall(r"^\[P(\d+)\]", str(body["messages"][-1]["content"]), re.MULTILINE)
        return json.dumps({"answers": [{"item": int(item), **answer} for item in items]} if items else answer)

    run("import", write_game())
    with JudgeServer(content=label).in_thread() as server:
        ask = ("judge", "--base-url", server.url, "--model", "local-model", "--metric", "strategic_depth")
        estimate = run(*ask, "--estimate")
        assert (estimate.exit_code, server.tally.asked.total()) == (0, 0)
        assert "6 questions, 1 call to local-model, cost not known" in estimate.stdout
        refused = run(*ask, "--budget", "1")
        assert (refused.exit_code, server.tally.asked.total()) == (2, 0)
        assert "--max-calls beside --budget" in refused.stderr
        done = run(*ask, "--budget", "1", "--max-calls", "3", "--timeout", "30", "--concurrency", "2")
        assert server.tally.asked.total() == 1
    assert done.exit_code == 0
    assert "1 call, cost not known." in done.stdout
    assert re.search(r"1 of 1 game done, \d+\.\d a (second|minute), 1 call, cost not known: game-1", done.stderr)
    assert "0.0000" not in done.stdout + done.stderr
    again = run(*ask, "--estimate")
    assert "6 questions, 6 of them answered already, 0 calls to local-model" in again.stdout


def test_an_estimate_needs_no_model_where_one_would_be_asked(run: Any, write_game: Any) -> None:
    run("import", write_game())
    assert " to gpt-4o-mini" in run("judge", "--estimate").stdout
    assert run("insights", "game-1", "--estimate").stdout == "No model would be asked.\n"
    assert "1 call to gpt-4o-mini" in run("insights", "game-1", "--themes", "--estimate").stdout
