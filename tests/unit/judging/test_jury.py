"""A jury: its marks by both rules, members that fail, its agreement, and a real run with two models of one server."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.judge_server import JudgeServer
from evaluation.corrections.attempts import GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.integrations import MessageGate
from evaluation.errors import InputError
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.judge_config import build_judge, judge_config
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


def gated(content: str, threshold: float = 7.0) -> tuple[GateResult, Counter[str]]:
    """One message of an agent in the gate, judged by a jury of two models of one server; and the calls by model."""
    asked: Counter[str] = Counter()

    def answer(body: dict[str, Any]) -> str:
        asked[body["model"]] += 1
        items = re.findall(r"^\[P(\d+)\]", str(body["messages"][-1]["content"]), re.MULTILINE)
        mark = json.loads(content) if content.startswith("{") else None
        if mark is None:
            return content
        return json.dumps({"answers": [{"item": int(item), **mark} for item in items]} if items else mark)

    with JudgeServer(content=answer).in_thread() as server:
        options = {"mode": "live", "base_url": server.url, "jury": ("one", "two")}
        judge = build_judge(judge_config(options, environment={"OPENAI_API_KEY": "x"}))
        config = CorrectionConfig(gate_adherence_enabled=True, gate_adherence_threshold=threshold)
        with MessageGate(judge, config, timeout_seconds=30) as gate:
            result = gate.send(lambda _: "I run this office.", "Michael", [("Dwight", "Hello.")], "The manager.")
    return result, asked


def test_in_the_gate_each_member_is_asked_once_per_attempt() -> None:
    result, asked = gated('{"reason": "So.", "score": 8, "confidence": 1.0}', threshold=0.0)
    assert result.outcome == "passed"
    assert asked == {"one": 1, "two": 1}
    assert result.attempts[0].checks[0].found.calls == 2
    # Two retries: three attempts, for each of which both are asked.
    result, asked = gated('{"reason": "So.", "score": 2, "confidence": 1.0}', threshold=9.0)
    assert result.outcome == "forced_through"
    assert asked == {"one": 3, "two": 3}


def test_in_the_gate_a_jury_that_talks_nonsense_is_asked_once_more_in_all() -> None:
    result, asked = gated("I would rather not say.")
    assert result.outcome == "timeout_pass_through"
    assert asked.total() == 3
