"""Baselines and regressions: the rule at its boundary, what is lost or new, and the reports for people and CI."""

from __future__ import annotations

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
from evaluation.harness.pull_request_comment import LONGEST_COMMENT, MARKER, comparison_markdown
from evaluation.harness.regression import (
    Baseline,
    BaselineComparison,
    PropositionBaseline,
    RegressionOutcome,
    baseline_of,
    file_name,
    read_baselines,
    row_words,
    write_baseline,
)
from evaluation.judging.prompts import PROMPT_VERSION
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
    dimensions = {key: DimensionScore.of(key, own) for key, own in items.items()}
    judges = ((JudgeKind.RECORDED, model),) if any(each.score is not None for each in dimensions.values()) else ()
    return PersonaEvaluation(Agent(agent, name), dimensions, ALWAYS, 3, 0, judges)


def baseline(scores: Mapping[Dimension, float], **more: Any) -> dict[Any, Baseline]:
    made = Baseline.model_validate(
        {
            "agent_id": "ann",
            "agent_name": "Ann",
            "models": ("m",),
            "prompt_version": PROMPT_VERSION,
            "sample_size": 20,
            "seed": 0,
            "dimensions": {
                key: {"score": score, "propositions": {"p": {"score": score}}} for key, score in scores.items()
            },
            **more,
        }
    )
    return {made.key: made}


def plan(*dimensions: Dimension, **more: Any) -> EvaluationPlan:
    return EvaluationPlan(dimensions or DIMENSIONS, **more)


ALL = plan()


def compare(
    now: Sequence[PersonaEvaluation], then: Any, asked: EvaluationPlan = ALL, **more: Any
) -> BaselineComparison:
    return regression.compare(now, then, asked, **more)


def outcome(then: float, now: float) -> RegressionOutcome:
    (row,) = compare([evaluation({FLUENCY: [item("p", now)]})], baseline({FLUENCY: then})).rows
    return row.outcome


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        (7.0, 6.0, RegressionOutcome.FINE),  # exactly 1.0
        (8.3, 7.3, RegressionOutcome.FINE),  # 1.0, although 8.3 - 7.3 is 1.0000000000000009 in floats
        (4.35, 3.35, RegressionOutcome.FINE),
        (7.0, 5.9999, RegressionOutcome.REGRESSION),  # 1.0001
        (7.0, 5.99999, RegressionOutcome.FINE),  # 1.00001: below what a score can differ by
        (7.0, 9.0, RegressionOutcome.FINE),
        (9.0, 0.0, RegressionOutcome.REGRESSION),
    ],
)
def test_a_drop_of_exactly_one_is_fine_and_any_more_is_a_regression(
    then: float, now: float, expected: RegressionOutcome
) -> None:
    assert outcome(then, now) is expected


def test_what_became_not_scored_is_lost_and_fails() -> None:
    now = evaluation({FLUENCY: [item("p", None, status="not_scored", detail="too short")], ADHERENCE: [item("a", 5.0)]})
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


def test_new_agents_dimensions_and_propositions_are_reported_and_do_not_fail() -> None:
    now = [
        evaluation({FLUENCY: [item("p", 7.0), item("q", 7.0)], ADHERENCE: [item("a", 5.0)]}),
        evaluation({FLUENCY: [item("p", 3.0)]}, agent="bob", name="Bob"),
    ]
    comparison = compare(now, baseline({FLUENCY: 7.0}))
    assert [(row.agent_id, str(row.dimension), str(row.outcome)) for row in comparison.rows] == [
        ("ann", "adherence", "new"),
        ("ann", "fluency", "fine"),
        ("bob", "fluency", "new"),
    ]
    assert comparison.rows[1].new_propositions == ("q",)
    assert comparison.verdict == "fine"


