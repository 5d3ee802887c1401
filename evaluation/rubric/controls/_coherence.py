"""Coherence of the same messages in another order.

:class:`Orders` repeats the rule of ``evaluation.rubric.metrics.coherence`` on the links between two messages, which no
order changes. ``tests/unit/rubric/test_controls.py`` checks that both give the same scores. :class:`ReadOrders` has the
reader read each order, which takes fifty times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

from evaluation.rubric._language_pack import LanguagePack
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.metrics.coherence import (
    SHARED_KEYWORDS,
    Place,
    addresses,
    is_first_person,
    is_introduction,
    is_question,
    opens_as_answer,
    places,
    repeats,
    reply_phrase,
    rule_rows,
)
from evaluation.rubric.reader.decisions import coherence_rows
from evaluation.rubric.reader.model import Reader


class ReadOrders:
    """The messages of a discussion, ready to be read in any order and scored by the reader's decisions.

    Args:
        discussion: Of at least two messages, in a language that has a pack.
        reader: Who reads.
    """

    def __init__(self, discussion: Discussion, reader: Reader) -> None:
        self._discussion = discussion
        self._reader = reader

    def score(self, order: Sequence[int]) -> float:
        """The score in percent; rounds stay where they were. 0 where nothing has to answer."""
        messages = self._discussion.messages
        moved = tuple(_in_round(messages[source], messages[place].message.round) for place, source in enumerate(order))
        discussion = replace(self._discussion, messages=moved)
        rows = list(coherence_rows(rule_rows(discussion), discussion, self._reader))
        asked = sum(row.denominator for row in rows)
        return 100.0 * sum(row.numerator for row in rows) / asked if asked else 0.0


def _in_round(prepared: PreparedMessage, number: int | None) -> PreparedMessage:
    if prepared.message.round == number:
        return prepared
    # A copy, so that what was computed of its words need not be computed again.
    moved = copy(prepared)
    moved.message = prepared.message.model_copy(update={"round": number})
    return moved


@dataclass(frozen=True, slots=True)
class _Signs:
    """Signs of a message that do not depend on its place.

    Attributes:
        prepared: The message.
        named: The other players that it names.
        is_introduction: Whether the speaker gives the own name.
        may_answer: Whether the speaker speaks of themselves, or opens as an answer.
        opens_as_reply: Whether it opens with a phrase of reply.
        asks_anybody: Whether it asks a question that may be meant for whoever speaks next.
    """

    prepared: PreparedMessage
    named: frozenset[str]
    is_introduction: bool
    may_answer: bool
    opens_as_reply: bool
    asks_anybody: bool

    @classmethod
    def of(cls, prepared: PreparedMessage, pack: LanguagePack) -> _Signs:
        asks_another = bool(prepared.named) and bool(addresses(prepared, pack))
        return cls(
            prepared,
            prepared.named - {prepared.message.speaker},
            is_introduction(prepared, pack),
            opens_as_answer(prepared, pack) or is_first_person(prepared, pack),
            bool(reply_phrase(prepared, pack)),
            is_question(prepared, pack) and not asks_another,
        )


class _Pair(NamedTuple):
    """Links of a message to an earlier one.

    Attributes:
        is_named: Whether it names the other's author, or somebody whom the other names.
        names_speaker: Whether the other names its speaker.
        shared: The keywords that both hold, one bit for each keyword of the message.
    """

    is_named: bool
    names_speaker: bool
    shared: int


class Orders:
    """The messages of a discussion, ready to be scored in any order.

    Args:
        discussion: Of at least two messages, in a language that has a pack.
    """

    def __init__(self, discussion: Discussion) -> None:
        assert discussion.pack is not None
        self._signs = [_Signs.of(prepared, prepared.pack or discussion.pack) for prepared in discussion.messages]
        self._speakers = [prepared.message.speaker for prepared in discussion.messages]
        self._numbers = [prepared.message.round for prepared in discussion.messages]
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._repeats: dict[tuple[int, int], bool] = {}

    def score(self, order: Sequence[int]) -> float:
        """The score in percent, reply ids left out; rounds stay where they were. 0 where nothing has to answer.

        Args:
            order: For each place, which message stands there.
        """
        found = enumerate(places([self._speakers[source] for source in order], self._numbers))
        asked = [(position, place) for position, place in found if place.context]
        answering = sum(self._answers(order, position, place) for position, place in asked)
        return 100.0 * answering / len(asked) if asked else 0.0

    def _answers(self, order: Sequence[int], position: int, place: Place) -> bool:
        """Whether the message, which has a context, counts in one of the ways that need no reply id."""
        message = order[position]
        pairs = [self._pair(message, order[other]) for other in place.context]
        if not any(pair.is_named for pair in pairs) and not self._answers_unnamed(order, message, place, pairs):
            return False
        return not any(self._is_repeated(message, order[earlier]) for earlier in place.own)

    def _answers_unnamed(self, order: Sequence[int], message: int, place: Place, pairs: Sequence[_Pair]) -> bool:
        """Whether it answers by topic, as an answer or by its phrase of reply."""
        signs = self._signs[message]
        if signs.is_introduction:
            return False
        shared = 0
        for pair in pairs:
            shared |= pair.shared
        if shared.bit_count() >= SHARED_KEYWORDS:
            return True
        if signs.may_answer:
            is_asked = not place.is_run and self._signs[order[place.context[0]]].asks_anybody
            if is_asked or any(pair.names_speaker for pair in pairs):
                return True
        return signs.opens_as_reply and not place.is_run and place.is_same_round

    def _pair(self, message: int, other: int) -> _Pair:
        found = self._pairs.get((message, other))
        if found is None:
            one, before = self._signs[message], self._signs[other].prepared
            is_named = before.message.speaker in one.named or not one.named.isdisjoint(before.named)
            topics = enumerate(one.prepared.topics)
            shared = sum(1 << place for place, topic in topics if topic in before.topics)
            found = _Pair(is_named, one.prepared.message.speaker in before.named, shared)
            self._pairs[message, other] = found
        return found

    def _is_repeated(self, message: int, earlier: int) -> bool:
        found = self._repeats.get((message, earlier))
        if found is None:
            found = repeats(self._signs[message].prepared, [self._signs[earlier].prepared])
            self._repeats[message, earlier] = found
        return found
