"""An answer that says that data is missing is 9, whatever mark it carries, and never a mark that was earned."""

from __future__ import annotations

import asyncio

import pytest

from evaluation.judging.propositions import Dimension, Proposition, Target, TargetType
from evaluation.judging.protocol import Judge, ScoreAnswer
from evaluation.judging.questions import Mark, PropositionScore, ask, settle
from evaluation.judging.recorded_judge import ScriptedJudge

TARGET = Target(TargetType.AGENT, "Ann", ())


def judge(score: int, *, missing: bool) -> ScriptedJudge:
    return ScriptedJudge(lambda _: ScoreAnswer(reason="r", score=score, confidence=1, data_missing=missing))


def scored(by: Judge, *, inverted: bool = False) -> PropositionScore:
    asked = ask(Proposition("p", "{{agent_name}} is kind.", Dimension.ADHERENCE, is_inverted=inverted), TARGET)
    assert asked.request is not None
    return settle(asked, asyncio.run(by.judge([asked.request]))[0])


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("score", [0, 5, 9])
def test_missing_data_is_a_marked_nine(score: int, inverted: bool) -> None:
    found = scored(judge(score, missing=True), inverted=inverted)
    assert (found.raw, found.score, found.mark, found.is_earned) == (9, 9.0, Mark.DATA_MISSING, False)
