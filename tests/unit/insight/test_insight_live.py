"""Checks and extractions through the live judge: a model's own JSON, kept answers, calls on record, and money."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import EvaluationReport, Wanted, report_on
from evaluation.judging.judge_config import JudgeConfig, build_judge
from evaluation.judging.model_client.calls import LLMResponse, Messages, Usage
from evaluation.judging.model_client.prices import Price
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from tests.stored_rows import llm_calls


class Model:
    """Answers as models do: prose around the JSON, whole numbers, a trailing comma."""

    model = "m"

    def __init__(self) -> None:
        self.asked: list[str] = []

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        yield

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> LLMResponse:
        text = messages[-1]["content"]
        self.asked.append(text)
        return LLMResponse(f"Sure!\n```json\n{self._answer(text)}\n```", "m", Usage(100, 0, 10))

    def _answer(self, text: str) -> str:
        if '"quotes"' in text:
            quote = {"agent_id": "Ada", "content": "rye is best", "relevance_score": 1, "citations": ["[M1]"]}
            return json.dumps({"quotes": [quote]})
        return '{"reason": "plain", "score": 1, "citations": [1],}'

    async def price(self) -> Price:
        return Price(0.001, 0.001, 0.001)


def report(store: Store, model: Model, usd: float | None = None) -> EvaluationReport:
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker="Ada", text=text) for at, text in enumerate(("Rye is best.", "It is."))
    )
    game = Transcript(
        game_id="g", source_format="native", language="en", players=(Player(name="Ada"),), messages=messages
    )
    judge = build_judge(JudgeConfig(mode="live", model="m", max_usd=usd), cache=store.judgements, provider=model)
    wanted = Wanted(checks=True, criteria="bread")
    config = EvaluationConfig(validation_sampling_rate=1.0)
    return asyncio.run(report_on(game, judge, wanted, config=config, personas={"Ada": "A baker."}))


def test_answers_are_read_kept_and_logged() -> None:
    store, model = Store(":memory:"), Model()
    first = report(store, model)
    # Two messages: persona and coherence of both, consistency of the second; and one question for quotes.
    assert len(model.asked) == 6
    assert [one.score for one in first.validations] == [1.0, None, 1.0, 1.0, 1.0, 1.0]
    assert [one.content for one in first.extractions["quotes"].found] == ["Rye is best"]
    # 110 tokens at 0.001 a call.
    assert first.spent_usd == pytest.approx(0.66)
    purposes = llm_calls(store)["purpose"].value_counts().to_dict()
    assert purposes == {"persona_adherence": 2, "coherence": 2, "consistency": 1, "extraction": 1}
    second = report(store, model)
    assert len(model.asked) == 6, "nothing is asked twice"
    assert (second.spent_usd, second.validations[0].score) == (0.0, 1.0)


def test_money_that_is_spent_leaves_checks_skipped_and_never_zero() -> None:
    # A budget of nothing allows no call.
    found = report(Store(":memory:"), Model(), usd=0.0)
    asked = [
        one for one in found.validations if one.explanation != "nothing was said before that it could be compared with"
    ]
    assert {(str(one.status), one.score, one.explanation) for one in asked} == {("skipped", None, "budget")}
    assert found.extractions["quotes"].status == "skipped"
    assert any("did not fit into the budget" in one.words for one in found.recommendations)
