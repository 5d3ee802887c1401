"""Numbers that the reader sees of a discussion: n-grams, marks of style, and how two messages fit together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric.discussion import Discussion, LanguagePack, PreparedMessage, kept_with_discussion
from evaluation.rubric.metrics.coherence import repeats, rule_rows
from evaluation.rubric.reader._ngrams import NGrams, hashed_ngrams
from evaluation.rubric.speech import ActKind, read

LOOK_BACK = 8
"""Messages of other players, the latest first, that a message may answer."""
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
        is_named: Whether the message names the player; else it is the one whom it seems to answer.
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


class EarlierMessage(NamedTuple):
    """A message that another may answer.

    Attributes:
        message: Position of the message.
        earlier: Position of the one before it, of another player.
        distance: 1 for the last message of another player, up to ``LOOK_BACK``.
    """

    message: int
    earlier: int
    distance: int


def candidates(speakers: Sequence[str]) -> Iterator[EarlierMessage]:
    """The messages that each message may answer, the latest first."""
    for at, speaker in enumerate(speakers):
        distance = 0
        back = at - 1
        # A speaker may have written hundreds of messages in a row.
        while back >= max(0, at - 4 * LOOK_BACK) and distance < LOOK_BACK:
            if speakers[back] != speaker:
                distance += 1
                yield EarlierMessage(at, back, distance)
            back -= 1


def pair_rows(discussion: Discussion, pairs: Sequence[EarlierMessage]) -> NDArray[np.float32]:
    """The features of messages of a discussion in English as answers to earlier ones, a row for each pair."""
    messages, pack = discussion.messages, discussion.pack
    assert pack is not None
    speakers = [one.message.speaker for one in messages]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(chain(speakers, *(m.named for m in messages))))}
    authors = np.array([numbers[speaker] for speaker in speakers])
    names = np.zeros((len(messages), len(numbers)), dtype=bool)
    for place, one in enumerate(messages):
        names[place, [numbers[name] for name in one.named]] = True
    at, earlier, distance = np.array(pairs, dtype=np.int64).reshape(-1, len(EarlierMessage._fields)).T
    every, speaker, author = np.arange(len(pairs)), authors[at], authors[earlier]
    both = names[at] & names[earlier]
    is_named = names[earlier, speaker]
    named_others = names[earlier].sum(axis=1) - is_named - names[earlier, author]
    asks, introduces = _marked(messages, "is_question"), _marked(messages, "is_introduction")
    opens = _marked(messages, "opens_as_answer") | _marked(messages, "reply_phrase")
    ids, replied = [one.message.id for one in messages], [one.message.reply_to for one in messages]
    rounds = np.array([one.message.round for one in messages], dtype=object)
    columns = [
        # Names its author; is named by it; the same players named.
        names[at, author],
        is_named,
        np.minimum(2, both.sum(axis=1) - both[every, speaker] - both[every, author]),
        # Shared words, how rare these are, and whether it takes up one of them at once.
        _shared_words(messages, pack, pairs),
        # It asks; it asks this speaker, or somebody else; it speaks to somebody.
        asks[earlier],
        asks[earlier] & is_named,
        asks[earlier] & (named_others > 0) & ~is_named,
        _marked(messages, "is_addressed")[earlier],
        # It asks and this opens as an answer; it names this speaker and this says "I".
        asks[earlier] & opens[at],
        is_named & _marked(messages, "is_first_person")[at],
        # It is an introduction, both are; its length; the reply id.
        introduces[earlier],
        introduces[at] & introduces[earlier],
        np.log1p([len(one.tokens) for one in messages])[earlier],
        [replied[pair.message] == ids[pair.earlier] for pair in pairs],
        # A column for each distance; the same round; continues itself; own messages between.
        np.eye(LOOK_BACK)[distance - 1],
        rounds[at] == rounds[earlier],
        authors[at - 1] == speaker,
        np.minimum(3, at - earlier - distance),
    ]
    return np.column_stack(columns).astype(np.float32)


def _marked(messages: Sequence[PreparedMessage], name: str) -> NDArray[np.bool_]:
    return np.array([bool(getattr(one, name)) for one in messages], dtype=bool)


def _shared_words(
    messages: Sequence[PreparedMessage], pack: LanguagePack, pairs: Sequence[EarlierMessage]
) -> list[tuple[int, float, bool]]:
    """The words that both messages of a pair hold: number, rarity, if one is among the answer's first three."""
    words = [one.word_set - pack.stop_words for one in messages]
    openings = [list(islice((word for word in one.plain_words if word not in pack.stop_words), 3)) for one in messages]
    rarity = {word: math.log(len(messages) / count) for word, count in Counter(chain.from_iterable(words)).items()}
    rows: list[tuple[int, float, bool]] = []
    for at, earlier, _ in pairs:
        shared = words[at] & words[earlier]
        if shared:
            rare = min(8.0, sum(map(rarity.__getitem__, shared)))
            rows.append((min(4, len(shared)), rare, not shared.isdisjoint(openings[at])))
        else:
            rows.append((0, 0.0, False))
    return rows


