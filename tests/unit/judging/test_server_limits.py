"""The limit of calls under way, and the circuit breaker by a clock of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from evaluation.judging.model_client.server_limits import CircuitBreaker, Concurrency


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def answers(load: Concurrency, count: int, *, is_slow: bool = False) -> int:
    """The limit after so many answers."""
    for _ in range(count):
        load.note_answer(20, is_slow=is_slow)
    return load.limit


def test_the_limit_is_four_and_doubles_with_each_full_round_of_answers() -> None:
    load = Concurrency()
    assert [load.limit, answers(load, 3), answers(load, 1), answers(load, 8), answers(load, 16)] == [4, 4, 8, 16, 20]


def test_the_limit_does_not_grow_while_an_answer_takes_more_than_half_the_timeout() -> None:
    load = Concurrency()
    assert [answers(load, 1, is_slow=True), answers(load, 3), answers(load, 4)] == [4, 4, 8]


def test_a_failure_halves_the_limit_once_for_all_calls_sent_before_and_it_grows_by_one_then() -> None:
    load = Concurrency()
    for halvings, limit in [(0, 2), (0, 2), (1, 1), (2, 1)]:
        load.halve(halvings, 20)
        assert load.limit == limit
    assert [answers(load, 1), answers(load, 2), answers(load, 3)] == [2, 3, 4]


def test_a_call_that_was_one_too_many_goes_before_those_that_wait() -> None:
    async def run() -> list[str]:
        load, order = Concurrency(), []

        async def call(name: str, *, is_first: bool) -> None:
            await load.acquire(20, is_first=is_first)
            order.append(name)

        for _ in range(4):
            await load.acquire(20)
        waiting = [asyncio.ensure_future(call(name, is_first=name == "again")) for name in ("one", "two", "again")]
        await asyncio.sleep(0)
        for _ in waiting:
            load.release()
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(run()) == ["again", "one", "two"]


def test_whoever_stops_waiting_gives_the_place_to_the_next() -> None:
    async def run() -> None:
        load = Concurrency()
        for _ in range(4):
            await load.acquire(20)
        first, second = (asyncio.ensure_future(load.acquire(20)) for _ in range(2))
        await asyncio.sleep(0)
        load.release()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.wait_for(second, 5)

    asyncio.run(run())


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
