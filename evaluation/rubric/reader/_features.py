"""Numbers that the reader sees of a discussion: n-grams, marks of style, and whom acts may be aimed at."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric.discussion import Discussion, LanguagePack, PreparedMessage, kept_with_discussion
from evaluation.rubric.metrics.coherence import repeats
from evaluation.rubric.reader._ngrams import NGrams, hashed_ngrams
from evaluation.rubric.speech import ActKind, read

LONGEST_READ = 3_000
"""Characters of a message that are read: what stands behind them moves a probability no more."""
OTHER, SELF, TARGET, BEGIN, END = "\ue000", "\ue001", "\ue002", "\ue010", "\ue01f"
"""Stand for a named player, the speaker, the player that an act may be aimed at, and the ends of a message."""
# Where the target of an act stands who is called first ("Ann, why ...").
_OPENING = 10
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_MARKS = '?!,;:"()='
_DOTS = re.compile(r"\.\.+")
_NUMBER = re.compile(r"\d+")
_SENTENCE = re.compile(r"[^.!?;\n\u2026]+[.!?;\n\u2026]*")
_WORD = re.compile(r"\w")


class Sentence(NamedTuple):
    """Part of a message: which one, its span in the original text in code points, and its text as it is read."""

    message: int
    start: int
    end: int
    text: str


class ActAim(NamedTuple):
    """A player, or nobody, at whom a message's acts may be aimed.

    Attributes:
        message: Position of the message.
        target: The player; ``None`` for acts without a target.
        is_named: Whether the message names the player; else it is the last other one who spoke.
    """

    message: int
    target: str | None
    is_named: bool


STYLE_COLUMNS = 31
OWN_STYLE = 21
"""So many of the first columns are about the message alone, wherever it stands."""


@dataclass(frozen=True)
class Features:
    """Numbers of a discussion of n messages that the reader is given.

    Attributes:
        texts: Each message as it is read: folded, names replaced.
        style: Shape (n, STYLE_COLUMNS). Of the message alone: length in words and in characters (logarithms),
            question marks, whether it ends with one, exclamation marks, the share of capitals, players named, whether
            it names its speaker, "you", "I", strategic keywords, whether there is only a bare one, signs of depth (why,
            past, comparison, conduct), whether it opens with a reply phrase or as an answer or introduces its speaker,
            digits, commas. Of its place: whether it says again what its speaker said, is the first, how many stand
            before it, whether it continues its speaker's last one, the usual length here and its own beside that,
            whether the last of others asks or names the speaker, whether one of the last three names them, whether it
            opens a round.
    """

    texts: tuple[str, ...]
    style: NDArray[np.float32]

    @cached_property
    def message_ngrams(self) -> NGrams:
        return hashed_ngrams(self.texts)


def plain_text(prepared: PreparedMessage, start: int, end: int, target: str | None = None) -> str:
    """A part of a message as it is read: folded, blanks single, numbers as 0, players as placeholders."""
    text, speaker = prepared.message.text, prepared.message.speaker
    parts: list[str] = []
    done = start
    for mention in prepared.mentions:
        if mention.start < done or mention.end > end:
            continue
        sign = SELF if mention.player == speaker else TARGET if mention.player == target else OTHER
        parts += (text[done : mention.start], f" {sign} ")
        done = mention.end
    parts.append(text[done:end])
    folded = "".join(parts).casefold().replace("\u2019", "'")
    for mark in _MARKS:
        if mark in folded:
            folded = folded.replace(mark, f" {mark} ")
    folded = _DOTS.sub(" .. ", _NUMBER.sub(" 0 ", folded))
    return " ".join(_CONTROL.sub(" ", folded).split())


def sentences_of(prepared: PreparedMessage) -> tuple[tuple[int, int], ...]:
    """The sentences of a message as spans of its original text, after the own name as a prefix."""
    return prepared.keep("sentences as they are read", lambda: tuple(_sentences_of(prepared)))


def _sentences_of(prepared: PreparedMessage) -> Iterator[tuple[int, int]]:
    text = prepared.message.text[: prepared.body_start + LONGEST_READ]
    for found in _SENTENCE.finditer(text, prepared.body_start):
        if _WORD.search(found[0]):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            yield start, found.start() + len(found[0].rstrip())


@kept_with_discussion
def features(discussion: Discussion) -> Features:
    """Compute the features of a discussion in English."""
    pack = discussion.pack
    assert pack is not None
    messages = discussion.messages
    texts = [f"{BEGIN} {_whole_text(prepared)} {END}" for prepared in messages]
    return Features(tuple(texts), _style(messages, pack))


def _whole_text(prepared: PreparedMessage) -> str:
    start = prepared.body_start
    end = min(len(prepared.message.text), start + LONGEST_READ)
    return prepared.keep("text as it is read", lambda: plain_text(prepared, start, end))


@kept_with_discussion
def sentences(discussion: Discussion) -> tuple[Sentence, ...]:
    """The sentences of all messages in order."""
    return tuple(
        Sentence(at, start, end, plain_text(prepared, start, end))
        for at, prepared in enumerate(discussion.messages)
        for start, end in sentences_of(prepared)
    )


def _before(messages: Sequence[PreparedMessage], at: int) -> list[float]:
    """Signs of what came before: the last of others asks, names the speaker, or stands in another round."""
    speaker = messages[at].message.speaker
    others = [one for one in messages[max(0, at - 6) : at] if one.message.speaker != speaker][-3:]
    last = others[-1] if others else None
    return [
        last is not None and last.is_question,
        last is not None and speaker in last.named,
        any(speaker in one.named for one in others),
        last is None or last.message.round != messages[at].message.round,
    ]


def _style(messages: Sequence[PreparedMessage], pack: LanguagePack) -> NDArray[np.float32]:
    lengths = [math.log1p(len(one.tokens)) for one in messages]
    usual = sum(lengths) / max(1, len(lengths))
    own: dict[str, list[PreparedMessage]] = {}
    rows = []
    for at, prepared in enumerate(messages):
        speaker = prepared.message.speaker
        before = own.setdefault(speaker, [])
        continues = at > 0 and messages[at - 1].message.speaker == speaker
        rows.append([*_style_row(prepared, pack, before[-3:], at, continues, usual), *_before(messages, at)])
        before.append(prepared)
    return np.array(rows, dtype=np.float32).reshape(len(rows), STYLE_COLUMNS)


def _style_row(
    prepared: PreparedMessage,
    pack: LanguagePack,
    own: Sequence[PreparedMessage],
    at: int,
    continues: bool,
    usual: float,
) -> list[float]:
    text = prepared.message.text[prepared.body_start : prepared.body_start + LONGEST_READ]
    words = prepared.word_set
    keywords = [word for word in prepared.plain_words if word in pack.strategic_forms]
    is_bare = len(keywords) == 1 and keywords[0] in pack.bare_keywords
    length = math.log1p(len(prepared.tokens))
    signs = [min(3, len(words & each)) for each in pack.signs_of_depth.values()]
    return [
        length,
        math.log1p(len(text)),
        min(3, text.count("?")),
        text.rstrip().endswith("?"),
        min(3, text.count("!")),
        sum(map(str.isupper, text)) / max(1, len(text)),
        min(4, len(prepared.named - {prepared.message.speaker})),
        prepared.message.speaker in prepared.named,
        prepared.is_addressed,
        prepared.is_first_person,
        min(5, len(keywords)),
        is_bare,
        *signs,
        bool(prepared.reply_phrase),
        prepared.opens_as_answer,
        prepared.is_introduction,
        any(map(str.isdigit, text)),
        min(5, text.count(",")),
        repeats(prepared, own),
        at == 0,
        math.log1p(at),
        continues,
        usual,
        length - usual,
    ]


_SENTENCE_COLUMNS = 9
_PAST = re.compile(
    r"\b(?:\w\w+ed|was|were|did|didn't|had|has|have|been|said|told|got|went|made|gave|came|saw|kept|lost)\b"
)
_I = re.compile(r"\b(?:i|me|my|we|our)\b")


def sentence_rows(discussion: Discussion) -> NDArray[np.float32]:
    """The dense features of each sentence, then the style of its message.

    They are: length in words (logarithm), place in the message, whether it asks, players, whether it names its speaker,
    whether a rule sees a reference, a past tense, "I", quotation marks.
    """
    every = sentences(discussion)
    claimed = [[(claim.start, claim.end) for claim in reading.claims] for reading in read(discussion)]
    rows = []
    first = 0
    for number, sentence in enumerate(every):
        if not number or every[number - 1].message != sentence.message:
            first = number
        spans, text = claimed[sentence.message], sentence.text
        rows.append(
            [
                math.log1p(text.count(" ") + 1),
                min(5, number - first),
                "?" in text,
                min(4, text.count(OTHER)),
                SELF in text,
                any(start < sentence.end and end > sentence.start for start, end in spans),
                bool(_PAST.search(text)),
                bool(_I.search(text)),
                '"' in text,
            ]
        )
    own = np.array(rows, dtype=np.float32).reshape(len(rows), _SENTENCE_COLUMNS)
    return np.hstack([own, features(discussion).style[[one.message for one in every]]])


def rule_acts(discussion: Discussion) -> list[frozenset[tuple[ActKind, str | None]]]:
    """The speech acts that the rule sees in each message, each with its target."""
    return [frozenset((act.kind, act.target) for act in reading.acts) for reading in read(discussion)]


def aims(discussion: Discussion) -> Iterator[tuple[ActAim, str]]:
    """At whom each message's acts may be aimed, each with the text that is read for it.

    Args:
        discussion: A discussion in English.

    Yields:
        A player whom it names with the sentences that name them, the last other one who spoke and nobody with the whole
        message.
    """
    messages, seen = discussion.messages, features(discussion)
    spans: list[list[tuple[int, int]]] = [[] for _ in messages]
    for sentence in sentences(discussion):
        spans[sentence.message].append((sentence.start, sentence.end))
    before = other = None
    for at, prepared in enumerate(messages):
        speaker = prepared.message.speaker
        if before != speaker:
            before, other = speaker, before
        yield ActAim(at, None, is_named=False), seen.texts[at]
        named = dict.fromkeys(one.player for one in prepared.mentions if one.player != speaker)
        for player in named:
            parts = [
                plain_text(prepared, start, end, player)
                for start, end in spans[at]
                if any(one.player == player and start <= one.start < end for one in prepared.mentions)
            ]
            yield ActAim(at, player, is_named=True), f"{BEGIN} {' '.join(parts)} {END}"
        if other is not None and other not in named:
            yield ActAim(at, other, is_named=False), seen.texts[at]


_ACT_PLACES = {kind: place for place, kind in enumerate(ActKind)}


def aim_row(aim: ActAim, text: str, named: int, seen_by_rule: frozenset[tuple[ActKind, str | None]]) -> list[float]:
    """The features of an aim beside its text: the acts of the rule, its kind, the place of the target, other names."""
    here, elsewhere = [0.0] * len(_ACT_PLACES), [0.0] * len(_ACT_PLACES)
    for kind, target in seen_by_rule:
        (here if target == aim.target else elsewhere)[_ACT_PLACES[kind]] = 1.0
    return [
        *here,
        *elsewhere,
        float(aim.target is None),
        float(aim.target is not None and aim.is_named),
        float(aim.target is not None and not aim.is_named),
        float(f" {TARGET} " in text[:_OPENING]),
        float(text.endswith(f"{TARGET} {END}")),
        float(min(4, named)),
        float(named > 0 and aim.target is None),
    ]
