"""The scripted provider's dimensions, plans, names and personas for populations."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
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
