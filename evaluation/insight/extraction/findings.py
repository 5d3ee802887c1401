"""Results of an extraction: findings, refused findings, and parts that could not be read.

Source: ADR-010, ``Opinion``, ``Theme``, ``Quote``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from evaluation.insight._judge_text import TextPart
from evaluation.insight._questions import OpinionItem, OpinionsAnswer, QuoteItem, QuotesAnswer, ThemeItem, ThemesAnswer
from evaluation.judging.answers import Answer
from evaluation.judging.guard.fencing import as_name
from evaluation.judging.protocol import JudgementStatus
from evaluation.text.normal import normalise
from evaluation.transcript import Message


@dataclass(frozen=True, slots=True)
class Opinion:
    """One speaker's opinion.

    Attributes:
        agent_id: The speaker.
        stance: "positive", "negative", "neutral" or "mixed".
        summary: One sentence; untrusted text, as are the points.
        key_points: What it consists of.
        confidence: The judge's own, 0 to 1; the lowest where several parts were read.
        message_ids: The messages that voice it.
    """

    agent_id: str
    stance: str
    summary: str
    key_points: tuple[str, ...]
    confidence: float
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A recurring theme.

    Attributes:
        name: A few words; untrusted text.
        frequency: In how many messages it comes up: those cited that exist, counted and not claimed.
        representative_quotes: Words that stand in messages.
        sentiment: "positive", "negative", "neutral" or "mixed".
        message_ids: The messages that touch on it.
    """

    name: str
    frequency: int
    representative_quotes: tuple[str, ...]
    sentiment: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a message.

    Attributes:
        agent_id: Who said them.
        content: The words as they stand in the message.
        relevance_score: The judge's own, 0 to 1.
        context: What they answer; untrusted text.
        message_id: The message that they stand in.
    """

    agent_id: str
    content: str
    relevance_score: float
    context: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A finding of the judge that the text does not support; untrusted text."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part that gave nothing.

    Attributes:
        place: Which messages.
        status: ``error``, ``skipped`` or ``not_scored``.
        detail: Why.
    """

    place: str
    status: JudgementStatus
    detail: str


Item = TypeVar("Item", Opinion, Theme, Quote)


@dataclass(frozen=True, slots=True)
class Extraction(Generic[Item]):
    """The result of one question about a discussion.

    Attributes:
        kind: "opinions", "themes" or "quotes".
        found: What the text bears out.
        refused: What it does not.
        problems: Parts that could not be read, with the reason.
        parts: How many parts the discussion has.
        shortened: Messages of which a judge saw the beginning only.
        usage_usd: What the answers cost; ``None`` when the price is not known.
        model: Who read; empty when nobody was asked.
    """

    kind: str
    found: tuple[Item, ...]
    refused: tuple[Refused, ...] = ()
    problems: tuple[UnreadPart, ...] = ()
    parts: int = 0
    shortened: tuple[str, ...] = ()
    usage_usd: float | None = 0.0
    model: str = ""

    @property
    def status(self) -> str:
        """ "done", "partial" (some parts could not be read), or why no part could: "error", "skipped", "not_scored"."""
        if not self.problems:
            return "done"
        if len(self.problems) < self.parts:
            return "partial"
        return str(self.problems[0].status)

    def as_dict(self) -> Mapping[str, Any]:
        """Every field, ready for JSON."""
        return {
            "status": self.status,
            "found": [asdict(one) for one in self.found],
            "refused": [asdict(one) for one in self.refused],
            "problems": [
                {"place": one.place, "status": str(one.status), "detail": one.detail} for one in self.problems
            ],
            "parts": self.parts,
            "shortened": list(self.shortened),
            "usage_usd": self.usage_usd,
            "model": self.model,
        }


_MARKS = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2026": "."})
_EDGES = " \t\n\"'.,;:!?-"
_FEWEST_CHARACTERS = 3


@dataclass(slots=True)
class Traced(Generic[Item]):
    """Findings that the text confirms, and findings that it does not."""

    found: list[Item] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def opinions_in(answer: Answer, part: TextPart) -> Traced[Opinion]:
    """The opinions of speakers who are there, with messages of their own that are there."""
    traced: Traced[Opinion] = Traced()
    for item in answer.opinions if isinstance(answer, OpinionsAnswer) else ():
        speaker = _speaker(item.agent_id, part)
        own = [one for one in _cited(item.citations, part) if one.speaker == speaker]
        if speaker is None:
            traced.refused.append(Refused(item.agent_id, "nobody of that name speaks in these messages"))
        elif not own:
            traced.refused.append(Refused(f"{speaker}: {item.summary}", "no message of theirs is cited for it"))
        else:
            traced.found.append(_opinion(item, speaker, own))
    return traced


