"""A jury: its marks by both rules, members that fail, its agreement, and a real run with two models of one server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.judge_config import judge_config
from evaluation.judging.judges.jury import JuryJudge, JuryRule, jury_words
from evaluation.judging.judges.scripted import ScriptedJudge
from evaluation.judging.protocol import JudgementStatus, JudgeRequest, Prompt


def request(answer: Any = ScoreAnswer) -> JudgeRequest:
    return JudgeRequest("adherence", "p", Prompt("s", "u", "q"), answer, "1")


def marking(name: str, mark: int | None) -> tuple[str, ScriptedJudge]:
    said = None if mark is None else ScoreAnswer(reason=f"because {mark}", score=mark, confidence=0.5, citations=[])
    return name, ScriptedJudge(lambda _: said if said is not None else "no answer", model=name)


def judged(marks: Sequence[int | None], rule: JuryRule = "mean") -> Any:
    jury = JuryJudge([marking(f"m{at}", mark) for at, mark in enumerate(marks)], rule)
    return asyncio.run(jury.judge([request()]))[0]


@pytest.mark.parametrize(
    ("marks", "rule", "expected"),
    [
        ((7, 8), "mean", 8),  # 7.5 is rounded up
        ((2, 2, 9), "mean", 4),  # 4.33
        ((2, 2, 9), "majority", 2),
        ((1, 5, 9), "majority", 5),  # no mark is commoner than another: the median
        ((3, 8), "majority", 3),  # the lower of two
        ((6, None, 8), "mean", 7),
    ],
)
def test_marks_become_one(marks: tuple[int | None, ...], rule: JuryRule, expected: int) -> None:
    found = judged(marks, rule)
    assert found.score == expected
    assert [mark for _, mark in found.jury] == [mark for mark in marks if mark is not None]
    assert f"({rule})" in found.model
    assert "[m0: " in found.reason


def test_a_question_that_most_members_did_not_answer_is_an_error() -> None:
    found = judged((None, None, 5))
    assert found.status is JudgementStatus.ERROR
    assert "m0: no answer" in found.detail
    assert judged((None, None)).score is None


def test_yes_and_no_are_counted() -> None:
    def saying(name: str, holds: bool) -> tuple[str, ScriptedJudge]:
        return name, ScriptedJudge(lambda _: CheckAnswer(reason="So.", holds=holds, confidence=1.0), model=name)

    for votes, expected in (((True, True, False), True), ((True, False), None)):
        jury = JuryJudge([saying(f"m{at}", vote) for at, vote in enumerate(votes)])
        (found,) = asyncio.run(jury.judge([request(CheckAnswer)]))
        assert found.holds is expected


def test_agreement_is_told_over_all_questions() -> None:
    # Distances 0, 1 and 4.
    words = jury_words([judged((5, 5)), judged((5, 6)), judged((1, 5))])
    assert words == (
        "Jury of m0, m1: over 3 questions two members gave the same mark 33% of the time, were at most one point apart "
        "67%, and 1.7 points on average."
    )
    assert jury_words([judged((5,))]) == ""


def test_a_jury_has_at_least_two_members() -> None:
    with pytest.raises(InputError, match="name at least two different models"):
        judge_config({"jury": ("a",)}, environment={})
    assert judge_config({"jury": ("a", "b")}, environment={}).name == "jury of a, b (mean)"
    assert json.loads(judge_config({}, environment={}).model_dump_json())["jury"] == []
