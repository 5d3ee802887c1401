"""How often the gate asks a model for one message, whatever the model answers, and when it stops asking."""

import json
import logging
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from evaluation.corrections.action_gate import GateOutcome, GateResult
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig
from evaluation.corrections.statistics import gate_statistics
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.model_client.calls import CallRecord
from evaluation.store import Store
from evaluation.workflows.message_gate import MessageGate
from tests.judge_server import Content, Fault, JudgeServer, Misbehave

ALL = CorrectionConfig(**{f"gate_{name}_enabled": True for name in DIMENSIONS})
MOST_CALLS = 4
SAID = [("Michael", f"That is what she said, number {number}.") for number in range(3)]


def sent(
    url: str, path: Path, messages: int = 1, *, timeout_seconds: float = 30.0
) -> tuple[list[GateResult], list[CallRecord]]:
    """Messages of Michael's one after the other through a gate, and the calls made for them."""
    log: list[CallRecord] = []
    store = Store(path)
    config = judge_config({"base_url": url, "model": "local-model"}, {}, {})
    judge = build_judge(config, cache=store.judgements, log=log.append)
    attempts = count()

    def generate(_: str) -> str:
        return f"Attempt {next(attempts)}: as I have always told everybody."

    with MessageGate(judge, ALL, store=store, timeout_seconds=timeout_seconds) as gate:
        return [gate.send(generate, "Michael", SAID, "A boss.") for _ in range(messages)], log


def answering(text: str) -> Content:
    return lambda _: text


def low(_: object, *, items: int = 1, score: object = 1) -> str:
    marks = {"reason": "no", "score": score, "confidence": 0.9, "citations": [], "data_missing": False}
    return json.dumps({"answers": [{"item": item, **marks} for item in range(1, items + 1)], **marks})


@pytest.mark.parametrize(
    "content",
    [
        answering("I would rather not say."),
        answering('{"answers": [{"item": 1, "reason": "it'),
        answering('{"answers": [{"item": 1, "reason": "x", "score": 7.5, "confidence": 0.5}]}'),
        low,
        lambda body: low(body, items=20),
    ],
    ids=["prose", "half", "fraction", "one item", "all low"],
)
def test_a_dimension_is_asked_four_times_per_message_at_most(content: Content, tmp_path: Path) -> None:
    with JudgeServer(content=content).in_thread() as server:
        (result,), log = sent(server.url, tmp_path / "gate.duckdb")
    calls = Counter(record.purpose for record in log)
    # Where answers are useless, the breaker may open before the last dimension is asked.
    assert set(calls) <= set(DIMENSIONS)
    assert max(calls.values()) <= MOST_CALLS
    assert sum(calls.values()) == server.tally.asked.total()
    assert sum(check.found.calls or 0 for one in result.attempts for check in one.checks) == len(log)
    assert result.text


def test_marks_written_as_text_count_in_the_gate(tmp_path: Path) -> None:
    with JudgeServer(content=lambda body: low(body, items=20, score="8")).in_thread() as server:
        (result,), log = sent(server.url, tmp_path / "gate.duckdb")
    assert all(check.is_answered for check in result.attempts[0].checks)
    assert len(log) == len(DIMENSIONS) * len(result.attempts)


FAULTS = {"500": Fault("500", 500, body=b"Internal Server Error"), "hang": Fault("hang")}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("times", [1, 100])
def test_a_server_that_fails_is_asked_no_more_often(kind: str, times: int, tmp_path: Path) -> None:
    misbehave: Misbehave = lambda _, seen: FAULTS[kind] if seen < times else None  # noqa: E731
    with JudgeServer(content=lambda body: low(body, items=20), misbehave=misbehave).in_thread() as server:
        (result,), log = sent(server.url, tmp_path / "gate.duckdb", timeout_seconds=1.0 if kind == "hang" else 30.0)
        asked = server.tally.asked.total()
    assert asked == len(log) <= MOST_CALLS * len(DIMENSIONS)
    assert result.text


def test_after_five_failures_the_breaker_opens_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), JudgeServer(misbehave=lambda _, __: FAULTS["500"]).in_thread() as server:
        results, log = sent(server.url, tmp_path / "gate.duckdb", messages=4)
        asked = server.tally.asked.total()
    assert {result.outcome for result in results} == {GateOutcome.TIMEOUT_PASS_THROUGH}
    # The four dimensions of the first message are asked at the same time, and once more each: eight at most.
    assert 5 <= asked == len(log) <= 8
    assert "breaker open" in caplog.text
    last = results[-1].attempts[0].checks
    assert all(check.found.is_breaker_open and check.found.calls == 0 for check in last)
    assert all("breaker open" in check.found.reasoning for check in last)
    stored = [one.result for one in Store(tmp_path / "gate.duckdb").corrections.messages()]
    statistics = gate_statistics(stored)
    assert statistics == gate_statistics(results)
    assert statistics.breaker_open == 3
    assert statistics.calls_per_message == asked / 4


def test_one_breaker_serves_all_gates_of_a_model_at_an_address(tmp_path: Path) -> None:
    with JudgeServer(misbehave=lambda _, __: FAULTS["500"]).in_thread() as server:
        sent(server.url, tmp_path / "one.duckdb")
        asked = server.tally.asked.total()
        _, log = sent(server.url, tmp_path / "other.duckdb")
        assert (server.tally.asked.total(), log) == (asked, [])
