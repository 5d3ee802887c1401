"""The limit of calls under way, the timeout derived from answers, and the circuit breaker, by a clock of their own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from evaluation.judging.model_client.server_state import AdaptiveConcurrency, CallEnd, CircuitBreaker


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def answered_after(load: AdaptiveConcurrency, clock: Clock, seconds: float, longest: float = 600.0) -> None:
    call = load.send()
    clock.now += seconds
    load.end(call, CallEnd.ANSWERED, longest, 20)


def test_the_timeout_is_a_minute_until_ten_answers_are_known() -> None:
    clock = Clock()
    load = AdaptiveConcurrency(clock)
    for seconds in range(1, 10):
        answered_after(load, clock, 10 * seconds)
    assert load.timeout_seconds() == 60
    answered_after(load, clock, 100)
    # Ten answers took 10, 20, ... 100 s; the 95th percentile is the largest of them.
    assert load.timeout_seconds() == 400
    assert load.timeout_seconds(120) == 120


def test_the_timeout_is_600_s_at_most_and_10_s_at_least() -> None:
    clock = Clock()
    load, quick = AdaptiveConcurrency(clock), AdaptiveConcurrency(clock)
    for _ in range(10):
        answered_after(load, clock, 500)
        answered_after(quick, clock, 0.1)
    assert load.timeout_seconds() == 600
    assert quick.timeout_seconds() == 10
    assert quick.timeout_seconds(3) == 3
    assert (quick.timeout_seconds(is_retry=True), quick.timeout_seconds(30, is_retry=True)) == (60, 30)


def test_one_timeout_halves_the_limit_and_those_sent_before_do_not_halve_it_again() -> None:
    clock = Clock()
    load = AdaptiveConcurrency(clock)
    calls = [load.send() for _ in range(4)]
    clock.now = 60
    for call in calls:
        load.end(call, CallEnd.TIMEOUT, 60, 20)
    assert load.limit == 2
    clock.now = 61
    load.end(load.send(), CallEnd.RATE_LIMITED, 60, 20)
    assert load.limit == 1
    clock.now = 62
    load.end(load.send(), CallEnd.RATE_LIMITED, 60, 20)
    assert load.limit == 1


def test_of_four_calls_to_one_slot_the_pace_tells_which_were_begun() -> None:
    """2 s a call and a timeout of 5 s: the third was worked on for a second, the fourth not at all."""
    clock = Clock()
    load = AdaptiveConcurrency(clock)
    calls = [load.send() for _ in range(4)]
    clock.now = 2
    load.end(calls[0], CallEnd.ANSWERED, 5, 20)
    clock.now = 4
    load.end(calls[1], CallEnd.ANSWERED, 5, 20)
    clock.now = 5
    assert not load.end(calls[2], CallEnd.TIMEOUT, 5, 20)
    assert not load.end(calls[3], CallEnd.TIMEOUT, 5, 20)


def test_a_slow_call_that_others_overtook_was_begun() -> None:
    clock = Clock()
    load = AdaptiveConcurrency(clock)
    slow = [load.send(), load.send()]
    for _ in range(4):
        answered_after(load, clock, 1)
    clock.now = 5
    assert load.end(slow[0], CallEnd.TIMEOUT, 5, 20)
    assert load.end(slow[1], CallEnd.TIMEOUT, 5, 20)


def run_closed_loop(slots: int, seconds: float, timeout_seconds: float, answers: int) -> AdaptiveConcurrency:
    """A server with so many slots and a client that always has another call; returns its load."""
    clock = Clock()
    load = AdaptiveConcurrency(clock)

    async def client() -> None:
        queue, free = [], [0.0] * slots
        done = 0
        waiting = asyncio.ensure_future(load.acquire(20))
        while done < answers:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if waiting.done():
                start = max(min(free), clock.now)
                free[free.index(min(free))] = start + seconds
                queue.append((start + seconds, load.send()))
                waiting = asyncio.ensure_future(load.acquire(20))
                continue
            end, call = queue.pop(0)
            clock.now = end
            load.end(call, CallEnd.ANSWERED, timeout_seconds, 20)
            load.release()
            done += 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(client())
    return load


@pytest.mark.parametrize(
    ("slots", "timeout_seconds", "answers", "lowest", "highest"),
    [
        # With four under way the slowest takes 8 s, more than half of 10.
        (1, 10, 400, 4, 4),
        # The slowest takes a quarter of 32; with twice as many it could take half.
        (1, 32, 8, 0, 5),
        # More calls do not raise the throughput of one slot; where it is tried, half a minute is the end.
        (1, 60, 400, 4, 12),
        (100, 60, 400, 20, 20),
    ],
)
def test_the_limit_grows_while_the_server_takes_more(
    slots: int, timeout_seconds: float, answers: int, lowest: int, highest: int
) -> None:
    assert lowest <= run_closed_loop(slots, 2.0, timeout_seconds, answers).limit <= highest


def test_a_call_that_was_one_too_many_goes_before_those_that_wait() -> None:
    async def run() -> list[str]:
        load, order = AdaptiveConcurrency(), []

        async def call(name: str, *, is_refused: bool) -> None:
            await load.acquire(20, is_refused=is_refused)
            order.append(name)

        for _ in range(4):
            await load.acquire(20)
        waiting = [asyncio.ensure_future(call(name, is_refused=name == "again")) for name in ("one", "two", "again")]
        await asyncio.sleep(0)
        for _ in waiting:
            load.release()
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(run()) == ["again", "one", "two"]


def test_whoever_stops_waiting_gives_the_place_to_the_next() -> None:
    async def run() -> None:
        load = AdaptiveConcurrency()
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
