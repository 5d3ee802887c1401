"""Two hundred experiments in which nothing is to be found, and one in which everything is: ``make test-long``."""

from __future__ import annotations

import asyncio

import pytest

from evaluation.experiments.experiment import ExperimentPlan, Scenario, Troupe, evaluate, experiment_result, simulate
from evaluation.experiments.results import RunResult, Side
from evaluation.files.bundled import parse_yaml
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.population import AgentFactory, profiles
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld

RUNS = 200
MOST_FOUND = 16
"""Of 200 tests at 0.05, 10 are expected; more than 16 come about by chance in 2 of 100 rows."""

LEVEL = 0.05
CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})
SCENARIO = """
title: Small talk
kind: brainstorming
population: average-customers
agents: 8
environments: 4
steps: 2
treatment:
  gate_adherence_enabled: true
  gate_fluency_enabled: true
  max_correction_attempts: 1
  variety_intervention_enabled: true
  variety_message_threshold: 1
treatment_words: both
topics: [tea, boats]
"""


def plan(seed: int, *, effects: bool) -> ExperimentPlan:
    scenario = Scenario(id="small", **parse_yaml(SCENARIO))
    return ExperimentPlan(scenario, SCRIPTED_MODEL, seed=seed, sample_size=1, is_batched=True, effects=effects)


async def runs(seed: int, library: PropositionLibrary, *, effects: bool) -> list[RunResult]:
    """All of an experiment but the storing, so that two hundred of them take minutes."""
    provider, small = ScriptedProvider(ScriptedWorld(effects=effects)), plan(seed, effects=effects)
    writer = Writer(LLMClient(provider), salt=seed)
    judge = build_judge(CONFIG, provider=provider)
    people = await AgentFactory(writer, profiles()["average-customers"], seed=seed).make(small.people)
    troupe = Troupe(small, people, writer, judge, library)
    found: list[RunResult] = []
    for room in range(len(small.rooms)):
        for side in Side:
            talk = await simulate(troupe, side, room)
            found.append(RunResult(side, room, scores=await evaluate(troupe, talk.transcript)))
    return found


@pytest.mark.long
def test_nothing_is_found_where_nothing_is() -> None:
    found = dict.fromkeys(Dimension, 0)
    library = PropositionLibrary.load()
    for seed in range(RUNS):
        for row in experiment_result(asyncio.run(runs(seed, library, effects=False))).comparisons:
            found[Dimension(row.metric_name)] += row.p_value < LEVEL
    print(f"of {RUNS} null runs significant at {LEVEL}: { {str(key): count for key, count in found.items()} }")
    assert max(found.values()) <= MOST_FOUND
