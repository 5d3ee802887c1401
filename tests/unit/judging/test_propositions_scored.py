"""Scores of propositions: inverted claims, marked nines, weighted means, ideas. All sums by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from evaluation.judging.answers import Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_scores import ListedIdea, Mark, PropositionScore, distinct, settle, weighted_mean
from evaluation.judging.propositions import Dimension, Proposition, Target, TargetType, TrajectoryEvent
from evaluation.judging.protocol import JudgementStatus
from evaluation.judging.questions import PropositionQuestion, ask

GOOD = Proposition("good", "{{agent_name}} is kind", Dimension.ADHERENCE)
BAD = replace(GOOD, id="bad", claim="{{agent_name}} is cruel", is_inverted=True)
TARGET = Target(TargetType.AGENT, "Ann", (TrajectoryEvent("t1", "m0", "Ann", "Hello there.", is_action=True),))


async def judged(asked: PropositionQuestion, answer: ScoreAnswer | IdeasAnswer | str | None) -> PropositionScore:
    assert asked.request is not None
    (judgement,) = await ScriptedJudge(lambda _: answer).judge([asked.request])
    return settle(asked, judgement)


def run(asked: PropositionQuestion, answer: ScoreAnswer | IdeasAnswer | str | None) -> PropositionScore:
    return asyncio.run(judged(asked, answer))


def mark(score: int, *, missing: bool = False, citations: list[int] | None = None) -> ScoreAnswer:
    return ScoreAnswer(reason="Because.", score=score, confidence=0.5, citations=citations or [], data_missing=missing)


@pytest.mark.parametrize(
    ("proposition", "raw", "score"), [(GOOD, 7, 7.0), (BAD, 7, 2.0), (BAD, 0, 9.0), (BAD, 9, 0.0), (GOOD, 0, 0.0)]
)
def test_an_inverted_claim_is_turned_round(proposition: Proposition, raw: int, score: float) -> None:
    result = run(ask(proposition, TARGET), mark(raw))
    assert (result.raw, result.score, result.mark) == (raw, score, Mark.NONE)
    assert result.is_earned


@pytest.mark.parametrize("proposition", [GOOD, BAD])
def test_a_nine_for_missing_data_is_marked_and_never_turned_round(proposition: Proposition) -> None:
    result = run(ask(proposition, TARGET), mark(9, missing=True))
    assert (result.raw, result.score, result.mark) == (9, 9.0, Mark.DATA_MISSING)
    assert not result.is_earned


@pytest.mark.parametrize("proposition", [GOOD, BAD])
def test_a_precondition_that_fails_is_a_marked_nine_without_a_judge(proposition: Proposition) -> None:
    asked = ask(replace(proposition, precondition="has_several_speakers"), TARGET)
    result = settle(asked, None)
    assert (result.status, result.raw, result.score) == (JudgementStatus.SCORED, 9, 9.0)
    assert result.mark is Mark.PRECONDITION
    assert "'has_several_speakers' does not hold" in result.reason


def test_reason_citations_and_snippet_are_kept() -> None:
    result = run(ask(GOOD, TARGET), mark(5, citations=[1, 77]))
    assert (result.reason, result.citations, result.snippet) == ("Because.", ("t1:m0",), "Hello there.")
    assert result.judgement is not None
    assert result.judgement.refused_citations == (77,)


@pytest.mark.parametrize(("answer", "status"), [(None, JudgementStatus.NOT_SCORED), ("broken", JudgementStatus.ERROR)])
def test_no_answer_is_no_score(answer: str | None, status: JudgementStatus) -> None:
    result = run(ask(GOOD, TARGET), answer)
    assert (result.status, result.score) == (status, None)
    assert result.detail


def scored(proposition: str, score: float | None, weight: float = 1.0, marked: Mark = Mark.NONE) -> PropositionScore:
    status = JudgementStatus.NOT_SCORED if score is None else JudgementStatus.SCORED
    return PropositionScore(replace(GOOD, id=proposition, weight=weight), "", status, score=score, mark=marked)


def test_the_mean_is_weighted_over_propositions_and_plain_over_messages() -> None:
    # a: mean of 8, 6, 7 is 7, weight 1. b: 3, weight 0.5. (1 x 7 + 0.5 x 3) / 1.5 = 8.5 / 1.5 = 5.6667.
    scores = [scored("a", 8), scored("b", 3, 0.5), scored("a", 6), scored("a", 7)]
    assert weighted_mean(scores) == pytest.approx(8.5 / 1.5)


def test_marked_nines_count_once_and_are_left_out_once() -> None:
    # With: a (9 + 5) / 2 = 7, b 9; (7 + 9) / 2 = 8. Without: a 5 alone, b has nothing left; 5.
    scores = [
        scored("a", 9, marked=Mark.DATA_MISSING),
        scored("a", 5),
        scored("b", 9, marked=Mark.PRECONDITION),
    ]
    assert weighted_mean(scores) == 8.0
    assert weighted_mean(scores, with_marked=False) == 5.0


@pytest.mark.parametrize(
    "scores",
    [[], [scored("a", None)], [scored("a", 7, 0.0)], [scored("a", 9, marked=Mark.PRECONDITION)]],
)
def test_without_weight_nothing_is_scored(scores: list[PropositionScore]) -> None:
    assert weighted_mean(scores, with_marked=False) is None


def test_ideas_are_counted_once_each_with_all_who_voiced_them() -> None:
    ideas = [
        Idea(text="Plant a tree.", citations=[1, 9]),
        Idea(text="plant trees", citations=[2, 1]),
        Idea(text="Do not plant trees"),
        Idea(text="?!"),
    ]
    assert distinct(ideas, {1: "t:a", 2: "t:b"}) == (
        ListedIdea("Plant a tree.", ("t:a", "t:b")),
        ListedIdea("Do not plant trees"),
    )


def test_the_score_of_ideas_is_their_number() -> None:
    proposition = Proposition("ideas", "List.", Dimension.IDEAS_QUANTITY, target_type=TargetType.ENVIRONMENT)
    answer = IdeasAnswer(ideas=[Idea(text=f"Idea number {word}", citations=[1]) for word in ("one", "two", "two")])
    result = run(ask(proposition, replace(TARGET, kind=TargetType.ENVIRONMENT)), answer)
    assert (result.raw, result.score) == (None, 2.0)
    assert [idea.citations for idea in result.ideas] == [("t1:m0",), ("t1:m0",)]
    assert run(ask(proposition, TARGET), IdeasAnswer(ideas=[])).score == 0.0
