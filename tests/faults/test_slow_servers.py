"""A judge's server with few slots or slow answers: the run keeps its pace, ends by itself, and asks nothing in vain."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Any

import pytest

from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.model_client.calls import CallRecord
from evaluation.judging.protocol import Judgement, JudgementStatus
from tests.judge_questions import claims
from tests.judge_server import Fault, JudgeServer, last_message
from tests.long import mostly_long

COUNT = 20


def judged(
    url: str, count: int, log: list[CallRecord] | None = None, **options: Any
) -> tuple[list[Judgement], float, int]:
    """The judgements, how long they took once the client was ready, and the calls that the budget counted."""
    config = judge_config({"base_url": url, "model": "local-model", **options}, {}, {})
    chosen = build_judge(config, log=None if log is None else log.append)

    async def run() -> tuple[list[Judgement], float]:
        assert chosen.client is not None
        await chosen.client.prepare()
        started = time.perf_counter()
        return await chosen.judge(claims(count)), time.perf_counter() - started

    judgements, seconds = asyncio.run(run())
    return judgements, seconds, chosen.budget.calls_made


@pytest.mark.parametrize("timeout_seconds", mostly_long([1.0, 1.9]))
def test_a_server_with_one_slot_is_kept_busy_and_asked_hardly_anything_twice(timeout_seconds: float) -> None:
    with JudgeServer(latency_seconds=0.2, slots=1).in_thread() as server:
        judgements, seconds, calls = judged(server.url, COUNT, concurrency=20, timeout_seconds=timeout_seconds)
    assert [one.status for one in judgements] == [JudgementStatus.SCORED] * COUNT
    assert sum(times > 1 for times in server.tally.asked.values()) <= 2
    assert calls <= COUNT + 2
    # Twice as long as the server needs at least: who asks again for what is under way takes several times as long.
    assert seconds <= 2 * COUNT * 0.2 + 4.0


def test_calls_that_time_out_behind_others_are_asked_again_with_fewer_under_way() -> None:
    log: list[CallRecord] = []
    # Of four calls at first, two fit into the timeout: the third is cut off in the middle, the fourth is not begun.
    with JudgeServer(latency_seconds=0.2, slots=1).in_thread() as server:
        judgements, _, calls = judged(server.url, 12, log, timeout_seconds=0.5)
    assert [one.status for one in judgements] == [JudgementStatus.SCORED] * 12
    assert {one.outcome for one in log} == {"answered", "timeout"}
    assert calls == len(log)


def is_slow(body: dict[str, Any]) -> bool:
    return hashlib.sha256(last_message(body).encode()).digest()[0] % 10 == 0


def test_slow_answers_are_asked_three_times_at_most_and_hold_up_nothing_else() -> None:
    def misbehave(body: dict[str, Any], _: int) -> Fault | None:
        return Fault("slow", seconds=30.0) if is_slow(body) else None

    with JudgeServer(latency_seconds=0.02, misbehave=misbehave).in_thread() as server:
        judgements, seconds, _ = judged(server.url, 100, timeout_seconds=0.8)
        slow = server.tally.faults["slow"]
        late = [prompt for prompt, times in server.tally.asked.items() if times > 1]
    unscored = [one for one in judgements if not one.is_scored]
    assert 3 <= len(unscored) <= 20, "a tenth of them"
    assert {one.status for one in unscored} == {JudgementStatus.ERROR}
    assert all(times <= 3 for times in server.tally.asked.values())
    assert slow == 3 * len(unscored)
    assert len(late) == len(unscored), "no quick answer was asked for twice"
    assert seconds < 25


def test_a_server_that_refuses_for_the_rate_gets_fewer_calls_at_once() -> None:
    """Six calls at a time are too many for it; each answered 429 halves the limit, which then grows again."""
    in_flight = {"most": 0}

    def misbehave(_: dict[str, Any], __: int) -> Fault | None:
        in_flight["most"] = max(in_flight["most"], server.tally.in_flight)
        return Fault("429", 429, (("Retry-After", "0.01"),), body=b"{}") if server.tally.in_flight >= 6 else None

    with JudgeServer(latency_seconds=0.03, misbehave=misbehave).in_thread() as server:
        judgements, _, _ = judged(server.url, 200, concurrency=20)
    assert [one.detail for one in judgements if not one.is_scored] == []
    assert in_flight["most"] == 6
