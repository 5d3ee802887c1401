"""Games that are not evidence of their own, as they repeat others, and games of another kind than the other side's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.escaping import cut
from evaluation.iterations.tests import Game
from evaluation.text.display import counted, listed

_LONGEST_NAME = 40


def distinct(before: Sequence[Game], after: Sequence[Game]) -> tuple[list[Game], list[Game]] | None:
    """Both sides with the first of games that repeat each other in place of them all; ``None`` where none repeats."""
    first: dict[str, str] = {}
    for game in (*before, *after):
        first.setdefault(game.original or game.transcript_id, game.transcript_id)
    kept = set(first.values())
    sides = (
        [game for game in before if game.transcript_id in kept],
        [game for game in after if game.transcript_id in kept],
    )
    return None if sides == (list(before), list(after)) else sides


def reserve_words(before: Sequence[Game], after: Sequence[Game]) -> str:
    """The reserve on a comparison of games that repeat each other or are of different kinds; else empty.

    Such as "1 of 6 games repeats another nearly word for word, and is not evidence of its own: Game 3 · v2. Not all
    games are alike, which may move a score, too: before 8 to 10 players, after 7 players."
    """
    return " ".join((*_repeats(before, after), *_kinds(before, after)))


def _repeats(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    if (sides := distinct(before, after)) is None:
        return
    repeats = [game for game in (*before, *after) if not any(game in side for side in sides)]
    total, first = counted(len(before) + len(after), "game"), cut(repeats[0].name, _LONGEST_NAME)
    if len(repeats) == 1:
        yield f"1 of {total} repeats another nearly word for word, and is not evidence of its own: {first}."
    else:
        yield (
            f"{len(repeats)} of {total} repeat others nearly word for word, and are not evidence of their own, such as "
            f"{first}."
        )


def _kinds(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    """A sentence where a game has more or fewer players than any of the other side, or a side another source."""
    sizes = [sorted(game.players for game in side if game.players) for side in (before, after)]
    sources = [sorted({game.source for game in side if game.source}) for side in (before, after)]
    if not all(sizes):
        return
    has_other_size = (sizes[0][0], sizes[0][-1]) != (sizes[1][0], sizes[1][-1])
    if has_other_size or sources[0] != sources[1]:
        told = [
            _size(size) + f" ({listed(source)})" * (sources[0] != sources[1])
            for size, source in zip(sizes, sources, strict=True)
        ]
        yield f"Not all games are alike, which may move a score, too: before {told[0]}, after {told[1]}."


def _size(players: Sequence[int]) -> str:
    low, high = players[0], players[-1]
    return counted(low, "player") if low == high else f"{low} to {high} players"
