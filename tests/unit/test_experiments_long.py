"""Two hundred experiments in which nothing is to be found, and one in which everything is: ``make test-long``."""

from __future__ import annotations

import pytest

from evaluation.experimenting import run_experiment
from evaluation.experiments.plan import ExperimentPlan
from evaluation.experiments.scenario import read_scenario
from evaluation.judging.config import judge_config
from evaluation.judging.propositions import Dimension
from evaluation.simulation.scripted_provider import ScriptedProvider
from evaluation.simulation.scripted_world import NO_EFFECTS, SCRIPTED_MODEL, Effects, ScriptedWorld
from evaluation.store import Store

RUNS = 200
MOST_FOUND = 16
"""Of 200 tests at 0.05, 10 are expected; more than 16 come about by chance in 2 of 100 rows."""

LEVEL = 0.05
CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})
SCENARIO = """
title: Small talk
kind: brainstorming
population: average-customers
agents: 16
environments: 4
steps: 3
treatment:
  gate_adherence_enabled: true
  gate_fluency_enabled: true
  max_correction_attempts: 1
  variety_intervention_enabled: true
  variety_message_threshold: 1
treatment_words: both
topics: [tea, boats]
"""


def p_values(seed: int, effects: Effects) -> dict[Dimension, float]:
    scenario = read_scenario(SCENARIO, "small", "small.yaml")
    plan = ExperimentPlan(scenario, SCRIPTED_MODEL, seed=seed, sample_size=1, is_batched=True, effects=effects)
    provider = ScriptedProvider(ScriptedWorld(effects))
    store = Store(":memory:")
    outcome = run_experiment(store, plan, CONFIG, provider=provider)
    store.close()
    return {row.dimension: row.found.welch.p for row in outcome.rows}


@pytest.mark.long
def test_nothing_is_found_where_nothing_is() -> None:
    found = dict.fromkeys(Dimension, 0)
    for seed in range(RUNS):
        for dimension, p in p_values(seed, NO_EFFECTS).items():
            found[dimension] += p < LEVEL
    print(f"of {RUNS} null runs significant at {LEVEL}: { {str(key): count for key, count in found.items()} }")
    assert max(found.values()) <= MOST_FOUND


@pytest.mark.long
def test_planted_effects_are_found() -> None:
    found = p_values(0, Effects())
    print(f"p of planted effects: { {str(key): round(p, 5) for key, p in found.items()} }")
    for dimension in (Dimension.ADHERENCE, Dimension.FLUENCY, Dimension.IDEAS_QUANTITY):
        assert found[dimension] < LEVEL
