"""Three-word phrases of a discussion, by player: what anti-repetition counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.transcript import Message

NAME = "NAME"
"""Stands for any mention of any player, so that "I think Bravo is" repeats "I think Echo is"."""

WINDOW_TOKENS = 500

Phrase = tuple[str, str, str]


@dataclass(frozen=True)
class MessagePhrases:
    """The phrases of one message, in order. ``spans`` are those of its words, a mention being one word."""

    message: Message
    spans: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    phrases: tuple[Phrase, ...]

    def span(self, position: int) -> tuple[int, int]:
        """Where the phrase at that position stands in the original text."""
        first = self.starts[position]
        return self.spans[first][0], self.spans[first + 2][1]


@dataclass(frozen=True)
class PlayerPhrases:
    """All counted phrases of one player.

    Attributes:
        player: The player's name.
        messages: The player's messages in order, those without a counted phrase included.
    """

    player: str
    messages: tuple[MessagePhrases, ...]

    @cached_property
    def counts(self) -> Counter[Phrase]:
        """How often each phrase is used, in order of first use."""
        counts: Counter[Phrase] = Counter()
        for message in self.messages:
            counts.update(message.phrases)
        return counts

    @cached_property
    def places(self) -> Mapping[Phrase, list[tuple[MessagePhrases, int]]]:
        """Message and position of every use of the phrases that are used more than once."""
        found: dict[Phrase, list[tuple[MessagePhrases, int]]] = {p: [] for p, count in self.counts.items() if count > 1}
        for message in self.messages:
            for position, phrase in enumerate(message.phrases):
                if phrase in found:
                    found[phrase].append((message, position))
        return found


def phrases_by_player(discussion: Discussion) -> tuple[PlayerPhrases, ...]:
    """The phrases of every player who said something, players in their order."""
    terms = (discussion.pack.game_terms if discussion.pack else frozenset()) | {NAME}
    of_player: dict[str, list[MessagePhrases]] = {name: [] for name in discussion.transcript.player_names}
    for prepared in discussion.messages:
        of_player[prepared.message.speaker].append(_message_phrases(prepared, terms))
    return tuple(PlayerPhrases(name, tuple(messages)) for name, messages in of_player.items() if messages)


def windowed_rate(discussion: Discussion, players: tuple[PlayerPhrases, ...]) -> tuple[float | None, int]:
    """The repetition rate in percent, every window of 500 tokens counted for itself, and the number of windows.

    A window closes with the message that fills it; what remains at the end is left out unless it is the only one. The
    longer a text, the more of it repeats: this rate compares long games with short ones. ``None`` without phrases.
    """
    queues = {player.player: iter(player.messages) for player in players}
    in_order = [next(queues[prepared.message.speaker]) for prepared in discussion.messages]
    counted = distinct = windows = filled = 0
    seen: dict[str, set[Phrase]] = {}
    uses = 0
    for position, message in enumerate(in_order):
        filled += len(message.spans)
        uses += len(message.phrases)
        seen.setdefault(message.message.speaker, set()).update(message.phrases)
        is_last = position + 1 == len(in_order)
        if filled >= WINDOW_TOKENS or (is_last and not windows):
            counted += uses
            distinct += sum(map(len, seen.values()))
            windows += 1
            filled = uses = 0
            seen.clear()
    return (100.0 * (counted - distinct) / counted if counted else None), windows


def _message_phrases(prepared: PreparedMessage, terms: frozenset[str]) -> MessagePhrases:
    words, spans = _words_and_names(prepared)
    phrases: tuple[Phrase, ...] = tuple(zip(words, words[1:], words[2:], strict=False))
    starts = tuple(range(len(phrases)))
    # A phrase of three terms needs three terms, most messages have fewer.
    if len([word for word in words if word in terms]) >= 3:
        starts = tuple([start for start in starts if not terms.issuperset(phrases[start])])
        phrases = tuple([phrases[start] for start in starts])
    return MessagePhrases(prepared.message, tuple(spans), starts, phrases)


def _words_and_names(prepared: PreparedMessage) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a message in order, every mention as one ``NAME``, with their spans."""
    if not prepared.mentions:
        return [token.text for token in prepared.tokens], [(token.start, token.end) for token in prepared.tokens]
    plain = [(token.start, token.end, token.text) for token in prepared.plain_tokens]
    names = [(mention.start, mention.end, NAME) for mention in prepared.mentions]
    in_order = sorted(plain + names)
    return [word for _, _, word in in_order], [(start, end) for start, end, _ in in_order]
