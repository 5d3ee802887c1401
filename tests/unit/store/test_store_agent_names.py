"""One agent, one id: found by its id or its name by everything that a store knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.corrections.action_gate import Attempt, GateOutcome, GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.message_gate import MessageGate
from evaluation.errors import InputError
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.persona.agents import Agent, find_agent
from evaluation.store import Store
from evaluation.workflows.agents import KnownAgents
from tests.stored_rows import correction_log

OFTEN = CorrectionConfig(max_correction_attempts=5)
SAID = Attempt(0, "Hello.")


def passed(agent: str, name: str = "") -> GateResult:
    return GateResult(agent, SAID, GateOutcome.PASSED, (SAID,), name=name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "names.duckdb")
    store.agents.save(Agent("bob", "Bob", persona="A baker."))
    return store


@pytest.mark.parametrize("reference", ["bob", "Bob", "BOB", " bob ", "Bo\u200bb"])
def test_settings_and_log_are_those_of_the_agent_that_is_meant(store: Store, reference: str) -> None:
    store.corrections.configure(reference, OFTEN)
    store.corrections.add(passed(reference))
    assert list(store.agents.all().values()) == [Agent("bob", "Bob", persona="A baker.")]
    assert store.corrections.configs() == {"bob": OFTEN}
    for name in ("bob", "Bob"):
        assert store.corrections.config(name) == OFTEN
        assert [one.result.agent for one in store.corrections.messages(name)] == ["bob"]
        assert store.corrections.count(name) == len(correction_log(store, name)) == 1
    store.corrections.forget(reference)
    assert store.corrections.configs() == {}


def test_a_name_that_two_agents_share_is_refused_with_both_ids(store: Store) -> None:
    store.agents.save(Agent("bob-2", "Bob"))
    # An id is nobody else's.
    assert store.agents.resolve("bob") == store.agents.get("bob")
    for ask in (
        store.agents.resolve,
        store.corrections.config,
        store.corrections.messages,
        KnownAgents.of(store).resolve,
        lambda name: store.corrections.add(passed(name)),
    ):
        with pytest.raises(InputError, match="2 agents are called 'Bob': bob, bob-2") as refused:
            ask("Bob")
        assert refused.value.remedy == "Give the id of one."
    assert len(store.agents.all()) == 2


def test_names_are_compared_as_written_before_case_and_punctuation_are_left_out() -> None:
    names = [("a", "Ann B."), ("b", "ann b"), ("c", "Carl")]
    assert find_agent("ann b", names) == "b"
    assert find_agent("CARL", names) == "c"
    assert find_agent("Dora", names) is None
    with pytest.raises(InputError, match="a, b"):
        find_agent("ANN B", names)


def test_the_gate_checks_what_is_stored_for_the_agent_and_logs_it_there(store: Store) -> None:
    judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=5, confidence=1))
    config = CorrectionConfig(gate_fluency_enabled=True, gate_fluency_threshold=5, max_correction_attempts=0)
    store.corrections.configure("bob", config)
    with MessageGate(judge, corrections=store.corrections) as gate:
        result = gate.send(lambda _: "I bake.", "Bob", [("Bob", "Flour is dear.")])
        assert {request.purpose for request in judge.asked} == {"fluency"}
        assert (result.agent, result.name, result.recent) == ("bob", "Bob", ("Flour is dear.",))
        assert 'Claim about message [M2]: "Bob" speaks naturally' in judge.asked[0].prompt.question
        judge.asked.clear()
        store.corrections.configure("bob", CorrectionConfig())
        assert gate.send(lambda _: "I bake.", "bob").outcome is None
        assert judge.asked == []
        # Nobody configured Carl, so that adherence is checked, as without a store.
        gate.send(lambda _: "I bake.", "Carl")
        assert {request.purpose for request in judge.asked} == {"adherence"}
    assert store.corrections.agents() == {"bob": 1, "carl": 1}
    assert [agent.display_name for agent in store.agents.all().values()] == ["Bob", "Carl"]


NO_NAMES = ("", "   ", "\u200b", "a\x00b", "channel:public", "\ud800")


@pytest.mark.parametrize("name", NO_NAMES)
def test_the_gate_refuses_what_is_no_name_of_an_agent_before_anything_is_written(store: Store, name: str) -> None:
    before = store.agents.all()
    for corrections in (None, store.corrections):
        judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=8, confidence=1))
        with MessageGate(judge, corrections=corrections) as gate, pytest.raises(InputError):
            gate.send(lambda _: pytest.fail("something was written"), name)
    assert store.agents.all() == before


def test_an_agent_has_one_name_in_a_prompt_of_the_gate(store: Store) -> None:
    judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=8, confidence=1))
    said = {
        "Michael": "One.",
        "Michael Scott": "Two.",
        "michael": "Three.",
        "Micha\u200bel": "Four.",
        "Dwight": "Five.",
    }
    with MessageGate(judge, corrections=store.corrections) as gate:
        result = gate.send(lambda _: "Six.", "Michael", list(said.items()))
    spoken = [line for line in judge.asked[0].prompt.user.splitlines() if line.startswith("[M")]
    assert [line.partition("] ")[2].partition(": ")[0] for line in spoken] == [
        *["Michael Scott acts"] * 4,
        "Dwight --> Michael Scott",
        "Michael Scott acts",
    ]
    assert result.recent == ("One.", "Two.", "Three.", "Four.")
