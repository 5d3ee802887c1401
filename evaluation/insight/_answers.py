"""Schemas of a judge's answers to checks and extractions. The number 1 equals 1.0."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evaluation.judging.answers import Answer, Citations, Confidence, Reason

_DECIMAL = re.compile(r"\s*([01](?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*")


def _number(value: Any) -> Any:
    """Models write 0.7 or "0.7"; both mean 0.7."""
    found = _DECIMAL.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return float(found[1]) if found else value


Degree = Annotated[float, BeforeValidator(_number), Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
Line = Annotated[str, Field(max_length=2_000)]
_MOST = 200


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) and len(value) < 40 else value


Attitude = Annotated[Literal["positive", "negative", "neutral", "mixed"], BeforeValidator(_lower)]


class QualityAnswer(Answer):
    """The quality of a message on one check: 0.0 (not at all) to 1.0 (perfectly)."""

    reason: Reason
    score: Annotated[Degree, Field(description="a number from 0.0 to 1.0")]
    citations: Citations = Field(default_factory=list)


class OpinionItem(Answer):
    """One speaker's opinion on the topic, with the messages that voice it."""

    agent_id: Line
    summary: Line
    key_points: Annotated[list[Line], Field(max_length=_MOST)] = Field(default_factory=list)
    stance: Attitude
    confidence: Confidence
    citations: Citations = Field(default_factory=list)


class OpinionsAnswer(Answer):
    """The opinions of those who voice one."""

    opinions: Annotated[
        list[OpinionItem],
        Field(
            max_length=_MOST,
            description=(
                'a list of {"agent_id": the speaker\'s name, "summary": one sentence, "key_points": [short sentences], '
                '"stance": "positive" or "negative" or "neutral" or "mixed", "confidence": from 0.0 to 1.0, '
                '"citations": as [1, 2]}'
            ),
        ),
    ]


class ThemeItem(Answer):
    """A theme that comes up more than once."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    sentiment: Attitude
    representative_quotes: Annotated[list[Line], Field(max_length=_MOST)] = Field(default_factory=list)
    citations: Citations = Field(default_factory=list)


class ThemesAnswer(Answer):
    """The themes."""

    themes: Annotated[
        list[ThemeItem],
        Field(
            max_length=_MOST,
            description=(
                'a list of {"name": a few words, "sentiment": "positive" or "negative" or "neutral" or "mixed", '
                '"representative_quotes": [the exact words of messages], "citations": as [1, 2], all messages that '
                "touch on it}"
            ),
        ),
    ]


class QuoteItem(Answer):
    """Words of a message that fit what was asked for."""

    agent_id: Line
    content: Annotated[str, Field(min_length=1, max_length=5_000)]
    context: Line = ""
    relevance_score: Degree
    citations: Citations = Field(default_factory=list)


class QuotesAnswer(Answer):
    """The quotes."""

    quotes: Annotated[
        list[QuoteItem],
        Field(
            max_length=_MOST,
            description=(
                'a list of {"agent_id": the speaker\'s name, "content": the exact words, "context": what they answer, '
                '"relevance_score": from 0.0 to 1.0, "citations": as [1]}'
            ),
        ),
    ]
