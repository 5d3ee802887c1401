"""Merge the chat files of an LLMafia game into one order by their clocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.draft import broken_line
from evaluation.readers.base.roster import Roster

MANAGER = "Game-Manager"
STAMPED = re.compile(r"\[(\d\d):(\d\d):(\d\d)\] ")

_DAY_SECONDS = 24 * 60 * 60
_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
_PHASES = {"Now it's Daytime": "day", "Now it's Nighttime": "night"}
_VOTING = " has ended, now it's time to vote"
_RESULT = " was voted out"


@dataclass(slots=True)
class Line:
    """One line of a chat file with the lines that continue it.

    Attributes:
        file: The file's name.
        number: Its place in the file, from 1.
        clock: Seconds since the midnight before the game began; past 86,400 after the next one.
        speaker: A player, or ``MANAGER``.
        parts: What was said, one text for each line of it.
    """

    file: str
    number: int
    clock: int
    speaker: str
    parts: list[str]

    @property
    def text(self) -> str:
        """The words of the message."""
        return "\n".join(self.parts).rstrip("\n")

    @property
    def sent_at(self) -> datetime:
        """The clock's time, on a date that means nothing."""
        return _NO_DATE + timedelta(seconds=self.clock)

    def wrong(self, message: str, remedy: str) -> BrokenTranscriptError:
        """An error at this line."""
        return broken_line(self.number, message, remedy, file=self.file)


@dataclass(frozen=True, slots=True)
class Segment:
    """One day or night, from its announcement on."""

    index: int
    round: int
    phase: str
    start: int


def parse_lines(file: str, text: str, roster: Roster) -> list[Line]:
    """The lines of one file.

    Raises:
        BrokenTranscriptError: A line before the first time stamp, an impossible time, or an unknown speaker.
    """
    lines: list[Line] = []
    names = sorted((MANAGER, *roster.names), key=len, reverse=True)
    for number, written in enumerate(text.rstrip("\n").split("\n"), start=1):
        stamp = STAMPED.match(written)
        if stamp:
            lines.append(_line(file, number, stamp, written[stamp.end() :], names))
        elif lines:
            lines[-1].parts.append(written)
        elif written.strip():
            raise broken_line(
                number, f'"{shorten(written)}" has no time.', "Expected [HH:MM:SS] Name: text.", file=file
            )
    return lines


def _line(file: str, number: int, stamp: re.Match[str], rest: str, names: Sequence[str]) -> Line:
    hours, minutes, seconds = (int(part) for part in stamp.groups())
    if hours > 23 or minutes > 59 or seconds > 59:
        raise broken_line(number, f"{stamp[0].strip()} is not a time of day.", "Correct the time.", file=file)
    # The longest name first: "Lee: Junior" may play beside "Lee".
    speaker = next((name for name in names if rest.startswith(f"{name}:")), None)
    if speaker is None:
        who = shorten(rest.partition(":")[0])
        message = f"{who!r} is not among the players."
        raise broken_line(number, message, "Correct the name, or add the player to config.json.", file=file)
    text = rest[len(speaker) + 1 :].removeprefix(" ")
    return Line(file, number, hours * 3600 + minutes * 60 + seconds, speaker, [text])


def segments_of(manager: Sequence[Line]) -> list[Segment]:
    """The days and nights that the manager announced. A night belongs to the round of the day before it."""
    _pass_midnight(manager, manager[0].clock if manager else 0)
    segments: list[Segment] = []
    day = 0
    for line in manager:
        phase = next((phase for words, phase in _PHASES.items() if line.text.startswith(words)), None)
        if phase:
            day += phase == "day"
            segments.append(Segment(len(segments), day, phase, line.clock))
    return segments


def merge(
    manager: Sequence[Line], day: Sequence[Line], night: Sequence[Line], segments: Sequence[Segment]
) -> Iterator[tuple[Line, Segment | None]]:
    """All lines in the order of the game, each with its segment (``None`` when the manager announced none).

    Within one second the order is that of the game: the phase is announced, people talk and vote, the result is told.
    """
    begin = manager[0].clock if manager else 0
    keyed = list(_manager_keys(manager))
    for phase, lines in (("day", day), ("night", night)):
        _pass_midnight(lines, begin)
        keyed.extend(_chat_keys(lines, phase, segments))
    for (_, index, _), line in sorted(keyed, key=lambda pair: pair[0]):
        yield line, segments[index] if segments else None


_Key = tuple[int, int, int]


def _manager_keys(lines: Sequence[Line]) -> Iterator[tuple[_Key, Line]]:
    index = -1
    for line in lines:
        index += line.text.startswith(tuple(_PHASES))
        yield (line.clock, max(index, 0), 2 if _RESULT in line.text else 0), line


def _chat_keys(lines: Sequence[Line], phase: str, segments: Sequence[Segment]) -> Iterator[tuple[_Key, Line]]:
    """The clock decides, not the place in the file: a model's message may be written minutes after its stamp."""
    own = [segment for segment in segments if segment.phase == phase]
    votings = 0
    for line in lines:
        votings += line.speaker == MANAGER and _VOTING in line.text
        if line.speaker == MANAGER and 0 < votings <= len(own):
            # The clock cannot tell the votes of two nights of the same second apart; the calls for votes can.
            index = own[votings - 1].index
        else:
            index = _segment_at(line.clock, phase, segments) if segments else 0
        yield (line.clock, index, 1), line


def _segment_at(clock: int, phase: str, segments: Sequence[Segment]) -> int:
    """The segment of that second; where several meet in it, the earliest of the file's own phase."""
    last = max(bisect_right(segments, clock, key=lambda segment: segment.start) - 1, 0)
    first = last
    while first > 0 and segments[first].start == clock:
        first -= 1
    return next((index for index in range(first, last + 1) if segments[index].phase == phase), last)


def _pass_midnight(lines: Sequence[Line], begin: int) -> None:
    """Adds a day to the clocks after each midnight: a line is never half a day away from the one before it."""
    before = begin
    for line in lines:
        line.clock += round((before - line.clock) / _DAY_SECONDS) * _DAY_SECONDS
        before = line.clock
