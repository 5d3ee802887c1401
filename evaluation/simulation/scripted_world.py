"""The script behind the scripted provider: it speaks for agents, judges them, and makes populations.

Whether it reacts to corrections is planted: with an effect on, agents that get feedback or a nudge change what they
say, and the judge sees it; with all effects off, treatment and control differ by chance alone. So a whole experiment
can be shown to find what is there, and nothing where nothing is.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from evaluation.judging.model_client.calls import LLMResponse, Messages, Price, Usage
from evaluation.judging.prompts import CHECK_SYSTEM, IDEAS_SYSTEM, SCORE_SYSTEM
from evaluation.simulation import _scripted_people
from evaluation.simulation._agent import FEEDBACK_HEADING, MEMORY_HEADING, NUDGE_HEADING, QUESTION
from evaluation.simulation._scripted_people import check, ideas, scores
from evaluation.simulation.population_factory import DIMENSIONS_TASK, NAMES_TASK, PERSONA_TASK, PLAN_TASK

SCRIPTED_MODEL = "scripted"
"""The model's name in scripted runs; it stands beside everything that came of them."""

# Every call has a random delimiter of its own, which must not change the answer.
_DELIMITER = re.compile(r"<<[0-9a-f]{16}>>")
_TITLE = re.compile(r"^\s*title: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of corrections on the agents of the script.

    Attributes:
        adherence: Feedback brings an agent back into its character.
        repetition: Feedback makes it drop what it keeps repeating.
        ideas: A nudge makes it put forward an idea.
    """

    adherence: bool = True
    repetition: bool = True
    ideas: bool = True


NO_EFFECTS = Effects(adherence=False, repetition=False, ideas=False)


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities, 0 to 1, that a scripted agent falls out of character, repeats itself, or has an idea."""

    out_of_character: float = 0.35
    repeats: float = 0.3
    has_idea: float = 0.2


class ScriptedWorld:
    """Answers every kind of question that an experiment asks; the same question always gets the same answer.

    Args:
        effects: What is planted.
        habits: What agents do without any correction.
    """

    def __init__(self, effects: Effects | None = None, habits: Habits | None = None) -> None:
        self._effects = effects or Effects()
        self._habits = habits or Habits()

    def answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The script's answer at the end of a conversation."""
        system, text = messages[0]["content"], messages[-1]["content"]
        asked = messages[1]["content"] if len(messages) > 1 else text
        chance = _chance(system, text)
        if system == SCORE_SYSTEM:
            return scores(asked, chance)
        if system == CHECK_SYSTEM:
            return check(asked)
        if system == IDEAS_SYSTEM:
            return ideas(asked)
        if system == DIMENSIONS_TASK:
            return _scripted_people.dimensions()
        if system == PLAN_TASK:
            return _scripted_people.plan(text, chance)
        if system == NAMES_TASK:
            return _scripted_people.names(text, chance)
        if system == PERSONA_TASK:
            return _scripted_people.persona(text, chance)
        return self._speech(system, text) if MEMORY_HEADING in text else json.dumps({})

    def _speech(self, system: str, text: str) -> str:
        feedback, nudge = f"\n\n{FEEDBACK_HEADING}" in text, f"\n\n{NUDGE_HEADING}" in text
        # Drawn from the situation alone: an agent that does not react says the same again.
        situation = text.partition(f"\n\n{NUDGE_HEADING}")[0].partition(f"\n\n{FEEDBACK_HEADING}")[0]
        situation = situation.removesuffix(f"\n\n{QUESTION}")
        chance = _chance(system, situation)
        title = found[1].strip() if (found := _TITLE.search(system)) else "neighbour"
        words, effects, habits = _scripted_people.words(), self._effects, self._habits
        is_out = chance.random() < habits.out_of_character and not (feedback and effects.adherence)
        is_repeating = chance.random() < habits.repeats and not (feedback and effects.repetition)
        has_idea = chance.random() < habits.has_idea or (nudge and effects.ideas)
        idea = " ".join(chance.choice(words[kind]) for kind in ("adjectives", "things", "uses"))
        parts = [
            words["repeated"] if is_repeating else chance.choice(words["small_talk"]),
            words["out_of_character"] if is_out else chance.choice(words["in_character"]).format(title=title),
            *([f"What about a {idea}?"] if has_idea else []),
        ]
        return " ".join(parts)


def _chance(system: str, text: str) -> random.Random:
    plain = _DELIMITER.sub("", f"{system}\n{text}")
    return random.Random(hashlib.sha256(plain.encode("utf-8", "replace")).digest())


class ScriptedProvider:
    """Follows the protocol ``Provider``; answers at once and for nothing."""

    def __init__(self, world: ScriptedWorld) -> None:
        self._world = world
        self.asked = 0

    @property
    def model(self) -> str:
        """The name of the script."""
        return SCRIPTED_MODEL

    def session(self) -> AbstractAsyncContextManager[None]:
        """There are no connections."""
        return nullcontext()

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,  # noqa: ARG002 - the protocol's arguments
        max_tokens: int,  # noqa: ARG002
        timeout_seconds: float,  # noqa: ARG002
    ) -> LLMResponse:
        """The script's answer."""
        self.asked += 1
        text = self._world.answer(messages)
        asked = sum(len(message["content"]) for message in messages)
        return LLMResponse(text, SCRIPTED_MODEL, Usage(input_tokens=asked // 4, output_tokens=len(text) // 4))

    async def price(self) -> Price | None:
        """Zero: the script costs nothing."""
        return Price(0.0, 0.0, 0.0)
