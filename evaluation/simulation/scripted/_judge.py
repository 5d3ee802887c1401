"""The scripted judge: count the sentences that mark a bad message, and add a small random part."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from evaluation.simulation.scripted._people import words

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
