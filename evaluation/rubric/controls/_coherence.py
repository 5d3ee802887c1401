"""Coherence of the same messages in another order, computed from what each message holds.

The seam: :func:`coherence_score` repeats the rule of ``evaluation.rubric.coherence`` without reply ids, on sets packed
into integers. ``tests/unit/test_controls.py`` holds it to what the metric itself says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.rubric.coherence import WINDOW, topic_table, topics_of
from evaluation.rubric.discussion import Discussion
from evaluation.text.aliases import NameWords

_SHARED_KEYWORDS = 2


@dataclass(frozen=True, slots=True)
class LinkedMessage:
    """A message as the rule sees it: ``speaker`` is one bit, ``named`` the bits of players, ``topics`` of stems."""

    speaker: int
    named: int
    topics: int


def linked_messages(discussion: Discussion) -> list[LinkedMessage]:
    """The public messages of a discussion in a language that has a pack."""
    players = {name: 1 << place for place, name in enumerate(discussion.transcript.player_names)}
    table = topic_table(discussion.language)
    both = [frozenset(word + ending for word in words for ending in ("", "'s")) for words in discussion.names.words]
    of_names = NameWords(*both)
    bits: dict[str, int] = {}
    found = []
    for prepared in discussion.messages:
        topics = named = 0
        for topic in topics_of(prepared, table, of_names):
            topics |= bits.setdefault(topic, 1 << len(bits))
        for mention in prepared.mentions:
            named |= players[mention.player]
        found.append(LinkedMessage(players[prepared.message.speaker], named, topics))
    return found


def coherence_score(messages: Sequence[LinkedMessage], order: Sequence[int]) -> float:
    """The score in percent of at least two messages in that order, reply ids left out."""
    ordered = [messages[place] for place in order]
    linked = sum(
        _is_linked(ordered[place], ordered[max(0, place - WINDOW) : place]) for place in range(1, len(ordered))
    )
    return 100.0 * linked / (len(ordered) - 1)


def _is_linked(message: LinkedMessage, before: Sequence[LinkedMessage]) -> bool:
    authors = topics = 0
    for other in before:
        if other.speaker != message.speaker:
            authors |= other.speaker
            topics |= other.topics
    return bool(message.named & authors) or (message.topics & topics).bit_count() >= _SHARED_KEYWORDS
