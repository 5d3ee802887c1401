"""The record of a game at the time of a message: votes, eliminations and earlier statements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from evaluation.rubric._grammar import read_data
from evaluation.rubric.speech import ActKind, Reading, SpeechAct
from evaluation.transcript import Alignment, Elimination, Message, Player, Transcript, Vote

_NOT_A_LETTER = re.compile(r"[^a-z]+")


def knows_ally(player: Player, other: Player) -> bool:
    """Whether ``player`` knows that ``other`` is on the same, evil side; a player without a role name does.

    Mafia and werewolves know each other; AIWolf's Possessed and the werewolves do not; a Minion of One Night knows the
    werewolves, who do not know the Minion; in Avalon nobody knows Oberon, and Oberon knows nobody.
    """
    if player.alignment != "mafia" or other.alignment != "mafia":
        return False
    return _kind(player.role or "") != "strangers" and _kind(other.role or "") not in ("strangers", "one_way")


def shown_side(role: str, player: Player, source_format: str) -> Alignment | None:
    """The side that a game shows when it reveals ``role``: the player's own, unless it shows that role as another."""
    tables = _data()["shown_as"]
    table: Mapping[str, Alignment] = tables["every"] | tables.get(source_format, {})
    return table.get(_normal(role)) or player.alignment


@lru_cache(maxsize=1024)
def sees_at_night(role: str) -> bool:
    """Whether a role, in the singular or plural, learns of another player at night, as the Seer does."""
    return _normal(role).removesuffix("s") in _data()["seeing"]


@cache
def _data() -> Any:
    return read_data("role_knowledge.yaml")


@lru_cache(maxsize=1024)
def _kind(role: str) -> str:
    """``mutual``, ``strangers`` or ``one_way``; a name that is listed as a whole goes before its words."""
    name = _normal(role)
    kinds = ("mutual", "strangers", "one_way")
    for kind in kinds:
        if name in _data()[kind]:
            return kind
    return next((kind for kind in kinds[1:] if not set(name.split()).isdisjoint(_data()[kind])), "mutual")


def _normal(role: str) -> str:
    return " ".join(_NOT_A_LETTER.sub(" ", role.casefold()).split())


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


class PastVote(NamedTuple):
    """A vote that had been cast, or may have been, when a message was sent."""

    vote: Vote
    is_certain: bool


class PastElimination(NamedTuple):
    """A player who had left the game, or may have, when a message was sent."""

    elimination: Elimination
    is_certain: bool


class PastAct(NamedTuple):
    """A speech act in an earlier message."""

    message: Message
    act: SpeechAct


class Record:
    """The events of a transcript, asked from the standpoint of one of its messages.

    Args:
        transcript: Where the events come from; of several votes by a voter in a round and phase the last one stands.
        readings: Its public messages as read; also an attribute.
    """

    def __init__(self, transcript: Transcript, readings: Sequence[Reading]) -> None:
        self.transcript = transcript
        self.has_votes = bool(transcript.votes)
        self.has_eliminations = bool(transcript.eliminations)
        self.readings = readings
        self._eliminations: dict[str, list[Elimination]] = defaultdict(list)
        for elimination in transcript.eliminations:
            self._eliminations[elimination.player].append(elimination)
        rounds = [message.round for message in transcript.messages]
        rounds += [vote.round for vote in transcript.votes]
        rounds += [elimination.round for elimination in transcript.eliminations]
        self.first_round = min((number for number in rounds if number is not None), default=None)

    @cached_property
    def derived(self) -> Mapping[str, DerivedElimination]:
        """Player -> the vote that shows them voted out, in files that record no elimination."""
        return {one.elimination.player: one for one in derive_eliminations(self.transcript)}

    def derived_elimination(self, message: Message, player: str) -> DerivedElimination | None:
        """The derived elimination of ``player``, if it lies before ``message`` for certain."""
        found = self.derived.get(player)
        if found is None:
            return None
        return found if _is_before(found.elimination.round, found.elimination.sent_at, message) else None

    def is_gone(self, message: Message, player: str) -> bool:
        """Whether a file without eliminations shows that ``player`` left in a round before that of ``message``."""
        if self.has_eliminations or message.round is None:
            return False
        is_out = self.player(player).is_alive is False and self._last_rounds.get(player, message.round) < message.round
        return is_out or self.derived_elimination(message, player) is not None

    @cached_property
    def _last_rounds(self) -> Mapping[str, int]:
        return _last_rounds(self.transcript)

    def living(self, round_number: int | None) -> set[str]:
        """The players whom no elimination of a round before ``round_number`` took out."""
        gone = {
            event.player
            for event in self.transcript.eliminations
            if event.round is not None and round_number is not None and event.round < round_number
        }
        return set(self.transcript.player_names) - gone

    def votes(self, message: Message, round_number: int | None = None) -> list[PastVote]:
        """The votes cast before ``message``, in order; of one round when it is given.

        Votes of which the order is unclear are among them, marked as uncertain.
        """
        found: list[PastVote] = []
        for vote in self.transcript.valid_votes:
            if round_number is not None and vote.round != round_number:
                continue
            is_before = _is_before(vote.round, vote.sent_at, message)
            if is_before is not False:
                found.append(PastVote(vote, bool(is_before)))
        return found

    def eliminations(self, message: Message, player: str | None = None) -> list[PastElimination]:
        """The eliminations before ``message``, of ``player`` or of anybody."""
        events: Iterable[Elimination] = (
            self.transcript.eliminations if player is None else self._eliminations.get(player, ())
        )
        ordered = ((event, _is_before(event.round, event.sent_at, message)) for event in events)
        return [PastElimination(event, bool(is_before)) for event, is_before in ordered if is_before is not False]

    def player(self, name: str) -> Player:
        """The player of that name."""
        return self.transcript.player(name)

    def earlier(self, message: Message, round_number: int | None = None) -> Iterator[Reading]:
        """The readings of the public messages before ``message``, latest first; of one round when it is given."""
        count = bisect_left(self.readings, message.index, key=lambda reading: reading.message.index)
        for reading in reversed(self.readings[:count]):
            if round_number is None or reading.message.round == round_number:
                yield reading

    def acts(
        self,
        message: Message,
        kinds: Collection[ActKind],
        actors: Collection[str] | None,
        target: str | None,
        round_number: int | None = None,
    ) -> Iterator[PastAct]:
        """The speech acts of these kinds before ``message``, latest first.

        Args:
            message: The standpoint.
            kinds: The kinds wanted.
            actors: By whom; ``None`` for anybody.
            target: At whom; ``None`` for anybody.
            round_number: Only in this round, when given.
        """
        for reading in self.earlier(message, round_number):
            if actors is None or reading.message.speaker in actors:
                for act in reading.acts:
                    if act.kind in kinds and (target is None or act.target == target):
                        yield PastAct(reading.message, act)


def _is_before(round_number: int | None, sent_at: datetime | None, message: Message) -> bool | None:
    """Whether an event lies before a message: by round where both carry one, within a round by time.

    ``None`` where that is unclear: in the same round when one of both carries no time.
    """
    if round_number is not None and message.round is not None and round_number != message.round:
        return round_number < message.round
    if sent_at is None or message.sent_at is None or (sent_at.tzinfo is None) != (message.sent_at.tzinfo is None):
        return None
    return sent_at < message.sent_at
