"""Saved propositions: versions are only added, the latest is in force everywhere, and a folder has precedence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.cli.main import app
from evaluation.errors import InputError
from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import DEFAULT_AGENT, Dimension
from evaluation.store import Store
from evaluation.workflows.persona_runs import recorded_model
from evaluation.workflows.propositions.saved import (
    file_with_precedence,
    proposition_library,
    proposition_text,
    save_propositions,
    shipped_propositions,
)
from evaluation.workflows.propositions.trial import Trial, estimate_trial, run_trial

HEAD = "dimension: fluency\nagent_id: _default\npropositions:\n"
ONE = f"{HEAD}  - {{id: plain, claim: '{{{{agent_name}}}} speaks plainly.', weight: 0.5}}\n"
TWO = f"{HEAD}  - {{id: plain, claim: '{{{{agent_name}}}} speaks very plainly.'}}\n"
KEY = (Dimension.FLUENCY, DEFAULT_AGENT)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "own.duckdb")


def claims(library: PropositionLibrary) -> list[str]:
    return [each.claim for each in library.by_file[KEY]]


def test_a_saved_version_replaces_the_shipped_ones_and_older_ones_can_be_restored(store: Store) -> None:
    first = save_propositions(store, *KEY, ONE, who="Ann", after=0)
    assert claims(proposition_library(store, None)) == ["{{agent_name}} speaks plainly."]
    save_propositions(store, *KEY, TWO, who="Ben", after=1)
    assert claims(proposition_library(store, None)) == ["{{agent_name}} speaks very plainly."]
    save_propositions(store, *KEY, first.content, who="Ann", after=2)
    assert claims(proposition_library(store, None)) == ["{{agent_name}} speaks plainly."]
    save_propositions(store, *KEY, None, who="Ann", after=3)
    assert proposition_library(store, None).by_file == PropositionLibrary.load().by_file
    history = store.proposition_versions.history(*KEY)
    assert [(one.number, one.who, one.content) for one in history] == [
        (1, "Ann", ONE),
        (2, "Ben", TWO),
        (3, "Ann", ONE),
        (4, "Ann", None),
    ]


def test_a_folder_has_precedence_by_id(store: Store, tmp_path: Path) -> None:
    save_propositions(store, *KEY, ONE, who="Ann", after=0)
    file = tmp_path / "folder" / "fluency" / "_default.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(TWO)
    folder = tmp_path / "folder"
    assert claims(proposition_library(store, folder)) == ["{{agent_name}} speaks very plainly."]
    assert file_with_precedence(folder, *KEY) == file
    assert file_with_precedence(folder, Dimension.ADHERENCE, DEFAULT_AGENT) is None


def test_nobody_overwrites_what_somebody_else_saved_meanwhile(store: Store) -> None:
    save_propositions(store, *KEY, ONE, who="Ann", after=0)
    with pytest.raises(InputError, match="Version 1 was saved since"):
        save_propositions(store, *KEY, TWO, who="Ben", after=0)
    assert len(store.proposition_versions.history(*KEY)) == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{HEAD}  - {{id: a, claim: One., weight: 7}}\n", "not a weight"),
        ("dimension: fluency\nagent_id: other\npropositions:\n  - {id: a, claim: One.}\n", "file named '_default'"),
        ("dimension: adherence\nagent_id: _default\npropositions:\n  - {id: a, claim: One.}\n", "stands in the folder"),
    ],
)
def test_faulty_propositions_are_not_saved(store: Store, text: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        save_propositions(store, *KEY, text, who="Ann", after=0)
    assert store.proposition_versions.history(*KEY) == []


@pytest.mark.parametrize(("dimension", "agent"), list(PropositionLibrary.load().by_file))
def test_every_shipped_file_is_the_same_after_it_was_written_as_text(store: Store, dimension, agent) -> None:
    shipped = shipped_propositions(dimension, agent)
    save_propositions(store, dimension, agent, proposition_text(dimension, agent, shipped), who="Ann", after=0)
    assert proposition_library(store, None).by_file[dimension, agent] == shipped


def test_the_command_line_reads_what_the_page_saved(store: Store, tmp_path: Path) -> None:
    save_propositions(store, *KEY, ONE, who="Ann", after=0)
    store.close()
    arguments = ["propositions", "list", "--format", "json", "--db", str(tmp_path / "own.duckdb")]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    listed = [row["claim"] for row in json.loads(ran.stdout) if row["dimension"] == "fluency"]
    assert listed == ["{{agent_name}} speaks plainly."]


def test_a_trial_asks_about_three_messages_with_recorded_answers_and_stores_no_run(store: Store) -> None:
    played = JudgeConfig(mode="recorded")
    config = played.model_copy(update={"model": recorded_model(played)})
    propositions = proposition_library(store, None).propositions_for(Dimension.ADHERENCE, ["michael"]).propositions
    trial = Trial("michael", Dimension.ADHERENCE, propositions, config)
    found, cost = run_trial(store, trial)
    assert len({one.reference for one in found if one.reference}) == 3
    assert all(one.score is not None for one in found), [one.detail for one in found]
    assert cost == "0 calls, $0.0000"
    assert estimate_trial(store, trial) == "No model would be asked."
    assert store.evaluations.runs("michael").empty


def test_a_trial_by_rules_says_what_needs_a_model(store: Store) -> None:
    propositions = shipped_propositions(Dimension.ADHERENCE, DEFAULT_AGENT)
    found, _ = run_trial(store, Trial("jim", Dimension.ADHERENCE, propositions, JudgeConfig(mode="offline")))
    assert {one.score for one in found} == {None}
    assert all("needs an LLM judge" in one.detail for one in found), [one.detail for one in found]
