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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.files.bundled import parse_yaml
from evaluation.judging.model_client.calls import LLMResponse, Messages, Usage
from evaluation.judging.model_client.prices import Price
from evaluation.judging.prompts import CHECK_SYSTEM, IDEAS_SYSTEM, SCORE_SYSTEM
from evaluation.simulation.environment import FEEDBACK_HEADING, MEMORY_HEADING, NUDGE_HEADING, QUESTION
from evaluation.simulation.population import DIMENSIONS_TASK, NAMES_TASK, PERSONA_TASK, PLAN_TASK, BigFive

_PLANNED = re.compile(r"Plan (\d{1,5}) people in (\d{1,3}) parts")
_COUNTED = re.compile(r"Give each of these (\d{1,5}) people")
_TAKEN = re.compile(r"These are taken: (.*)\.\n")
_NAMED = re.compile(r"^Name: (.+)$", re.MULTILINE)
_CHARACTERISTICS = re.compile(r"^Characteristics: (.+)$", re.MULTILINE)


@cache
def vocabulary() -> Mapping[str, Any]:
    """The script's vocabulary, by what it is for."""
    found: Mapping[str, Any] = parse_yaml(Path(__file__).with_name("scripted_words.yaml").read_text("utf-8"))
    return found


def plan(text: str, chance: random.Random) -> str:
    """The answer to stage 2: as many parts as wanted, each with a region and ages of its own."""
    found = _PLANNED.search(text)
    size, parts = (int(found[1]), int(found[2])) if found else (10, 2)
    drawn = [(chance.randint(18, 65), chance.choice(vocabulary()["regions"])) for _ in range(parts)]
    directives = [
        {
            "id": number,
            "subpopulation_description": f"People aged {youngest} to {youngest + 20} from {region}",
            "sampled_values": {"age": [youngest, youngest + 20], "region": region},
            "quantity": max(1, size // parts),
        }
        for number, (youngest, region) in enumerate(drawn, start=1)
    ]
    return json.dumps({"sample_plan": directives})


def names(text: str, chance: random.Random) -> str:
    """The wanted number of names, all different and not yet taken."""
    found, taken = _COUNTED.search(text), _TAKEN.search(text)
    held = set(taken[1].split(", ")) if taken else set()
    free = [
        f"{first} {last}"
        for first in vocabulary()["first_names"]
        for last in vocabulary()["last_names"]
        if f"{first} {last}" not in held
    ]
    return json.dumps({"names": chance.sample(free, min(int(found[1]) if found else 1, len(free)))})


def persona(text: str, chance: random.Random) -> str:
    """A persona of the wanted name, with what its characteristics say."""
    named, listed = _NAMED.search(text), _CHARACTERISTICS.search(text)
    given = dict(part.split(": ", 1) for part in (listed[1] if listed else "").split("; ") if ": " in part)
    levels = ["Low.", "Medium.", "High."]
    agreeable = f"{given.get('agreeableness', 'medium').capitalize()}."
    body = {
        "name": named[1] if named else "Nobody",
        "age": int(given.get("age", "40")),
        "gender": given.get("gender", "female"),
        "nationality": "American",
        "residence": given.get("region", "a small town"),
        "education": chance.choice(["High school.", "A trade.", "College."]),
        "occupation": {"title": given.get("occupation", "clerk"), "organization": "", "description": ""},
        "style": given.get("manner", "Plain."),
        "personality": {
            "traits": chance.sample(vocabulary()["traits"], 2),
            "big_five": {trait: chance.choice(levels) for trait in BigFive.model_fields} | {"agreeableness": agreeable},
        },
        "preferences": {
            "interests": chance.sample(vocabulary()["interests"], 2),
            "likes": [f"Talking about {chance.choice(vocabulary()['interests'])}"],
            "dislikes": ["Being interrupted"],
        },
        "beliefs": [given.get("belief", "Good things take time."), chance.choice(vocabulary()["beliefs"])],
    }
    return json.dumps(body)


_ACT = re.compile(r"^\[M(\d+)\] [^\n:]{0,300} acts: ([^\n]*(?:\n\| [^\n]*)*)", re.MULTILINE)
_ABOUT = r"Claim(?: about message \[M(\d+)\])?: ([^\n]+)"
_ITEM = re.compile(rf"^\[P(\d+)\] {_ABOUT}", re.MULTILINE)
_CLAIM = re.compile(rf"^{_ABOUT}", re.MULTILINE)
_IDEA = re.compile(r"What about ([^?\n]{1,200})\?")

_BEST, _WORST = 8.0, 2.0
_FEW = 0.5


def scores(text: str, chance: random.Random) -> str:
    """Marks for a claim, or for each of a batch."""
    said = dict(_said(text))
    items = _ITEM.findall(text)
    if items:
        answers = [{"item": int(item), **_mark(claim, about, said, chance)} for item, about, claim in items]
        return json.dumps({"answers": answers})
    about, claim = next(iter(_CLAIM.findall(text)), ("", ""))
    return json.dumps(_mark(claim, about, said, chance))


def _mark(claim: str, about: str, said: dict[int, str], chance: random.Random) -> dict[str, Any]:
    sentence, is_inverted = next((sentence, bad) for part, sentence, bad in vocabulary()["claims"] if part in claim)
    judged = {int(about): said[int(about)]} if about and int(about) in said else said
    bad = [number for number, text in judged.items() if vocabulary()[sentence] in text]
    share = len(bad) / len(judged) if judged else 0.0
    level = round(_BEST - (_BEST - _WORST) * share + chance.choice((-1, 0, 1)))
    reason = f"The scripted judge counted {len(bad)} of {len(judged)} messages with a sentence that speaks against it."
    mark = 9 - level if is_inverted else level
    cited = (bad or list(judged))[:3]
    return {"reason": reason, "score": mark, "confidence": 0.9, "citations": cited, "data_missing": False}


def check(text: str) -> str:
    """Whether a claim holds: that nothing new is said, when less than half of the messages hold an idea."""
    said = dict(_said(text))
    with_idea = [number for number, each in said.items() if _IDEA.search(each)]
    holds = len(with_idea) < _FEW * len(said)
    reason = f"The scripted judge found an idea in {len(with_idea)} of {len(said)} messages."
    return json.dumps({"reason": reason, "holds": holds, "confidence": 0.9, "citations": with_idea[:3]})


def ideas(text: str) -> str:
    """The different ideas of a conversation, with the messages that voice them."""
    found: dict[str, list[int]] = {}
    for number, each in _said(text):
        for idea in _IDEA.findall(each):
            found.setdefault(idea, []).append(number)
    return json.dumps({"ideas": [{"text": idea, "citations": numbers} for idea, numbers in found.items()]})


def _said(text: str) -> Iterator[tuple[int, str]]:
    """The messages of the trajectory by number."""
    for number, lines in _ACT.findall(text):
        yield int(number), " ".join(line.removeprefix("| ") for line in lines.splitlines())


SCRIPTED_MODEL = "scripted"
"""The model's name in scripted runs; it stands beside everything that came of them."""

# Every call has a random delimiter of its own, which must not change the answer.
_DELIMITER = re.compile(r"<<[0-9a-f]{16}>>")
_TITLE = re.compile(r"^\s*title: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities, 0 to 1, that a scripted agent falls out of character, repeats itself, or has an idea."""

    out_of_character: float = 0.35
    repeats: float = 0.3
    has_idea: float = 0.2


class ScriptedWorld:
    """Answers every kind of question that an experiment asks; the same question always gets the same answer.

    Args:
        effects: Whether feedback brings an agent back into its character and makes it drop what it keeps repeating, and
            a nudge makes it put forward an idea.
        habits: What agents do without any correction.
    """

    def __init__(self, *, effects: bool = True, habits: Habits | None = None) -> None:
        self._effects = effects
        self._habits = habits or Habits()

    def answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The script's answer at the end of a conversation."""
        system, text = messages[0]["content"], messages[-1]["content"]
        asked = messages[1]["content"] if len(messages) > 1 else text
        chance = _chance(system, text)
        answers: dict[str, Callable[[], str]] = {
            SCORE_SYSTEM: lambda: scores(asked, chance),
            CHECK_SYSTEM: lambda: check(asked),
            IDEAS_SYSTEM: lambda: ideas(asked),
            DIMENSIONS_TASK: lambda: json.dumps({"dimensions": vocabulary()["dimensions"]}),
            PLAN_TASK: lambda: plan(text, chance),
            NAMES_TASK: lambda: names(text, chance),
            PERSONA_TASK: lambda: persona(text, chance),
        }
        if system in answers:
            return answers[system]()
        return self._speech(system, text) if MEMORY_HEADING in text else json.dumps({})

    def _speech(self, system: str, text: str) -> str:
        is_corrected = self._effects and f"\n\n{FEEDBACK_HEADING}" in text
        is_nudged = self._effects and f"\n\n{NUDGE_HEADING}" in text
        # Drawn from the situation alone: an agent that does not react says the same again.
        situation = text.partition(f"\n\n{NUDGE_HEADING}")[0].partition(f"\n\n{FEEDBACK_HEADING}")[0]
        situation = situation.removesuffix(f"\n\n{QUESTION}")
        chance = _chance(system, situation)
        title = found[1].strip() if (found := _TITLE.search(system)) else "neighbour"
        words, habits = vocabulary(), self._habits
        is_out = chance.random() < habits.out_of_character and not is_corrected
        is_repeating = chance.random() < habits.repeats and not is_corrected
        has_idea = chance.random() < habits.has_idea or is_nudged
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
