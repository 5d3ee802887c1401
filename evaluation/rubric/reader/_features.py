"""Numbers that the reader sees of a discussion: n-grams, marks of style, and whom acts may be aimed at."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric.discussion import Discussion, LanguagePack, PreparedMessage, kept_with_discussion
from evaluation.rubric.metrics.coherence import repeats
from evaluation.rubric.speech import ActKind, SpeechAct, read

BUCKET_BITS = 15
BUCKETS = 2 << BUCKET_BITS
"""Words fill the first half, characters the second."""
_MOST_CHARACTERS = 5
_WORDS = (1, 2, 3)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(1_000_003)
# Texts at a time: what is computed of a character takes a hundred times its memory.
_AT_ONCE = 255
# Bits of a bucket, behind the number of its text.
_OWNER = np.uint32(BUCKET_BITS + 1)
# Between two texts or sentences; no text holds it, because control characters are replaced by blanks.
_SEPARATOR = "\x00"


@dataclass(frozen=True, slots=True)
class NGrams:
    """The distinct buckets of each text.

    Attributes:
        buckets: The buckets of all texts, one text after the other, ascending within a text.
        starts: For each text the place of its first bucket, and at the end the number of buckets.
    """

    buckets: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def sums(self, weights: NDArray[np.float32], idf: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each text the sum of its buckets' weights, divided by the norm of the idfs.

        Args:
            weights: Each times its ``idf``. Shape (BUCKETS, outputs), rows side by side in memory.
            idf: Shape (BUCKETS,).

        Returns:
            Shape (texts, outputs); zeros for a text without buckets.
        """
        texts = len(self.starts) - 1
        found = np.zeros((texts, weights.shape[1]), dtype=np.float32)
        for first in range(0, texts, _AT_ONCE):
            starts = self.starts[first : first + _AT_ONCE + 1]
            filled = np.flatnonzero(np.diff(starts))
            if not len(filled):
                continue
            begins, buckets = starts[filled] - starts[0], self.buckets[starts[0] : starts[-1]]
            # Taking rows is five times as fast as indexing with an array.
            values = idf.take(buckets)
            norms = np.sqrt(np.add.reduceat(values * values, begins))
            sums = np.add.reduceat(weights.take(buckets, axis=0), begins, axis=0)
            found[first + filled] = sums / np.maximum(norms, 1e-6)[:, None]
        return found

    @classmethod
    def joined(cls, parts: Sequence[NGrams]) -> NGrams:
        """The n-grams of the texts of all parts, one part after the other."""
        ends = np.cumsum([0, *(len(part.buckets) for part in parts)])
        starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return cls(np.concatenate([part.buckets for part in parts]), np.concatenate([*starts, ends[-1:]]))


def hashed_ngrams(texts: Sequence[str]) -> NGrams:
    """The n-grams of words (1 to 3) and of characters (2 to 5) in ``texts``, hashed to ``BUCKETS`` places.

    Texts are expected folded, words divided by single blanks, without NUL. A blank is put before and after each text.
    """
    return NGrams.joined([_hashed(texts[first : first + _AT_ONCE]) for first in range(0, len(texts) or 1, _AT_ONCE)])


def _hashed(texts: Sequence[str]) -> NGrams:
    joined = _SEPARATOR + "".join([f" {text} {_SEPARATOR}" for text in texts])
    codes = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    # The text's number before the bucket's: one fast sort brings both into order.
    owner = (np.cumsum(codes == 0, dtype=np.uint32) - np.uint32(1)) << _OWNER
    with np.errstate(over="ignore"):
        found = np.concatenate([*_characters(codes, owner), *_words(codes, owner)])
    found.sort()
    is_first = np.ones(len(found), dtype=bool)
    is_first[1:] = found[1:] != found[:-1]
    found = found[is_first]
    starts = np.searchsorted(found, np.arange(len(texts) + 1, dtype=np.uint32) << _OWNER)
    return NGrams(found.astype(np.uint16), starts.astype(np.int64))


_Owned = NDArray[np.uint32]
"""The text that each n-gram stands in and its bucket, in one number."""