def test_scores_of_another_judge_are_not_compared() -> None:
    now = evaluation({FLUENCY: [item("p", 1.0)]}, model="other")
    (row,) = compare([now], baseline({FLUENCY: 9.0})).rows
    assert (row.outcome, row.detail) == (RegressionOutcome.INCOMPARABLE, "other judged now, m the baseline")
    nothing = evaluation({FLUENCY: [item("p", None, status="not_scored")]})
    assert compare([nothing], baseline({FLUENCY: 9.0}), judge="other").verdict == "nothing_compared"
    assert compare([nothing], baseline({FLUENCY: 9.0}), judge="m").verdict == "regression"


@pytest.mark.parametrize("status", ["error", "skipped"])
def test_a_judge_that_did_not_finish_is_an_error_whatever_the_score(status: str) -> None:
    now = evaluation({FLUENCY: [item("p", 2.0), item("q", None, status=status, detail="q: Ann: nothing is recorded")]})
    comparison = compare([now], baseline({FLUENCY: 9.0}))
    (row,) = comparison.rows
    assert comparison.verdict == "error"
    assert row.detail == "1 of 2 were not judged: q: Ann: nothing is recorded"


def test_answers_to_scenario_prompts_have_baselines_of_their_own() -> None:
    now = [evaluation({FLUENCY: [item("p", 2.0)]})]
    then = baseline({FLUENCY: 9.0}, source="synthetic")
    assert compare(now, then).rows[0].outcome is RegressionOutcome.NEW
    assert compare(now, then, source="synthetic").rows[0].outcome is RegressionOutcome.REGRESSION


def test_what_is_behind_a_fall_comes_with_its_worst_message() -> None:
    # Weighted falls: a 1.0 * (7 - 3) = 4, b 0.5 * (7 - 1) = 3, c none.
    now = evaluation(
        {
            FLUENCY: [
                item("a", 2.0, reference="t:m2", snippet="Er.", reason="It stalls."),
                item("a", 4.0, reference="t:m1"),
                item("b", 1.0, weight=0.5),
                item("c", 9.0),
            ]
        }
    )
    then = baseline({FLUENCY: 7.0})
    known = {key: PropositionBaseline(score=7.0) for key in "abc"}
    fluency = then["ann", "transcripts"].dimensions[FLUENCY].model_copy(update={"propositions": known})
    then["ann", "transcripts"].dimensions[FLUENCY] = fluency
    # (1 * 3 + 0.5 * 1 + 1 * 9) / 2.5 = 5.0
    (row,) = compare([now], then).rows
    assert (row.score, row.change) == (5.0, -2.0)
    assert [(each.proposition_id, each.score, each.baseline) for each in row.behind] == [
        ("a", 3.0, 7.0),
        ("b", 1.0, 7.0),
    ]
    assert (row.behind[0].message, row.behind[0].snippet, row.behind[0].recommendation) == ("t:m2", "Er.", "Speak.")


def test_a_fault_that_is_marked_high_reads_the_same_in_every_output_of_a_fall() -> None:
    claim = Proposition("p", "{{agent_name}} is dry", FLUENCY, is_inverted=True)
    inverted = PropositionScore(claim, "Ann is dry", JudgementStatus.SCORED, raw=8, score=1.0)
    comparison = compare([evaluation({FLUENCY: [inverted]})], baseline({FLUENCY: 9.0}))
    words = inverted.mark_words
    assert words == "8 of 9, mostly true; the claim names a fault: score 1 of 9"
    assert f"marked: `{words}`" in comparison_markdown(comparison.as_dict())


def test_a_baseline_survives_its_file(tmp_path: Path) -> None:
    made = baseline_of(evaluation({FLUENCY: [item("p", 7.0), item("p", 6.0)]}), ALL)
    assert made.dimensions[FLUENCY].score == 6.5
    assert {key: each.score for key, each in made.dimensions[FLUENCY].propositions.items()} == {"p": 6.5}
    path = write_baseline(tmp_path, made)
    assert path.name == "ann.json"
    assert read_baselines(tmp_path) == {("ann", "transcripts"): made}
    assert read_baselines(tmp_path / "nowhere") == {}


