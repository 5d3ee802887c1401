"""Limits of calls: the breaker, repetition, budgets and prices."""

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.judging._redaction import message_without_secrets
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.calls import RetryPolicy, seconds_to_wait
from evaluation.judging.model_client.prices import Price, read_prices
from evaluation.judging.model_client.server_limits import CircuitBreaker


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_breaker_opens_after_five_failures_in_a_row_and_probes_every_30_s() -> None:
    clock = Clock()
    breaker = CircuitBreaker("m", clock)
    for _ in range(4):
        breaker.note(is_usable=False)
    breaker.note(is_usable=True)
    for _ in range(5):
        assert breaker.allows_call()
        breaker.note(is_usable=False)
    assert breaker.is_open
    clock.now = 29.9
    assert not breaker.allows_call()
    clock.now = 30
    assert [breaker.allows_call() for _ in range(3)] == [True, False, False]
    breaker.note(is_usable=False)
    clock.now = 59.9
    assert not breaker.allows_call()
    clock.now = 60
    assert breaker.allows_call()
    breaker.note(is_usable=True)
    assert not breaker.is_open
    assert breaker.allows_call()


NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def test_retry_after_comes_as_seconds_or_as_a_date() -> None:
    headers = ("0", "2.5", "Sun, 01 Mar 2026 12:00:30 GMT", "Sun, 01 Mar 2026 11:00:00 GMT")
    assert [seconds_to_wait(header, NOON) for header in headers] == [0.0, 2.5, 30.0, 0.0]
    for header in ("-3", "nan", "inf", "soon", "", None, "Sun, 99 Mar 2026 12:00:30 GMT"):
        assert seconds_to_wait(header, NOON) is None, header


@given(st.integers(0, 10_000), st.integers())
def test_the_back_off_doubles_up_to_its_end_with_full_jitter(retry: int, seed: int) -> None:
    policy = RetryPolicy(first_wait_seconds=0.5, longest_wait_seconds=30.0)
    # 0.5, 1, 2, 4, 8, 16, then 30.
    longest = 0.5 * 2**retry if retry < 6 else 30.0
    assert 0 <= policy.wait_seconds(retry, None, random.Random(seed)) <= longest


def test_money_is_set_aside_before_a_call_so_that_the_limit_is_never_passed() -> None:
    async def spend() -> None:
        budget = Budget(usd=1.0)
        await budget.set_aside(0.6)
        waiting = asyncio.ensure_future(budget.set_aside(0.6))
        await asyncio.sleep(0)
        assert not waiting.done(), "0.6 + 0.6 > 1, but the first call may turn out cheaper"
        budget.settle(0.6, 0.1)
        await waiting
        budget.settle(0.6, 0.5)
        assert budget.spent_usd == pytest.approx(0.6)
        with pytest.raises(BudgetSpentError, match="budget"):
            await budget.set_aside(0.5)

    asyncio.run(spend())


def test_a_stopped_run_begins_nothing_and_wakes_who_waits() -> None:
    async def spend() -> None:
        budget = Budget(usd=1.0)
        await budget.set_aside(0.6)
        waiting = asyncio.ensure_future(budget.set_aside(0.6))
        await asyncio.sleep(0)
        await asyncio.to_thread(budget.stop)
        with pytest.raises(BudgetSpentError, match="cancelled"):
            await waiting

    asyncio.run(spend())


def test_cached_tokens_cost_their_own_price() -> None:
    # 1,000 read, 400 of them cached, 50 written: 600 * 3 + 400 * 0.3 + 50 * 15 = 2,670 millionths.
    assert Price(3e-6, 0.3e-6, 15e-6).cost(1_000, 400, 50) == pytest.approx(2_670e-6)


def test_prices_are_read_per_million_tokens(tmp_path: Path) -> None:
    file = tmp_path / "pricing.yaml"
    file.write_text("small:\n  input: 0.15\n  cached: 0.075\n  output: 0.6\nplain: {input: 1, output: 2}\n")
    prices = read_prices(file)
    assert prices["small"] == Price(0.15e-6, 0.075e-6, 0.6e-6)
    assert prices["plain"].cached == prices["plain"].input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("small: {input: 1}", "pricing.yaml:1: small.output: It is missing. Add 'output: ...'."),
        (
            "small:\n  input: -1\n  output: 1",
            "pricing.yaml:2: small.input: It should be greater than or equal to 0, not -1.",
        ),
        ("- 1", "pricing.yaml:1: file: This is not a mapping. Begin it with 'name: ...'."),
    ],
)
def test_a_wrong_price_list_is_refused_with_line_key_value_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "pricing.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_prices(file)
    assert expected in str(caught.value)


def test_no_key_gets_into_a_message() -> None:
    environment = {"OPENAI_API_KEY": "topsecret123", "HOME": "/home/someone", "X_TOKEN": "abc"}
    message = "Wrong key topsecret123 (sk-proj-Ab*****9xyz), header Bearer aa.bb.cc at /home/someone, abc"
    assert (
        message_without_secrets(message, environment=environment)
        == "Wrong key [key] ([key]), header [key] at /home/someone, abc"
    )


def test_a_key_at_the_end_of_a_long_message_is_not_cut_into_sight() -> None:
    environment = {"OPENAI_API_KEY": "k" * 40}
    assert "kkk" not in message_without_secrets("x" * 1_980 + "k" * 40, environment=environment)


def test_a_call_that_is_too_dear_ends_no_budget_from_which_others_can_be_paid() -> None:
    budget = Budget(usd=1.0)

    async def pay(usd: float) -> None:
        await budget.set_aside(usd)
        budget.settle(usd, usd)

    with pytest.raises(BudgetSpentError):
        asyncio.run(pay(2.0))
    asyncio.run(pay(0.25))
    asyncio.run(pay(0.75))
    assert budget.spent_usd == 1.0
    with pytest.raises(BudgetSpentError):
        asyncio.run(pay(0.01))
