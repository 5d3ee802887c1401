"""Assignments: which rater is to rate which game; and discards: games that a rater cannot rate."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from evaluation.errors import InputError
from evaluation.ratings import rater_name
from evaluation.text.display import counted

MAX_RATERS = 200
"""The most raters of one plan."""

Pair = tuple[str, str]
"""A transcript's id and a rater's name."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A game that a rater is to rate.

    Attributes:
        who: The lead who assigned it.
        withdrawn_by: The lead who withdrew it; ``None`` while it holds, as ``withdrawn_at``.
    """

    id: int
    transcript_id: str
    rater: str
    who: str
    created_at: datetime
    withdrawn_by: str | None = None
    withdrawn_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """New assignments, and what they lead to.

    Attributes:
        pairs: Transcript and rater of each new assignment.
        overlap: Raters per game that were asked for.
        short: Games that get fewer, because too few of the raters can rate them.
        to_rate: By rater who gets any, in alphabetical order: games still to rate, those of before included.
        common: Games that all the raters then have rated or are to rate; of one rater, those that others share.
    """

    pairs: tuple[Pair, ...]
    overlap: int
    short: tuple[str, ...]
    to_rate: Mapping[str, int]
    common: int

    @property
    def games(self) -> int:
        """Number of games with a new assignment."""
        return len({game for game, _ in self.pairs})


_NOBODY: Mapping[str, Collection[str]] = MappingProxyType({})


def plan_assignments(
    games: Sequence[str],
    raters: Sequence[str],
    overlap: int,
    *,
    held: Mapping[str, Collection[str]] = _NOBODY,
    refused: Mapping[str, Collection[str]] = _NOBODY,
    loads: Mapping[str, int] = MappingProxyType({}),
    common: int = 0,
    beside: Sequence[str] = (),
    seed: int = 0,
) -> AssignmentPlan:
    """Choose raters for games so that every game has ``overlap`` raters, and the raters have games in common.

    The games in common come first: those that take the fewest new assignments, because most of the raters have them.

    Raters with the fewest games come first, and of these the ones who share the fewest games with the raters whom the
    game has already, so that all pairs of raters meet. Ties are drawn by the seed.

    Args:
        games: Ids of the transcripts.
        raters: Names of the people to choose from.
        overlap: Raters per game, from 1 on.
        held: By game: people who have rated it or are assigned to it. They count towards the overlap.
        refused: By game: people who cannot rate it.
        loads: Games that raters have to rate already.
        common: How many games all the raters are to have in common, so that any two of them can be compared.
        beside: Further games that the common ones may come from, such as those rated already.
        seed: The same seed gives the same plan.

    Raises:
        InputError: No games or no raters, or more raters per game than there are raters.
    """
    names = list(dict.fromkeys(map(rater_name, raters)))
    _check(games, names, overlap)
    draw = random.Random(seed)
    load = {name: loads.get(name, 0) for name in names}
    shared: dict[frozenset[str], int] = {}
    order = list(dict.fromkeys(games))
    draw.shuffle(order)
    open_to = {
        game: [name for name in names if name not in held.get(game, ()) and name not in refused.get(game, ())]
        for game in (*order, *beside)
    }
    teams = {game: {*held.get(game, ()), *free} for game, free in open_to.items()}
    meeting = [game for game, team in teams.items() if len(team) > 1 and team >= set(names)]
    together = sorted(meeting, key=lambda game: (len(open_to[game]), -len(teams[game])))[:common]
    chosen: dict[str, list[str]] = {game: list(open_to[game]) for game in together}
    for game in together:
        for name in open_to[game]:
            load[name] += 1
    for game in order:
        team = {*held.get(game, ()), *chosen.setdefault(game, [])}
        free = [name for name in open_to[game] if name not in team]
        while len(team) < overlap and free:
            turn = {name: draw.random() for name in free}
            best = min(free, key=lambda name: (load[name], _shared(shared, name, team), turn[name]))
            for other in team:
                met = frozenset((best, other))
                shared[met] = shared.get(met, 0) + 1
            team.add(best)
            free.remove(best)
            load[best] += 1
            chosen[game].append(best)
    pairs = tuple((game, name) for game in dict.fromkeys((*games, *chosen)) for name in sorted(chosen[game]))
    given = {game: {*held.get(game, ()), *chosen.get(game, ())} for game in teams}
    short = tuple(game for game in order if len(given[game]) < overlap)
    shared_by_all = sum(len(team) > 1 and team >= set(names) for team in given.values())
    return AssignmentPlan(
        pairs, overlap, short, {name: load[name] for name in sorted({n for _, n in pairs})}, shared_by_all
    )


def _shared(shared: Mapping[frozenset[str], int], name: str, team: Collection[str]) -> int:
    return sum(shared.get(frozenset((name, other)), 0) for other in team)


def _check(games: Sequence[str], names: Sequence[str], overlap: int) -> None:
    if not games:
        raise InputError("No game is named.", place="games", remedy="Choose an iteration with games, or name games.")
    if not names:
        raise InputError("No rater is named.", place="raters", remedy="Name at least one person.")
    if len(names) > MAX_RATERS:
        raise InputError(f"{len(names)} raters are too many.", place="raters", remedy=f"Name at most {MAX_RATERS}.")
    if not 1 <= overlap <= len(names):
        raise InputError(
            f"{overlap} raters per game cannot be chosen from {counted(len(names), 'named rater')}.",
            remedy=f"Ask for 1 to {len(names)} per game, or name more raters.",
        )


MAX_NOTE_LENGTH = 2_000


class DiscardReason(StrEnum):
    """Why a game cannot be rated."""

    TRUNCATED = "truncated"
    LANGUAGE = "language"
    GARBLED = "garbled"
    NO_DISCUSSION = "no_discussion"
    KNOWN = "known"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The reason in the form's words."""
        return _WORDS[self]


_WORDS = {
    DiscardReason.TRUNCATED: "It is cut off, or parts are missing",
    DiscardReason.LANGUAGE: "I do not read its language well enough",
    DiscardReason.GARBLED: "It is garbled: cannot be read as a conversation",
    DiscardReason.NO_DISCUSSION: "It is not a discussion: nobody talks with anybody",
    DiscardReason.KNOWN: "I know it: I took part, made it or saw its scores",
    DiscardReason.OTHER: "Another reason (say it below)",
}


@dataclass(frozen=True, slots=True)
class Discard:
    """One game that one rater put aside for good.

    Attributes:
        undone_by: Who gave it back to the rater; ``None`` while it stands.
        undone_at: When.
    """

    id: int
    transcript_id: str
    rater: str
    reason: DiscardReason
    note: str
    created_at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None
