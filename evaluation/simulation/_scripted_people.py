"""The scripted provider's dimensions, plans, names and personas for populations, and its marks as a judge."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.files.yaml_data import parse_yaml

_WORDS = Path(__file__).with_name("scripted_words.yaml")
_PLANNED = re.compile(r"Plan (\d{1,5}) people in (\d{1,3}) parts")
_COUNTED = re.compile(r"Give each of these (\d{1,5}) people")
_TAKEN = re.compile(r"These are taken: (.*)\.\n")
_NAMED = re.compile(r"^Name: (.+)$", re.MULTILINE)
_CHARACTERISTICS = re.compile(r"^Characteristics: (.+)$", re.MULTILINE)


@cache
def words() -> Mapping[str, Any]:
    """The script's vocabulary, by what it is for."""
    found: Mapping[str, Any] = parse_yaml(_WORDS.read_text(encoding="utf-8"))
    return found


def dimensions() -> str:
    """The answer to stage 1."""
    found = [
        {"name": "age", "range": [18, 85]},
        {"name": "gender", "values": {"female": 0.5, "male": 0.5}},
        {"name": "occupation", "values": words()["occupations"]},
        {"name": "region", "values": words()["regions"]},
        {"name": "manner", "values": words()["manners"]},
        {"name": "belief", "values": words()["beliefs"]},
        {"name": "agreeableness", "values": ["low", "medium", "high"]},
        {"name": "finances", "values": ["poor", "getting by", "well off"]},
    ]
    return json.dumps({"dimensions": found})


def plan(text: str, chance: random.Random) -> str:
    """The answer to stage 2: as many parts as wanted, each with a region and ages of its own."""
    found = _PLANNED.search(text)
    size, parts = (int(found[1]), int(found[2])) if found else (10, 2)
    directives = []
    for number in range(1, parts + 1):
        youngest = chance.randint(18, 65)
        region = chance.choice(words()["regions"])
        directives.append(
            {
                "id": number,
                "subpopulation_description": f"People aged {youngest} to {youngest + 20} from {region}",
                "sampled_values": {"age": [youngest, youngest + 20], "region": region},
                "quantity": max(1, size // parts),
            }
        )
    return json.dumps({"sample_plan": directives})


def names(text: str, chance: random.Random) -> str:
    """The wanted number of names, all different and not yet taken."""
    found, taken = _COUNTED.search(text), _TAKEN.search(text)
    held = set(taken[1].split(", ")) if taken else set()
    free = [
        f"{first} {last}"
        for first in words()["first_names"]
        for last in words()["last_names"]
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
            "traits": chance.sample(words()["traits"], 2),
            "big_five": {
                "openness": chance.choice(levels),
                "conscientiousness": chance.choice(levels),
                "extraversion": chance.choice(levels),
                "agreeableness": agreeable,
                "neuroticism": chance.choice(levels),
            },
        },
        "preferences": {
            "interests": chance.sample(words()["interests"], 2),
            "likes": [f"Talking about {chance.choice(words()['interests'])}"],
            "dislikes": ["Being interrupted"],
        },
        "beliefs": [given.get("belief", "Good things take time."), chance.choice(words()["beliefs"])],
    }
    return json.dumps(body)


_ACT = re.compile(r"^\[M(\d+)\] [^\n:]{0,300} acts: ([^\n]*(?:\n\| [^\n]*)*)", re.MULTILINE)
_ABOUT = r"Claim(?: about message \[M(\d+)\])?: ([^\n]+)"
_ITEM = re.compile(rf"^\[P(\d+)\] {_ABOUT}", re.MULTILINE)
_CLAIM = re.compile(rf"^{_ABOUT}", re.MULTILINE)
_IDEA = re.compile(r"What about ([^?\n]{1,200})\?")

# Part of a claim, the sentence that speaks against it, whether the claim names what is bad. The first that fits counts.
_CLAIMS = (
    ("computer assistant", "out_of_character", True),
    ("contradicts a fact", "out_of_character", True),
    ("repeats the same", "repeated", True),
    ("set phrases", "repeated", True),
    ("speaks naturally", "repeated", False),
    ("reverses an earlier", "out_of_character", True),
    ("one and the same person", "out_of_character", False),
    ("echo each other", "repeated", True),
    ("tell the speakers apart", "repeated", False),
    ("", "out_of_character", False),
)
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
    sentence, is_inverted = next((sentence, bad) for part, sentence, bad in _CLAIMS if part in claim)
    judged = {int(about): said[int(about)]} if about and int(about) in said else said
    bad = [number for number, text in judged.items() if words()[sentence] in text]
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
