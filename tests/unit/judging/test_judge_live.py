"""The live judge over a provider of the test's own: conversations, batches, double checks, fences, budgets."""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel

from evaluation.errors import InputError, JSONParseError
from evaluation.judging.answers import RECHECK, CheckAnswer, ScoreAnswer
from evaluation.judging.fencing import FENCE
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.judges_without_model import RecordingJudge, read_recordings
from evaluation.judging.live_judge import LiteLLMJudge, units_of
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.model_client.calls import (
    MOST_TOKENS,
    CallRecord,
    LLMResponse,
    Messages,
    RetryPolicy,
    Usage,
    plausible_tokens,
)
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.prices import Price
from evaluation.judging.protocol import Judgement, JudgementStatus, JudgeRequest, Prompt
from evaluation.store import Store
from tests.judge_questions import claim

Script = Callable[[Messages], str]


def verdict(score: int, **more: object) -> dict[str, object]:
    return {"reason": f"because {score}", "score": score, "confidence": 0.5, "citations": [1], **more}


class OwnProvider:
    """Answers by a script and remembers every conversation."""

    def __init__(self, script: Script, price: Price | None = None) -> None:
        self.model = "own"
        self._script = script
        self._price = price
        self.conversations: list[Messages] = []
        self.room: list[int] = []
        self.cut_off_below = 0

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        yield

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> LLMResponse:
        assert temperature == 0
        self.conversations.append(messages)
        self.room.append(max_tokens)
        await asyncio.sleep(0)
        is_cut_off = max_tokens < self.cut_off_below
        text = '{"reason": "on and o' if is_cut_off else self._script(messages)
        return LLMResponse(text, "own-2026", Usage(1_000, 0, 100), is_cut_off)

    async def price(self) -> Price | None:
        return self._price


def judged(
    provider: OwnProvider,
    requests: Sequence[JudgeRequest],
    log: list[CallRecord] | None = None,
    budget: Budget | None = None,
    concurrency: int = 20,
    **options: int,
) -> list[Judgement]:
    told = None if log is None else log.append
    client = LLMClient(provider, budget=budget, log=told, retry=RetryPolicy(retries=0), concurrency=concurrency)
    return asyncio.run(LiteLLMJudge(client, **options).judge(requests))


def claims_of(messages: Messages) -> dict[int, int]:
    """Item to claim, as the last question numbers them."""
    text = messages[1]["content"]
    return {int(item): int(claim) for item, claim in re.findall(r"\[P(\d+)\] Claim (\d+) holds", text)}


def batch_of(scores: dict[int, object]) -> str:
    return json.dumps({"answers": [{"item": item, **verdict(0), "score": score} for item, score in scores.items()]})


def test_a_question_alone() -> None:
    log: list[CallRecord] = []
    provider = OwnProvider(lambda _: json.dumps(verdict(7, citations=[1, 1, 5])), Price(1e-6, 1e-6, 2e-6))
    (one,) = judged(provider, [claim()], log)
    assert (one.status, one.score, one.reason, one.confidence) == ("scored", 7, "because 7", 0.5)
    assert one.citations == ("m1",)
    assert (one.judge, one.model, one.is_cached) == ("live", "own", False)
    # 1,000 tokens read at 1 and 100 written at 2 millionths.
    assert one.usage.cost_usd == pytest.approx(0.0012)
    assert (log[0].outcome, log[0].cost_usd, log[0].judgement_key) == ("answered", pytest.approx(0.0012), one.key)
    (system, user) = provider.conversations[0]
    assert system["content"] == "You judge."
    assert "Claim 1 holds." in user["content"]
    assert user["content"].index('"reason"') < user["content"].index('"score"') < user["content"].index('"confidence"')


def test_every_call_has_a_delimiter_of_its_own_that_nobody_can_guess() -> None:
    provider = OwnProvider(lambda _: json.dumps(verdict(7)))
    judged(provider, [claim(1), claim(2)])
    delimiters = [re.findall(r"<<[0-9a-f]{16}>>", messages[1]["content"]) for messages in provider.conversations]
    assert all(len(found) == 2 and found[0] == found[1] for found in delimiters)
    assert len({found[0] for found in delimiters}) == 2
    assert all(FENCE not in message["content"] for messages in provider.conversations for message in messages)