# The logit of a pair that does not exist.
_NO_PAIR = -6.0


def pair_summary(count: int, pairs: Sequence[EarlierMessage], logits: Sequence[float]) -> NDArray[np.float32]:
    """For each of ``count`` messages how well the messages before it fit as what it answers.

    The columns: the best, the second best, the best of the last three, the last one, and the logarithm of the sum of
    all chances.

    Args:
        count: Number of messages.
        pairs: As :func:`candidates` yields them.
        logits: One for each pair.
    """
    table = np.full((count, LOOK_BACK), -np.inf)
    for pair, logit in zip(pairs, logits, strict=True):
        table[pair.message, pair.distance - 1] = logit
    ordered = np.sort(table, axis=1)
    chances = (1 / (1 + np.exp(-table))).sum(axis=1)
    best = np.column_stack([ordered[:, -1], ordered[:, -2], table[:, :3].max(axis=1), table[:, 0]])
    return np.column_stack([np.where(np.isinf(best), _NO_PAIR, best), np.log(chances + 1e-3)]).astype(np.float32)


_WAYS = ("reply", "author", "subject", "answer", "phrase", "topic")


def rule_answers(discussion: Discussion) -> NDArray[np.float32]:
    """Whether the rule counts each message as an answer, and a column for each way in which it may."""
    rows = [[row.numerator, *(float(row.details.get("by") == way) for way in _WAYS)] for row in rule_rows(discussion)]
    return np.array(rows, dtype=np.float32).reshape(len(rows), 1 + len(_WAYS))


def rule_acts(discussion: Discussion) -> list[frozenset[tuple[ActKind, str | None]]]:
    """The speech acts that the rule sees in each message, each with its target."""
    return [frozenset((act.kind, act.target) for act in reading.acts) for reading in read(discussion)]


def aims(discussion: Discussion, answered: Sequence[int | None]) -> Iterator[tuple[ActAim, str]]:
    """At whom each message's acts may be aimed, each with the text that is read for it.

    Args:
        discussion: A discussion in English.
        answered: For each message the position of the message that it most likely answers; ``None`` for none.

    Yields:
        The player whom it names or answers with the sentences that name them (all of them for the one who is answered),
        and nobody with the whole message.
    """
    messages, seen = discussion.messages, features(discussion)
    spans: list[list[tuple[int, int]]] = [[] for _ in messages]
    for sentence in sentences(discussion):
        spans[sentence.message].append((sentence.start, sentence.end))
    for at, prepared in enumerate(messages):
        speaker = prepared.message.speaker
        yield ActAim(at, None, is_named=False), seen.texts[at]
        named = dict.fromkeys(one.player for one in prepared.mentions if one.player != speaker)
        for player in named:
            parts = [
                plain_text(prepared, start, end, player)
                for start, end in spans[at]
                if any(one.player == player and start <= one.start < end for one in prepared.mentions)
            ]
            yield ActAim(at, player, is_named=True), f"{BEGIN} {' '.join(parts)} {END}"
        other = answered[at]
        if other is not None and messages[other].message.speaker not in named:
            yield ActAim(at, messages[other].message.speaker, is_named=False), seen.texts[at]


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
