"""Results of an extraction: findings, refused findings, and parts that could not be read.

Source: ADR-010, ``Opinion``, ``Theme``, ``Quote``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from evaluation.judging.protocol import JudgementStatus


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
