"""Messages as text for a judge, in parts that fit a prompt; parts that do not fit are reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.judging.fencing import as_message, as_name
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
    return f"[M{number}] {as_name(speaker)}: {words}{more}"
