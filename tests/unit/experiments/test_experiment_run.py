"""A whole experiment with a script in the place of the model: run, stopped, gone on with; two hundred of nothing."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import ConflictError, JudgeError
from evaluation.experiments.experiment import (
    EXPERIMENT,
    ExperimentPlan,
    Scenario,
    Troupe,
    evaluate,
    experiment_result,
    simulate,
)
from evaluation.experiments.results import RunResult, Side, joined
from evaluation.experiments.study import Study, StudyStatus
from evaluation.experiments.tables import activity_cells
from evaluation.files.bundled import parse_yaml
from evaluation.insight.collector import stored_counts
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.calls import CallFailure, FailureKind, LLMResponse
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.population import AgentFactory, profiles
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, Habits, ScriptedProvider, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.text.display import json_data
from evaluation.workflows.studies import run_as_job, run_experiment
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
facilitator: {1: "Think about {{topic}}."}
published: "1"
"""
CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})


def plan(**changes: Any) -> ExperimentPlan:
    scenario = Scenario(id="small", **parse_yaml(SCENARIO))
    return ExperimentPlan(scenario, SCRIPTED_MODEL, **{"effects": True, "is_batched": True} | changes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "experiments.duckdb")


def provider() -> ScriptedProvider:
    return ScriptedProvider(ScriptedWorld())


@dataclass(frozen=True)
class Ran:
    """An experiment that was run, on a store of its own."""

    store: Store
    asked: ScriptedProvider
    record: Study
    told: list[tuple[int, int]]

    @property
    def sessions(self) -> list[RunResult]:
        return joined(self.store.experiments.runs(self.record.id))


def ran(path: Path, world: ScriptedWorld, **changes: Any) -> Ran:
    store, asked, told = Store(path), ScriptedProvider(world), list[tuple[int, int]]()
    record = run_experiment(store, plan(**changes), CONFIG, provider=asked, report=lambda *done: told.append(done))
    return Ran(store, asked, record, told)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Agents that go wrong more often than not, so that eight of them show in three steps what correcting them does."""
    habits = Habits(out_of_character=0.6, repeats=0.6, has_idea=0.1)
    return ran(tmp_path_factory.mktemp("planted") / "x.duckdb", ScriptedWorld(habits=habits), steps=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The plan, run without a break."""
    return ran(tmp_path_factory.mktemp("whole") / "x.duckdb", ScriptedWorld())


def test_planted_effects_are_found_and_nothing_is_asked_twice(planted: Ran) -> None:
    rows = {row.metric_name: row for row in planted.record.result.comparisons}
    for dimension in (Dimension.ADHERENCE, Dimension.FLUENCY):
        assert rows[dimension].difference > 0
        assert rows[dimension].p_value < 0.05
    assert rows[Dimension.IDEAS_QUANTITY].difference > 1
    assert planted.record.status is StudyStatus.COMPLETED
    assert planted.record.experiment.is_scripted
    # 8 people, 2 sides * 8 agents * 3 steps, 4 evaluated conversations.
    assert planted.told[-1] == (8 + 48 + 4, 60)
    before = planted.asked.asked
    again = run_experiment(planted.store, plan(steps=3), CONFIG, provider=planted.asked)
    assert planted.asked.asked == before
    assert json_data(again.result) == json_data(planted.record.result)


def test_conversations_can_be_read_and_have_the_same_agents_on_both_sides(planted: Ran) -> None:
    store, sessions = planted.store, planted.sessions
    sides = [(Side.CONTROL, 0), (Side.CONTROL, 1), (Side.TREATMENT, 0), (Side.TREATMENT, 1)]
    assert [(each.variant, each.run_index) for each in sessions] == sides
    transcripts = [store.transcripts.get(each.transcript_id) for each in sessions]
    for transcript in transcripts:
        # Every message was written by a call of its agent's, and those that were sent back by further ones.
        counts = stored_counts(transcript)
        assert counts.calls_per_agent == counts.retrievals_per_agent
        assert counts.calls_per_agent is not None
        assert len(counts.calls_per_agent) == 4
        assert min(counts.calls_per_agent.values()) >= 3
        assert counts.observations_per_agent is not None
        assert min(counts.observations_per_agent.values()) >= 12
        # Nothing in the name says which side it is.
        assert not any(side in transcript.game_id for side in ("treatment", "control"))
        assert transcript.metadata["is_scripted"] is True
        assert store.results.load(transcript.id)
    assert transcripts[0].player_names == transcripts[2].player_names
    # What a script did is not among the corrections of agents.
    assert correction_log(store).empty


