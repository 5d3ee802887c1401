"""References to the past: the rules' verdicts against the readers' labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.labels import Figure, Key, Opened, agreement, ratio
from evaluation.rubric.metrics import memory_accuracy
from evaluation.transcript import Transcript

_FINDINGS = {"accurate": "accurate", "inaccurate": "inaccurate", "unverified": "unsettled"}
_SETTLED = frozenset({"accurate", "inaccurate"})
_SPACE = re.compile(r"\s+")
_LEAST_SHARED = 0.5


class Reference(NamedTuple):
    """A reference with its characters in the message and a verdict: accurate, inaccurate or unsettled."""

    start: int
    end: int
    verdict: str

    def is_same(self, other: Reference) -> bool:
        """Whether they share half of the characters of the shorter one."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        return shared >= _LEAST_SHARED * min(self.end - self.start, other.end - other.start)


def measure(opened: Opened) -> Iterator[Figure]:
    """Precision of the settled verdicts, recall over the labelled references, and agreement about the verdicts.

    A settled verdict of the rules is right when a reader gave the same one to a reference that shares half of the
    characters of the shorter quote; one where the reader saw no reference, or an unsettled one, is wrong. A labelled
    reference is *found* when any row of the ledger stands there, and *settled* when such a row settles it.
    """
    first, second = _labelled(opened, "first"), _labelled(opened, "second")
    rules = {key: references for key, references in _by_rules(opened).items() if key in first}
    yield from _compare("rules", first, rules, opened)
    twice = {key: references for key, references in first.items() if key in second}
    yield from _compare("second reading", twice, second, opened)


def _compare(
    name: str, labelled: Mapping[Key, Sequence[Reference]], given: Mapping[Key, Sequence[Reference]], opened: Opened
) -> Iterator[Figure]:
    settled = right = stray = open_to_readers = 0
    for key, references in given.items():
        for one in references:
            if one.verdict in _SETTLED:
                same = [other for other in labelled[key] if one.is_same(other)]
                settled += 1
                right += any(other.verdict == one.verdict for other in same)
                stray += not same
                open_to_readers += bool(same) and all(other.verdict not in _SETTLED for other in same)
    yield ratio(f"{name}: precision of settled verdicts", right, settled)
    yield Figure(f"{name}: settled where a reader saw no reference", float(stray))
    yield Figure(f"{name}: settled where the reader left it open", float(open_to_readers))
    pairs = [
        (key[0], one.verdict, [other.verdict for other in given.get(key, ()) if one.is_same(other)])
        for key, references in labelled.items()
        for one in references
    ]
    answered = [pair for pair in pairs if pair[2]]
    could = [pair for pair in pairs if pair[1] in _SETTLED]
    yield ratio(f"{name}: recall, labelled references found", len(answered), len(pairs))
    yield ratio(
        f"{name}: recall, settled by both", sum(bool(_SETTLED & set(found)) for _, _, found in could), len(could)
    )
    yield from agreement(f"{name}: verdicts", [(game, label, _one(found)) for game, label, found in answered], opened)


def _one(verdicts: Sequence[str]) -> str:
    """The verdict on a labelled reference that several rows make up: all must hold."""
    return next((verdict for verdict in ("inaccurate", "unsettled") if verdict in verdicts), "accurate")


def _labelled(opened: Opened, reading: Any) -> dict[Key, list[Reference]]:
    return {
        key: [_located(opened.games[key[0]], key[1], one) for one in row["references"]]
        for key, row in opened.labels("references", reading).items()
    }


def _located(game: Transcript, index: int, label: Mapping[str, str]) -> Reference:
    """A labelled quote in the message's text; readers saw every run of white space as one blank."""
    text = game.messages[index].text
    pattern = r"\s+".join(re.escape(word) for word in _SPACE.split(label["quote"].strip()))
    found = re.search(pattern, text, re.IGNORECASE)
    start, end = found.span() if found else (0, len(text))
    return Reference(start, end, label["verdict"])


def _by_rules(opened: Opened) -> dict[Key, list[Reference]]:
    found: dict[Key, list[Reference]] = {}
    for game_id, game in opened.games.items():
        indexes = {message.id: message.index for message in game.messages}
        for row in memory_accuracy.measure(game).ledger:
            span, index = row.evidence[0], indexes[row.message_id or ""]
            reference = Reference(span.start, span.end, _FINDINGS[row.details["finding"]])
            found.setdefault((game_id, index), []).append(reference)
    return found
