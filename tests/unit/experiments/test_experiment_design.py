"""Scenarios, sizes, seating, ids and estimates: everything before an experiment is run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.experiments.estimate import estimate
from evaluation.experiments.experiment import (
    ExperimentPlan,
    scenario_named,
    scenarios,
)
from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.store import Store

VARIETY = "brainstorming-difficult-variety"


def test_the_four_scenarios_have_the_sizes_of_the_specification() -> None:
    assert [(each.id, each.agents, each.environments) for each in scenarios().values()] == [
        ("brainstorming-average", 200, 40),
        ("brainstorming-difficult-full", 96, 24),
        (VARIETY, 96, 24),
        ("debate-controversial", 120, 24),
    ]
    assert [str(each.kind) for each in scenarios().values()] == [*["brainstorming"] * 3, "debate"]
    treatments = [each.treatment for each in scenarios().values()]
    assert [each.is_gate_on for each in treatments] == [True, True, False, True]
    assert [each.variety_intervention_enabled for each in treatments] == [True, True, True, False]


@pytest.mark.parametrize(
    ("name", "scale", "personas", "rooms"),
    [
        ("brainstorming-average", 1.0, 200, 40),
        # 40 * 0.1 = 4 rooms of 5.
        ("brainstorming-average", 0.1, 20, 4),
        # 24 * 0.11 = 2.64, rounded up.
        (VARIETY, 0.11, 12, 3),
        # Never below two.
        ("debate-controversial", 0.001, 10, 2),
        # 40 * 0.075 is 3.0000000000000004 or so in floating point, and still 3.
        ("brainstorming-average", 0.075, 15, 3),
    ],
)
def test_a_scale_is_rounded_up(name: str, scale: float, personas: int, rooms: int) -> None:
    plan = ExperimentPlan(scenario_named(name), "m", scale)
    assert (plan.people, len(plan.rooms)) == (personas, rooms)
    assert sorted(seat for room in plan.rooms for seat in room) == list(range(personas))


def test_the_id_is_that_of_everything_that_is_asked_and_the_plan_comes_back() -> None:
    plan = ExperimentPlan(scenario_named(VARIETY), "m", 0.1, effects=False)
    assert plan.id == replace(plan).id
    others = [replace(plan, seed=1), replace(plan, scale=0.2), replace(plan, model="n"), replace(plan, effects=None)]
    assert len({plan.id, *(other.id for other in others)}) == 5
    store = Store(":memory:")
    store.experiments.begin(plan)
    assert store.experiments.get(plan.id).plan == plan


def test_the_estimate_counts_calls() -> None:
    """At 0.001: 2 pairs of 4 agents, 10 steps, the variety intervention only.

    Population: 8 personas, 1 round of names, 2 for dimensions and plan: 11. Messages: 2 sides * 8 * 10 = 160.
    Corrections: 80 messages of the treatment, 1 question of the intervention each: 80. Evaluation, one by one, with 3
    sampled messages: adherence 4 + 3 * 1, consistency 3 * 2, fluency 3: 16 for each of 16 agents; 2 + 1 for each of 4
    conversations: 268. Batched: adherence 1 + 3, consistency 3, fluency 1: 8 * 16; 1 + 1 for 4: 136.
    """
    plan = ExperimentPlan(scenario_named(VARIETY), "m", 0.001)
    library = PropositionLibrary.load()
    found = estimate(plan, library, JudgeConfig())
    assert [use.calls_at_most for use in found.uses] == [11, 160, 80, 268]
    assert (found.calls_at_least, found.calls_at_most) == (439, 519)
    assert estimate(replace(plan, is_batched=True), library, JudgeConfig()).uses[-1].calls_at_most == 136
    assert estimate(replace(plan, has_double_check=True), library, JudgeConfig()).uses[-1].calls_at_most == 536
    assert found.words(lambda _: None).startswith("8 agents in 2 pairs of conversations, 10 steps: 439 to 519 calls, ")
    assert found.words(lambda _: None).endswith(" to write, cost not known.")
    scripted = estimate(replace(plan, effects=True), library, JudgeConfig())
    assert scripted.usd(lambda _: None) == 0.0
    assert scripted.words(lambda _: None).endswith(", no cost.")
