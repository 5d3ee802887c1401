"""Schemas of a judge's answers, the reason before the verdict, and instructions on how to write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, model_validator

LOWEST_SCORE = 0
HIGHEST_SCORE = 9

_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
_CITATION = re.compile(r"\s*\[?\s*[Mm]?\s*([0-9]{1,9})\s*\]?\s*")


def _message_number(value: Any) -> Any:
    """Models write 12, "12", "M12" or "[M12]"; all of them mean message 12."""
    found = _CITATION.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(found[1]) if found else value


_WHOLE_NUMBER = re.compile(r"\s*([0-9]{1,3})(?:\.0{1,9})?\s*")


def _whole_number(value: Any) -> Any:
    """Models write 7, 7.0, "7" or "7.0"; all of them mean 7. What has a fraction stays, and is refused."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _WHOLE_NUMBER.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(found[1]) if found else value


# The descriptions are what models read in the place of a value; see ``formats``.
Reason = Annotated[str, Field(max_length=_LONGEST_TEXT, description="two or three sentences")]
Confidence = Annotated[
    float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False, description="how sure you are, 0.0 to 1.0")
]
Citation = Annotated[StrictInt, BeforeValidator(_message_number)]
Citations = Annotated[
    list[Citation],
    Field(max_length=_MOST_ITEMS, description="[numbers N of messages [MN] that bear it out]"),
]


class Answer(BaseModel):
    """Base of all answers. Fields that were not asked for are left out, wrong types are refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ScoreAnswer(Answer):
    """The truth of a claim: 0 (certainly false) to 9 (certainly true).

    Attributes:
        reason: Why, written before the score.
        score: A whole number; 7.0 and "7" are 7, while 7.5 and 12 are refused. Where data is missing it is 9, whatever
            the model wrote in its place.
        confidence: 0 to 1.
        citations: Numbers N of the messages ``[MN]`` that bear the score out.
        data_missing: Whether the 9 says no more than that there was nothing to judge.
    """

    reason: Reason
    score: Annotated[
        StrictInt,
        BeforeValidator(_whole_number),
        Field(ge=LOWEST_SCORE, le=HIGHEST_SCORE, description="whole number, 0 to 9"),
    ]
    confidence: Confidence
    citations: Citations = Field(default_factory=list)
    data_missing: Annotated[StrictBool, Field(description="true or false")] = False

    @model_validator(mode="before")
    @classmethod
    def _highest_score_without_data(cls, body: Any) -> Any:
        """Models leave the score out, or write null or "n/a", where there was nothing to judge."""
        is_missing = isinstance(body, dict) and body.get("data_missing") is True
        return {**body, "score": HIGHEST_SCORE} if is_missing else body


class CheckAnswer(Answer):
    """Whether a claim holds."""

    reason: Reason
    holds: Annotated[StrictBool, Field(description="true or false")]
    confidence: Confidence
    citations: Citations = Field(default_factory=list)


class Idea(Answer):
    """One idea and the messages that voice it."""

    text: Annotated[str, Field(max_length=_LONGEST_TEXT, description="the idea in one sentence")]
    citations: Citations = Field(default_factory=list)


class IdeasAnswer(Answer):
    """The distinct ideas of a conversation."""

    ideas: Annotated[
        list[Idea], Field(max_length=_MOST_ITEMS, description='a list of {"text": the idea, "citations": as [1, 2]}')
    ]


FORMAT_VERSION = "format-2"
"""Part of every cache key: change it with any wording below."""

ANSWER = """Answer with one JSON object and nothing else:
{shape}"""

BATCH = """Answer every item on its own, with one JSON object and nothing else:
{{"answers": [{shape}, ...]}}"""

RECHECK = """Are you sure? Look at the evidence once more, be strict with your own first answer, and give your final
answer, the same or another, in the same form."""

CORRECTION = """Your answer could not be used: {problem}. Answer again, in the form that was asked for and with nothing
around it."""


def answer_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks one question."""
    return ANSWER.format(shape=_shape(answer))


def batch_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks several questions."""
    return BATCH.format(shape=_shape(answer, '"item": its number, '))


def batch_questions(questions: Sequence[str]) -> str:
    """The questions of a batch, numbered from ``[P1]``."""
    return "\n\n".join(f"[P{number}] {question}" for number, question in enumerate(questions, start=1))


def _shape(answer: type[Answer], before: str = "") -> str:
    fields = ", ".join(f'"{name}": {field.description or "..."}' for name, field in answer.model_fields.items())
    return f"{{{before}{fields}}}"
