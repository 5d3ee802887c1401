"""Counts of what took effect in an experiment, and of what it cost."""

from __future__ import annotations

from pathlib import Path

from evaluation.experiments.conversation import activity_of, stored_activity
from evaluation.experiments.plan import ExperimentPlan, Side, read_scenario
from evaluation.judging.judge_config import judge_config
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, Habits, ScriptedProvider, ScriptedWorld
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.experiment_runs import run_experiment

SCENARIO = """
title: Small talk
kind: brainstorming
population: average-customers
agents: 4
environments: 2
steps: 2
treatment: {gate_adherence_enabled: true, variety_intervention_enabled: true, variety_message_threshold: 1}
treatment_words: both
topics: [tea]
"""
CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})


def test_the_report_counts_what_took_effect_and_what_each_side_cost(tmp_path: Path) -> None:
    scenario = read_scenario(SCENARIO.encode(), "small", "small.yaml")
    world = ScriptedWorld(habits=Habits(out_of_character=0.9, repeats=0.6, has_idea=0.1))
    asked, store = ScriptedProvider(world), Store(tmp_path / "x.duckdb")
    plan = ExperimentPlan(scenario, SCRIPTED_MODEL, is_batched=True, effects=True)
    record = run_experiment(store, plan, CONFIG, provider=asked).record
    sides = activity_of((Side(run.arm), run.activity) for run in store.experiments.runs(record.id))
    treatment, control = sides[Side.TREATMENT], sides[Side.CONTROL]
    # 4 agents in 2 steps; each is looked at once in each step, and has spoken once in the second.
    assert (treatment.messages, control.messages) == (8, 8)
    assert (treatment.checked, control.checked) == (8, 0)
    assert 0 < treatment.corrected <= treatment.sent_back <= treatment.fired["adherence"]
    assert treatment.looked["variety"] == 8
    assert control.fired == {}
    population = store.generations.of_scope(record.id)
    assert population
    # Everything that is not the population's belongs to a side; retries and judgements make the treatment dearer.
    assert treatment.calls > control.calls > 8
    assert treatment.calls + control.calls < asked.asked
    assert {row[0]: row[1:] for row in stored_activity(record)}["Messages by agents"] == ("8", "8")


def test_conversations_of_experiments_are_left_out_of_evaluations_unless_asked_for() -> None:
    store = Store(":memory:")
    for name, source_format in (("real", "native"), ("room", "simulation")):
        said = {"id": "m0", "index": 0, "speaker": "Ann", "text": f"Hello from {name}."}
        made = {"game_id": name, "source_format": source_format, "players": [{"name": "Ann"}], "messages": [said]}
        store.transcripts.add(Transcript.model_validate(made), source_name=name)
    library = PropositionLibrary.load()
    for with_simulated, count in ((False, 1), (True, 2)):
        (found,) = find_subjects(store, ["ann"], (), library, with_simulated=with_simulated)
        assert sum(len(each.positions) for each in found.portrayals) == count
