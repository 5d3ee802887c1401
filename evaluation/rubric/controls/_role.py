"""Role consistency of the same messages with the roles dealt again at random.

:class:`JudgedActs` repeats the rule of ``evaluation.rubric.metrics.role_consistency`` on the acts, which no role
changes. ``tests/unit/rubric/test_controls.py`` checks that both give the same scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np

from evaluation.rubric.controls._draws import DRAWS
from evaluation.rubric.metrics.role_table import aim_of, rule_for
from evaluation.rubric.speech.act_types import ACCUSATIONS, ActKind, SpeechAct
from evaluation.rubric.speech.readings import Reading
from evaluation.transcript import Alignment, Player

Dealt = Mapping[str, Player]
"""By name: each player with the role and side that a deal gives them."""


class JudgedActs:
    """The speech acts of a discussion, each with whether grounds were given, ready to be judged under any roles."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._messages = list(_grounded(readings))
        self._known: dict[tuple[object, ...], bool | None] = {}

    def score(self, players: Dealt) -> float | None:
        """The score in percent with each player's role; ``None`` without any signal."""
        consistent = counted = 0
        for name, acts in self._messages:
            speaker = players[name]
            if speaker.alignment is None:
                continue
            verdicts = [self._verdict(act, grounded, speaker, speaker.alignment, players) for act, grounded in acts]
            judged = [verdict for verdict in verdicts if verdict is not None]
            counted += bool(judged)
            consistent += bool(judged) and all(judged)
        return 100.0 * consistent / counted if counted else None

    def _verdict(self, act: SpeechAct, grounded: bool, speaker: Player, side: Alignment, players: Dealt) -> bool | None:
        at = aim_of(speaker, None if act.target is None else players[act.target])
        key = (act.kind, act.role, side, at, grounded)
        if key not in self._known:
            rule = rule_for(act, side, at, grounded=grounded)
            self._known[key] = None if rule is None else rule.consistent
        return self._known[key]


def _grounded(readings: Sequence[Reading]) -> Iterator[tuple[str, list[tuple[SpeechAct, bool]]]]:
    cases: set[tuple[str, str | None]] = set()
    for reading in readings:
        speaker = reading.message.speaker
        yield (
            speaker,
            [
                (act, act.grounded or (act.kind in ACCUSATIONS and (speaker, act.target) in cases))
                for act in reading.acts
            ],
        )
        cases.update(
            (speaker, act.target)
            for act in reading.acts
            if act.grounded and act.kind in ACCUSATIONS | {ActKind.QUESTION}
        )


def arrangements(players: Sequence[Player]) -> int:
    """In how many ways the sides can be dealt to the players whose side is known."""
    known = [player for player in players if player.alignment is not None]
    return comb(len(known), sum(player.alignment == "mafia" for player in known))


def deals(players: Sequence[Player], random: np.random.Generator) -> Iterator[list[int]]:
    """Ways to deal the roles: for each player, at which position the player stands whose role they get.

    All ways there are where these are 200 or fewer, else 200 random ones. Players of unknown side keep theirs.
    """
    known = [place for place, player in enumerate(players) if player.alignment is not None]
    evil = [place for place in known if players[place].alignment == "mafia"]
    town = [place for place in known if players[place].alignment == "town"]
    if arrangements(players) <= DRAWS:
        for chosen in combinations(known, len(evil)):
            sources = list(range(len(players)))
            others = [place for place in known if place not in chosen]
            for places, cards in ((chosen, evil), (others, town)):
                for place, card in zip(places, cards, strict=True):
                    sources[place] = card
            yield sources
        return
    for _ in range(DRAWS):
        sources = list(range(len(players)))
        for place, card in zip(known, random.permutation(known), strict=True):
            sources[place] = int(card)
        yield sources
