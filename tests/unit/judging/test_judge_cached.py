"""Answers that are kept and asked once, and the estimate of what is left to ask."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import StoreError
from evaluation.judging.answers import Answer, ScoreAnswer
from evaluation.judging.cached_judge import CachedJudge, CallBuffer, KeepAnswers, KeptAnswer
from evaluation.judging.judge_config import build_estimate, build_judge, judge_config
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.live_judge import EstimatingJudge
from evaluation.judging.model_client.calls import CallRecord, Usage
from evaluation.judging.model_client.prices import Price
from evaluation.judging.protocol import Judgement, JudgementStatus, JudgeRequest, Prompt
from evaluation.progress import pace_words
from evaluation.store import Store
from tests.judge_questions import claim
from tests.judge_server import JudgeServer
from tests.stored_rows import llm_calls


def five(_: JudgeRequest) -> Answer:
    return ScoreAnswer(reason="because \u2603", score=5, confidence=0.5, citations=[1])


def judged(judge: CachedJudge, requests: Sequence[JudgeRequest]) -> list[Judgement]:
    return asyncio.run(judge.judge(requests))


def test_a_second_run_asks_only_what_is_new_and_gives_the_same(store: Store) -> None:
    requests = [claim(number, double_check=number == 2) for number in range(4)]
    first = judged(CachedJudge(ScriptedJudge(five, model="m"), store.judgements, model="m"), requests)
    silent = ScriptedJudge(five, model="m")
    *second, new = judged(CachedJudge(silent, store.judgements, model="m"), [*requests, claim(9)])
    assert ([asked.subject for asked in silent.asked], new.is_cached) == (["claim 9"], False)
    assert [one.is_cached for one in [*first, *second]] == [False] * 4 + [True] * 4
    for known, received in zip(second, first, strict=True):
        assert (known.answer, known.first_answer, known.raw) == (received.answer, received.first_answer, received.raw)
        assert (known.score, known.citations, known.prompt) == (5, ("m1",), received.prompt)
        assert known.usage == Usage()
    other_model = ScriptedJudge(five, model="n")
    judged(CachedJudge(other_model, store.judgements, model="n"), requests)
    assert len(other_model.asked) == 4


def test_equal_questions_are_asked_once_and_cite_their_own_messages(store: Store) -> None:
    judge = ScriptedJudge(five, model="m")
    twin = claim(1, subject="the same elsewhere", messages={1: "other game, m1"})
    one, two = judged(CachedJudge(judge, store.judgements, model="m"), [claim(1), twin])
    assert len(judge.asked) == 1
    assert (one.citations, two.citations) == (("m1",), ("other game, m1",))
    assert (one.usage.calls, two.usage.calls, two.is_cached) == (1, 0, True)


def test_errors_are_not_kept(store: Store) -> None:
    broken = CachedJudge(ScriptedJudge(lambda _: "out of order", model="m"), store.judgements, model="m")
    assert judged(broken, [claim()])[0].status is JudgementStatus.ERROR
    mended = judged(CachedJudge(ScriptedJudge(five, model="m"), store.judgements, model="m"), [claim()])
    assert (mended[0].score, mended[0].is_cached) == (5, False)


def test_an_answer_of_another_shape_is_asked_again(store: Store) -> None:
    kept = KeptAnswer(claim().key("m"), "m", ({"score": 99},), claim().prompt)
    store.judgements.keep([kept])
    judge = ScriptedJudge(five, model="m")
    assert judged(CachedJudge(judge, store.judgements, model="m"), [claim()])[0].score == 5
    assert len(judge.asked) == 1


def test_nothing_is_reported_before_it_is_on_the_disk(tmp_path: Path) -> None:
    requests = [claim(number) for number in range(20)]
    keys = [one.key("m") for one in requests]
    missing: list[int] = []
    store = Store(tmp_path / "a.duckdb")

    def report(position: int, _: Judgement) -> None:
        if not any(keys[position] in path.read_text() for path in tmp_path.glob(".a.duckdb.judge.*.answers")):
            missing.append(position)

    judge = CachedJudge(ScriptedJudge(five, model="m"), store.judgements, model="m")
    asyncio.run(judge.judge(requests, report=report))
    assert missing == []
    assert len(store.judgements.lookup(keys)) == 20
    assert list(tmp_path.glob(".*")) == []


class FullDisk:
    """A cache that can be read and not written."""

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        return {}

    def journal(self) -> AbstractAsyncContextManager[KeepAnswers]:
        return nullcontext(self.keep)

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord]) -> None:
        raise StoreError("The disk is full.")


def test_a_full_disk_ends_the_run() -> None:
    with pytest.raises(StoreError, match="disk is full"):
        judged(CachedJudge(ScriptedJudge(five, model="m"), FullDisk(), model="m"), [claim()])


class Failing:
    """Answers the first request and then breaks."""

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Any = None) -> list[Judgement]:
        await ScriptedJudge(five, model="m").judge(requests[:1], report=report)
        raise ConnectionError("the cable is cut")


def test_what_came_before_a_fault_is_kept(store: Store) -> None:
    with pytest.raises(ConnectionError):
        judged(CachedJudge(Failing(), store.judgements, model="m"), [claim(1), claim(2)])
    kept = store.judgements.lookup([claim(1).key("m"), claim(2).key("m")])
    assert [one.subject for one in kept.values()] == ["claim 1"]


def test_calls_are_stored_with_the_answers(store: Store) -> None:
    calls = CallBuffer()
    at = datetime(2026, 3, 1, tzinfo=UTC)
    run = "00000000-0000-0000-0000-000000000001"
    calls.add(CallRecord("adherence", "m", 1, "timeout", at, error="no answer", run_id=run))
    calls.add(CallRecord("adherence", "m", 2, "answered", at, "", 100, 40, 10, 0.25, 0.5, 10, "key", run))
    calls.add(CallRecord("fluency", "m", 1, "answered", at, "", 1, 0, 1, None))
    judged(CachedJudge(ScriptedJudge(five, model="m"), store.judgements, model="m", calls=calls), [claim()])
    assert llm_calls(store)["cost_usd"].tolist()[1] == 0.25
    frame = llm_calls(store, run)
    assert (frame["input_tokens"].sum(), frame["cached_tokens"].sum(), frame["output_tokens"].sum()) == (100, 40, 10)
    assert sorted(
        zip(frame["attempt"], frame["outcome"], frame["error"].fillna(""), frame["judgements"], strict=True)
    ) == [(1, "timeout", "no answer", 1), (2, "answered", "", 10)]
    assert frame["created_at"][0].tz_localize("UTC") == at


def requests(count: int, group: str | None = "one", **fields: bool) -> list[JudgeRequest]:
    return [
        JudgeRequest(
            "adherence",
            f"claim {number}",
            Prompt("s" * 400, "u" * 400, f"Claim {number:03}."),
            ScoreAnswer,
            "v1",
            batch_group=group,
            **fields,
        )
        for number in range(count)
    ]


def test_the_estimate_counts_the_calls_that_the_run_makes(tmp_path: Path) -> None:
    store = Store(tmp_path / "d.duckdb")
    asked = [*requests(23), *requests(23)[:2], *requests(3, group=None)]
    with JudgeServer().in_thread() as server:
        config = judge_config({"base_url": server.url, "model": "local-model"}, {}, {})
        counting = asyncio.run(_estimated(config, store, asked))
        judge = build_judge(config, cache=store.judgements)
        asyncio.run(judge.judge(asked))
        # 23 of a group are three calls, three more are asked alone, and two were asked twice.
        assert counting.calls == judge.budget.calls_made == server.tally.asked.total() == 6
        assert counting.words == ("28 questions, 2 of them answered already, 6 calls to local-model, cost not known")
        again = asyncio.run(_estimated(config, store, asked))
    assert (again.calls, again.known, again.usd) == (0, 28, 0.0)


async def _estimated(config: object, store: Store, asked: list[JudgeRequest]) -> EstimatingJudge:
    counting = build_estimate(config, store.judgements)  # type: ignore[arg-type]
    found = await counting.judge(asked)
    assert {one.status for one in found} == {JudgementStatus.SKIPPED}
    return counting


def test_the_cost_follows_from_the_lengths_of_the_prompts() -> None:
    counting = EstimatingJudge("m", price=Price(0.001, 0.001, 0.01))
    asyncio.run(counting.judge(requests(1)))
    # 810 characters are 202.5 tokens, the form of the answer 120, and 110 are written.
    assert counting.usd is not None
    assert round(counting.usd, 4) == round(322.5 * 0.001 + 110 * 0.01, 4)
    twice = EstimatingJudge("m", price=Price(0.001, 0.001, 0.01))
    asyncio.run(twice.judge(requests(1, double_check=True)))
    assert twice.calls == 2


def test_pace_in_words() -> None:
    assert pace_words(0, 10, 5) == ""
    assert pace_words(30, 100, 10) == "3.0 a second, 23 s left"
    assert pace_words(10, 40, 20 * 60) == "0.5 a minute, 1 h 0 min left"
    assert pace_words(2, 4, 150) == "0.8 a minute, 2 min 30 s left"
    assert pace_words(100, 100, 50) == "2.0 a second"
    assert pace_words(100, 0, 50) == "2.0 a second"
