"""Corrections in the store, calls and their cost, and agents by the names that people give them."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.model_client.calls import CallRecord
from evaluation.persona.agents import Agent, find_agent
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_model
from evaluation.workflows.agents import KnownAgents
from evaluation.workflows.message_gate import MessageGate
from tests.stored_rows import correction_log


def checked(score: float | None, tokens: int = 0) -> tuple[DimensionCheck, ...]:
    return (DimensionCheck("adherence", 7.0, MessageScore(score, "why", ("do it",), tokens, 1 if tokens else 0)),)


def corrected() -> GateResult:
    attempts = (Attempt(0, "dull", checked(3, 20), 0.25, feedback="be bold"), Attempt(1, "bold", checked(8), 0.5))
    return GateResult("michael", attempts[1], GateOutcome.PASSED_AFTER_RETRY, attempts)


def test_every_attempt_is_logged_with_the_group_and_its_outcome(store: Store) -> None:
    group = store.corrections.add(corrected())
    log = correction_log(store, "michael")
    assert log["group_id"].tolist() == [group, group]
    assert log["outcome"].tolist() == ["passed_after_retry"] * 2
    assert log["attempt_text"].tolist() == ["dull", "bold"]
    assert log["original_text"].tolist() == ["dull", "dull"]
    assert log["corrected_text"].tolist() == ["bold", "bold"]
    assert log["is_committed"].tolist() == [False, True]
    assert log["total_score"].tolist() == [3, 8]
    assert log["similarity_score"].tolist() == [0.25, 0.5]
    assert log["feedback"].tolist() == ["be bold", ""]
    assert json.loads(log["dimension_scores"][0])["adherence"] == {
        "score": 3.0,
        "threshold": 7.0,
        "reasoning": "why",
        "recommendations": ["do it"],
        "calls": 0,
        "cost_usd": 0.0,
    }
    assert json.loads(log["token_usage"][0]) == {"input_tokens": 20, "output_tokens": 1}
    assert log["token_usage"].isna().tolist() == [False, True]
    assert correction_log(store, "dwight").empty


def test_messages_carry_the_experiment_that_they_were_checked_in(store: Store) -> None:
    experiment = "0b9f6f6e-5f5c-5d6e-9b3e-0123456789ab"
    store.corrections.add(corrected(), experiment_id=experiment)
    store.corrections.add(corrected())
    assert [one.run for one in store.corrections.messages()] == ["", experiment]


def test_what_passed_at_once_or_was_never_sent_has_no_corrected_text(store: Store) -> None:
    passed = Attempt(0, "fine", checked(9))
    store.corrections.add(GateResult("a", passed, GateOutcome.PASSED, (passed,)))
    store.corrections.add(GateResult("b", None, GateOutcome.FORCED_THROUGH, (Attempt(0, "bad", checked(1)),)))
    log = correction_log(store)
    assert log["corrected_text"].isna().all()
    assert dict(zip(log["agent_id"], log["is_committed"], strict=True)) == {"a": True, "b": False}


def test_what_was_not_checked_is_not_logged(store: Store) -> None:
    only = Attempt(0, "free")
    assert store.corrections.add(GateResult("a", only, None, (only,))) == ""
    assert correction_log(store).empty


def test_control_characters_of_messages_and_judges_are_not_logged(store: Store) -> None:
    hostile = "a\x00b\x1b[31m\x9bc\x07"
    check = DimensionCheck("adherence", 7.0, MessageScore(3, f"one\n{hostile}", (f"two\t{hostile}",)))
    first = Attempt(0, f"three\r\n{hostile}\ud800", (check,), 0.25, feedback=f"four {hostile}")
    second = Attempt(1, f"five {hostile} \u200eعربي", (check,), 0.25)
    store.corrections.add(GateResult("michael", second, GateOutcome.PASSED_AFTER_RETRY, (first, second)))
    (found,) = store.corrections.messages()
    (kept,) = found.result.attempts[0].checks
    assert (kept.found.reasoning, kept.found.recommendations) == ("one\nabc", ("two\tabc",))
    assert [one.text for one in found.result.attempts] == ["three\nabc?", "five abc \u200eعربي"]
    assert found.result.attempts[0].feedback == "four abc"
    assert set(correction_log(store)["corrected_text"]) == {"five abc \u200eعربي"}
    assert set(correction_log(store)["original_text"]) == {"three\nabc?"}


def test_messages_come_back_with_their_attempts_newest_first(store: Store) -> None:
    first = store.corrections.add(corrected())
    similar = Attempt(0, "again", (), 0.6, is_similar=True)
    second = store.corrections.add(GateResult("dwight", similar, GateOutcome.FORCED_THROUGH, (similar,)))
    newest, oldest = store.corrections.messages()
    assert (newest.id, oldest.id) == (second, first)
    assert newest.at >= oldest.at
    # Tokens are added up over the dimensions of an attempt, so a single check has none of its own any more.
    kept = [replace(each, checks=checked(each.checks[0].found.score)) for each in corrected().attempts]
    assert oldest.result == replace(corrected(), attempts=tuple(kept), committed=kept[1])
    assert newest.result.attempts == (similar,)
    assert [one.id for one in store.corrections.messages("michael")] == [first]
    assert (store.corrections.count(), store.corrections.count("michael"), store.corrections.count("x")) == (2, 1, 0)


OFTEN = CorrectionConfig(max_correction_attempts=5)
SAID = Attempt(0, "Hello.")


def passed(agent: str, name: str = "") -> GateResult:
    return GateResult(agent, SAID, GateOutcome.PASSED, (SAID,), name=name)


@pytest.fixture
def baker(tmp_path: Path) -> Store:
    baker = Store(tmp_path / "names.duckdb")
    baker.agents.save(Agent("bob", "Bob", persona="A baker."))
    return baker


@pytest.mark.parametrize("reference", ["bob", "Bob", "BOB", " bob ", "Bo\u200bb"])
def test_settings_and_log_are_those_of_the_agent_that_is_meant(baker: Store, reference: str) -> None:
    baker.corrections.configure(reference, OFTEN)
    baker.corrections.add(passed(reference))
    assert list(baker.agents.all().values()) == [Agent("bob", "Bob", persona="A baker.")]
    assert baker.corrections.configs() == {"bob": OFTEN}
    for name in ("bob", "Bob"):
        assert baker.corrections.config(name) == OFTEN
        assert [one.result.agent for one in baker.corrections.messages(name)] == ["bob"]
        assert baker.corrections.count(name) == len(correction_log(baker, name)) == 1
    baker.corrections.forget(reference)
    assert baker.corrections.configs() == {}


def test_a_name_that_two_agents_share_is_refused_with_both_ids(baker: Store) -> None:
    baker.agents.save(Agent("bob-2", "Bob"))
    # An id is nobody else's.
    assert baker.agents.resolve("bob") == baker.agents.get("bob")
    for ask in (
        baker.agents.resolve,
        baker.corrections.config,
        baker.corrections.messages,
        KnownAgents.of(baker).resolve,
        lambda name: baker.corrections.add(passed(name)),
    ):
        with pytest.raises(InputError, match="2 agents are called 'Bob': bob, bob-2") as refused:
            ask("Bob")
        assert refused.value.remedy == "Give the id of one."
    assert len(baker.agents.all()) == 2


def test_names_are_compared_as_written_before_case_and_punctuation_are_left_out() -> None:
    names = [("a", "Ann B."), ("b", "ann b"), ("c", "Carl")]
    assert find_agent("ann b", names) == "b"
    assert find_agent("CARL", names) == "c"
    assert find_agent("Dora", names) is None
    with pytest.raises(InputError, match="a, b"):
        find_agent("ANN B", names)


def test_the_gate_checks_what_is_stored_for_the_agent_and_logs_it_there(baker: Store) -> None:
    judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=5, confidence=1))
    config = CorrectionConfig(gate_fluency_enabled=True, gate_fluency_threshold=5, max_correction_attempts=0)
    baker.corrections.configure("bob", config)
    with MessageGate(judge, store=baker) as gate:
        result = gate.send(lambda _: "I bake.", "Bob", [("Bob", "Flour is dear.")])
        assert {request.purpose for request in judge.asked} == {"fluency"}
        assert (result.agent, result.name) == ("bob", "Bob")
        assert 'Claim about message [M2]: "Bob" speaks naturally' in judge.asked[0].prompt.question
        judge.asked.clear()
        baker.corrections.configure("bob", CorrectionConfig())
        assert gate.send(lambda _: "I bake.", "bob").outcome is None
        assert judge.asked == []
        # Nobody configured Carl, so that adherence is checked, as without a store.
        gate.send(lambda _: "I bake.", "Carl")
        assert {request.purpose for request in judge.asked} == {"adherence"}
    assert baker.corrections.agents() == {"bob": 1, "carl": 1}
    assert [agent.display_name for agent in baker.agents.all().values()] == ["Bob", "Carl"]


NO_NAMES = ("", "   ", "\u200b", "a\x00b", "channel:public", "\ud800")


@pytest.mark.parametrize("name", NO_NAMES)
def test_the_gate_refuses_what_is_no_name_of_an_agent_before_anything_is_written(baker: Store, name: str) -> None:
    before = baker.agents.all()
    for store in (None, baker):
        judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=8, confidence=1))
        with MessageGate(judge, store=store) as gate, pytest.raises(InputError):
            gate.send(lambda _: pytest.fail("something was written"), name)
    assert baker.agents.all() == before


def test_an_agent_has_one_name_in_a_prompt_of_the_gate(baker: Store) -> None:
    judge = ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=8, confidence=1))
    said = {
        "Michael": "One.",
        "Michael Scott": "Two.",
        "michael": "Three.",
        "Micha\u200bel": "Four.",
        "Dwight": "Five.",
    }
    with MessageGate(judge, store=baker) as gate:
        gate.send(lambda _: "Six.", "Michael", list(said.items()))
    spoken = [line for line in judge.asked[0].prompt.user.splitlines() if line.startswith("[M")]
    assert [line.partition("] ")[2].partition(": ")[0] for line in spoken] == [
        *["Michael Scott acts"] * 4,
        "Dwight --> Michael Scott",
        "Michael Scott acts",
    ]


START = datetime(2026, 1, 1, tzinfo=UTC)


def test_calls_by_model_and_purpose() -> None:
    store = Store(":memory:")
    common = {"purpose": "checks", "model": "m", "attempt": 1, "started_at": START}
    seconds = [1.0, 2.0, 3.0, 10.0]
    store.llm_calls.add([CallRecord(outcome="answered", seconds=one, cost_usd=0.1, **common) for one in seconds])
    store.llm_calls.add([CallRecord(outcome="timeout", seconds=99.0, **common)])
    (row,) = spending_by_model(store).to_dict("records")
    assert (row["calls"], row["failed"], row["unpriced"]) == (5, 1, 0)
    assert row["median_seconds"] == 2.5
    # Of 1, 2, 3, 10 the 95th percentile lies 0.85 of the way from 3 to 10.
    assert row["slow_seconds"] == pytest.approx(8.95)
    assert round(row["cost_usd"], 9) == 0.4
