"""Games that are not evidence of their own, as they repeat others, and games of another kind than the other side's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.escaping import cut
from evaluation.iterations.keep_or_revert import LONGEST_NAME
from evaluation.iterations.tests import Game
from evaluation.text.display import counted, listed


def distinct(before: Sequence[Game], after: Sequence[Game]) -> tuple[list[Game], list[Game]] | None:
    """Both sides with the first of games that repeat each other in place of them all; ``None`` where none repeats."""
    first: dict[str, str] = {}
    for game in (*before, *after):
        first.setdefault(game.original or game.transcript_id, game.transcript_id)
    kept = {*first.values()}
    old, new = ([game for game in side if game.transcript_id in kept] for side in (before, after))
    return None if len(old) + len(new) == len(before) + len(after) else (old, new)


def reserve_words(before: Sequence[Game], after: Sequence[Game]) -> str:
    """The reserve on a comparison of games that repeat each other or are of different kinds; else empty.

    Such as "Games that repeat others nearly word for word are not evidence of their own: 2 of 6 (Game 2 · v2 and 1
    more). Not all games are alike, which may move a score, too: before 8 to 10 players, after 7 players."
    """
    return " ".join((*_repeats(before, after), *_kinds(before, after)))


def _repeats(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    if (sides := distinct(before, after)) is not None:
        kept = {game.transcript_id for side in sides for game in side}
        first, *others = (cut(one.name, LONGEST_NAME) for one in (*before, *after) if one.transcript_id not in kept)
        which = (
            f"{len(others) + 1} of {len(before) + len(after)} ({first}{f' and {len(others)} more' if others else ''})"
        )
        yield f"Games that repeat others nearly word for word are not evidence of their own: {which}."


def _kinds(before: Sequence[Game], after: Sequence[Game]) -> Iterator[str]:
    """A sentence where a game has more or fewer players than any of the other side, or a side another source."""
    sizes = [sorted({game.players for game in side if game.players}) for side in (before, after)]
    sources = [sorted({game.source for game in side if game.source}) for side in (before, after)]
    told = [
        (f"{low} to {high} players" if low < high else counted(low, "player"))
        + f" ({listed(source)})" * (sources[0] != sources[1])
        for (low, *_, high), source in zip((size * 2 for size in sizes if size), sources, strict=False)
    ]
    if len(told) == 2 and told[0] != told[1]:
        yield f"Not all games are alike, which may move a score, too: before {told[0]}, after {told[1]}."
