"""Whole experiments against the script: planted effects are found, stopped runs go on, nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import ConflictError, JudgeError
from evaluation.experiments.plan import ExperimentPlan, ExperimentStatus, Side, joined, read_scenario
from evaluation.insight.collector import stored_counts
from evaluation.judging.judge_config import judge_config
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.calls import CallFailure, FailureKind, LLMResponse
from evaluation.judging.propositions import Dimension
from evaluation.simulation.population import load_personas
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, Habits, ScriptedProvider, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.workflows.experiment_runs import KIND, run_as_job, run_experiment
from tests.stored_rows import correction_log

SCENARIO = """
title: Small talk
kind: brainstorming
population: average-customers
agents: 8
environments: 2
steps: 2
order: parallel
treatment:
  gate_adherence_enabled: true
  gate_fluency_enabled: true
  variety_intervention_enabled: true
  variety_message_threshold: 1
treatment_words: both
topics: [tea, boats]
facilitator: [{step: 1, text: "Think about {{topic}}."}]
published: "1"
"""
CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})


def plan(**changes: Any) -> ExperimentPlan:
    scenario = read_scenario(SCENARIO.encode(), "small", "small.yaml")
    return ExperimentPlan(scenario, SCRIPTED_MODEL, **{"effects": True, "is_batched": True} | changes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "experiments.duckdb")


def provider(*, effects: bool = True) -> ScriptedProvider:
    return ScriptedProvider(ScriptedWorld(effects=effects))


def test_planted_effects_are_found_and_conversations_can_be_read(store: Store) -> None:
    # Agents that go wrong more often than not, so that eight of them show what correcting them does.
    asked = ScriptedProvider(ScriptedWorld(habits=Habits(out_of_character=0.6, repeats=0.6, has_idea=0.1)))
    told: list[tuple[int, int]] = []
    outcome = run_experiment(store, plan(steps=3), CONFIG, provider=asked, report=lambda *done: told.append(done))
    rows = {row.dimension: row for row in outcome.rows}
    for dimension in (Dimension.ADHERENCE, Dimension.FLUENCY):
        assert rows[dimension].found.difference > 0
        assert rows[dimension].found.welch.p < 0.05
    assert rows[Dimension.IDEAS_QUANTITY].found.difference > 1
    assert outcome.record.status is ExperimentStatus.COMPLETED
    assert outcome.record.is_scripted
    # 8 people, 2 sides * 8 agents * 3 steps, 4 evaluated conversations.
    assert told[-1] == (8 + 48 + 4, 60)
    sessions = joined(store.experiments.runs(outcome.record.id))
    # Every message was written by a call of its agent's, and those that were sent back by further ones.
    for session in sessions:
        written = Counter(
            call.agent_id for call in store.generations.calls_for(store.transcripts.get(session.transcript_id))
        )
        assert len(written) == 4
        assert min(written.values()) >= 3
        # The counts that are stored with the game say the same.
        counts = stored_counts(store.transcripts.get(session.transcript_id))
        assert counts.calls_per_agent == dict(written)
        assert counts.retrievals_per_agent == dict(written)
        assert counts.observations_per_agent is not None
        assert min(counts.observations_per_agent.values()) >= 12
    assert [(each.arm, each.unit) for each in sessions] == [
        (Side.CONTROL, 0),
        (Side.CONTROL, 1),
        (Side.TREATMENT, 0),
        (Side.TREATMENT, 1),
    ]
    transcripts = [store.transcripts.get(each.transcript_id) for each in sessions]
    # The same agents on both sides, and nothing in the name says which is which.
    assert transcripts[0].player_names == transcripts[2].player_names
    assert not any("treatment" in each.game_id or "control" in each.game_id for each in transcripts)
    assert all(each.metadata["is_scripted"] is True for each in transcripts)
    assert store.results.load(transcripts[0].id)
    # What a script did is not among the corrections of agents.
    assert correction_log(store).empty
    before = asked.asked
    again = run_experiment(store, plan(steps=3), CONFIG, provider=asked)
    assert asked.asked == before
    assert again.record.results == outcome.record.results


def test_the_same_seed_makes_the_same_experiment_whatever_the_concurrency(tmp_path: Path) -> None:
    found = []
    for concurrency in (1, 32):
        store = Store(tmp_path / f"{concurrency}.duckdb")
        config = CONFIG.model_copy(update={"concurrency": concurrency})
        outcome = run_experiment(store, plan(), config, provider=provider())
        sessions = joined(store.experiments.runs(outcome.record.id))
        found.append((outcome.record.results, [each.transcript_id for each in sessions]))
    assert found[0] == found[1]


def test_a_run_out_of_budget_goes_on_without_asking_anything_twice(store: Store, tmp_path: Path) -> None:
    whole = provider()
    expected = run_experiment(Store(tmp_path / "whole.duckdb"), plan(), CONFIG, provider=whole)
    asked = provider()
    runs = 0
    while True:
        runs += 1
        # The script's server has another port every time.
        elsewhere = CONFIG.model_copy(update={"base_url": f"http://127.0.0.1:{runs}/v1"})
        outcome = run_experiment(store, plan(), elsewhere, provider=asked, budget=Budget(calls=90))
        if not outcome.stopped:
            break
        assert outcome.stopped == "budget"
        assert outcome.rows == ()
        assert outcome.record.status is ExperimentStatus.PENDING
    assert runs == -(-whole.asked // 90)
    assert asked.asked == whole.asked
    assert outcome.record.results == expected.record.results


def test_a_refused_key_stops_everything_and_says_so(store: Store) -> None:
    class Refusing(ScriptedProvider):
        async def complete(self, messages: Any, **options: Any) -> LLMResponse:
            self.asked += 1
            raise CallFailure(FailureKind.REFUSED, "no such key", status=401)

    refusing = Refusing(ScriptedWorld())
    with pytest.raises(JudgeError, match="no such key"):
        run_as_job(store, plan(), CONFIG, report=None, provider=refusing)
    assert refusing.asked == 1
    assert store.experiments.get(plan().record.id).status is ExperimentStatus.FAILED
    [job] = store.jobs.list()
    assert job.state is JobState.FAILED
    assert "no such key" in job.message


def test_one_experiment_runs_at_a_time_and_a_job_says_how_far_it_is(store: Store) -> None:
    running = store.jobs.create(KIND, "Another", 1)
    with pytest.raises(ConflictError, match="is running already"):
        run_as_job(store, plan(), CONFIG, provider=provider())
    store.jobs.update(running.id, state=JobState.DONE)
    run_as_job(store, plan(), CONFIG, provider=provider())
    job = store.jobs.list()[0]
    assert (job.state, job.done, job.total) == (JobState.DONE, 44, 44)
    assert job.label == "Experiment small, seed 0, scale 1, scripted"


def test_personas_of_tinytroupe_play_in_an_experiment(store: Store, data_root: Path) -> None:
    personas = tuple(load_personas(data_root / "tinytroupe" / "agents"))
    asked = provider()
    outcome = run_experiment(store, plan(personas=personas, steps=1), CONFIG, provider=asked)
    session = joined(store.experiments.runs(outcome.record.id))[0]
    transcript = store.transcripts.get(session.transcript_id)
    names = {each["name"] for each in personas}
    assert len(transcript.players) == 4
    assert set(transcript.player_names) <= names
    persona = transcript.players[0].persona
    assert isinstance(persona, dict)
    assert persona in personas
    with store.unit() as cursor:
        purposes = {row[0] for row in cursor.execute("SELECT DISTINCT purpose FROM generations").fetchall()}
    assert purposes == {"simulation"}
