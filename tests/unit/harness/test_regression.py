"""Baselines and regressions: the rule at its boundary, what is lost or new, and the reports for people and CI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.harness import regression
from evaluation.harness.pull_request_comment import LONGEST_COMMENT, comparison_markdown
from evaluation.harness.regression import (
    Baseline,
    BaselineComparison,
    Conditions,
    RegressionOutcome,
    baseline_of,
    file_name,
    read_baselines,
    row_words,
    write_baseline,
)
from evaluation.judging.proposition_scores import PropositionScore
from evaluation.judging.propositions import Dimension, Proposition
from evaluation.judging.protocol import JudgeKind, JudgementStatus
from evaluation.judging.questions import Options
from evaluation.persona.agents import Agent
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.persona.evaluation import DimensionScore, EvaluationPlan, PersonaEvaluation
from evaluation.persona.subjects import ALWAYS, Period

FLUENCY = Dimension.FLUENCY
ADHERENCE = Dimension.ADHERENCE


def item(proposition_id: str, score: float | None, *, status: str = "scored", **more: Any) -> PropositionScore:
    dimension = more.pop("dimension", FLUENCY)
    proposition = Proposition(
        proposition_id,
        "{{agent_name}} speaks",
        dimension,
        weight=more.pop("weight", 1.0),
        recommendations_for_improvement="Speak.",
    )
    return PropositionScore(proposition, "Ann speaks", JudgementStatus(status), score=score, **more)


def evaluation(
    items: Mapping[Dimension, Sequence[PropositionScore]], *, agent: str = "ann", name: str = "Ann", model: str = "m"
) -> PersonaEvaluation:
    dimensions = {key: DimensionScore(key, tuple(own)) for key, own in items.items()}
    judges = ((JudgeKind.RECORDED, model),) if any(each.score is not None for each in dimensions.values()) else ()
    return PersonaEvaluation(Agent(agent, name), dimensions, ALWAYS, 3, 0, judges)


def plan(*dimensions: Dimension, **more: Any) -> EvaluationPlan:
    return EvaluationPlan(dimensions or DIMENSIONS, **more)


ALL = plan()
AS_USUAL = Conditions(judge="m")


def made(then: PersonaEvaluation, asked: EvaluationPlan = ALL, under: Conditions = AS_USUAL) -> dict[Any, Baseline]:
    baseline = baseline_of(then, asked, under)
    return {baseline.key: baseline}


def baseline(scores: Mapping[Dimension, float], under: Conditions = AS_USUAL) -> dict[Any, Baseline]:
    """A baseline of one claim "p" for each dimension."""
    return made(evaluation({key: [item("p", score)] for key, score in scores.items()}), under=under)


def compare(
    now: Sequence[PersonaEvaluation], then: Any, asked: EvaluationPlan = ALL, under: Conditions = AS_USUAL, **more: Any
) -> BaselineComparison:
    return regression.compare(now, then, asked, under, **more)


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        (7.0, 6.0, RegressionOutcome.FINE),  # exactly 1.0
        (8.3, 7.3, RegressionOutcome.FINE),  # 1.0, although 8.3 - 7.3 is 1.0000000000000009 in floats
        (7.0, 5.9999, RegressionOutcome.REGRESSION),  # 1.0001
        (7.0, 5.99999, RegressionOutcome.FINE),  # 1.00001: below what a score can differ by
        (7.0, 9.0, RegressionOutcome.FINE),
    ],
)
def test_a_drop_of_exactly_one_is_fine_and_any_more_is_a_regression(
    then: float, now: float, expected: RegressionOutcome
) -> None:
    (row,) = compare([evaluation({FLUENCY: [item("p", now)]})], baseline({FLUENCY: then})).rows
    assert row.outcome is expected


def test_what_became_not_scored_is_lost_and_fails() -> None:
    now = evaluation({FLUENCY: [item("p", None, status="not_scored", detail="too short")], ADHERENCE: [item("p", 5.0)]})
    comparison = compare([now], baseline({FLUENCY: 7.0, ADHERENCE: 5.0}))
    (lost,) = comparison.having({RegressionOutcome.LOST})
    assert (lost.dimension, lost.baseline, lost.score, lost.detail) == (FLUENCY, 7.0, None, "too short")
    assert comparison.verdict == "regression"


def test_a_dimension_that_vanished_is_lost_unless_nobody_asked_for_it() -> None:
    now = [evaluation({ADHERENCE: [item("p", 5.0)]})]
    then = baseline({FLUENCY: 7.0, ADHERENCE: 5.0})
    assert [row.dimension for row in compare(now, then).having({RegressionOutcome.LOST})] == [FLUENCY]
    assert compare(now, then, plan(ADHERENCE)).verdict == "fine"


def test_an_agent_that_vanished_is_lost_when_everybody_was_asked_for() -> None:
    then = baseline({FLUENCY: 7.0})
    assert compare([], then).rows == ()
    (row,) = compare([], then, expects_all=True).rows
    assert (row.agent_name, row.outcome) == ("Ann", RegressionOutcome.LOST)
    assert compare([], then, plan(ADHERENCE), expects_all=True).rows == ()


def test_new_agents_and_dimensions_are_reported_and_do_not_fail() -> None:
    now = [
        evaluation({FLUENCY: [item("p", 7.0)], ADHERENCE: [item("p", 5.0)]}),
        evaluation({FLUENCY: [item("p", 3.0)]}, agent="bob", name="Bob"),
    ]
    comparison = compare(now, baseline({FLUENCY: 7.0}))
    assert {(row.agent_id, str(row.dimension), str(row.outcome)) for row in comparison.rows} == {
        ("ann", "adherence", "new"),
        ("ann", "fluency", "fine"),
        ("bob", "fluency", "new"),
    }
    assert comparison.verdict == "fine"


@pytest.mark.parametrize(
    ("items", "asked", "under", "verdict"),
    [
        ([item("p", None, status="not_scored")], ALL, AS_USUAL, "regression"),
        # Another judge may score nothing.
        ([item("p", None, status="not_scored")], ALL, Conditions(judge="x"), "nothing_compared"),
        # There is nothing to judge any more, as in a period that was asked for.
        ([], ALL, AS_USUAL, "regression"),
        ([], plan(period=Period(until=datetime(2026, 1, 2, tzinfo=UTC))), AS_USUAL, "nothing_compared"),
    ],
)
def test_what_has_no_score_any_more_is_lost_unless_it_was_asked_otherwise(
    items: list[PropositionScore], asked: EvaluationPlan, under: Conditions, verdict: str
) -> None:
    assert compare([evaluation({FLUENCY: items})], baseline({FLUENCY: 9.0}), asked, under).verdict == verdict


@pytest.mark.parametrize("status", ["error", "skipped"])
def test_a_judge_that_did_not_finish_is_an_error_whatever_the_score(status: str) -> None:
    now = evaluation({FLUENCY: [item("p", 2.0), item("q", None, status=status, detail="q: Ann: nothing is recorded")]})
    comparison = compare([now], baseline({FLUENCY: 9.0}))
    (row,) = comparison.rows
    assert comparison.verdict == "error"
    assert row.detail == "1 of 2 were not judged: q: Ann: nothing is recorded"


def test_answers_to_scenario_prompts_have_baselines_of_their_own() -> None:
    now = [evaluation({FLUENCY: [item("p", 2.0)]})]
    answers = Conditions("synthetic", "m")
    then = baseline({FLUENCY: 9.0}, answers)
    assert compare(now, then).rows[0].outcome is RegressionOutcome.NEW
    assert compare(now, then, under=answers).rows[0].outcome is RegressionOutcome.REGRESSION


def test_a_fall_names_the_lowest_claim_with_its_message_and_reason() -> None:
    now = [
        item("a", 4.0, reference="t:m1"),
        item("b", 2.0, reference="t:m2", snippet="Er.", reason="It stalls."),
        item("c", 0.0, weight=0.0),
    ]
    then = [replace(each, score=9.0) for each in now]
    (row,) = compare([evaluation({FLUENCY: now})], made(evaluation({FLUENCY: then}))).rows
    assert (row.score, row.change) == (3.0, -6.0)
    assert row.lowest is not None
    told = row.lowest.as_dict()
    assert (told["proposition_id"], told["score"], told["message"]) == ("b", 2.0, "t:m2")
    assert (told["snippet"], told["reason"], told["recommendation"]) == ("Er.", "It stalls.", "Speak.")
    assert row_words(row, 1.0).endswith("3.00, baseline 9.00: it fell by 6.00, which is more than 1")


def test_a_fault_that_is_marked_high_reads_the_same_in_every_output_of_a_fall() -> None:
    claim = Proposition("p", "{{agent_name}} is dry", FLUENCY, is_inverted=True)
    inverted = PropositionScore(claim, "Ann is dry", JudgementStatus.SCORED, raw=8, score=1.0)
    comparison = compare(
        [evaluation({FLUENCY: [inverted]})], made(evaluation({FLUENCY: [replace(inverted, score=9.0)]}))
    )
    words = inverted.mark_words
    assert words == "8 of 9, mostly true; the claim names a fault: score 1 of 9"
    assert f"marked: `{words}`" in comparison_markdown(comparison.as_dict())


def test_a_baseline_survives_its_file_and_another_programs_writing(tmp_path: Path) -> None:
    name = "Ann 😀 \u2028 \x7f"
    then = made(evaluation({FLUENCY: [item("p", 7.0), item("p", 6.0)]}, name=name))
    then = {key: each.model_copy(update={"note": "1e-06: yes"}) for key, each in then.items()}
    assert then["ann", "transcripts"].dimensions[FLUENCY].score == 6.5
    path = write_baseline(tmp_path, then["ann", "transcripts"])
    assert path.name == "ann.json"
    assert read_baselines(tmp_path) == then
    # Tabs, and a pair of escapes for the emoji, are JSON, but no YAML.
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")), indent="\t"), encoding="utf-8")
    assert read_baselines(tmp_path) == then
    assert read_baselines(tmp_path / "nowhere") == {}


def test_a_baseline_of_some_dimensions_keeps_the_others() -> None:
    before = baseline({ADHERENCE: 4.0, FLUENCY: 9.0})["ann", "transcripts"]
    now = baseline({FLUENCY: 7.0})["ann", "transcripts"]
    merged = now.with_others_of(before, [FLUENCY])
    assert {str(key): each.score for key, each in merged.dimensions.items()} == {"adherence": 4.0, "fluency": 7.0}
    assert now.with_others_of(None, [FLUENCY]) == now


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "ann.json:2: syntax: This is not JSON: "),
        ('{"format": "dramaturg-baseline"}', "ann.json:1: agent_id: It is missing. Add 'agent_id: ...'."),
        (
            json.dumps(json.loads(next(iter(baseline({FLUENCY: 7}).values())).model_dump_json()) | {"x": 1}),
            "ann.json:1: x: This field is not known.",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_by_name(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "ann.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_baselines(tmp_path)
    assert expected in str(caught.value)
    assert "dramaturg persona baseline" in str(caught.value)


@given(st.text(min_size=1))
def test_no_agent_leads_out_of_the_folder(agent_id: str) -> None:
    name = file_name(agent_id)
    assert "/" not in name
    assert "\\" not in name
    assert not name.startswith(".")
    assert len(name.encode("utf-8")) <= 255


def test_a_comment_is_never_too_long() -> None:
    lowest = {"proposition_id": "p", "reason": "x" * 1_000, "snippet": "y" * 1_000}
    rows = [{"agent_name": "A" * 1_000, "lowest": lowest, "detail": "z" * 1_000}] * 1_000
    text = comparison_markdown({"rows": rows})
    assert LONGEST_COMMENT <= len(text) + 2_000 <= LONGEST_COMMENT + 3_000
    assert text.splitlines()[-1] == "The rest is left out; see the run's log."


NINE = evaluation({FLUENCY: [item("p", 9.0)]})
LOW = item("p", 1.0)


@pytest.mark.parametrize(
    ("now", "asked", "under"),
    [
        (evaluation({FLUENCY: [item("p", 1.0)]}, model="other"), ALL, AS_USUAL),
        (evaluation({FLUENCY: [item("q", 1.0)]}), ALL, AS_USUAL),
        (evaluation({FLUENCY: [item("p", 1.0), item("q", 1.0)]}), ALL, AS_USUAL),
        (evaluation({FLUENCY: [item("p", 1.0, weight=0.5)]}), ALL, AS_USUAL),
        (NINE, plan(options=Options(has_double_check=True)), AS_USUAL),
        (NINE, plan(options=Options(is_batched=True)), AS_USUAL),
        (NINE, plan(period=Period(until=datetime(2026, 1, 2, tzinfo=UTC))), AS_USUAL),
        (NINE, ALL, Conditions(judge="m", with_simulated=True)),
    ],
)
def test_scores_that_were_made_otherwise_are_not_compared(
    now: PersonaEvaluation, asked: EvaluationPlan, under: Conditions
) -> None:
    comparison = compare([now], made(NINE), asked, under)
    (row,) = comparison.rows
    assert row.outcome is RegressionOutcome.INCOMPARABLE
    assert "claims, prompts, judge or sample are not those of the baseline" in row_words(row, 1.0)
    assert (comparison.verdict, comparison.has_failed) == ("nothing_compared", False)


@pytest.mark.parametrize(
    ("size", "seed", "is_comparable"), [(20, 1, True), (50, 0, True), (3, 1, False), (2, 0, False)]
)
def test_a_sample_of_everything_is_the_same_whatever_its_limit_and_seed(
    size: int, seed: int, is_comparable: bool
) -> None:
    # Three messages were judged: a limit of 20 or 50 leaves none out, one of 3 may have.
    (row,) = compare([replace(NINE, seed=seed)], made(NINE), plan(sample_size=size, seed=seed)).rows
    assert (row.outcome is RegressionOutcome.FINE) is is_comparable


def test_a_better_recommendation_leaves_scores_comparable() -> None:
    reworded = replace(LOW.proposition, recommendations_for_improvement="Say more.", source="b.yaml:9")
    now = evaluation({FLUENCY: [replace(LOW, proposition=reworded)]})
    assert compare([now], made(NINE)).verdict == "regression"


def test_nothing_compared_is_a_verdict_of_its_own_that_fails_where_a_baseline_is_required() -> None:
    comparison = compare([NINE], {})
    assert (comparison.verdict, comparison.has_failed) == ("nothing_compared", False)
    required = compare([NINE], {}, requires_baseline=True)
    assert required.has_failed
    assert "### Personas: nothing was compared" in comparison_markdown(required.as_dict())
    assert compare([], {}, requires_baseline=True).has_failed
