"""Derive eliminations from votes in files that record none (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from evaluation.transcript import Elimination, Transcript, Vote

_NIGHT = "night"
_LEAST_TURNOUT = 0.5


class DerivedElimination(NamedTuple):
    """A player whom the votes of a round show as voted out.

    Attributes:
        elimination: The event as the file would have recorded it.
        vote_id: One of the votes against the player.
        against: Votes against the player.
        cast: Votes cast in that round, abstentions included.
    """

    elimination: Elimination
    vote_id: str
    against: int
    cast: int


def derive_eliminations(transcript: Transcript) -> tuple[DerivedElimination, ...]:
    """The players voted out, by round; none where the file records any elimination.

    In a round in which at least half of the living players voted by day (a vote without a phase counts as one), the
    player with strictly the most votes is out, unless they speak in public or vote in a later round, or the file calls
    them alive.
    """
    if transcript.eliminations:
        return ()
    last_seen = _last_rounds(transcript)
    living = {player.name: player.is_alive for player in transcript.players}
    found: list[DerivedElimination] = []
    for number, votes in sorted(_votes_by_day(transcript).items()):
        voters = {vote.voter for vote in votes}
        counts = Counter(vote.target for vote in votes if vote.target is not None).most_common(2)
        if not counts or len(voters & living.keys()) < _LEAST_TURNOUT * len(living):
            continue
        (player, against), *rest = counts
        is_tied = bool(rest) and rest[0][1] == against
        if is_tied or player not in living or living[player] is True or last_seen.get(player, number) > number:
            continue
        del living[player]
        event = Elimination(round=number, phase="day", player=player, sent_at=_end_of(votes))
        vote_id = next(vote.id for vote in votes if vote.target == player)
        found.append(DerivedElimination(event, vote_id, against, len(votes)))
    return tuple(found)


def _votes_by_day(transcript: Transcript) -> Mapping[int, list[Vote]]:
    found: dict[int, list[Vote]] = {}
    for vote in transcript.valid_votes:
        if vote.round is not None and _NIGHT not in (vote.phase or "").casefold():
            found.setdefault(vote.round, []).append(vote)
    return found


def _last_rounds(transcript: Transcript) -> Mapping[str, int]:
    """Player -> the last round in which they spoke in public or voted."""
    last: dict[str, int] = {}
    acts = [(message.speaker, message.round) for message in transcript.discussion]
    for name, number in (*acts, *((vote.voter, vote.round) for vote in transcript.valid_votes)):
        if number is not None:
            last[name] = max(number, last.get(name, number))
    return last


def _end_of(votes: list[Vote]) -> datetime | None:
    """The time of the last vote; ``None`` unless every vote carries a time of the same kind."""
    times = [vote.sent_at for vote in votes if vote.sent_at is not None]
    is_comparable = len(times) == len(votes) and len({time.tzinfo is None for time in times}) == 1
    return max(times) if is_comparable else None
