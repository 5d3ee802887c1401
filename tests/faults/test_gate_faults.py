"""The gate before a real judge's server: judged where there is an answer, and never blocked where there is none."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from benchmarks.gate import scored
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig
from evaluation.corrections.gate import ActionContext, ActionGate, GateOutcome, GateResult
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.live_judge import LiteLLMJudge
from evaluation.judging.model_client.calls import RetryPolicy
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.store import Store
from tests.judge_server import Fault, JudgeServer

MESSAGES = 8
ALL = CorrectionConfig(
    **{f"gate_{name}_enabled": True for name in DIMENSIONS},
    **{f"gate_{name}_threshold": 5.0 for name in DIMENSIONS},
)


def send_all(url: str, path: Path, *, timeout_seconds: float) -> list[GateResult]:
    """Eight messages at once through the gate, each logged in a database."""
    store = Store(path)
    client = LLMClient(provider_of("openai/local", url), retry=RetryPolicy(retries=0))

    async def log(result: GateResult) -> None:
        await asyncio.to_thread(store.corrections.add, result)

    checker = PropositionChecker(LiteLLMJudge(client), PropositionLibrary.load())
    gate = ActionGate(checker, log=log, timeout_seconds=timeout_seconds)

    async def one(number: int) -> GateResult:
        attempts = iter(range(100))

        async def generate(_: str) -> str:
            return f"Message {number}, attempt {next(attempts)}: I have something to say."

        return await gate.send(generate, ActionContext(f"agent-{number}"), ALL)

    async def run() -> list[GateResult]:
        await client.prepare()
        async with client.session():
            return await asyncio.gather(*(one(number) for number in range(MESSAGES)))

    return asyncio.run(run())


def expected(result: GateResult) -> GateOutcome:
    """The outcome as the specification words it, from the scores alone."""
    passed = [
        all(check.found.score is None or check.found.score >= 5 for check in one.checks) for one in result.attempts
    ]
    if passed[-1]:
        asked = [check.found.score for check in result.attempts[-1].checks if not check.found.is_trivial]
        if all(score is None for score in asked):
            return GateOutcome.TIMEOUT_PASS_THROUGH
        return GateOutcome.PASSED if len(passed) == 1 else GateOutcome.PASSED_AFTER_RETRY
    totals = [
        sum(5.0 if check.found.score is None else check.found.score for check in one.checks) for one in result.attempts
    ]
    return GateOutcome.FORCED_THROUGH if totals[0] == max(totals) else GateOutcome.CORRECTED


def test_calls_that_hang_pass_and_the_others_count(tmp_path: Path) -> None:
    def hang_on_some(body: dict[str, Any], seen: int) -> Fault | None:
        digest = hashlib.sha256(str(body["messages"][-1]["content"]).split("Claim:")[-1].encode()).digest()
        return Fault("hang") if digest[0] % 4 == 0 else None

    with JudgeServer(content=scored, misbehave=hang_on_some).in_thread() as server:
        results = send_all(server.url, tmp_path / "gate.duckdb", timeout_seconds=2)
    assert [result.outcome for result in results] == [expected(result) for result in results]
    assert all(result.text for result in results)


def test_a_dead_judge_blocks_nobody(tmp_path: Path) -> None:
    with JudgeServer().in_thread() as server:
        url = server.url
    results = send_all(url, tmp_path / "gate.duckdb", timeout_seconds=60)
    assert {result.outcome for result in results} == {GateOutcome.TIMEOUT_PASS_THROUGH}
    assert {len(result.attempts) for result in results} == {1}
    checks = [check for result in results for check in result.attempts[0].checks]
    # An agent that has said nothing yet cannot contradict itself, so nobody is asked about that.
    assert {check.dimension for check in checks if check.found.is_trivial} == {"consistency"}
    assert all(check.found.reasoning for check in checks)
