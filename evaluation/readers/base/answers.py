"""Questions that a file leaves open about who speaks, to whom and when, and a person's answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from evaluation.text.normal import fold
from evaluation.transcript import Transcript


class Topic(StrEnum):
    """The thing that a question is about; the value is the name of the command's option."""

    SPEAKER = "speaker"
    CHANNEL = "channel"
    DATES = "dates"
    BROKEN_OFF = "broken-off"


OPTIONS: Mapping[Topic, tuple[str, ...]] = MappingProxyType(
    {
        Topic.SPEAKER: ("player", "moderator", "text"),
        Topic.CHANNEL: ("public", "team", "private", "system"),
        Topic.DATES: ("day-first", "month-first"),
        Topic.BROKEN_OFF: ("take", "leave"),
    }
)
"""The answers that each topic takes. ``text``: the words before the colon are part of the message above."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that the file does not say for certain.

    Attributes:
        topic: The thing it is about.
        name: The speaker or channel; empty for the other topics. Text of the file, so hostile.
        words: The question in a sentence.
        taken: The answer that was assumed; ``None`` where the game is not stored before somebody answers.
        kinds: The answers that it takes, where the topic's are too many for it.
    """

    topic: Topic
    name: str
    words: str
    taken: str | None = None
    kinds: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers to choose from."""
        return self.kinds or OPTIONS[self.topic]

    @property
    def option(self) -> str:
        """The command's option that answers it: ``--speaker 'Note=player|moderator|text'``."""
        values = "|".join(self.choices)
        if self.topic is Topic.BROKEN_OFF:
            return "--broken-off"
        return f'--{self.topic} "{self.name}={values}"' if self.name else f"--{self.topic} {values}"


@dataclass(frozen=True, slots=True)
class Answers:
    """A person's answers, for all files of one import.

    Attributes:
        speakers: ``player``, ``moderator`` or ``text`` by name.
        channels: ``public``, ``team``, ``private`` or ``system`` by channel name.
        dates: ``day-first`` or ``month-first``; ``None`` while nobody has said.
        broken_off: Whether runs that ended by an error or a limit are taken in.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    dates: str | None = None
    broken_off: bool = False

    def speaker(self, name: str) -> str | None:
        """The answer about a speaker, whatever the case of the name; ``None`` without one."""
        return _given(self.speakers, name)

    def channel(self, name: str) -> str | None:
        """The answer about a channel, likewise."""
        return _given(self.channels, name)


def _given(answers: Mapping[str, str], name: str) -> str | None:
    return next((kind for given, kind in answers.items() if fold(given).strip() == fold(name).strip()), None)


NO_ANSWERS = Answers()


@dataclass(frozen=True, slots=True)
class GameReading:
    """A transcript as it was read, with what was settled and what is open.

    Attributes:
        remarks: What was settled about who speaks, to whom and when, one sentence each.
        questions: What the file does not say for certain.
    """

    transcript: Transcript
    remarks: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
