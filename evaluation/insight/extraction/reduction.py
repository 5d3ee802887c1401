"""A discussion reduced to a table by rules, one for each type of message.

Source: ADR-010, ``ResultsReducer``; TinyTroupe's rules by action type, with the same arguments as one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.errors import InputError
from evaluation.transcript import Elimination, Message, Transcript, Vote

VOTE = "vote"
ELIMINATION = "elimination"
THOUGHT = "thought"
MESSAGE_TYPES = ("public", "team", "private", "system", THOUGHT, VOTE, ELIMINATION)
"""What rules are for: the four channels, private thoughts that reach nobody, votes and eliminations."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReducedEvent:
    """One thing that happened.

    Attributes:
        type: One of ``MESSAGE_TYPES``.
        kind: "action" when the focus agent did it, "stimulus" when it reached them; "action" without a focus.
        source_agent: Who did it; for an elimination who left.
        target_agents: Whom it is for; empty for everybody.
        content: The words, or the reason of a vote; untrusted text.
        timestamp: When, where that is known.
        round: In which round, where that is known.
        message_id: The message; ``None`` for votes and eliminations.
    """

    type: str
    kind: str
    source_agent: str
    target_agents: tuple[str, ...]
    content: str
    timestamp: datetime | None
    round: int | None
    message_id: str | None


Rule = Callable[[ReducedEvent], Mapping[str, Any] | None]
"""Makes a row of an entry, or ``None`` to leave it out."""


class ResultsReducer:
    """Applies rules; what has no rule is left out."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def add_reduction_rule(self, message_type: str, rule: Rule) -> None:
        """Makes ``rule`` the one for a type of message.

        Raises:
            InputError: There is no such type, or it has a rule already.
        """
        if message_type not in MESSAGE_TYPES:
            remedy = f"Take one of {', '.join(MESSAGE_TYPES)}."
            raise InputError(f"There are no messages of type {message_type!r}.", remedy=remedy)
        if message_type in self._rules:
            raise InputError(f"The type {message_type!r} has a rule already.", remedy="Give one rule for each type.")
        self._rules[message_type] = rule

    def reduce(self, transcript: Transcript, focus_agent: str | None = None) -> list[Row]:
        """One row for each entry whose rule gives one: messages in order, then votes, then eliminations.

        Args:
            transcript: What to reduce.
            focus_agent: Only what this player did or what reached them; everything when left out.

        Raises:
            InputError: Nobody of the name ``focus_agent`` plays or speaks.
        """
        if focus_agent is not None and focus_agent not in (
            known := dict.fromkeys([*transcript.player_names, *(one.speaker for one in transcript.messages)])
        ):
            remedy = f"Take one of {', '.join(known)}."
            raise InputError(f"Nobody is called {focus_agent!r} in game {transcript.game_id}.", remedy=remedy)
        made = (self._rules[entry.type](entry) for entry in _seen(transcript, focus_agent) if entry.type in self._rules)
        return [dict(row) for row in made if row is not None]

    def reduce_to_table(
        self, transcript: Transcript, columns: Sequence[str], focus_agent: str | None = None
    ) -> list[tuple[Any, ...]]:
        """The same as tuples of these columns; ``None`` where a row has no such value."""
        return [tuple(row.get(column) for column in columns) for row in self.reduce(transcript, focus_agent)]


def _seen(transcript: Transcript, focus: str | None) -> Iterator[ReducedEvent]:
    for entry in _entries(transcript):
        if focus is None or entry.source_agent == focus:
            yield entry
        elif _reaches(entry, focus):
            yield ReducedEvent(
                entry.type,
                "stimulus",
                entry.source_agent,
                entry.target_agents,
                entry.content,
                entry.timestamp,
                entry.round,
                entry.message_id,
            )


def _reaches(entry: ReducedEvent, focus: str) -> bool:
    if entry.type in ("private", "team"):
        return focus in entry.target_agents
    return entry.type in ("public", "system", ELIMINATION) or focus in entry.target_agents


def _entries(transcript: Transcript) -> Iterator[ReducedEvent]:
    yield from map(_message, transcript.messages)
    yield from map(_vote, transcript.valid_votes)
    yield from map(_elimination, transcript.eliminations)


def _message(one: Message) -> ReducedEvent:
    kind = THOUGHT if one.is_thought else one.channel
    return ReducedEvent(kind, "action", one.speaker, one.recipients, one.text, one.sent_at, one.round, one.id)


def _vote(one: Vote) -> ReducedEvent:
    targets = () if one.target is None else (one.target,)
    return ReducedEvent(VOTE, "action", one.voter, targets, one.justification or "", one.sent_at, one.round, None)


def _elimination(one: Elimination) -> ReducedEvent:
    return ReducedEvent(ELIMINATION, "action", one.player, (), one.role or "", one.sent_at, one.round, None)


def counting_reducer() -> ResultsReducer:
    """A reducer that gives type, source and length of every entry, for ``counts_by_type``."""
    reducer = ResultsReducer()
    for message_type in MESSAGE_TYPES:
        reducer.add_reduction_rule(
            message_type,
            lambda entry: {"type": entry.type, "agent": entry.source_agent, "characters": len(entry.content)},
        )
    return reducer


def counts_by_type(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Count each agent's acts by type: ``agent``, ``type``, ``count``, ``characters``, in order of appearance."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row["agent"], row["type"])
        one = found.setdefault(key, {"agent": key[0], "type": key[1], "count": 0, "characters": 0})
        one["count"] += 1
        one["characters"] += row["characters"]
    return list(found.values())
