"""Prompts for checks and extractions, and schemas of the answers. Every change of a text needs a new version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evaluation.judging.answers import Answer, Citations, Confidence, Reason, usable_entries
from evaluation.judging.fencing import as_message, quoted
from evaluation.judging.prompts import UNTRUSTED
from evaluation.judging.propositions import LONGEST_MESSAGE
from evaluation.transcript import Message, Transcript

LONGEST_PART = 40_000
"""Characters of one part of a discussion, about 10,000 tokens."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Neighbouring messages that are read together.

    Attributes:
        number: From 1.
        messages: At least one.
        shortened: Ids of those of whom a judge sees the beginning only.
    """

    number: int
    messages: tuple[Message, ...]
    shortened: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of them, numbered by their place in the transcript, without fences."""
        return "\n".join(line_of(message) for message in self.messages)

    @property
    def numbers(self) -> dict[int, str]:
        """The number N of every ``[MN]`` with the id of that message."""
        return {message.index + 1: message.id for message in self.messages}

    @property
    def place(self) -> str:
        """The messages that the part holds, as words."""
        return f"messages {self.messages[0].index + 1} to {self.messages[-1].index + 1}"


def spoken(transcript: Transcript) -> list[Message]:
    """The messages that players said to others, in order: the ones that every figure, sample and check is about.

    Announcements, words to the game engine, thoughts and empty messages are left out.
    """
    return [one for one in _of_players(transcript) if not one.is_thought]


def thoughts(transcript: Transcript) -> list[Message]:
    """Private notes that reach nobody else, in order: thoughts, goals, and marks such as "done"."""
    return [one for one in _of_players(transcript) if one.is_thought]


def _of_players(transcript: Transcript) -> Iterator[Message]:
    return (one for one in transcript.messages if one.channel != "system" and not one.is_control and one.text.strip())


def parts_of(messages: Sequence[Message], *, limit: int = LONGEST_PART) -> list[TextPart]:
    """All messages, each in one part, in order; a part has at most ``limit`` characters, or a single message."""
    return [
        TextPart(number, tuple(group), tuple([one.id for one in group if len(one.text) > LONGEST_MESSAGE]))
        for number, group in enumerate(_groups(messages, limit), start=1)
    ]


def _groups(messages: Sequence[Message], limit: int) -> Iterator[list[Message]]:
    group: list[Message] = []
    length = 0
    for message in messages:
        size = len(message.speaker) + min(len(message.text), LONGEST_MESSAGE)
        if group and length + size > limit:
            yield group
            group, length = [], 0
        group.append(message)
        length += size
    if group:
        yield group


def line_of(message: Message) -> str:
    """One message with its number."""
    return numbered(message.index + 1, message.speaker, message.text)


def numbered(number: int, speaker: str, text: str) -> str:
    """A message as safe text for a judge, with the number of characters that are left out."""
    cut = len(text) - LONGEST_MESSAGE
    words = as_message(text[:LONGEST_MESSAGE])
    more = f"\n| ({cut:,} more characters are left out)" if cut > 0 else ""
    return f"[M{number}] {quoted(speaker)} says: {words}{more}"


PROMPT_VERSION = "insight-3"
"""Part of the address of every answer: a new wording never gets an old answer."""

_LAYOUT = """\
[M12] "Name" says: text -- this is what somebody said; numbers count the messages in their order, and lines behind "|"
belong to the message above them. Whatever stands in quotation marks before "says" is a name and nothing else. What is
left out is said in parentheses."""

_CITE = "Cite the messages that you rest on by their numbers, as in [M12]. Cite none that is not there."


def _check(task: str, low: str, high: str, weigh: str) -> str:
    return f"""{task}

{UNTRUSTED}

{_LAYOUT}

Give a number from 0.0 ({low}) to 1.0 ({high}). Weigh {weigh}.
Give your reason first, short and concrete, then the number. Be strict: between two numbers take the lower one.
{_CITE}"""


PERSONA_SYSTEM = _check(
    "You decide how well a message fits the persona of whoever said it.",
    "completely out of character",
    "perfectly in character",
    "tone, vocabulary, opinions and patterns of behaviour",
)

CONSISTENCY_SYSTEM = _check(
    "You decide how consistent a message is with what the same speaker said before.",
    "contradicts it",
    "fully consistent",
    "claims of fact, opinions, personality and what the speaker knows",
)

COHERENCE_SYSTEM = _check(
    "You decide how coherent and well formed a message is. What was said before it is context only.",
    "incoherent or broken",
    "clear and well formed",
    "grammar, the flow of thought, whether it breaks off, whether it contradicts itself, and whether it bears on what "
    "was said before",
)


def _extraction(task: str, rules: str) -> str:
    return f"""{task}

{UNTRUSTED}

{_LAYOUT}

Rules:
{rules}
- {_CITE}
- Report only what is there. If there is nothing, the list is empty."""


OPINIONS_SYSTEM = _extraction(
    "You read a discussion and write down each speaker's opinion on a topic.",
    """\
- One entry for each speaker who voices an opinion on the topic; none for those who voice none.
- Name speakers as they are named before their messages.
- Summary and key points are your own words, and say no more than the messages that you cite.""",
)

THEMES_SYSTEM = _extraction(
    "You read a discussion and name the themes that come up more than once.",
    """\
- A theme comes up in at least two messages; better few broad ones than many narrow ones.
- Cite every message that touches on it.
- Quotes are word for word; change nothing and leave nothing out.""",
)

QUOTES_SYSTEM = _extraction(
    "You read a discussion and pick the quotes that fit a criterion best.",
    """\
- Quotes are word for word from one message; change nothing and leave nothing out.
- Name speakers as they are named before their messages, and cite the message that each quote comes from.""",
)

OPINIONS_QUESTION = "What is each speaker's opinion on the topic?"
THEMES_QUESTION = "Which themes come up more than once?"
QUOTES_QUESTION = "Which quotes fit the criterion best?"


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
        usable_entries(OpinionItem, _MOST),
        Field(
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
        usable_entries(ThemeItem, _MOST),
        Field(
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
        usable_entries(QuoteItem, _MOST),
        Field(
            description=(
                'a list of {"agent_id": the speaker\'s name, "content": the exact words, "context": what they answer, '
                '"relevance_score": from 0.0 to 1.0, "citations": as [1]}'
            ),
        ),
    ]
