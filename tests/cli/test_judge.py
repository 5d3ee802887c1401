"""``dramaturg judge``: who decides, what it costs, what is left to the rule, and how to give it back."""

from __future__ import annotations

import json
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
    [("nothing",), ("--iteration", "nope"), ("--mode", "psychic"), ("--base-url", "ftp://x"), ("--budget", "-1")],
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
