"""The action gate's own time, and its behaviour before a judge that hangs: ``python -m benchmarks.gate``.

Fifty messages at once, four dimensions each, two seconds for a judgement, two retries, against a local server that
leaves one call in five without an answer and scores on both sides of the threshold.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import statistics
import time
from collections import Counter
from typing import Any

from benchmarks.judge_server import Fault, JudgeServer, last_message
from evaluation.corrections.attempts import GateResult, MessageScore
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig
from evaluation.corrections.context import ActionContext
from evaluation.corrections.gate import ActionGate
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.judges.live import LiteLLMJudge
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.model_client.retry import RetryPolicy
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.targets import TrajectoryEvent

MESSAGES = 50
TIMEOUT_SECONDS = 2.0
RETRIES = 2
HANGING_SHARE = 0.2
CONFIG = CorrectionConfig(
    **{f"gate_{name}_enabled": True for name in DIMENSIONS},
    **{f"gate_{name}_threshold": 5.0 for name in DIMENSIONS},
    gate_similarity_enabled=True,
    max_correction_attempts=RETRIES,
)


class InstantChecker:
    """Answers at once, so that what is left is the gate's own time."""

    async def check(self, dimension: str, text: str, context: ActionContext) -> MessageScore:  # noqa: ARG002
        """A score that passes."""
        return MessageScore(8.0, "fine")


def context(agent: str) -> ActionContext:
    """An agent with twenty messages behind it."""
    events = [
        TrajectoryEvent(
            "game", f"m{i}", agent if i % 2 else "Other", f"{agent} said sentence number {i} about the plan", i % 2 == 1
        )
        for i in range(40)
    ]
    return ActionContext.of(agent, events, persona="Curious and blunt.")


async def overhead_ms(messages: int = 500) -> float:
    """Median time of a message in the gate without any judge's time."""
    gate, where, seconds = ActionGate(InstantChecker()), context("agent"), []

    async def generate(_: str) -> str:
        return "A message of ordinary length that says what the agent thinks of the plan and of the others."

    for _ in range(messages):
        start = time.perf_counter()
        await gate.send(generate, where, CONFIG)
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds)


def hangs(body: dict[str, Any], seen: int) -> Fault | None:
    """One prompt in five is never answered."""
    digest = hashlib.sha256(f"{seen} {last_message(body)}".encode()).digest()
    return Fault("hang") if digest[0] < 256 * HANGING_SHARE else None


def scored(body: dict[str, Any]) -> str:
    """Every item of a call gets the same score: 2 or 8, by the prompt."""
    score = 2 if hashlib.sha256(last_message(body).encode()).digest()[0] % 3 == 0 else 8
    verdict = {"reason": "so it reads", "score": score, "confidence": 0.9, "citations": [], "data_missing": False}
    items = str(body["messages"][-1]["content"]).count("\n[P") + 1
    return json.dumps({"answers": [{"item": number, **verdict} for number in range(1, items + 1)], **verdict})


async def concurrent(url: str) -> tuple[list[GateResult], list[float], list[GateResult]]:
    """The results of all messages, how long each took, and what was logged."""
    client = LLMClient(
        provider_of("openai/local", url),
        timeout_seconds=TIMEOUT_SECONDS,
        retry=RetryPolicy(retries=0),
    )
    logged: list[GateResult] = []

    async def log(result: GateResult) -> None:
        logged.append(result)

    checker = PropositionChecker(LiteLLMJudge(client), PropositionLibrary.load())
    gate = ActionGate(checker, log=log, timeout_seconds=TIMEOUT_SECONDS)

    async def one(number: int) -> tuple[GateResult, float]:
        attempts = 0

        async def generate(_: str) -> str:
            nonlocal attempts
            attempts += 1
            return f"Message {number}, attempt {attempts}: I have something to say."

        start = time.perf_counter()
        result = await gate.send(generate, context(f"agent {number}"), CONFIG)
        return result, time.perf_counter() - start

    await client.prepare()
    await client.prepare()
    async with client.session():
        found = await asyncio.gather(*(one(number) for number in range(MESSAGES)))
    return [result for result, _ in found], [seconds for _, seconds in found], logged


def main() -> None:
    """Prints both."""
    print(f"gate's own time per message, median: {asyncio.run(overhead_ms()):.3f} ms (wanted: below 2 ms)")
    with JudgeServer(content=scored, latency_seconds=0.05, misbehave=hangs).in_thread() as server:
        results, seconds, logged = asyncio.run(concurrent(server.url))
        answered = server.tally.answered.total()
    judged = sum(check.is_answered for result in results for one in result.attempts for check in one.checks)
    limit = (1 + RETRIES) * TIMEOUT_SECONDS + 2
    print(f"{len(results)} messages, slowest {max(seconds):.1f} s (wanted: at most {limit:g} s)")
    print(f"answered calls that were judged: {judged} of {answered} = {judged / answered:.1%} (wanted: at least 95 %)")
    print(f"logged: {len(logged)}; outcomes: {dict(Counter(str(result.outcome) for result in logged))}")


if __name__ == "__main__":
    main()
