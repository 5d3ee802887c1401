"""The action gate's prompts and its own time: ``python -m benchmarks.gate``.

The tokens are those of ``gpt-4o-mini`` in the calls that a server gets for one message after a history of twenty.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tiktoken

from evaluation import read_path
from evaluation.corrections.action_gate import ActionContext, ActionGate, MessageScore
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.experiments.experiment import ExperimentPlan, Troupe, scenario_named, simulate
from evaluation.experiments.results import Side
from evaluation.judging.live_judge import LiteLLMJudge, units_of
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.prices import listed_price
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import TrajectoryEvent
from evaluation.judging.protocol import Judge, Judgement, JudgeRequest, Report
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.population import AgentFactory, profiles
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from tests.judge_server import JudgeServer, last_message

CONFIG = CorrectionConfig(**{f"gate_{name}_enabled": True for name in DIMENSIONS}, gate_similarity_enabled=True)


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
        return DRAFT

    for _ in range(messages):
        start = time.perf_counter()
        await gate.send(generate, where, CONFIG)
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds)


HISTORY_MESSAGES = 20
COUNTED_MODEL = "gpt-4o-mini"
TOKENS_PER_MESSAGE = 4
"""What the protocol adds to each message of a call."""
MOST_TOKENS, MOST_TOKENS_OF_ALL = 900, 3_000
HISTORIES = {"game": Path("data/samples/llmafia/0006"), "office": Path("data/personas/office/transcripts")}
DRAFT = "A message of ordinary length that says what the agent thinks of the plan and of the others."


def history(name: str) -> ActionContext:
    """The context of the busiest speaker after the first twenty messages of a shipped source."""
    transcripts = [found.transcript for found in read_path(HISTORIES[name]) if found.transcript is not None]
    said = [message for transcript in transcripts for message in transcript.discussion][:HISTORY_MESSAGES]
    speaker = Counter(message.speaker for message in said).most_common(1)[0][0]
    events = [TrajectoryEvent("one", f"m{n}", m.speaker, m.text, m.speaker == speaker) for n, m in enumerate(said)]
    return ActionContext.of(speaker, events, persona="Curious and blunt, a gardener who keeps old promises.")


def token_counter() -> Callable[[str], int]:
    """A function that counts the tokens of a text, with the encoding that ships with litellm."""
    package = find_spec("litellm")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    encoding = tiktoken.encoding_for_model(COUNTED_MODEL)
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def tokens_per_check(where: ActionContext) -> dict[str, tuple[int, int]]:
    """Tokens sent and received for one message, by dimension, counted on the calls that a server gets."""
    count_tokens = token_counter()
    counted: list[tuple[int, int]] = []

    def content(body: dict[str, Any]) -> str:
        answer = scored(body)
        sent = sum(count_tokens(message["content"]) + TOKENS_PER_MESSAGE for message in body["messages"])
        counted.append((sent, count_tokens(answer)))
        return answer

    found = {}
    with JudgeServer(content=content).in_thread() as server:
        for dimension in DIMENSIONS:
            judge = LiteLLMJudge(LLMClient(provider_of("openai/local", server.url)))
            checker = PropositionChecker(judge, PropositionLibrary.load())
            asyncio.run(checker.check(dimension, DRAFT, where))
            (found[dimension],) = counted
            counted.clear()
    return found


class _Observed:
    """Passes questions on to a judge, and keeps the prompts of those that are about a message."""

    def __init__(self, judge: Judge, prompts: list[str]) -> None:
        self._judge = judge
        self._prompts = prompts

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """The judge's own answers."""
        if requests[0].purpose in DIMENSIONS:
            for unit in units_of(requests):
                first = next(iter(unit.values()))
                questions = "\n".join(request.prompt.question for request in unit.values())
                self._prompts.append(f"({first.purpose}) {first.prompt.user}\n\n{questions}")
        return await self._judge.judge(requests, report=report)


def experiment_prompts(count: int) -> list[str]:
    """Prompts of the gate, without their system part, drawn from a conversation of the shipped experiment."""
    plan = ExperimentPlan(
        scenario_named("brainstorming-average"), SCRIPTED_MODEL, 0.05, steps=4, is_batched=True, effects=True
    )
    prompts: list[str] = []
    client = LLMClient(ScriptedProvider(ScriptedWorld()))

    async def run() -> None:
        people = await AgentFactory(Writer(client), profiles()[plan.scenario.population]).make(plan.people)
        judge = _Observed(LiteLLMJudge(client), prompts)
        library = PropositionLibrary.load()
        await simulate(Troupe(plan, people, Writer(client), judge, library), Side.TREATMENT, 0)

    asyncio.run(run())
    return random.Random(0).sample(prompts, min(count, len(prompts)))


def scored(body: dict[str, Any]) -> str:
    """Every item of a call gets the same score: 2 or 8, by the prompt."""
    score = 2 if hashlib.sha256(last_message(body).encode()).digest()[0] % 3 == 0 else 8
    verdict = {"reason": "so it reads", "score": score, "confidence": 0.9, "citations": [], "data_missing": False}
    items = str(body["messages"][-1]["content"]).count("\n[P") + 1
    return json.dumps({"answers": [{"item": number, **verdict} for number in range(1, items + 1)], **verdict})


def main() -> None:
    """Prints tokens and times."""
    for name in HISTORIES:
        where = history(name)
        found = tokens_per_check(where)
        sent, received = (sum(counts) for counts in zip(*found.values(), strict=True))
        price = listed_price(COUNTED_MODEL)
        usd = "not known" if price is None else f"${price.cost(sent, 0, received):.5f}"
        each = ", ".join(f"{dimension} {counts[0]:,}" for dimension, counts in found.items())
        print(f"{name}, {len(where.trajectory)} messages: {each} tokens")
        print(f"  all four: {sent:,} tokens, {received:,} back, {usd} with {COUNTED_MODEL}")
    print(f"gate's own time per message, median: {asyncio.run(overhead_ms()):.3f} ms (wanted: below 2 ms)")


if __name__ == "__main__":
    main()
