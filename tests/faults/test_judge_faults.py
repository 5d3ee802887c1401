"""The judge against a real server that misbehaves or is slow: nothing lost or asked twice, every failure on record."""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluation.errors import JudgeError
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.live_judge import LiteLLMJudge
from evaluation.judging.model_client.calls import CallRecord, RetryPolicy
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.protocol import Judgement, JudgementStatus, JudgeRequest
from tests.judge_questions import claims
from tests.judge_server import Fault, JudgeServer, last_message
from tests.long import mostly_long

# A short back-off keeps the tests quick; a machine under load must not make good answers late.
QUICK = RetryPolicy(first_wait_seconds=0.01, longest_wait_seconds=0.1)
TIMEOUT_SECONDS = 1.5

TRUNCATED = '{"reason": "it shows in the choice of wor'
OFF_THE_SCALE = '{"reason": "outstanding", "score": 12, "confidence": 0.9, "citations": [1]}'

RATE_LIMITED = Fault("429", 429, (("Retry-After", "0.02"),), body=b'{"error": {"message": "slow down"}}')
BROKEN = Fault("500", 500, body=b"Internal Server Error")
UNAVAILABLE = Fault("503", 503, body=b'{"error": {"message": "overloaded"}}')
HANG = Fault("hang")
RESET = Fault("reset")
DRIP = Fault("drip")
EMPTY = Fault("empty choices", body=b'{"choices": []}')
HALF_A_BODY = Fault("half a body", body=b'{"id": "x", "choi')
LOGGED_AS = {
    "429": "rate_limited",
    "500": "server_error",
    "503": "server_error",
    "hang": "timeout",
    "reset": "connection",
    "drip": "timeout",
    "empty choices": "broken_response",
    "half a body": "broken_response",
}


def once(fault: Fault, times: int = 1) -> Any:
    """Misbehaves the first ``times`` calls with a prompt, then answers well."""
    return lambda _, asked_before: fault if asked_before < times else None


def a_tenth_of_each(body: dict[str, Any], asked_before: int) -> Fault | None:
    """Commits each of five faults in a tenth of the calls, never more than three in a row for one prompt."""
    faults = (RATE_LIMITED, BROKEN, UNAVAILABLE, HANG, RESET)
    # The same calls in every run; 256 / 10 values of the byte stand for each fault.
    drawn = int(hashlib.sha256(f"7 {asked_before} {last_message(body)}".encode()).digest()[0] / 25.6)
    return faults[drawn] if drawn < len(faults) and asked_before < 3 else None


def judged(
    server: JudgeServer,
    asked: Sequence[JudgeRequest],
    log: list[CallRecord] | None = None,
    retry: RetryPolicy = QUICK,
) -> list[Judgement]:
    client = LLMClient(
        provider_of("local-model", server.url),
        timeout_seconds=TIMEOUT_SECONDS,
        retry=retry,
        log=None if log is None else log.append,
    )
    return asyncio.run(LiteLLMJudge(client).judge(asked))


@pytest.mark.parametrize(("count", "least"), mostly_long([(100, 3), (500, 30)]))
def test_judgements_complete_through_a_tenth_of_each_fault(count: int, least: int) -> None:
    log: list[CallRecord] = []
    asked = claims(count)
    with JudgeServer(misbehave=a_tenth_of_each).in_thread() as server:
        judgements = judged(server, asked, log, retry=replace(QUICK, timeout_retries=3))
    assert [one.status for one in judgements] == [JudgementStatus.SCORED] * count
    assert [one.key for one in judgements] == [one.key("local-model") for one in asked]
    assert set(server.tally.faults) == {"429", "500", "503", "hang", "reset"}
    assert min(server.tally.faults.values()) > least
    outcomes = Counter(record.outcome for record in log)
    committed: Counter[str] = Counter()
    for fault, times in server.tally.faults.items():
        committed[LOGGED_AS[fault]] += times
    # Each failure is on record. A machine under load makes some good answers late, or does not get to the server in
    # time: those calls are on record as timeouts, and asked again.
    late = server.tally.answered.total() - count
    assert outcomes.total() - outcomes["answered"] >= committed.total() + late
    assert set(outcomes) == {*committed, "answered"}
    assert all(outcomes[kind] <= committed[kind] for kind in set(committed) - {"timeout"})
    # None lost, none twice.
    assert (outcomes["answered"], len(server.tally.answered)) == (count, count)


@pytest.mark.parametrize(
    "fault", [RATE_LIMITED, BROKEN, UNAVAILABLE, RESET, EMPTY, HALF_A_BODY], ids=lambda fault: fault.kind
)
def test_a_passing_fault_is_tried_again_and_logged(fault: Fault) -> None:
    log: list[CallRecord] = []
    with JudgeServer(misbehave=once(fault, times=3)).in_thread() as server:
        (judgement,) = judged(server, claims(1), log)
    assert judgement.is_scored
    assert judgement.usage.calls == 4
    assert [record.outcome for record in log] == [LOGGED_AS[fault.kind]] * 3 + ["answered"]
    assert [record.attempt for record in log] == [1, 2, 3, 4]


