"""A/B tests: isolation, seeds, limits, resuming, simulated runs, and a winner only where the runs show one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from evaluation.errors import InputError, JudgeError
from evaluation.experiments.ab_runner import (
    ABConfig,
    ExperimentRunner,
    Run,
    RunOutcome,
    plan,
    read_run,
    simulated_games,
    stored_games,
    variant_config,
)
from evaluation.experiments.results import RunResult, StudyResult, sentence, study_result
from evaluation.experiments.tables import basis_words, comparison_cells, runs_by_status
from evaluation.files.yaml_files import parse_model
from evaluation.insight._questions import QualityAnswer
from evaluation.insight.collector import transcript_metrics
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.judges_without_model import OfflineJudge, ScriptedJudge
from evaluation.judging.model_client.budget import BudgetSpentError, current_counts
from evaluation.judging.model_client.calls import CallLog
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.protocol import Judge, Judgement
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import AT_CHANCE, Coverage, Status
from evaluation.simulation.scripted_world import ScriptedProvider, ScriptedWorld
from evaluation.text.display import json_data, significant_text
from evaluation.transcript import Transcript
from evaluation.workflows.ab_tests import iterations_test
from tests.games import game_of


def numbers(before: list[Any], after: list[Any], **more: Any) -> ABConfig:
    variants = {
        name: {"runs": [{"quality": value} for value in values]}
        for name, values in (("old", before), ("new", after), *more.pop("others", ()))
    }
    measures = more.pop("measures", {"quality": "higher"})
    return ABConfig(name="t", source="transcripts", variants=variants, measures=measures, primary="quality", **more)


def simulated(**more: Any) -> ABConfig:
    variants = more.pop("variants", {"warm": {"agents.temperature": 0.9}, "cold": {"agents.temperature": 0.1}})
    base = {"agents": {"temperature": 0.5, "names": ["Ada"]}}
    return ABConfig(
        name="t", source="simulation", base=base, variants=variants, measures={"q": "higher"}, primary="q", **more
    )


async def given(config: dict[str, Any], _seed: int) -> RunOutcome:
    return RunOutcome(config["run"])


def keeping(kept: dict[str, RunResult]) -> Callable[[RunResult], None]:
    return lambda run: kept.update({run.key: run})


def result_of(config: ABConfig, run: Run = given, **more: Any) -> StudyResult:
    return asyncio.run(ExperimentRunner(config, run, **more).run_ab_test())


async def temperature(config: dict[str, Any], seed: int) -> RunOutcome:
    return RunOutcome({"q": config["agents"]["temperature"] + seed / 100, "estimated_cost_usd": 0.5})


def test_ten_percent_is_practical_and_not_significant() -> None:
    # Means 10 and 12: 2 of 12 is 17 %, yet values that spread over 10 points show nothing in three runs.
    (one,) = result_of(numbers([5, 10, 15], [7, 12, 17])).comparisons
    assert (one.practical_difference, one.significant) == (True, False)
    assert one.difference == 2
    # Means 100.0 and 100.5: 0.5 %, but 50 standard errors apart.
    precise = result_of(numbers([99.99, 100, 100.01] * 3, [100.49, 100.5, 100.51] * 3))
    (one,) = precise.comparisons
    assert (one.practical_difference, one.significant) == (False, True)
    assert precise.winner is None
    assert "too small to matter" in precise.recommendation


def test_a_winner_beats_all_others_and_says_why() -> None:
    others = (("third", [3.0, 3.1, 2.9, 3.0]),)
    found = result_of(numbers([1.0, 1.1, 0.9, 1.0], [2.0, 2.1, 1.9, 2.0], others=others))
    assert found.winner == "third"
    assert found.recommendation == "Take third: it is better on quality than every other variant, beyond luck."
    assert len(found.comparisons) == 3
    assert all(one.p_holm >= one.p_value for one in found.comparisons)
    assert "significant" in found.reasons[0]


def test_lower_may_be_better_and_what_is_worse_is_said() -> None:
    variants = {
        "old": {"runs": [{"cost": 2 + place / 100, "quality": 5 + place / 100} for place in range(5)]},
        "new": {"runs": [{"cost": 1 + place / 100, "quality": 4 + place / 100} for place in range(5)]},
    }
    measures = {"cost": "lower", "quality": "higher"}
    found = result_of(ABConfig(name="t", source="transcripts", variants=variants, measures=measures, primary="cost"))
    assert found.winner == "new"
    assert found.recommendation.endswith("but weigh that it is worse on quality.")
    assert any(reason.startswith("Against it: quality") for reason in found.reasons)


def test_no_spread_and_no_values_are_untestable_and_never_zero() -> None:
    flat = result_of(numbers([1, 1, 1], [2, 2, 2]))
    (one,) = flat.comparisons
    assert one.significant is None
    assert flat.winner is None
    assert "no spread seen" in flat.recommendation
    unknown = result_of(numbers([1, 2], [3, 4], measures={"quality": "higher", "nothing": "lower"}))
    empty = json_data(unknown)["comparisons"][1]
    assert (empty["mean_a"], empty["difference"], empty["significant"]) == (None, None, None)
    assert sentence(unknown.comparisons[1]) == "nothing, old against new: not known of old and of new."
    assert unknown.variants["old"].avg_metrics["nothing"] is None


def test_a_variant_cannot_change_another_or_the_next_run() -> None:
    seen = []

    async def spoil(config: dict[str, Any], seed: int) -> RunOutcome:
        seen.append(list(config["agents"]["names"]))
        config["agents"]["names"].append("Mallory")
        return RunOutcome({"q": 1.0})

    config = simulated(runs_per_variant=2)
    result_of(config, spoil)
    assert seen == [["Ada"]] * 4
    assert config.base["agents"]["names"] == ["Ada"]


def test_runs_take_turns_and_share_seeds() -> None:
    planned = plan(simulated(seed=7))
    assert [(run.variant, run.seed) for run, _ in planned] == [
        *(("warm", 7), ("cold", 7)),
        *(("warm", 8), ("cold", 8)),
        *(("warm", 9), ("cold", 9)),
    ]
    (one,) = result_of(simulated(seed=7), temperature).comparisons
    # Pairs differ by 0.8 each time: of 8 patterns of signs two are as extreme.
    assert one.paired_p == pytest.approx(0.25)


def test_an_override_needs_a_setting_that_is_there() -> None:
    assert variant_config(simulated(), "warm")["agents"] == {"temperature": 0.9, "names": ["Ada"]}
    for key in ("agents.temprature", "agent.temperature", "agents.temperature.more"):
        with pytest.raises(InputError, match="no setting"):
            variant_config(simulated(variants={"a": {key: 1}, "b": {}}), "a")


def test_a_test_that_was_stopped_goes_on_where_it_was_and_what_is_left_is_listed() -> None:
    kept: dict[str, RunResult] = {}
    seeds: list[int] = []

    async def run(config: dict[str, Any], seed: int, most: int = 6) -> RunOutcome:
        if len(seeds) >= most:
            raise BudgetSpentError("budget")
        seeds.append(seed)
        for counts in current_counts():
            counts.settle(0.5)
        return await temperature(config, seed)

    first = result_of(simulated(), partial(run, most=3), known=kept, keep=keeping(kept))
    assert (first.skipped, first.spent_usd, len(seeds)) == (3, 1.5, 3)
    assert {run.detail for run in first.runs if run.status == "skipped"} == {"budget"}
    second = result_of(simulated(), run, known=kept, keep=keeping(kept))
    assert (second.skipped, second.spent_usd, len(seeds)) == (0, 3.0, 6)
    assert sum(one.is_resumed for one in second.runs) == 3
    third = result_of(simulated(), run, known=kept, keep=keeping(kept))
    assert (third.comparisons, len(seeds)) == (second.comparisons, 6)
    shifted = result_of(simulated(seed=1), partial(run, most=8), known=kept, keep=keeping(kept))
    assert [run.run_index for run in shifted.variants["warm"].runs] == [0, 1, 2]
    assert len(seeds) == 6 + 2, "of seeds 1, 2 and 3 only the last is new"


def test_a_run_that_fails_is_listed_and_the_others_go_on() -> None:
    async def run(config: dict[str, Any], seed: int) -> RunOutcome:
        if seed == 1:
            raise JudgeError("The server is gone.")
        return await temperature(config, seed)

    found = result_of(simulated(), run)
    assert found.failed == 2
    assert found.variants["warm"].runs[1].detail == "The server is gone."
    assert found.variants["warm"].runs[1].values("q") == {}
    assert found.comparisons[0].n_a == 2


def test_a_judge_that_raises_anything_makes_a_failed_run() -> None:
    class Broken:
        async def judge(self, requests: Any, *, report: Any = None) -> list[Judgement]:
            raise KeyError("answer")

    found = stored(Shelf(), Broken())
    assert found.failed == 2
    assert "KeyError" in found.variants["a"].runs[0].detail


def test_checks_of_stored_games_give_the_pass_rate() -> None:
    def load(key: str) -> tuple[Transcript, dict[str, MetricScore], dict[str, str], str]:
        said = [("Ada", "Fine words."), ("Ada", "Bad words." if key.startswith("b") else "More fine words.")]
        return game_of(said, game_id=key), {"coherence": MetricScore(Status.FAILED, 50.0, 70.0)}, {}, ""

    def script(request: Any) -> QualityAnswer:
        return QualityAnswer(reason="so", score=0.1 if "Bad words" in request.prompt.user else 0.9)

    config = ABConfig(
        name="t",
        source="transcripts",
        variants={"a": {"runs": ["a1", "a2"]}, "b": {"runs": ["b1", "b2"]}},
        checks=True,
        evaluation={"validation_sampling_rate": 1},
    )
    found = result_of(config, stored_games(load), judge=ScriptedJudge(script))
    # Of each game: two checks of coherence and one of consistency; b fails one of coherence and that of consistency.
    assert found.variants["a"].validation_pass_rate == 1.0
    assert found.variants["b"].validation_pass_rate == pytest.approx(1 / 3)
    assert found.variants["a"].runs[0].metrics["coherence"] == 50.0
    assert found.variants["a"].avg_metrics["total_messages"] == 2
    # Nobody has a persona, and the first message has nothing before it: 3 of 6 in each of four games.
    assert found.reasons[-1] == "12 of 24 checks have no score; 8 of them: no persona is known."


class Shelf:
    """Two stored games of four messages each, whose scores may change."""

    def __init__(self) -> None:
        self.depth = 50.0
        self.text = "Fine words."

    def load(self, key: str) -> tuple[Transcript, dict[str, MetricScore], dict[str, str], str]:
        said = [("Ada", f"{self.text} {at}") for at in range(4)]
        return game_of(said, game_id=key), {"depth": MetricScore(Status.FAILED, self.depth, 90.0)}, {}, ""


def stored(shelf: Shelf, judge: Judge, finished: dict[str, RunResult] | None = None, **more: Any) -> StudyResult:
    variants = {"a": {"runs": ["a"]}, "b": {"runs": ["b"]}}
    evaluation = {"validation_sampling_rate": 1, "max_validation_calls": more.pop("calls", 50)}
    checks = more.pop("checks", True)
    config = ABConfig(name="t", source="transcripts", variants=variants, checks=checks, evaluation=evaluation)
    kept = {} if finished is None else finished
    return result_of(config, stored_games(shelf.load), judge=judge, known=kept, keep=keeping(kept), **more)


def good(request: Any) -> QualityAnswer:
    return QualityAnswer(reason="so", score=0.9)


def test_stored_games_are_checked_only_where_the_file_says_so() -> None:
    judge = ScriptedJudge(good)
    found = stored(Shelf(), judge, checks=False)
    assert (judge.asked, found.variants["a"].validation_pass_rate) == ([], None)


def test_stored_games_are_read_anew_and_only_their_checks_are_kept() -> None:
    shelf, finished, judge = Shelf(), {}, ScriptedJudge(good)
    stored(shelf, judge, finished)
    # Of four messages: four checks of coherence and three of consistency in each of two games.
    assert len(judge.asked) == 14
    shelf.depth = 80.0
    again = stored(shelf, judge, finished)
    assert len(judge.asked) == 14
    run = again.variants["a"].runs[0]
    assert (run.metrics["depth"], run.metrics["validation_pass_rate"], run.is_resumed) == (80.0, 1.0, True)
    shelf.text = "Other words."
    stored(shelf, judge, finished)
    assert len(judge.asked) == 28, "what was said has changed, so it is checked again"


def test_another_judge_makes_the_runs_anew() -> None:
    finished, judge = {}, ScriptedJudge(good)
    for asked in ("live a", "live b", "live b http://localhost:1", "live b"):
        stored(Shelf(), judge, finished, asked=asked)
    assert len(judge.asked) == 3 * 14


def test_a_run_that_nobody_could_judge_is_judged_by_the_next() -> None:
    finished = {}
    # Three checks are allowed and seven wanted: the limit is the validator's, and no reason to skip the run.
    first = stored(Shelf(), OfflineJudge(), finished, calls=3)
    assert (first.skipped, first.variants["a"].runs[0].status) == (0, "done")
    assert first.variants["a"].validation_pass_rate is None
    judge = ScriptedJudge(good)
    second = stored(Shelf(), judge, finished, calls=3)
    assert len(judge.asked) == 4, "of the three of each run, two need a model"
    assert second.variants["a"].validation_pass_rate == 1.0
    assert not second.variants["a"].runs[0].is_resumed


def test_without_checks_the_primary_measure_of_the_adr_is_unknown() -> None:
    async def run(config: dict[str, Any], seed: int) -> RunOutcome:
        return RunOutcome({"total_messages": 3.0})

    config = ABConfig(name="t", source="transcripts", variants={"a": {"runs": ["x"]}, "b": {"runs": ["y"]}})
    means = {"total_messages", "avg_response_length", "total_reflections", "estimated_cost_usd"}
    assert set(config.measures) == {"validation_pass_rate"} | means
    found = result_of(config, run)
    assert found.variants["a"].validation_pass_rate is None
    assert found.recommendation.startswith("No winner: validation_pass_rate cannot be tested")


def test_the_primary_measure_must_be_able_to_decide() -> None:
    with pytest.raises(ValidationError, match="must be among measures"):
        ABConfig(name="t", source="transcripts", variants={"a": {}, "b": {}}, measures={"q": "neither"}, primary="q")
    # Where nobody chose it, the report says so, also of a test that was stored.
    for target, measure in ((None, "coherence"), ("memory_accuracy", "memory_accuracy")):
        config = parse_model(iterations_test("a", "b", target).encode(), ABConfig, "a.yaml")
        stored = ABConfig.model_validate_json(config.model_dump_json(exclude_unset=True))
        assert (stored.primary, stored.decides == "decides") == (measure, target is not None)


def test_fewer_than_two_variants_are_refused() -> None:
    with pytest.raises(ValidationError, match="at least 2 items"):
        ABConfig(name="t", source="transcripts", variants={"a": {}})


# The words of a result.


def test_numbers_keep_their_significant_digits() -> None:
    numbers = (0, 0.00001234, 0.61, -0.5, 1234.5, 9.999, 100, None, float("nan"))
    shown = ["0", "0.0000123", "0.61", "-0.5", "1,230", "10", "100", "not known", "not known"]
    assert [significant_text(number) for number in numbers] == shown


def test_runs_are_told_by_status_and_reason() -> None:
    runs = [RunResult("a", 0, status="skipped", detail="budget")] * 6 + [RunResult("a", 0)] * 2
    assert runs_by_status(runs) == "2 done, 6 skipped: budget"
    assert (
        runs_by_status([*runs, RunResult("a", 0, status="failed", detail="x")]) == "2 done, 1 failed, 6 skipped: budget"
    )


def test_the_deciding_measure_comes_first_and_says_what_the_decision_rests_on() -> None:
    values = {"x": [4.0, 4.2, 3.8], "y": [4.1, 4.3, 3.9], "z": [6.0, 6.2, 5.8]}
    runs = {
        name: [
            RunResult(name, place, metrics={"q": value, "cost": 4.0, "speed": place})
            for place, value in enumerate(held)
        ]
        for name, held in values.items()
    }
    result = study_result(runs, {"cost": "lower", "q": "higher", "speed": "neither"}, primary="q")
    assert [one.metric_name for one in result.comparisons][:4] == ["q", "q", "q", "cost"]
    means = "x 4 (3 runs), y 4.1 (3 runs) and z 6 (3 runs)"
    assert basis_words(result) == f"q: {means}. Other differences: 3 cannot be tested, 3 could be luck."
    assert basis_words(replace(result, primary="cost")).endswith(
        "Other differences: beyond luck on q; the other 4 could be luck."
    )
    chance = [replace(one, doubt=AT_CHANCE) if one.metric_name == "cost" else one for one in result.comparisons]
    told = basis_words(replace(result, comparisons=tuple(chance)))
    assert told.endswith(f"Other differences: 3 {AT_CHANCE}, 3 could be luck.")
    assert basis_words(StudyResult()) == ""


def test_a_difference_of_scores_has_the_verdict_and_the_words_of_the_comparison_of_iterations() -> None:
    rule = DEFINITIONS["memory_accuracy"].coverage
    assert rule is not None

    def result(settled: int, *, last_repeats: bool = False) -> StudyResult:
        runs = {
            arm: [
                RunResult(
                    arm,
                    place,
                    f"{arm}{place}",
                    scored={
                        "memory_accuracy": MetricScore(Status.FAILED, value, 80.0, "", Coverage(rule, settled, settled))
                    },
                    original=f"{arm}{place - 1}" if last_repeats and value == 72.5 else "",
                )
                for place, value in enumerate(values)
            ]
            for arm, values in {"old": [50.0, 55.0, 60.0], "new": [64.0, 72.0, 72.5]}.items()
        }
        return study_result(runs, {"memory_accuracy": "higher"}, primary="memory_accuracy", is_paired=False)

    assert result(100).winner == "new"
    for found, words in ((result(1), "on low evidence"), (result(100, last_repeats=True), "on repeated games")):
        [one] = found.comparisons
        assert (one.words, one.significant, one.favours, found.winner) == (words, True, None, None)
        assert found.recommendation == f"No winner: Memory accuracy rests {words}."
        assert comparison_cells(one, is_only_pair=True)["Better"] == words
        assert found.reasons[0].endswith(f"{words}.")
    again = TypeAdapter(StudyResult).validate_json(to_json(result(1), inf_nan_mode="strings"))
    assert (again.comparisons[0].words, again.runs) == ("on low evidence", result(1).runs)


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
