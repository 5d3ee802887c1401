"""Simulated runs of an A/B test, with a script in the place of the model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.experiments.ab_runner import ABConfig, ExperimentRunner, read_run, simulated_games
from evaluation.experiments.results import StudyResult
from evaluation.insight.collector import transcript_metrics
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.judges_without_model import OfflineJudge
from evaluation.judging.model_client.calls import CallLog
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.simulation.scripted_world import ScriptedProvider, ScriptedWorld
from evaluation.transcript import Transcript

BASE = {
    "steps": 2,
    "temperature": 1.0,
    "facilitator": {1: "What shall we cook?"},
    "personas": [{"name": "Ann Lee", "occupation": "cook"}, {"name": "Ben Ode", "occupation": "plumber"}],
}


def connect(model: str | None, log: CallLog) -> LLMClient:
    return LLMClient(ScriptedProvider(ScriptedWorld()), log=log)


def run_test() -> tuple[StudyResult, list[Transcript]]:
    config = ABConfig(
        name="t",
        source="simulation",
        base=BASE,
        variants={"two": {}, "three": {"steps": 3}},
        runs_per_variant=2,
        measures={"total_messages": "higher", "api_calls": "neither"},
        primary="total_messages",
    )
    kept: list[Transcript] = []
    run = simulated_games(connect, OfflineJudge(), PropositionLibrary(()), lambda one, calls: kept.append(one))
    return asyncio.run(ExperimentRunner(config, run).run_ab_test()), kept


def test_every_run_is_a_conversation_with_its_calls_counted() -> None:
    found, kept = run_test()
    assert [one.detail for one in found.variants["two"].runs] == ["", ""]
    # Two agents speak in each of two, or three, steps.
    assert found.variants["two"].avg_metrics == {"total_messages": 4, "api_calls": 4}
    assert found.variants["three"].avg_metrics == {"total_messages": 6, "api_calls": 6}
    run = found.variants["two"].runs[0]
    # Our agents remember what is said, and reflect on nothing.
    assert (run.metrics["total_reflections"], run.metrics["retrieval_calls"]) == (0, 4)
    assert kept[0].cost is not None
    assert kept[0].cost.total_usd == 0
    turns = zip(*(variant.runs for variant in found.variants.values()), strict=True)
    assert [one.id for one in kept] == [run.transcript_id for pair in turns for run in pair]
    assert {one.metadata["seed"] for one in kept} == {0, 1}


def test_what_the_gate_asks_counts_as_well() -> None:
    judged = CallBuffer()
    config = judge_config({"mode": "live", "model": "scripted"}, environment={})
    judge = build_judge(config, log=judged.add, provider=ScriptedProvider(ScriptedWorld()))
    base = {**BASE, "corrections": {"gate_adherence_enabled": False}}
    test = ABConfig(
        name="t",
        source="simulation",
        base=base,
        variants={"off": {}, "on": {"corrections.gate_adherence_enabled": True}},
        runs_per_variant=1,
        measures={"api_calls": "lower"},
        primary="api_calls",
    )
    stored: list[int] = []
    run = simulated_games(connect, judge, PropositionLibrary.load(), lambda _, calls: stored.append(len(calls)), judged)
    found = asyncio.run(ExperimentRunner(test, run, judge=judge).run_ab_test())
    # Four messages; with the gate each of them, and each one that was sent back, is looked at as well.
    assert found.variants["off"].avg_metrics == {"api_calls": 4}
    assert found.variants["on"].avg_metrics["api_calls"] >= 8
    assert found.variants["on"].avg_metrics["api_calls"] == 2 * stored[1]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"step": 3}, "step"),
        ({"personas": [{"name": "A"}, {"name": "a"}]}, "'A' and 'a' would be one agent"),
        ({"personas": [{"occupation": "cook"}]}, "a name of its own"),
        ({"steps": 0}, "steps"),
    ],
)
def test_settings_that_are_wrong_are_named(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        read_run({**BASE, **change})


def test_what_was_counted_is_stored_with_the_game() -> None:
    found, kept = run_test()
    metrics = transcript_metrics(Transcript.from_json(kept[0].to_json()))
    run = found.variants["two"].runs[0]
    # The facilitator once and two agents twice, heard by both; each of the two speaks twice.
    assert metrics.observations_per_agent == {"Ann Lee": 5, "Ben Ode": 5}
    assert metrics.retrievals_per_agent == metrics.calls_per_agent == {"Ann Lee": 2, "Ben Ode": 2}
    assert metrics.tokens_per_agent is not None
    assert sum(metrics.tokens_per_agent.values()) == metrics.total_tokens == run.metrics["total_tokens"]
    assert metrics.estimated_cost_usd == run.metrics["estimated_cost_usd"] == 0
