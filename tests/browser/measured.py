"""What judges and experiments leave behind, for pictures of the pages that show it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from evaluation.experiments.plan import ExperimentPlan, scenario_named
from evaluation.judging.judge_config import judge_config
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.judging.protocol import JudgeRequest, ScoreAnswer
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import Store
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.experiment_runs import run_as_job
from evaluation.workflows.persona_runs import evaluate_persona

AGENT = "agent-alpha"
_DIMENSIONS = (Dimension.ADHERENCE, Dimension.CONSISTENCY, Dimension.FLUENCY)
_PERSONA = "A harbour pilot of sixty, short of words and of patience, who trusts charts more than people."


def measure(store: Store) -> None:
    """Two evaluation runs of an agent, the second a little better, a small experiment by the script, and an A/B test.

    In a thread, as the browser's driver keeps an event loop in this one.
    """
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_measure, store).result()


def _measure(store: Store) -> None:
    store.agents.save(Agent(AGENT, "Agent-Alpha", persona=_PERSONA))
    for better in (0, 2):
        asyncio.run(_judged(store, better))
    plan = ExperimentPlan(
        scenario_named("brainstorming-difficult-variety"),
        SCRIPTED_MODEL,
        0.01,
        steps=8,
        sample_size=1,
        is_batched=True,
        effects=True,
    )
    config = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})
    run_as_job(store, plan, config, provider=ScriptedProvider(ScriptedWorld()))
    store.experiments.keep_ab_test({"name": "Short prompts"}, _AB_TEST)


async def _judged(store: Store, better: int) -> None:
    library = PropositionLibrary.load()
    judge = ScriptedJudge(lambda request: _answer(request, better))
    plan = EvaluationPlan(dimensions=_DIMENSIONS, sample_size=3)
    subjects = find_subjects(store, [AGENT], _DIMENSIONS, library)
    async for _ in evaluate_persona(store, subjects, lambda _: judge, library, plan, mode="live"):
        pass


def _answer(request: JudgeRequest, better: int) -> ScoreAnswer:
    """Scores from 3 to 9 that differ from claim to claim and are the same every time."""
    score = min(9, 3 + len(request.subject) % 5 + better)
    reason = "He weighs what others say against his charts, as the persona does, but talks more than it would."
    return ScoreAnswer(reason=reason, score=score, confidence=0.8)


_AB_TEST = {
    "recommendation": "Keep short: it is better by 1.2 on coherence, and the difference is significant.",
    "reasons": ["8 games on each side.", "No other measure differs beyond chance."],
    "comparisons": [
        {
            "metric_name": name,
            "variant_a": "long",
            "variant_b": "short",
            "n_a": 8,
            "n_b": 8,
            "mean_a": 6.1,
            "mean_b": 6.1 + gain,
            "difference": gain,
            "interval": {"low": gain - 0.7, "high": gain + 0.7},
            "p_holm": p,
            "significant": p < 0.05,
            "practical_difference": p < 0.05,
            "favours": "short" if p < 0.05 else None,
        }
        for name, gain, p in (("coherence", 1.2, 0.008), ("memory accuracy", 0.2, 0.64))
    ],
}
