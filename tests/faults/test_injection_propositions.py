"""Attacks on the judge of propositions: wherever they stand, the prompt keeps its structure; no echo is an answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judging import prompts
from evaluation.judging.answers import AnswerError, CheckAnswer, ScoreAnswer, parse_answer, parse_items
from evaluation.judging.fencing import FENCE
from evaluation.judging.propositions import Dimension, Proposition, Target, TargetType, TrajectoryEvent
from evaluation.judging.protocol import JudgeRequest
from evaluation.judging.questions import Supplement, ask
from evaluation.persona.agents import persona_text
from evaluation.persona.dimensions import repetition_evidence, vocabulary_evidence
from evaluation.rubric_judge.window_prompt import WindowAnswer
from tests.faults.injection_attacks import ATTACKS, NAMES, Attack

EVERYTHING = (*ATTACKS, *NAMES)
HONEST = '{"reason": "It does not fit.", "score": 2, "confidence": 0.7, "citations": [1]}'

CLAIM = Proposition("claim", "{{agent_name}} wrote {{action}} in {{channel_name}}", Dimension.ADHERENCE)
HEAD = re.compile(r"\[M(\d+)\] [^:\n]{1,250} acts: .*|\[M(\d+)\] [^:\n]{1,250} --> [^:\n]{1,250}: .*")


def request_for(text: str, name: str, persona: str, channel: str) -> JudgeRequest:
    events = (
        TrajectoryEvent("t", "m0", name, text, is_action=False, channel_name=channel),
        TrajectoryEvent("t", "m1", name, text, is_action=True, channel_name=channel),
        TrajectoryEvent("t", "m2", name, text, is_action=True, channel_name=channel),
    )
    target = Target(TargetType.AGENT, name, events, {name: persona_text({"name": persona, "likes": [persona]})})
    evidence = repetition_evidence([text, text]) + vocabulary_evidence({name: [text], "Bob": ["Something else."]})
    asked = ask(CLAIM, target.at(2), Supplement(evidence=evidence, additional_context=text))
    assert asked.request is not None
    return asked.request


def assert_intact(request: JudgeRequest) -> None:
    """Four fenced sections under our headings, three numbered messages, and a claim of one line."""
    assert request.prompt.system == prompts.SCORE_SYSTEM
    sections = request.prompt.user.split(FENCE)
    evidence = 2 if "Counted by a program" in sections[-3] else 0
    assert len(sections) == 7 + evidence
    headings = [section.strip().split("\n")[-1] for section in sections[0:-1:2]]
    assert headings[0].startswith('Persona of "')
    assert headings[0].endswith('", which nobody said:')
    assert headings[1:3] == ["What was said:", "Further context:"]
    heads = [HEAD.fullmatch(line) for line in sections[3].strip("\n").split("\n") if not line.startswith("| ")]
    assert [head and (head[1] or head[2]) for head in heads] == ["1", "2", "3"]
    (claim,) = request.prompt.question.split("\n")
    assert claim.startswith('Claim about message [M3]: "')
    assert " wrote [M3] in " in claim
    assert FENCE not in request.prompt.question


def test_in_a_message_a_name_a_persona_and_the_name_of_a_channel() -> None:
    honest = ("Hello there.", "Ann", "A baker.", "kitchen")
    for attack in EVERYTHING:
        for place in range(4):
            assert_intact(request_for(*(attack.text if at == place else text for at, text in enumerate(honest))))


@given(st.text(min_size=1, max_size=80), st.sampled_from(ATTACKS + NAMES))
def test_everywhere_at_once(text: str, attack: Attack) -> None:
    mixed = f"{text}{attack.text}"
    assert_intact(request_for(mixed, mixed, mixed, mixed))


def test_ideas_are_asked_for_in_our_words_alone() -> None:
    asks = Proposition("ideas", "List every idea.", Dimension.IDEAS_QUANTITY, target_type=TargetType.ENVIRONMENT)
    for attack in EVERYTHING:
        said = TrajectoryEvent("t", "m0", attack.text, attack.text, is_action=True)
        asked = ask(replace(asks, includes_personas=False), Target(TargetType.ENVIRONMENT, attack.text, (said,)))
        assert asked.request is not None
        assert asked.request.prompt.question == "Task: List every idea."
        assert asked.request.prompt.user.count(FENCE) == 2


def test_the_parser_takes_no_verdict_from_an_echo_of_the_prompt() -> None:
    for attack in EVERYTHING:
        echo = request_for(attack.text, attack.text, attack.text, attack.text).prompt.text
        for model in (ScoreAnswer, CheckAnswer, WindowAnswer):
            with pytest.raises(AnswerError):
                parse_answer(echo, model.model_validate)
        assert parse_items(echo, [ScoreAnswer] * 3) == {}
        for answer in (f"{echo}\n{HONEST}", f"{HONEST}\n{echo}"):
            assert parse_answer(answer, ScoreAnswer.model_validate).score == 2