def test_the_report_counts_what_took_effect_and_what_each_side_cost(planted: Ran) -> None:
    record = planted.record
    treatment, control = (record.result.activity[side] for side in (Side.TREATMENT, Side.CONTROL))
    # 8 agents in 3 steps; each is looked at once in each step.
    assert (treatment.messages, control.messages) == (24, 24)
    assert (treatment.checked, control.checked) == (24, 0)
    assert 0 < treatment.corrected <= treatment.sent_back <= treatment.fired["adherence"] + treatment.fired["fluency"]
    assert treatment.looked["variety"] == 24
    assert control.fired == {}
    assert planted.store.generations.of_scope(record.id)
    # Everything that is not the population's belongs to a side; retries and judgements make the treatment dearer.
    assert treatment.calls > control.calls > 24
    assert treatment.calls + control.calls < planted.asked.asked
    first = {"What happened": "Messages by agents", "Treatment": "24", "Control": "24"}
    assert activity_cells(record)[0] == first


def test_the_same_seed_makes_the_same_experiment_whatever_the_concurrency(store: Store, whole: Ran) -> None:
    config = CONFIG.model_copy(update={"concurrency": 1})
    assert config.concurrency < CONFIG.concurrency
    record = run_experiment(store, plan(), config, provider=provider())
    assert json_data(record.result) == json_data(whole.record.result)
    sessions = joined(store.experiments.runs(record.id))
    assert [each.transcript_id for each in sessions] == [each.transcript_id for each in whole.sessions]


def test_a_run_out_of_budget_goes_on_without_asking_anything_twice(store: Store, whole: Ran) -> None:
    asked = provider()
    runs = 0
    while True:
        runs += 1
        # The script's server has another port every time.
        elsewhere = CONFIG.model_copy(update={"base_url": f"http://127.0.0.1:{runs}/v1"})
        record = run_experiment(store, plan(), elsewhere, provider=asked, budget=Budget(calls=90))
        if not record.result.stopped:
            break
        assert record.result.stopped == "budget"
        assert record.result.comparisons == ()
        assert record.status is StudyStatus.PENDING
    assert runs == -(-whole.asked.asked // 90)
    assert asked.asked == whole.asked.asked
    assert json_data(record.result) == json_data(whole.record.result)


def test_a_refused_key_stops_everything_and_says_so(store: Store) -> None:
    class Refusing(ScriptedProvider):
        async def complete(self, messages: Any, **options: Any) -> LLMResponse:
            self.asked += 1
            raise CallFailure(FailureKind.REFUSED, "no such key", status=401)

    refusing = Refusing(ScriptedWorld())
    with pytest.raises(JudgeError, match="no such key"):
        run_as_job(store, plan(), {}, provider=refusing)
    assert refusing.asked == 1
    assert store.experiments.get(plan().id).status is StudyStatus.FAILED
    [job] = store.jobs.list()
    assert job.state is JobState.FAILED
    assert "no such key" in job.message


def test_one_experiment_runs_at_a_time_and_a_job_says_how_far_it_is(store: Store) -> None:
    running = store.jobs.create(EXPERIMENT, "Another", 1)
    with pytest.raises(ConflictError, match="is running already"):
        run_as_job(store, plan(), {})
    store.jobs.update(running.id, state=JobState.DONE)
    run_as_job(store, plan(), {})
    job = store.jobs.list()[0]
    assert (job.state, job.done, job.total) == (JobState.DONE, 44, 44)
    assert job.label == "Experiment small, seed 0, scale 1, scripted"


RUNS = 200
MOST_FOUND = 16
"""Of 200 tests at 0.05, 10 are expected; more than 16 come about by chance in 2 of 100 rows."""

LEVEL = 0.05


async def runs(seed: int, library: PropositionLibrary, *, effects: bool) -> list[RunResult]:
    """All of an experiment but the storing, so that two hundred of them take minutes."""
    provider, small = ScriptedProvider(ScriptedWorld(effects=effects)), plan(seed=seed, sample_size=1, effects=effects)
    small = replace(small, scenario=small.scenario.model_copy(update={"environments": 4}))
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
