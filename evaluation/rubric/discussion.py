"""What the discussion metrics share: the public messages of a transcript as words and mentions, prepared once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from evaluation.rubric.language_pack import LanguagePack, language_pack
from evaluation.text.language import detect_language, language_code
from evaluation.text.names import Mention, NameIndex
from evaluation.text.tokens import Token, tokenize
from evaluation.transcript import Message, Transcript

# Written without spaces between words, so that words cannot be told without a dictionary.
_UNSPACED_LANGUAGES = frozenset({"ja", "zh", "th", "lo", "km", "my", "bo", "dz"})
# Metrics of one transcript are computed one after the other; few transcripts are in work at a time.
_KEPT = 2
_START, _END = itemgetter(1), itemgetter(2)


class PreparedMessage(NamedTuple):
    """A public message with its words and the players it names.

    Attributes:
        message: The message itself.
        body_start: Where the message begins after the speaker's own name as a prefix ("Agent-E: ..."), in code points.
        tokens: The words from there on.
        mentions: The players named from there on.
        plain_tokens: The words outside of mentions.
    """

    message: Message
    body_start: int
    tokens: tuple[Token, ...]
    mentions: tuple[Mention, ...]
    plain_tokens: tuple[Token, ...]


@dataclass(frozen=True, eq=False)
class Discussion:
    """The public discussion of a transcript, prepared for the metrics.

    Attributes:
        transcript: Where it comes from.
        names: Finds the players' names.
        language: ISO 639-1 code: the transcript's own, or the one detected.
        pack: The keywords of that language, ``None`` where none ship.
        messages: What counts: public, by players, no control words, in order.
    """

    transcript: Transcript
    names: NameIndex
    language: str
    pack: LanguagePack | None
    messages: tuple[PreparedMessage, ...]

    @classmethod
    def of(cls, transcript: Transcript) -> Discussion:
        """The discussion of ``transcript``; the few asked for last are kept."""
        return _discussion(_ByIdentity(transcript))

    @property
    def unsupported_language(self) -> str:
        """Why the keyword metrics cannot be asked of it ("unsupported language: de"); empty when they can."""
        return "" if self.pack else f"unsupported language: {self.language}"

    @property
    def without_words(self) -> str:
        """Why metrics on words cannot be asked of it; empty when they can."""
        if self.language in _UNSPACED_LANGUAGES:
            return f"unsupported language: {self.language} is written without spaces between words"
        return ""


class _ByIdentity:
    """A cache key equal only for the very same transcript: comparing contents would cost more than preparing."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    def __hash__(self) -> int:
        return id(self.transcript)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.transcript is self.transcript


@lru_cache(maxsize=_KEPT)
def _discussion(key: _ByIdentity) -> Discussion:
    transcript = key.transcript
    names = NameIndex.of(transcript.player_names)
    messages = tuple([_prepare(message, names) for message in transcript.discussion])
    given = transcript.language
    language = language_code(given) if given else detect_language(message.text for message in transcript.discussion)
    return Discussion(transcript, names, language, language_pack(language), messages)


def _prepare(message: Message, names: NameIndex) -> PreparedMessage:
    text = message.text
    body_start = names.body_start(text, message.speaker)
    tokens = tokenize(text)
    if body_start:
        tokens = tuple([token for token in tokens if token.start >= body_start])
    mentions = names.mentions(text, body_start)
    return PreparedMessage(message, body_start, tokens, mentions, _outside(tokens, mentions))


def _outside(tokens: tuple[Token, ...], mentions: Sequence[Mention]) -> tuple[Token, ...]:
    if not mentions:
        return tokens
    outside: list[Token] = []
    done = 0
    for mention in mentions:
        first = bisect_right(tokens, mention.start, key=_END)
        outside.extend(tokens[done:first])
        done = max(done, bisect_left(tokens, mention.end, key=_START))
    outside.extend(tokens[done:])
    return tuple(outside)