def test_a_double_check_asks_in_the_same_conversation_and_keeps_both_answers() -> None:
    provider = OwnProvider(lambda messages: json.dumps(verdict(9 if len(messages) == 2 else 4)))
    (one,) = judged(provider, [claim(double_check=True)])
    assert one.score == 4
    assert isinstance(one.first_answer, ScoreAnswer)
    assert one.first_answer.score == 9
    assert [message["role"] for message in provider.conversations[1]] == ["system", "user", "assistant", "user"]
    assert provider.conversations[1][3]["content"] == RECHECK
    assert (one.usage.calls, one.usage.input_tokens) == (2, 2_000)


def test_an_answer_that_is_cut_off_gets_more_room() -> None:
    provider = OwnProvider(lambda _: json.dumps(verdict(3)))
    provider.cut_off_below = 4_000
    (one,) = judged(provider, [claim()])
    assert (one.score, provider.room) == (3, [1_000, 2_000, 4_000])


def test_ten_claims_about_one_context_are_one_call() -> None:
    provider = OwnProvider(lambda messages: batch_of({item: claim % 10 for item, claim in claims_of(messages).items()}))
    log: list[CallRecord] = []
    requests = [claim(number, batch_group="g") for number in range(25)]
    judgements = judged(provider, requests, log)
    assert [one.score for one in judgements] == [number % 10 for number in range(25)]
    assert sorted(record.judgements for record in log) == [5, 10, 10]
    # A tenth of 1,000 tokens each.
    assert (judgements[0].usage.input_tokens, judgements[0].usage.calls) == (100, 0.1)
    assert provider.conversations[0][1]["content"].count("[M1] Ann: hello") == 1


def test_missing_and_garbled_items_are_asked_again_one_by_one() -> None:
    def script(messages: Messages) -> str:
        claims = claims_of(messages)
        if not claims:
            return json.dumps(verdict(8))
        return batch_of({item: 12 if claim == 2 else 5 for item, claim in claims.items() if claim != 4})

    provider = OwnProvider(script)
    judgements = judged(provider, [claim(number, batch_group="g") for number in range(1, 6)])
    assert [one.score for one in judgements] == [5, 8, 5, 8, 5]
    alone = [messages[1]["content"] for messages in provider.conversations[1:]]
    assert ["Claim 2 holds" in alone[0], "Claim 4 holds" in alone[1], len(alone)] == [True, True, 2]


def test_a_double_check_of_a_batch_keeps_both_rounds() -> None:
    provider = OwnProvider(
        lambda messages: batch_of(dict.fromkeys(claims_of(messages), 9 if len(messages) == 2 else 6))
    )
    judgements = judged(provider, [claim(number, batch_group="g", double_check=True) for number in range(3)])
    assert [(one.score, one.first_answer.score) for one in judgements if one.first_answer] == [(6, 9)] * 3
    assert len(provider.conversations) == 2


def test_only_what_shares_its_context_is_put_together() -> None:
    requests = [
        claim(1, batch_group="g"),
        claim(2, batch_group="h"),
        claim(3),
        claim(4, batch_group="g"),
        claim(5, batch_group="g", double_check=True),
        claim(6, batch_group="g", answer=CheckAnswer),
        claim(7, batch_group="g", prompt=Prompt("You judge.", "another context", "Claim 7 holds.")),
    ]
    assert [tuple(unit) for unit in units_of(requests)] == [(0, 3), (1,), (2,), (4,), (5,), (6,)]
    assert [len(unit) for unit in units_of(requests, largest=1)] == [1] * 7


def test_all_that_may_change_an_answer_is_in_its_key() -> None:
    plain = claim()
    others = [
        claim(2),
        claim(prompt_version="v2"),
        claim(double_check=True),
        claim(batch_group="g"),
        claim(answer=CheckAnswer),
    ]
    assert len({one.key("m") for one in [plain, *others]} | {plain.key("another")}) == 7
    assert plain.key("m") == claim(subject="named otherwise", messages={1: "elsewhere"}).key("m")


