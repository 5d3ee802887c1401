"""Run judgements on slow servers: ``python -m benchmarks.slow_servers``; ``--scale 0.05`` for a quick look.

One server has a single slot and takes 2 s a call, for 40 judgements at ``--concurrency 20 --timeout 10``. On the other
10 % of the calls take 90 s, for 100 judgements at ``--timeout 20``. Together they take about four minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from typing import Any

from benchmarks.judge_server import Fault, JudgeServer, last_message
from benchmarks.table import Row, print_table
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.protocol import JudgeRequest, Prompt, ScoreAnswer

SLOW_SHARE = 0.1
ONE_SLOT, MANY = 40, 100


def judged(url: str, count: int, timeout_seconds: float) -> tuple[int, float]:
    """How many judgements got a score, and the seconds that took."""
    prompts = [Prompt("You judge.", "[M1] Ann: hello", f"Claim {number} holds.") for number in range(count)]
    requests = [JudgeRequest("adherence", prompt.question, prompt, ScoreAnswer, "v1") for prompt in prompts]
    options = {"base_url": url, "model": "local-model", "concurrency": 20, "timeout_seconds": timeout_seconds}
    chosen = build_judge(judge_config(options, {}, {}))

    async def run() -> tuple[int, float]:
        assert chosen.client is not None
        await chosen.client.prepare()
        started = time.perf_counter()
        found = await chosen.judge(requests)
        return sum(one.is_scored for one in found), time.perf_counter() - started

    return asyncio.run(run())


def one_slot(scale: float) -> list[Row]:
    """A server that takes every connection and answers one after the other."""
    least = ONE_SLOT * 2.0 * scale
    with JudgeServer(latency_seconds=2.0 * scale, slots=1).in_thread() as server:
        scored, seconds = judged(server.url, ONE_SLOT, 10.0 * scale)
        twice = sum(times > 1 for times in server.tally.asked.values())
    return [
        Row("one slot: scored", f"{scored}", f"{ONE_SLOT}", "yes" if scored == ONE_SLOT else "NO"),
        Row.limited("one slot: time", seconds, 1.1 * least, " s", 1),
        Row.limited("one slot: asked twice", twice, 2, "", 0),
    ]


def some_slow(scale: float) -> list[Row]:
    """A server on which a tenth of the calls take far longer than the timeout."""

    def misbehave(body: dict[str, Any], _: int) -> Fault | None:
        is_slow = hashlib.sha256(last_message(body).encode()).digest()[0] < 256 * SLOW_SHARE
        return Fault("slow", seconds=90.0 * scale) if is_slow else None

    with JudgeServer(latency_seconds=1.0 * scale, misbehave=misbehave).in_thread() as server:
        scored, seconds = judged(server.url, MANY, 20.0 * scale)
        most = max(server.tally.asked.values())
        quick = len(server.tally.answered)
    return [
        Row("some slow: scored", f"{scored}", f"{quick}", "yes" if scored == quick else "NO"),
        Row.limited("some slow: most often asked", most, 2, "", 0),
        Row("some slow: time", f"{seconds:.1f} s"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_servers", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="what all times are multiplied by")
    factor = parser.parse_args().scale
    print_table([*one_slot(factor), *some_slow(factor)])
