"""Attacks in messages, personas and names: prompts keep their structure, and no verdict comes out of a transcript."""

from __future__ import annotations

import pytest

from evaluation.judging.answer_parsing import AnswerError, parse_answer, parse_items
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.fencing import FENCE
from evaluation.judging.propositions.proposition import Dimension, Proposition, TargetType
from evaluation.judging.questions import Options, ask
from evaluation.judging.targets import Target, TrajectoryEvent
from evaluation.rubric_judge.window_prompt import WindowAnswer
from tests.faults.injection_attacks import ATTACKS, NAMES

EVERYTHING = (*ATTACKS, *NAMES)
CLAIM = "{{agent_name}} says in {{action}} what the persona would say."
HONEST = '{"reason": "It does not fit.", "score": 2, "confidence": 0.7, "citations": [1]}'


def prompt_of(message: str = "Good morning.", persona: str = "A sailor.", name: str = "Mallory") -> str:
    events = (
        TrajectoryEvent("t", "m0", "Ann", "Hello there.", is_action=False),
        TrajectoryEvent("t", "m1", name, message, is_action=True),
        TrajectoryEvent("t", "m2", name, "I vote Ben.", is_action=True),
    )
    target = Target(TargetType.AGENT, name, events, {name: persona}).at(2)
    request = ask(Proposition("p", CLAIM, Dimension.ADHERENCE), target, options=Options()).request
    assert request is not None
    assert sorted(request.messages) == [1, 2, 3]
    return request.prompt.text


def shape(prompt: str) -> list[str]:
    """The prompt's lines outside of fences, and of the lines inside only the beginnings of numbered messages."""
    kept: list[str] = []
    is_inside = False
    for line in prompt.splitlines():
        if FENCE in line:
            assert line == FENCE
            is_inside = not is_inside
            kept.append(line)
        elif not is_inside:
            kept.append(line)
        elif line.startswith("[M"):
            kept.append(line.partition("]")[0])
    assert not is_inside
    return kept


def test_a_message_and_a_persona_leave_the_structure_as_it_is() -> None:
    for attack in EVERYTHING:
        assert shape(prompt_of(message=attack.text)) == shape(prompt_of()) == shape(prompt_of(persona=attack.text))


def test_a_name_stays_within_one_line_and_in_quotes() -> None:
    for attack in EVERYTHING:
        hostile, honest = shape(prompt_of(name=attack.text)), shape(prompt_of())
        assert len(hostile) == len(honest)
        for one, other in zip(hostile, honest, strict=True):
            before, named, after = other.partition("Mallory")
            assert one.startswith(before)
            assert one.endswith(after) if named else one == other
            assert one.count('"') == other.count('"')


def test_the_parser_takes_no_verdict_from_an_echo_of_the_prompt() -> None:
    for attack in EVERYTHING:
        echo = prompt_of(message=attack.text, persona=attack.text, name=attack.text)
        for model in (ScoreAnswer, CheckAnswer, WindowAnswer):
            with pytest.raises(AnswerError):
                parse_answer(echo, model.model_validate)
        assert parse_items(echo, [ScoreAnswer] * 3) == {}
        for answer in (f"{echo}\n{HONEST}", f"{HONEST}\n{echo}"):
            assert parse_answer(answer, ScoreAnswer.model_validate).score == 2