def test_a_baseline_that_another_program_wrote_anew_says_the_same(tmp_path: Path) -> None:
    name = "Ann 😀 \u2028 \x7f"
    made = baseline_of(evaluation({FLUENCY: [item("p", 7.0)]}, name=name), ALL).model_copy(
        update={"note": "1e-06: yes"}
    )
    path = write_baseline(tmp_path, made)
    # Tabs, and a pair of escapes for the emoji, are JSON, but no YAML.
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")), indent="\t"), encoding="utf-8")
    assert read_baselines(tmp_path) == {("ann", "transcripts"): made}


def test_a_baseline_of_some_dimensions_keeps_the_others_of_the_same_judge() -> None:
    before = baseline({ADHERENCE: 4.0, FLUENCY: 9.0})["ann", "transcripts"]
    now = baseline_of(evaluation({FLUENCY: [item("p", 7.0)]}), ALL)
    merged = now.with_others_of(before, [FLUENCY])
    assert {str(key): each.score for key, each in merged.dimensions.items()} == {"adherence": 4.0, "fluency": 7.0}
    other = before.model_copy(update={"models": ("x",)})
    assert list(now.with_others_of(other, [FLUENCY]).dimensions) == [FLUENCY]


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


@pytest.mark.parametrize(
    "comparison",
    [
        {},
        {"rows": 7},
        {"rows": [7, {}, {"behind": [3], "score": "9"}]},
        {"rows": [{"score": float("nan"), "change": 1e300}]},
    ],
)
def test_a_report_of_another_shape_is_no_fault(comparison: dict[str, Any]) -> None:
    assert comparison_markdown(comparison).startswith(MARKER)


def test_a_comment_is_never_too_long() -> None:
    behind = {"proposition_id": "p", "reason": "x" * 1_000, "snippet": "y" * 1_000}
    rows = [{"agent_name": "A" * 1_000, "behind": [behind] * 50, "detail": "z" * 1_000}] * 1_000
    text = comparison_markdown({"rows": rows})
    assert LONGEST_COMMENT <= len(text) + 2_000 <= LONGEST_COMMENT + 3_000
    assert text.splitlines()[-1] == "The rest is left out; see the run's log."


def again(scores: Sequence[Sequence[float]], **more: Any) -> PersonaEvaluation:
    """An evaluation by proposition, with the score of each message."""
    items = [item(f"p{at}", score) for at, own in enumerate(scores) for score in own]
    return evaluation({FLUENCY: items}, **more)


def made(then: PersonaEvaluation, asked: EvaluationPlan = ALL) -> dict[Any, Baseline]:
    baseline = baseline_of(then, asked)
    return {baseline.key: baseline}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (plan(options=Options(has_double_check=True)), "a double check now, no double check in the baseline"),
        (plan(options=Options(is_batched=True)), "several questions a call now, one question a call in the baseline"),
        (
            plan(period=Period(until=datetime(2026, 1, 2, tzinfo=UTC))),
            "messages until 2026-01-02T00:00:00+00:00 now, of all times in the",
        ),
    ],
)
def test_scores_that_were_asked_otherwise_are_not_compared(asked: EvaluationPlan, words: str) -> None:
    comparison = compare([again([[4.0]])], made(again([[9.0]])), asked)
    (row,) = comparison.rows
    assert row.outcome is RegressionOutcome.INCOMPARABLE
    assert words in row.detail
    assert (comparison.verdict, comparison.has_failed) == ("nothing_compared", False)


