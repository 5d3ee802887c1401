"""A transcript in the order in which it is read: rounds, messages, votes and eliminations in their places."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.text.display import counted, listed
from evaluation.transcript import Elimination, Message, Transcript, Vote


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something between the messages.

    Attributes:
        kind: ``round``, ``votes`` or ``elimination``.
    """

    kind: str
    title: str
    lines: tuple[str, ...] = ()


Entry = TimelineEvent | Message


def timeline(transcript: Transcript, *, roles_hidden: bool, public_only: bool = False) -> list[Entry]:
    """The entries from top to bottom.

    Args:
        transcript: What to read.
        roles_hidden: Leave out what would tell a role: revealed roles, team and private chat, the moderator, votes at
            night.
        public_only: Besides, leave out votes: just the discussion and who left the game.
    """
    events = _events_by_place(transcript, roles_hidden, public_only)
    entries: list[Entry] = list(events.get(-1, ()))
    heading: object = None
    for message in transcript.messages:
        if not _hidden(message, roles_hidden):
            # A phase that opens no new round gets no heading: the discussion goes on.
            if message.round is not None and message.round != heading:
                heading = message.round
                entries.append(TimelineEvent("round", f"Round {message.round}"))
            entries.append(message)
        entries.extend(events.get(message.index, ()))
    return entries


def _hidden(message: Message, roles_hidden: bool) -> bool:
    return message.is_control or not message.text.strip() or (roles_hidden and message.channel != "public")


def _events_by_place(transcript: Transcript, roles_hidden: bool, public_only: bool) -> dict[int, list[TimelineEvent]]:
    places: dict[int, list[TimelineEvent]] = defaultdict(list)
    ballots = [] if public_only else list(_ballots(transcript.valid_votes))
    for round_, phase, votes in ballots:
        if not (roles_hidden and _is_night(phase)):
            places[_place(transcript, round_, phase)].append(_ballot_event(round_, votes, is_night=_is_night(phase)))
    for elimination in transcript.eliminations:
        place = _place(transcript, elimination.round, elimination.phase)
        places[place].append(_elimination_event(elimination, ballots, roles_hidden))
    return places


Ballot = tuple[int | None, str | None, list[Vote]]
"""Round, phase and votes."""


def _ballots(votes: Sequence[Vote]) -> Iterator[Ballot]:
    groups: dict[tuple[int | None, str | None], list[Vote]] = defaultdict(list)
    for vote in votes:
        groups[vote.round, vote.phase].append(vote)
    for (round_, phase), ballot in groups.items():
        yield round_, phase, ballot


def _place(transcript: Transcript, round_: int | None, phase: str | None) -> int:
    """The index of the message after which it happened; -1 stands for before the first."""
    if round_ is None:
        return len(transcript.messages) - 1
    same_phase = same_round = earlier = -1
    for message in transcript.messages:
        if message.round == round_:
            same_round = message.index
            if message.phase == phase:
                same_phase = message.index
        elif message.round is not None and message.round < round_:
            earlier = message.index
    if same_phase >= 0:
        return same_phase
    return same_round if same_round >= 0 else earlier


def _ballot_event(round_: int | None, votes: Sequence[Vote], *, is_night: bool) -> TimelineEvent:
    voters: dict[str | None, list[str]] = defaultdict(list)
    for vote in votes:
        voters[vote.target].append(vote.voter)
    ranked = sorted(voters.items(), key=lambda item: (item[0] is None, -len(item[1])))
    verb = "choose" if is_night else "vote for"
    lines = tuple(_vote_line(names, verb, target, len(votes)) for target, names in ranked)
    title = f"{'Choices at night' if is_night else 'Votes'}{'' if round_ is None else f' in round {round_}'}"
    return TimelineEvent("votes", title, lines)


def _vote_line(voters: Sequence[str], verb: str, target: str | None, of: int) -> str:
    """ "Tyler and Eve vote for Anna (2 of 5)"; "Tyler chooses Anna (1 of 1)"."""
    first, *rest = verb.split()
    said = " ".join((f"{first}s" if len(voters) == 1 else first, *rest))
    return f"{listed(voters)} {said} {target or 'nobody'} ({len(voters)} of {of})"


def _elimination_event(elimination: Elimination, ballots: Sequence[Ballot], roles_hidden: bool) -> TimelineEvent:
    is_night = _is_night(elimination.phase)
    role = f" ({elimination.role})" if elimination.role and not roles_hidden else ""
    how = " at night" if is_night else _vote_words(elimination, ballots)
    return TimelineEvent("elimination", f"{elimination.player}{role} left the game{how}")


def _vote_words(elimination: Elimination, ballots: Sequence[Ballot]) -> str:
    """ ", voted out with 3 of 5 votes" where the round's votes by day were mostly for the player; else nothing."""
    for round_, phase, votes in ballots:
        counts = Counter(vote.target for vote in votes)
        own = counts[elimination.player]
        if round_ == elimination.round and not _is_night(phase) and own and own == max(counts.values()):
            return f", voted out with {own} of {counted(len(votes), 'vote')}"
    return ""


def _is_night(phase: str | None) -> bool:
    return phase is not None and "night" in phase.casefold()
