"""Estimates of A/B tests against what the tests then ask; how they stop and go on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import AB_TEST
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.prices import Price
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedWorld
from evaluation.store import JobState, Store
from evaluation.transcript import Transcript
from evaluation.workflows.ab_tests import (
    ab_judge_config,
    estimate_ab_test,
    run_ab_test,
)
from evaluation.workflows.jobs import running_order
from evaluation.workflows.studies import begin_study, run_study
from tests.games import game_of
from tests.judge_server import JudgeServer, scripted

MARK = '{"reason": "It fits.", "score": 0.9}'
PERSONAS = [{"name": "Ann Lee", "occupation": "cook"}, {"name": "Ben Ode", "occupation": "plumber"}]


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL", "DRAMATURG_PRICING"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    world = ScriptedWorld()

    def answer(conversation: Sequence[Mapping[str, str]]) -> str:
        """The script of experiments, which knows no checks of single messages; these get one mark."""
        return MARK if "0 to 1" in str(conversation) else world.answer(conversation)

    with JudgeServer(content=scripted(answer)).in_thread() as running:
        yield running


def options(server: JudgeServer, **more: Any) -> dict[str, Any]:
    return {"mode": "live", "model": SCRIPTED_MODEL, "base_url": server.url, **more}


def simulated(**more: Any) -> ABConfig:
    fields: dict[str, Any] = {
        "name": "Steps",
        "source": "simulation",
        "base": {"steps": 2, "personas": PERSONAS, "corrections": {}},
        "variants": {"two": {}, "three": {"steps": 3}},
        "runs_per_variant": 2,
        "measures": {"total_messages": "higher"},
        "primary": "total_messages",
        "checks": False,
    }
    return ABConfig.model_validate(fields | more)


def test_without_corrections_and_checks_the_estimate_is_what_is_asked(server: JudgeServer) -> None:
    store = Store(":memory:")
    found = estimate_ab_test(store, simulated(), options(server))
    # Two agents speak in each step: (2 + 3) steps, two runs of each variant.
    assert (found.size, found.calls_at_least, found.calls_at_most) == ("4 runs", 20, 20)
    assert server.tally.asked.total() == 0
    assert store.transcripts.ids() == []
    # 20 messages of 1,300 tokens read and 70 written, at 1 and 2 dollars for a million.
    assert found.usd(lambda _: Price(1e-6, 0.0, 2e-6)) == pytest.approx(20 * (1_300 + 2 * 70) / 1e6)
    assert found.usd(lambda _: None) is None
    run_ab_test(store, simulated(), options(server))
    assert server.tally.asked.total() == 20
    assert estimate_ab_test(store, simulated(), options(server)).size == "4 runs, 4 of them done before"
    another = {**options(server), "model": "another"}
    assert estimate_ab_test(store, simulated(), another).size == "4 runs", "somebody else speaks"


def test_with_a_gate_and_checks_what_is_asked_lies_within_the_estimate(server: JudgeServer) -> None:
    store = Store(":memory:")
    test = simulated(
        base={"steps": 2, "personas": PERSONAS, "corrections": {"gate_fluency_enabled": True}},
        checks=True,
        evaluation={"validation_sampling_rate": 1.0},
    )
    found = estimate_ab_test(store, test, options(server))
    assert found.calls_at_least < found.calls_at_most
    result = run_ab_test(store, test, options(server))
    assert {run.status for run in result.runs} == {"done"}
    assert found.calls_at_least <= server.tally.asked.total() <= found.calls_at_most


def talk(name: str) -> Transcript:
    names = ("Ann", "Ben", "Cem")
    return game_of([(names[place % 3], f"{name} says number {place}.") for place in range(9)], game_id=name)


def test_the_questions_about_stored_games_are_counted_one_by_one(server: JudgeServer) -> None:
    store = Store(":memory:")
    store.iterations.create("v1")
    store.transcripts.add(talk("one"), source_name="one", iteration="v1")
    two = store.transcripts.add(talk("two"), source_name="two").transcript_id
    test = ABConfig(
        name="Games",
        source="transcripts",
        variants={"a": {"iteration": "v1"}, "b": {"transcripts": [two]}},
        evaluation={"validation_sampling_rate": 1.0},
        checks=True,
    )
    found = estimate_ab_test(store, test, options(server))
    assert (found.size, found.calls_at_least) == ("2 runs", found.calls_at_most)
    assert server.tally.asked.total() == 0
    run_ab_test(store, test, options(server))
    assert server.tally.asked.total() == found.calls_at_most > 0
    again = estimate_ab_test(store, test, options(server))
    assert again.calls_at_most == 0, "the runs are kept"
    assert again.words(lambda _: None) == "2 runs, 2 of them done before. No model would be asked."


def test_the_judge_is_the_users_own_unless_the_file_names_one_and_the_lower_budget_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRAMATURG_MODEL", "openai/mine")
    store, fixed = Store(":memory:"), {"name": "x", "source": "transcripts", "variants": {"a": {}, "b": {}}}
    assert ab_judge_config(store, ABConfig(**fixed), {}).model == "openai/mine"
    named = ABConfig(**fixed, evaluation={"evaluation_model": "openai/theirs"}, max_usd=1.0)
    assert ab_judge_config(store, named, {}).model == "openai/theirs"
    chosen = ab_judge_config(store, named, {"model": "openai/given", "max_usd": 2.0})
    assert (chosen.model, chosen.max_usd) == ("openai/given", 1.0)
    assert ab_judge_config(store, ABConfig(**fixed), {"max_usd": 2.0}).max_usd == 2.0


def test_a_stopped_test_leaves_the_other_runs_for_later_even_where_no_model_is_asked() -> None:
    store, budget = Store(":memory:"), Budget()
    ids = [store.transcripts.add(talk(name), source_name=name).transcript_id for name in "abcdef"]
    variants = {"a": {"transcripts": ids[:3]}, "b": {"transcripts": ids[3:]}}
    measures = {"total_messages": "higher"}
    test = ABConfig(
        name="n", source="transcripts", variants=variants, measures=measures, primary="total_messages", checks=False
    )
    stopped = run_ab_test(store, test, {}, lambda *_: budget.stop(), budget=budget)
    assert (stopped.skipped, stopped.variants["a"].runs[1].detail) == (5, "cancelled")
    assert run_ab_test(store, test, {}).skipped == 0


def test_a_job_keeps_its_runs_in_the_store_and_a_later_one_pays_for_none_of_them_again(server: JudgeServer) -> None:
    store = Store(":memory:")
    test_id = simulated().id
    job = begin_study(store, simulated(), options(server, max_calls=8))
    found = running_order(store, AB_TEST, test_id)
    assert (found.id, found.total) == (job.id, 4)
    said = run_study(store, job.id)
    # The first run takes 4 calls and the second 6, of which the limit allows 4.
    assert said.startswith("Runs: 1 done, 3 skipped: budget. 8 calls")
    assert store.jobs.get(job.id).done == 4
    assert len(store.experiments.runs(test_id)) == 1
    store.jobs.update(job.id, state=JobState.DONE)
    assert running_order(store, AB_TEST, test_id) is None
    asked = server.tally.asked.total()
    again = begin_study(store, simulated(), options(server))
    assert run_study(store, again.id).startswith("Runs: 4 done.")
    assert server.tally.asked.total() == asked + 16, "three runs, of 6, 4 and 6 messages"
    assert store.experiments.get(test_id).result.skipped == 0


def test_a_test_that_cannot_run_leaves_nothing_that_waits() -> None:
    store = Store(":memory:")
    with pytest.raises(InputError, match="Agents need a model"):
        run_ab_test(store, simulated(), {})
    assert store.experiments.all() == []