def _characters(codes: NDArray[np.uint64], owner: _Owned) -> Iterator[_Owned]:
    # Within one text: from its first blank to its last, so no separator lies inside.
    inside = codes != 0
    hashes = codes
    for size in range(2, _MOST_CHARACTERS + 1):
        count = max(0, len(codes) - size + 1)
        hashes = hashes[:count] * _STEP + codes[size - 1 :]
        inside = inside[:count] & (codes[size - 1 :] != 0)
        # The hash of each size begins with the size.
        begin = np.uint64(size) * _STEP ** np.uint64(size)
        yield _owned(hashes[inside] + begin, owner[:count][inside], half=1)


def _words(codes: NDArray[np.uint64], owner: _Owned) -> Iterator[_Owned]:
    is_gap = (codes == 32) | (codes == 0)
    begins = np.flatnonzero(is_gap[:-1] & ~is_gap[1:]) + 1
    ends = np.flatnonzero(~is_gap[:-1] & is_gap[1:]) + 1
    # Sums of character x power, so that any word's hash is a difference of two sums, freed from its place.
    powers = np.cumprod(np.full(len(codes), _STEP, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers)])
    inverse = np.cumprod(np.full(len(codes), _INVERSE_STEP, dtype=np.uint64))
    hashes = (sums[ends] - sums[begins]) * inverse[begins]
    owners = owner[begins]
    for size in _WORDS:
        count = max(0, len(begins) - size + 1)
        joined = np.full(count, size, dtype=np.uint64)
        for shift in range(size):
            joined = joined * _MULTIPLIER + hashes[shift : shift + count]
        inside = owners[:count] == owners[size - 1 : size - 1 + count]
        yield _owned(joined[inside], owners[:count][inside], half=0)


def _owned(hashes: NDArray[np.uint64], owners: _Owned, half: int) -> _Owned:
    mixed = (hashes ^ (hashes >> np.uint64(29))) * _MULTIPLIER
    return owners | (mixed >> np.uint64(64 - BUCKET_BITS)).astype(np.uint32) | np.uint32(half << BUCKET_BITS)


_INVERSE_STEP = np.uint64(pow(1_000_003, -1, 1 << 64))


LONGEST_READ = 3_000
"""Characters of a message that are read: what stands behind them moves a probability no more."""
OTHER, SELF, TARGET, BEGIN, END = "\ue000", "\ue001", "\ue002", "\ue010", "\ue01f"
"""Stand for a named player, the speaker, the player that an act may be aimed at, and the ends of a message."""
# Where the target of an act stands who is called first ("Ann, why ...").
_OPENING = 10
# More signs follow than a message can hold names, each a private letter without a lower case.
_FIRST_SIGN = 0xF0000
_START = itemgetter(0)
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1b\x7f]")
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


class _ReadText(NamedTuple):
    """A message and its sentences as they are read, other players by ``signs``; each is ``named`` in some sentences."""

    whole: str
    sentences: tuple[str, ...]
    signs: Mapping[str, str]
    named: Mapping[str, Collection[int]]

    def shown(self, text: str, target: str | None = None) -> str:
        """A text of this message with the signs that tell no player, but the target, from another."""
        for player, sign in self.signs.items():
            text = text.replace(sign, TARGET if player == target else OTHER)
        return text


@kept_with_discussion
def _read_texts(discussion: Discussion) -> tuple[_ReadText, ...]:
    return tuple(map(_read_text, discussion.messages))


def _read_text(prepared: PreparedMessage) -> _ReadText:
    text, start, spans = prepared.message.text.replace(_SEPARATOR, " "), prepared.body_start, sentences_of(prepared)
    end = min(len(text), start + LONGEST_READ)
    signs = {prepared.message.speaker: SELF}
    named: dict[str, dict[int, None]] = {}
    whole, parted = [(end, end, "")], [(edge, edge, _SEPARATOR) for span in spans for edge in span]
    for one in prepared.mentions:
        sign = signs.setdefault(one.player, chr(_FIRST_SIGN + len(signs)))
        at = bisect_right(spans, one.start, key=_START) - 1
        sentence_end = spans[at][1] if at >= 0 else 0
        if one.start < sentence_end:
            named.setdefault(one.player, {})[at] = None
        if one.end <= end:
            whole.append((one.start, one.end, f" {sign} "))
            # "Dr. Vance" ends a sentence in its middle: neither sentence names him.
            if not one.start < sentence_end < one.end:
                parted.append(whole[-1])
    del signs[prepared.message.speaker]
    pieces = _folded(text, start, [*parted, whole[0]]).split(_SEPARATOR)
    is_cut = len(parted) < 2 * len(spans) + len(whole) - 1
    joined = _folded(text, start, whole) if is_cut else "".join(pieces)
    # Every other piece is a sentence.
    return _ReadText(" ".join(joined.split()), tuple([" ".join(one.split()) for one in pieces[1::2]]), signs, named)


