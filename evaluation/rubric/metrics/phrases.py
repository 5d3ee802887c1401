"""Three-word phrases of a discussion, by player: what anti-repetition counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

from evaluation.rubric.discussion import NAME, Discussion, LanguagePack, PreparedMessage, kept_with_discussion
from evaluation.score import Evidence
from evaluation.transcript import Message

WINDOW_TOKENS = 500

Phrase = tuple[str, str, str]

# What a word is: of the subject, a word of function or a number, or the game's own. Multiplied over a phrase, the
# product is 0 with any word of the subject, 1 with words of function alone, more with the game's own among them.
_SUBJECT, _FUNCTION, _GAME = 0, 1, 2
_REMEMBERED_WORDS = 65_536


@dataclass(eq=False, slots=True)
class MessagePhrases:
    """The counted phrases of one message, in order.

    Attributes:
        message: The message itself.
        prepared: The message with its words.
        phrases: The phrases.
        starts: Where each begins, as a place among the message's ``pieces``; ``None`` when none was left out.
    """

    message: Message
    prepared: PreparedMessage
    phrases: Sequence[Phrase]
    starts: Sequence[int] | None

    def evidence(self, position: int) -> Evidence:
        """The phrase at that position in the original text."""
        first = position if self.starts is None else self.starts[position]
        pieces, message = self.prepared.pieces, self.message
        start, end = pieces[first][1], pieces[first + 2][2]
        return Evidence(start, end, message.text[start:end], message.id)


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
        """Number of uses of each phrase, in order of first use."""
        return Counter(chain.from_iterable([message.phrases for message in self.messages]))

    @cached_property
    def places(self) -> Mapping[Phrase, list[tuple[MessagePhrases, int]]]:
        """Message and position of every use of the phrases that are used more than once."""
        return places_of({phrase for phrase, count in self.counts.items() if count > 1}, self.messages)


def places_of(
    wanted: set[Phrase], messages: Sequence[MessagePhrases]
) -> dict[Phrase, list[tuple[MessagePhrases, int]]]:
    """Message and position of every use of the ``wanted`` phrases, in order of first use."""
    found: dict[Phrase, list[tuple[MessagePhrases, int]]] = {}
    for message in messages if wanted else ():
        for position in [place for place, phrase in enumerate(message.phrases) if phrase in wanted]:
            found.setdefault(message.phrases[position], []).append((message, position))
    return found


@kept_with_discussion
def phrases_by_player(discussion: Discussion) -> tuple[PlayerPhrases, ...]:
    """The phrases of every player who said something, players in their order."""
    of_player: dict[str, list[MessagePhrases]] = {name: [] for name in discussion.transcript.player_names}
    for prepared in discussion.messages:
        classes = _word_classes(prepared.pack or discussion.pack)
        of_player[prepared.message.speaker].append(_message_phrases(prepared, classes))
    return tuple(PlayerPhrases(name, tuple(messages)) for name, messages in of_player.items() if messages)


def is_telling(phrase: Phrase, pack: LanguagePack | None) -> bool:
    """Whether a counted phrase is more than words of function."""
    classes = _word_classes(pack)
    return any(classes[word] == _SUBJECT for word in phrase)


def in_order(discussion: Discussion, players: Sequence[PlayerPhrases]) -> list[MessagePhrases]:
    """The messages of all players in the order in which they were sent."""
    queues = {player.player: iter(player.messages) for player in players}
    return [next(queues[prepared.message.speaker]) for prepared in discussion.messages]


def windowed_rate(discussion: Discussion, players: tuple[PlayerPhrases, ...]) -> tuple[float | None, int]:
    """The repetition rate in percent, every window of 500 tokens counted for itself, and the number of windows.

    A window closes with the message that fills it; what remains at the end is left out unless it is the only one. The
    longer a text, the more of it repeats: this rate compares long games with short ones. ``None`` without phrases.
    """
    messages = in_order(discussion, players)
    counted = distinct = windows = filled = 0
    seen: dict[str, set[Phrase]] = {}
    uses = 0
    for position, message in enumerate(messages):
        filled += len(message.prepared.pieces)
        uses += len(message.phrases)
        seen.setdefault(message.message.speaker, set()).update(message.phrases)
        is_last = position + 1 == len(messages)
        if filled >= WINDOW_TOKENS or (is_last and not windows):
            counted += uses
            distinct += sum(map(len, seen.values()))
            windows += 1
            filled = uses = 0
            seen.clear()
    return (100.0 * (counted - distinct) / counted if counted else None), windows


class _WordClasses(dict[str, int]):
    """The class of each word of a language; fills itself as words are met."""

    def __init__(self, pack: LanguagePack | None) -> None:
        super().__init__()
        self._game_terms = (pack.game_terms if pack else frozenset()) | {NAME}
        self._function_words = pack.function_words if pack else frozenset()

    def __missing__(self, word: str) -> int:
        if word in self._game_terms or word.removesuffix("'s") in self._game_terms:
            found = _GAME
        else:
            found = _FUNCTION if word in self._function_words or word.isdigit() else _SUBJECT
        if len(self) >= _REMEMBERED_WORDS:
            self.clear()
        self[word] = found
        return found


@cache
def _word_classes(pack: LanguagePack | None) -> _WordClasses:
    return _WordClasses(pack)


def _message_phrases(prepared: PreparedMessage, classes: _WordClasses) -> MessagePhrases:
    words = [piece[0] for piece in prepared.pieces]
    phrases: Sequence[Phrase] = list(zip(words, words[1:], words[2:], strict=False))
    marks = [*map(classes.__getitem__, words)]
    if _GAME not in marks:
        return MessagePhrases(prepared.message, prepared, phrases, None)
    of_three = zip(marks, marks[1:], marks[2:], strict=False)
    starts = [start for start, (one, two, three) in enumerate(of_three) if one * two * three < _GAME]
    if len(starts) == len(phrases):
        return MessagePhrases(prepared.message, prepared, phrases, None)
    return MessagePhrases(prepared.message, prepared, [phrases[start] for start in starts], starts)