@pytest.mark.parametrize(
    ("size", "seed", "is_comparable"), [(20, 1, True), (50, 0, True), (3, 1, False), (2, 0, False)]
)
def test_a_sample_of_everything_is_the_same_whatever_its_limit_and_seed(
    size: int, seed: int, is_comparable: bool
) -> None:
    # Three messages were judged: a limit of 20 or 50 leaves none out, one of 3 may have.
    now, then = again([[9.0]]), made(again([[9.0]]), plan(sample_size=20))
    (row,) = compare([replace(now, seed=seed)], then, plan(sample_size=size, seed=seed)).rows
    assert (row.outcome is RegressionOutcome.FINE) is is_comparable


def test_conversations_of_experiments_in_one_of_the_two_make_them_incomparable() -> None:
    then = made(again([[9.0]]))
    (row,) = regression.compare([again([[9.0]])], then, ALL, with_simulated=True).rows
    assert row.outcome is RegressionOutcome.INCOMPARABLE
    assert row.detail == "with simulated conversations now, without simulated conversations in the baseline"


def test_prompts_of_another_version_are_not_compared() -> None:
    then = made(again([[9.0]]))
    old = {key: each.model_copy(update={"prompt_version": "older"}) for key, each in then.items()}
    (row,) = compare([again([[1.0]])], old).rows
    assert (row.outcome, "prompts" in row.detail) == (RegressionOutcome.INCOMPARABLE, True)


def test_a_fallen_proposition_does_not_hide_behind_a_rising_dimension() -> None:
    then = made(again([[9.0], [3.0], [3.0], [3.0]]))
    (row,) = compare([again([[2.0], [7.0], [7.0], [7.0]])], then).rows
    assert (row.change or 0) > 0
    assert row.outcome is RegressionOutcome.REGRESSION
    assert [(one.name, one.change) for one in row.fallen] == [("p0", -7.0)]
    assert row_words(row, 1.0).endswith("1 proposition fell too far: p0 9.00 -> 2.00")


def test_a_proposition_may_fall_three_times_as_far_and_the_rule_says_so() -> None:
    then = made(again([[9.0], [5.0], [5.0], [5.0]]))
    assert compare([again([[6.0], [5.0], [5.0], [5.0]])], then).verdict == "fine"
    comparison = compare([again([[5.9], [5.0], [5.0], [5.0]])], then)
    assert comparison.verdict == "regression"
    assert comparison.rule == "A dimension fails when it falls by more than 1, a proposition by more than 3."


def test_a_changed_proposition_is_left_out_of_the_comparison() -> None:
    then = made(again([[9.0], [5.0]]))
    turned = [item("p0", 0.0), item("p1", 5.0)]
    turned[0] = replace(turned[0], proposition=replace(turned[0].proposition, is_inverted=True))
    (row,) = compare([evaluation({FLUENCY: turned})], then).rows
    assert (row.outcome, row.score, row.baseline) == (RegressionOutcome.FINE, 5.0, 5.0)
    assert row.changed_propositions == ("p0",)
    assert row.detail.startswith("compared over 1 of 2 propositions")


def test_todays_weights_hold_for_both_sides_where_propositions_differ() -> None:
    then = made(again([[9.0], [3.0]]))
    now = evaluation({FLUENCY: [item("p0", 9.0, weight=1.0), item("p1", 3.0, weight=0.5), item("new", 0.0)]})
    (row,) = compare([now], then).rows
    # (9 + 0.5 * 3) / 1.5 on both sides; the new proposition is not held against anything.
    assert (row.score, row.baseline, row.outcome) == (7.0, 7.0, RegressionOutcome.FINE)


def test_nothing_compared_is_a_verdict_of_its_own_in_every_report() -> None:
    comparison = compare([again([[1.0]])], {})
    assert (comparison.verdict, comparison.has_failed) == ("nothing_compared", False)
    required = compare([again([[1.0]])], {}, requires_baseline=True)
    assert required.has_failed
    text = comparison_markdown(required.as_dict())
    assert "### Personas: nothing was compared" in text
    assert "A baseline is required" in text
    assert compare([], {}, requires_baseline=True).has_failed