def _folded(text: str, start: int, cuts: Sequence[tuple[int, int, str]]) -> str:
    """A text from ``start`` on as it is read, folded, numbers as 0, what is cut replaced; it ends with the last cut."""
    parts: list[str] = []
    for first, last, sign in sorted(cuts):
        parts += (text[start:first], sign)
        start = last
    folded = "".join(parts).casefold().replace("\u2019", "'")
    for mark in _MARKS:
        if mark in folded:
            folded = folded.replace(mark, f" {mark} ")
    return _CONTROL.sub(" ", _DOTS.sub(" .. ", _NUMBER.sub(" 0 ", folded)))


def sentences_of(prepared: PreparedMessage) -> tuple[tuple[int, int], ...]:
    """The sentences of a message as spans of its original text, after the own name as a prefix."""
    return prepared.keep("sentences as they are read", lambda: tuple(_sentences_of(prepared)))


def _sentences_of(prepared: PreparedMessage) -> Iterator[tuple[int, int]]:
    text = prepared.message.text[: prepared.body_start + LONGEST_READ]
    for found in _SENTENCE.finditer(text, prepared.body_start):
        piece = found[0]
        if _WORD.search(piece):
            yield found.end() - len(piece.lstrip()), found.start() + len(piece.rstrip())


@kept_with_discussion
def features(discussion: Discussion) -> Features:
    """Compute the features of a discussion in English."""
    pack = discussion.pack
    assert pack is not None
    texts = tuple([f"{BEGIN} {one.shown(one.whole)} {END}" for one in _read_texts(discussion)])
    return Features(texts, _style(discussion.messages, pack))


@kept_with_discussion
def sentences(discussion: Discussion) -> tuple[Sentence, ...]:
    """The sentences of all messages in order."""
    return tuple(
        Sentence(at, start, end, seen.shown(text))
        for at, (prepared, seen) in enumerate(zip(discussion.messages, _read_texts(discussion), strict=True))
        for (start, end), text in zip(sentences_of(prepared), seen.sentences, strict=True)
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
    letters, words = set(text), prepared.word_set
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
        sum(map(text.count, filter(str.isupper, letters))) / max(1, len(text)),
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
        any(map(str.isdigit, letters)),
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


def aim_table(discussion: Discussion) -> tuple[list[tuple[ActAim, str]], NDArray[np.float32]]:
    """The aims of the acts of all messages of a discussion in English with their texts, and the features of each.

    A player whom a message names has the sentences that name them, the last other one who spoke and nobody all of it.
    """
    each = list(_aims(discussion))
    named = Counter([aim.message for aim, _ in each if aim.is_named])
    readings = read(discussion)
    rows = [_aim_row(aim, text, named[aim.message], readings[aim.message].acts) for aim, text in each]
    places = [aim.message for aim, _ in each]
    return each, np.hstack([np.array(rows, dtype=np.float32), features(discussion).style[places]])


def _aims(discussion: Discussion) -> Iterator[tuple[ActAim, str]]:
    texts = features(discussion).texts
    before = other = None
    for at, (prepared, seen) in enumerate(zip(discussion.messages, _read_texts(discussion), strict=True)):
        speaker = prepared.message.speaker
        if before != speaker:
            before, other = speaker, before
        yield ActAim(at, None, is_named=False), texts[at]
        for player in seen.signs:
            own = " ".join([seen.sentences[one] for one in seen.named.get(player, ())])
            yield ActAim(at, player, is_named=True), f"{BEGIN} {seen.shown(own, player)} {END}"
        if other is not None and other not in seen.signs:
            yield ActAim(at, other, is_named=False), texts[at]


_ACT_PLACES = {kind: place for place, kind in enumerate(ActKind)}


def _aim_row(aim: ActAim, text: str, named: int, by_rule: Sequence[SpeechAct]) -> list[float]:
    """The features of an aim beside its text: the acts of the rule, its kind, the place of the target, other names."""
    here, elsewhere = [0.0] * len(_ACT_PLACES), [0.0] * len(_ACT_PLACES)
    for act in by_rule:
        (here if act.target == aim.target else elsewhere)[_ACT_PLACES[act.kind]] = 1.0
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