def _opinion(item: OpinionItem, speaker: str, own: Sequence[Message]) -> Opinion:
    return Opinion(
        speaker, item.stance, item.summary, tuple(item.key_points), item.confidence, tuple([one.id for one in own])
    )


def themes_in(answer: Answer, part: TextPart) -> Traced[Theme]:
    """The themes with citations that exist; of their quotes those that stand somewhere in the text.

    A theme may be cited once in each of several parts, so how often it comes up is judged after they are merged.
    """
    traced: Traced[Theme] = Traced()
    for item in answer.themes if isinstance(answer, ThemesAnswer) else ():
        cited = _cited(item.citations, part)
        quotes = _existing(item, part, traced.refused)
        if cited:
            ids = tuple([one.id for one in cited])
            traced.found.append(Theme(item.name, len(ids), quotes, item.sentiment, ids))
        else:
            traced.refused.append(Refused(item.name, "no message that exists is cited for it"))
    return traced


def _existing(item: ThemeItem, part: TextPart, refused: list[Refused]) -> tuple[str, ...]:
    kept = []
    for quote in item.representative_quotes:
        if found := _place(quote, part.messages):
            kept.append(found[1])
        else:
            refused.append(Refused(quote, "nobody said this"))
    return tuple(kept)


def quotes_in(answer: Answer, part: TextPart) -> Traced[Quote]:
    """The quotes that stand in a message of their speaker."""
    traced: Traced[Quote] = Traced()
    for item in answer.quotes if isinstance(answer, QuotesAnswer) else ():
        found = _quote(item, part)
        if found is None:
            traced.refused.append(Refused(f"{item.agent_id}: {item.content}", "nobody of that name said this"))
        else:
            traced.found.append(found)
    return traced


def _quote(item: QuoteItem, part: TextPart) -> Quote | None:
    speaker = _speaker(item.agent_id, part)
    cited = {one.id for one in _cited(item.citations, part)}
    own = [one for one in part.messages if one.speaker == speaker]
    # Of several messages that hold the words, the cited one is meant.
    found = _place(item.content, sorted(own, key=lambda one: one.id not in cited))
    if speaker is None or found is None:
        return None
    message, words = found
    return Quote(speaker, words, item.relevance_score, item.context, message.id)


def _cited(numbers: Sequence[int], part: TextPart) -> list[Message]:
    by_number = {message.index + 1: message for message in part.messages}
    return [by_number[number] for number in sorted(set(numbers)) if number in by_number]


def _speaker(name: str, part: TextPart) -> str | None:
    """The speaker of that name: as the transcript spells it, or as the judge saw it."""
    speakers = dict.fromkeys(message.speaker for message in part.messages)
    if name in speakers:
        return name
    wanted = _folded(name)
    alike = [one for one in speakers if wanted in (_folded(one), _folded(as_name(one)))]
    return alike[0] if len(alike) == 1 else None


def _place(quote: str, messages: Sequence[Message]) -> tuple[Message, str] | None:
    """The first message that holds the quote, with the words as they stand there.

    Case, white space and the shape of quotation marks and dashes do not matter, nor the marks at the ends.
    """
    wanted = _folded(quote)
    if len(wanted) < _FEWEST_CHARACTERS:
        return None
    for message in messages:
        if wanted in _folded(message.text):
            return message, _original(wanted, message.text)
    return None


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return " ".join(normalise(text).text.translate(_MARKS).split()).strip(_EDGES)


def _original(wanted: str, text: str) -> str:
    """The shortest stretch of whole words of ``text`` that folds to something with ``wanted`` in it."""
    words = text.split()
    # More words never lose what is looked for, so halving finds both ends: a hostile message costs no more than a long
    # one.
    last = bisect_left(range(len(words)), True, key=lambda end: wanted in _folded(" ".join(words[: end + 1]))) + 1
    missing = bisect_left(range(last), True, key=lambda start: wanted not in _folded(" ".join(words[start:last])))
    return " ".join(words[missing - 1 : last])