@pytest.mark.parametrize("fault", [HANG, DRIP], ids=lambda fault: fault.kind)
def test_a_server_that_keeps_us_waiting_is_given_up_in_time(fault: Fault) -> None:
    log: list[CallRecord] = []
    with JudgeServer(misbehave=once(fault)).in_thread() as server:
        (judgement,) = judged(server, claims(1), log)
    assert judgement.is_scored
    assert [record.outcome for record in log] == ["timeout", "answered"]


@pytest.fixture(scope="module")
def warm_litellm() -> None:
    """The first call through litellm loads modules for a second or more."""
    with pytest.MonkeyPatch.context() as patch, JudgeServer().in_thread() as server:
        patch.setenv("OPENAI_API_KEY", "sk-of-a-test-123")
        patch.setenv("OPENAI_API_BASE", server.url)
        asyncio.run(LLMClient(provider_of("openai/local", None)).complete([{"role": "user", "content": "Hello"}]))


@pytest.mark.usefixtures("warm_litellm")
@pytest.mark.parametrize(
    ("fault", "outcomes"),
    [
        (UNAVAILABLE, ["server_error", "answered"]),
        (RESET, ["connection", "answered"]),
        (HANG, ["timeout", "answered"]),
        (Fault("refusal", 401, body=b'{"error": {"message": "Incorrect key: sk-abcdef123456"}}'), ["wrong_key"]),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_faults_of_a_provider_behind_litellm_are_told_apart(
    fault: Fault, outcomes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[CallRecord] = []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test-123")
    with JudgeServer(misbehave=once(fault)).in_thread() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        model = LLMClient(
            provider_of("openai/local", None), timeout_seconds=TIMEOUT_SECONDS, retry=QUICK, log=log.append
        )
        (judgement,) = asyncio.run(LiteLLMJudge(model).judge(claims(1)))
    assert [record.outcome for record in log] == outcomes
    assert judgement.is_scored == (outcomes[-1] == "answered")
    assert "sk-abc" not in judgement.detail + "".join(record.error for record in log)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (TRUNCATED, "there is no complete JSON object"),
        (OFF_THE_SCALE, "score: Input should be less than or equal to 9"),
        ("", "it is empty"),
    ],
)
def test_a_wrong_answer_is_asked_again_with_its_error_named(content: str, problem: str) -> None:
    told: list[str] = []

    def misbehave(body: dict[str, Any], _: int) -> Fault | None:
        told.append(str(body["messages"][-1]["content"]))
        return Fault("wrong", content=content) if len(told) < 3 else None

    with JudgeServer(misbehave=misbehave).in_thread() as server:
        (judgement,) = judged(server, claims(1))
    assert judgement.is_scored
    assert problem in told[1]
    assert problem in told[2]
    assert judgement.raw.startswith(content)


def test_an_answer_that_stays_wrong_is_an_error_with_all_that_was_written() -> None:
    with JudgeServer(misbehave=lambda *_: Fault("wrong", content=OFF_THE_SCALE)).in_thread() as server:
        (judgement,) = judged(server, claims(1))
    assert judgement.status is JudgementStatus.ERROR
    assert (judgement.score, judgement.confidence) == (None, None)
    # Asked once and twice again.
    assert judgement.raw == "\n\n".join([OFF_THE_SCALE] * 3)
    assert server.tally.asked.total() == 3


def test_the_first_call_of_a_client_may_fail_like_any_other() -> None:
    async def ask() -> None:
        client = LLMClient(provider_of("m", server.url), retry=RetryPolicy(retries=0))
        with pytest.raises(JudgeError, match="the server failed"):
            await client.complete([{"role": "user", "content": "hello"}])
        response = await client.complete([{"role": "user", "content": "hello"}])
        assert (response.tokens_used > 0, response.model, response.latency_ms > 0) == (True, "m", True)

    with JudgeServer(misbehave=once(BROKEN)).in_thread() as server:
        asyncio.run(ask())


COUNT = 20


def timed(
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


def is_slow(body: dict[str, Any]) -> bool:
    return hashlib.sha256(last_message(body).encode()).digest()[0] % 10 == 0


def test_slow_answers_are_asked_three_times_at_most_and_hold_up_nothing_else() -> None:
    def misbehave(body: dict[str, Any], _: int) -> Fault | None:
        return Fault("slow", seconds=30.0) if is_slow(body) else None

    with JudgeServer(latency_seconds=0.02, misbehave=misbehave).in_thread() as server:
        judgements, seconds, _ = timed(server.url, 100, timeout_seconds=0.8)
        slow = server.tally.faults["slow"]
        late = [prompt for prompt, times in server.tally.asked.items() if times > 1]
    unscored = [one for one in judgements if not one.is_scored]
    assert 3 <= len(unscored) <= 20, "a tenth of them"
    assert {one.status for one in unscored} == {JudgementStatus.ERROR}
    assert all(times <= 3 for times in server.tally.asked.values())
    assert slow == 3 * len(unscored)
    assert len(late) == len(unscored), "no quick answer was asked for twice"
    assert seconds < 25