def test_two_servers_with_a_model_of_one_name_do_not_share_answers(tmp_path: Path) -> None:
    provider = OwnProvider(lambda _: json.dumps(verdict(5)))
    store = Store(":memory:")

    def ask(server: str | None) -> Judgement:
        config = judge_config({"mode": "live", "model": "own", "base_url": server}, environment={})
        chosen = build_judge(config, cache=store.judgements, provider=provider)
        recording = RecordingJudge(chosen, tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl")
        return asyncio.run(recording.judge([claim()]))[0]

    servers = ["http://a:1/v1", "http://b:1/v1", None, "http://a:1/v1/"]
    judgements = [ask(server) for server in servers]
    assert [one.is_cached for one in judgements] == [False, False, False, True]
    assert len({one.key for one in judgements}) == 3
    assert [store.judgements.lookup([one.key])[one.key].raw for one in judgements] == [one.raw for one in judgements]
    # What is recorded does not tell where: it plays back everywhere.
    assert {key for path in tmp_path.iterdir() for key in read_recordings(path)} == {claim().key("own")}
    store.close()


def test_a_budget_in_dollars_is_never_passed() -> None:
    # A call costs 1,000 * 1 + 100 * 2 = 1,200 millionths.
    provider = OwnProvider(lambda _: json.dumps(verdict(7)), Price(1e-6, 1e-6, 2e-6))
    budget = Budget(usd=0.01)
    judgements = judged(provider, [claim(number) for number in range(40)], budget=budget)
    found = Counter((one.status, one.detail) for one in judgements)
    assert budget.spent_usd <= 0.01
    assert found[(JudgementStatus.SCORED, "")] >= 6
    assert found[(JudgementStatus.SKIPPED, "budget")] == 40 - found[(JudgementStatus.SCORED, "")]


def test_what_a_server_claims_of_tokens_is_bounded() -> None:
    claimed = (-5_000_000, 7, 12.7, math.inf, math.nan, None, "9", True)
    assert [plausible_tokens(one) for one in claimed] == [0, 7, 12, MOST_TOKENS, 0, 0, 0, 0]


def test_a_budget_in_dollars_needs_a_price() -> None:
    provider = OwnProvider(lambda _: json.dumps(verdict(7)))
    with pytest.raises(InputError, match=r"price of own is not known.*--max-calls beside --budget.*DRAMATURG_PRICING"):
        judged(provider, [claim()], budget=Budget(usd=1.0))
    assert provider.conversations == []


def test_without_a_price_the_calls_are_limited_and_the_cost_is_not_known() -> None:
    provider = OwnProvider(lambda _: json.dumps(verdict(7)))
    budget, log = Budget(usd=1.0, calls=2), list[CallRecord]()
    judgements = judged(provider, [claim(number) for number in range(3)], log, budget, concurrency=1)
    assert [one.status for one in judgements] == [*[JudgementStatus.SCORED] * 2, JudgementStatus.SKIPPED]
    assert [one.cost_usd for one in log] == [None, None]
    assert (budget.known_usd, spent_words(budget)) == (None, "2 calls, cost not known")
    assert judgements[0].usage.known_usd is None


def test_an_answer_without_usage_is_charged_what_was_reserved() -> None:
    class WithoutUsage(OwnProvider):
        async def complete(
            self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
        ) -> LLMResponse:
            return LLMResponse(json.dumps(verdict(7)), "own-2026")

    # At most 1,000 tokens at 0.001 are written and the prompt costs 0: a dollar a call, so that two dollars are two.
    budget = Budget(usd=2.5)
    provider = WithoutUsage(str, Price(0, 0, 0.001))
    judgements = judged(provider, [claim(number) for number in range(5)], budget=budget, concurrency=1)
    assert [one.is_scored for one in judgements] == [True, True, False, False, False]
    assert (budget.spent_usd, spent_words(budget)) == (2.0, "2 calls, $2.0000")


class Opinion(BaseModel):
    text: str


def test_complete_json_as_in_the_adr() -> None:
    async def ask() -> None:
        client = LLMClient(OwnProvider(lambda _: '```json\n{"text": "a", "score": 0.5}\n```'))
        messages = [{"role": "user", "content": "?"}]
        assert await client.complete_json(messages) == {"text": "a", "score": 0.5}
        assert await client.complete_json(messages, Opinion) == {"text": "a"}
        assert (await client.complete_json(messages, {"required": {"score": float}}))["score"] == 0.5
        with pytest.raises(JSONParseError, match="themes: Field required") as caught:
            await client.complete_json(messages, {"required": {"themes": list}}, retries=1)
        assert caught.value.raw.count("```json") == 2

    asyncio.run(ask())
