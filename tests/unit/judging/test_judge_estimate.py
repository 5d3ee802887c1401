"""The estimate of a run beside the run itself: the same questions, the same calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judge_config import build_estimate, build_judge, judge_config
from evaluation.judging.live_judge import EstimatingJudge
from evaluation.judging.model_client.prices import Price
from evaluation.judging.protocol import JudgementStatus, JudgeRequest, Prompt
from evaluation.progress import pace_words
from evaluation.store import Store
from tests.judge_server import JudgeServer


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
