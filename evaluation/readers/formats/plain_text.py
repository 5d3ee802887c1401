"""Reads transcripts written as plain text, and chats as messengers export or copy them to text.

A message begins with its speaker: ``Name: text``, ``[12:03] Name: text``, ``2024-06-01 10:00 - Name: text``,
``<Name> text``, ``**Name:** text``, ``Name (role): text``, or a line with name and time above the text. What follows
without a speaker belongs to the message above. Headings ("Day 2", "## Night 1") start rounds and phases; lists of
players and roles, lines such as "Ann voted for Bob" and "Bob was voted out" become players, votes and eliminations.

A name before a colon is a speaker if it is listed, votes, is named by others, or stands like the other speakers; a
label ("PS:") is text. Whatever else stands there once is asked about, and so is a date that can be read in two ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import StrEnum
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers._draft import (
    THOUGHTS_CHANNEL,
    Roster,
    TranscriptDraft,
    alignment_of,
    is_abstention,
    is_moderator,
)
from evaluation.readers._who_speaks import EVENT_CHANNEL, channel_named
from evaluation.readers.document import Answers, Document, FileReader, GameReading, Question, Topic
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import english_words, fold
from evaluation.transcript import Channel

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:z|utc|[+-]\d{2}:?\d{2}))?"
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\.?"
    rf"|\d{{1,2}}\.?[\s-]{_MONTH},?[\s-]\d{{2,4}}|{_MONTH}\s\d{{1,2}},?\s\d{{4}}|today|yesterday)"
)
TIME = rf"(?:{_DATE}(?:(?:,?\s|,|\s?t|,?\s?at\s)\s?{_CLOCK})?|{_CLOCK}(?:,\s?{_DATE})?)"
"""A date, a clock time, or both; matched without regard to case."""

_NUMBERS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})\.?[\s-](?P<month>{_MONTH})|(?P<first>{_MONTH})\s(?P<second>\d{{1,2}})),?[\s-](?P<year>\d{{2,4}})"
)
_PARTS = re.compile(
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6}))?)?"
    r"\s?(?P<half>[ap])?(?:\.?m\.?)?\s?(?P<zone>z|utc|[+-]\d{2}:?\d{2})?$"
)
_CLOCK_FIRST = re.compile(rf"(?P<clock>{_CLOCK}),\s?(?P<date>{_DATE})")
# A clock without a date stands on a day that means nothing.
_NO_DATE = date(1970, 1, 1)
_HALF_DAY = timedelta(hours=12)

_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
# Marks of writing direction, as messengers put them before names and times.
_MARKS = "\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_LONGEST_NAME = 60
_LONGEST_THOUGHT = 200
_MOST_WORDS = 5

_TIMED = re.compile(
    rf"(?:\[(?P<square>{TIME})\]|\((?P<round>{TIME})\)|(?P<bare>{TIME})(?=\s))\s*(?:[-–—|:]\s+)?", re.IGNORECASE
)
_BULLET = re.compile(r"(?:[-*•·]|\(?\d{1,4}[.)]|#\d{1,5})\s+")
_TAG = re.compile(r"[\[({](?P<tag>[^\[\](){}\n]{1,60})[\])}]\s*(?=\S)")
_ANGLE = re.compile(r"<(?P<name>[^<>\n]{1,60})>\s?(?P<text>.*)", re.DOTALL)
_BOLD = re.compile(
    r"(?P<mark>\*\*\*|\*\*|__|\*|_)(?P<name>[^*_:\n][^*:\n]{0,80}?)(?P<in>\s?[:：])?(?P=mark)"
    r"(?P<note>\s*[\[(][^\[\]()]{1,60}[\])])?(?P<out>\s?[:：])?(?P<text>\s.*|)"
)
_COLON = re.compile(r"(?P<name>[^:：\n]{1,100}?)\s?(?:[:：])(?P<text>\s.*|(?<=：).*|(?![/\d]).*)")
_PIPE = re.compile(r"(?P<name>[^>|\n]{1,60}?)\s?[>|]\s(?P<text>.*)")
_BRACKETED = re.compile(r"\[(?P<name>[^\[\]:\n]{1,60})\]:\s(?P<text>.*)")
_STAGE = re.compile(r"(?!MRS|PROF|MISS|CAPT|REV|SGT)(?P<name>[A-ZÀ-Þ][A-ZÀ-Þ' -]{1,40}[A-ZÀ-Þ])\.\s(?P<text>.*)")
_ABOVE = re.compile(
    rf"(?:\[(?P<before>{TIME})\]\s+(?P<later>[^:\n]{{1,60}})"
    rf"|(?P<name>[^:\n]{{1,200}}?)(?:,\s\[|\s{{1,8}}[-–—•|]\s{{0,8}}|\s{{1,8}}\[?)(?P<after>{TIME})\]?:?)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"[A-ZÀ-Þ][A-ZÀ-Þ'. -]{1,40}")
_TITLED = re.compile(r"#{2,6}\s+(?P<name>[^:\n]{1,60})")
_NOTE = re.compile(r"\s*[\[(](?P<note>[^\[\]()]{1,60})[\])]\s*$")
_TO_RECIPIENTS = re.compile(r"\s*(?:->|→|=>|➜|»|>>)\s*|\s+(?:whispers?|whispered|whispering|privately)\s+(?:to\s+)?")
_SAYS = re.compile(
    r"\s(?P<verb>says|said|asks|asked|replies|replied|answers|answered|shouts|adds|wrote|writes|thinks)$", re.I
)
_ONLY_TIME = re.compile(TIME, re.IGNORECASE)
_PHONE = re.compile(r"\+\d[\d ()-]{6,20}")
_TAG_NAMES = re.compile(r"/.*|(?:seed:)?think(?:ing)?|thoughts?|reasoning|scratchpad|tool_?calls?", re.IGNORECASE)
_THOUGHT = re.compile(r"<(/?)(think(?:ing)?|thoughts?|reasoning|scratchpad)>", re.IGNORECASE)
_TIME_BEHIND = re.compile(
    rf"(?P<name>[^:()\[\]\n]{{1,60}}?)\s?[\[(](?P<time>{TIME})[\])]:(?P<text>\s.*|)", re.IGNORECASE
)
_ROUND_TAG = re.compile(r"(?P<tag>(?:day|night|round|turn)\s\d{1,3})\s?[:|–—-]\s(?=\S.{0,60}:)", re.IGNORECASE)
_TIME_BELOW = re.compile(rf"(?P<dash>[-–—•|]\s*)?(?P<time>{TIME})", re.IGNORECASE)
_EVENT = re.compile(r"(?:\*\*\*|-!-|-->|<--|==|→|←|—>)\s+\S")
_ACTION = re.compile(r"\*\s+(?P<name>\S{1,60})\s(?P<text>[^:]+)")

_COUNTED = {
    word: number
    for number, words in enumerate(
        (
            ("one", "first"), ("two", "second"), ("three", "third"), ("four", "fourth"), ("five", "fifth"),
            ("six", "sixth"), ("seven", "seventh"), ("eight", "eighth"), ("nine", "ninth"), ("ten", "tenth"),
        ),
        start=1,
    )
    for word in words
}  # fmt: skip
_PERIODS = {"day": "day", "night": "night", "round": None, "turn": None, "morning": "day", "evening": "day"}
_HEADING = re.compile(
    r"(?:the\s)?(?:(?P<ordinal>[a-z]{3,8})\s(?P<second>day|night|round)"
    r"|(?:game\s)?(?P<period>day|night|round|turn|morning|evening)\s?[#:]?\s?(?P<number>\d{1,3}|[a-z]{3,5}))\b"
    r"\s*(?P<rest>.{0,60})",
    re.IGNORECASE,
)
_HEADING_WORDS = frozenset(
    {"begin", "begins", "start", "starts", "discussion", "discussions", "vote", "votes", "voting", "morning", "evening"}
    | {"afternoon", "day", "night", "phase", "of", "the", "talk", "chat", "debate", "ends", "end", "nomination"}
    | {"nominations", "trial", "results", "result", "falls", "dawn", "dusk", "meeting", "round"}
)
_PHASES = {
    "night": "night", "night falls": "night", "nightfall": "night", "night phase": "night",
    "day": "day", "day breaks": "day", "day phase": "day", "discussion": "day", "discussion phase": "day",
    "vote": "vote", "voting": "vote", "votes": "vote", "voting phase": "vote", "vote phase": "vote",
}  # fmt: skip
_SPOKEN_PHASES = frozenset({"night falls", "day breaks", "nightfall"})


class Shape(StrEnum):
    """The way in which a line shows that somebody begins to speak."""

    COLON = "colon"
    BOLD = "bold"
    ANGLE = "angle"
    PIPE = "pipe"
    STAGE = "stage"
    ABOVE = "above"
    ALONE = "alone"
    TITLED = "titled"
    EVENT = "event"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a message.

    Attributes:
        shape: How the name stands out.
        name: The speaker as written.
        text: What follows in the same line.
        tags: What stands in brackets before the name: a channel, a round.
        notes: What stands in brackets behind the name: a role, "to Bob".
        recipients: The names behind an arrow: "Ann -> Bob".
        time: The time as written; ``None`` without one.
        is_listed: Whether a bullet or number stands before it.
        is_told: Whether the messenger itself tells the text (WhatsApp marks that with a mark of direction).
    """

    shape: Shape
    name: str
    text: str
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    time: str | None = None
    is_listed: bool = False
    is_told: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether the shape itself says that a name stands there."""
        return self.time is not None or self.shape in (Shape.ANGLE, Shape.ABOVE, Shape.ACTION)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a round or phase; ``None`` for what it does not say."""

    round: int | None
    phase: str | None


def plain(line: str) -> str:
    """A line for matching: spaces of one kind, no marks of direction at its ends."""
    return line.translate(_SPACES).strip().strip(_MARKS).strip()


def is_fence(line: str) -> bool:
    """Whether a block of code begins or ends."""
    return line.lstrip().startswith(("```", "~~~"))


def thought_lines(lines: Sequence[str], names: Mapping[int, str]) -> set[int]:
    """The numbers of the lines inside blocks of reasoning that go over several lines.

    A tag that is closed only after somebody else has spoken was left open, and hides nothing.

    Args:
        lines: Of the file.
        names: The folded name at the beginning of a line, for those lines whose name begins others, too.
    """
    inside: set[int] = set()
    place = 0
    while place < len(lines):
        end = _closing(lines, place, names) if "<" in lines[place] else place
        inside.update(range(place + 1, end + 1))
        place = end + 1
    return inside


def _closing(lines: Sequence[str], place: int, names: Mapping[int, str]) -> int:
    is_open = False
    for number in range(place, min(place + _LONGEST_THOUGHT, len(lines))):
        if is_open and number in names and names[number] != names.get(place):
            return place
        for tag in _THOUGHT.finditer(lines[number]):
            is_open = not tag[1]
        if not is_open:
            return number
    return place


def code_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines in blocks of code, the fences included but one that a speaker's line opens.

    A fence without a second one opens nothing.
    """
    fences = [number for number, line in enumerate(lines) if (line.count("```") + line.count("~~~")) % 2]
    inside: set[int] = set()
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        inside.update(range(first + (0 if is_fence(lines[first]) else 1), last + 1))
    return inside


def is_rule(line: str) -> bool:
    """Whether a line only separates: "---", "* * *", "====="."""
    return len(line) > 2 and len(set(line.replace(" ", ""))) == 1 and line[0] in "-=*_~#–—"


def is_time(line: str) -> bool:
    """Whether nothing but a time stands in a line, as where a messenger groups the messages of one person."""
    return _ONLY_TIME.fullmatch(line) is not None


def begins_with_time(line: str) -> bool:
    """Whether a cleaned line begins as those of a chat with times do."""
    return _TIMED.match(line) is not None


def joined_time(line: str, following: str) -> str | None:
    """Name and time in one line, where a messenger copies the time to the line below the name, indented or dashed."""
    match = _TIME_BELOW.fullmatch(plain(following))
    if match is None or not (match["dash"] or following.startswith((" ", "\t"))):
        return None
    return f"{line} — {match['time']}" if is_name(line) else None


def heading_of(line: str) -> Heading | None:
    """The round and phase that a heading starts; ``None`` for any other line."""
    bare = line.strip(" #*=_~-–—[](){}<>|:.!\t")
    is_decorated = bare != line.rstrip(" :.!")
    lowered = bare.casefold()
    if (phase := _PHASES.get(lowered)) and (is_decorated or lowered in _SPOKEN_PHASES or (bare.isupper())):
        return Heading(None, phase)
    match = _HEADING.fullmatch(bare)
    if match is None:
        return None
    number = _number(match["ordinal"] or match["number"])
    if number is None or not _ends_like_a_heading(match["rest"], is_decorated=is_decorated):
        return None
    period = (match["second"] or match["period"]).casefold()
    rest = match["rest"].casefold()
    phase = "vote" if re.search(r"\bvot", rest) else "night" if "night" in rest else _PERIODS[period]
    return Heading(number, phase)


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else _COUNTED.get(word.casefold())


def _ends_like_a_heading(rest: str, *, is_decorated: bool) -> bool:
    words = re.findall(r"[^\W\d_]+", rest)
    # "[Round 1] Ann: hi" and "Round 2: Ann: hi" are messages.
    if any(mark in rest.lstrip(":-–—(,|/ ") for mark in ":]"):
        return False
    if all(word.casefold() in _HEADING_WORDS for word in words):
        return True
    stands_apart = is_decorated or rest[:1] in ":-–—(,|/"
    return stands_apart and len(words) <= 4 and words[0][0].isupper()


def head_of(line: str) -> Head | None:
    """The beginning of a message in a cleaned line (``plain``); ``None`` where no name stands."""
    if above := _above(line):
        return above
    time = None
    if match := _TIME_BEHIND.fullmatch(line):
        return _head(Shape.COLON, match["name"], match["text"], (), match["time"], is_listed=False)
    if match := _TIMED.match(line):
        time = match["square"] or match["round"] or match["bare"]
        line = line[match.end() :].lstrip(_MARKS + " ")
    if _EVENT.match(line):
        return Head(Shape.EVENT, "", line, time=time)
    if time is not None and (match := _ACTION.fullmatch(line)):
        return Head(Shape.ACTION, match["name"], match["text"], time=time)
    rest = line
    is_listed = False
    if match := _BULLET.match(rest):
        rest, is_listed = rest[match.end() :], True
    tags: list[str] = []
    if match := _ROUND_TAG.match(rest):
        rest, tags = rest[match.end() :], [match["tag"]]
    while (match := _TAG.match(rest)) and len(tags) < 3:
        tags.append(match["tag"])
        rest = rest[match.end() :]
    found = _named(rest, tuple(tags), time, is_listed=is_listed)
    if found is None and time is not None:
        # In a chat every line with a time is somebody's or tells an event.
        return Head(Shape.EVENT, "", line, time=time)
    return found


def _named(line: str, tags: tuple[str, ...], time: str | None, *, is_listed: bool) -> Head | None:
    for shape, name, text in _shapes(line):
        made = _head(shape, name, text, tags, time, is_listed=is_listed)
        if made is not None:
            return made
    return None


def _shapes(line: str) -> Iterator[tuple[Shape, str, str]]:
    if match := _ANGLE.fullmatch(line):
        yield Shape.ANGLE, match["name"], match["text"]
    match = _BOLD.fullmatch(line)
    if match and (match["in"] or match["out"]):
        yield Shape.BOLD, match["name"] + (match["note"] or ""), match["text"]
    if match := _STAGE.fullmatch(line):
        yield Shape.STAGE, match["name"], match["text"]
    if match := _BRACKETED.fullmatch(line):
        yield Shape.COLON, match["name"], match["text"]
    if match := _COLON.fullmatch(line):
        yield Shape.COLON, match["name"], match["text"]
    if match := _PIPE.fullmatch(line):
        yield Shape.PIPE, match["name"], match["text"]


def _head(
    shape: Shape, written: str, text: str, tags: tuple[str, ...], time: str | None, *, is_listed: bool
) -> Head | None:
    name = written.strip(_MARKS + " ~\t")
    notes: list[str] = []
    while match := _NOTE.search(name):
        notes.append(match["note"])
        name = name[: match.start()].rstrip()
    if match := _SAYS.search(name):
        notes += ["thinks"] if match["verb"].casefold() == "thinks" else []
        name = name[: match.start()]
    name, *recipients = _TO_RECIPIENTS.split(name)
    name = name.strip(" *_@\t")
    if not is_name(name):
        return None
    is_told = time is not None and text.lstrip(" ").startswith("\u200e")
    cleaned = text.strip(_MARKS + " \t") if time is None else text.strip().strip(_MARKS).strip()
    return Head(
        shape, name, cleaned, tags, tuple(notes), tuple(one.strip() for one in recipients), time, is_listed, is_told
    )


def is_name(name: str) -> bool:
    """Whether something may be a name: short, few words, no sentence, no address."""
    if not 0 < len(name) <= _LONGEST_NAME or len(name.split()) > _MOST_WORDS:
        return False
    if (
        name.casefold() in ("http", "https", "ftp", "file", "mailto")
        or name[-1] in ",;!?-="
        or name[0] == ">"
        or '"' in name
    ):
        return False
    if _PHONE.fullmatch(name):
        return True
    if name[0] == "#" and not name[1:].isdigit():
        return False
    if _TAG_NAMES.fullmatch(name) or not any(character.isalpha() or ord(character) > 0x2190 for character in name):
        return False
    # "J. R." and "Mr. Gray" have dots, sentences have them before a word in small letters.
    return not re.search(r"[.,;!?]\s+[a-z]|[.]$(?<![A-Z][.])(?<!\b[JS]r\.)", name) and "//" not in name


def _above(line: str) -> Head | None:
    """A line of name and time, above the text."""
    match = _ABOVE.fullmatch(line)
    if match is None:
        return None
    written = match["later"] or match["name"]
    notes = _NOTE.search(written)
    name = written[: notes.start() if notes else None].strip(_MARKS + " ")
    if len(written.split()) > _MOST_WORDS and match["later"] is None and re.search(r"[-–—•|]", line):
        return Head(Shape.EVENT, "", written.strip(), time=match["after"])
    if not is_name(name) or _TIMED.match(name + " ") or name.startswith(("<", "[", "(", "*", "-", ">", "#")):
        return None
    time = match["before"] or match["after"]
    # "we met at 10:30" ends like such a line.
    is_sentence = match["later"] is None and (name[0].islower() or name.split()[-1].islower()) and " " in name
    found = Head(Shape.ABOVE, name, "", notes=(notes["note"],) if notes else (), time=time)
    return None if is_sentence else found


def standing_alone(line: str, following: str) -> Head | None:
    """A name in capitals or as a heading, alone in its line with text below."""
    if not following or heading_of(line):
        return None
    if match := _TITLED.fullmatch(line):
        return Head(Shape.TITLED, match["name"].strip(" *_"), "") if is_name(match["name"]) else None
    if _ALONE.fullmatch(line) and not following.isupper() and is_name(line):
        return Head(Shape.ALONE, line.rstrip("."), "")
    return None


def order_of_dates(written: Iterable[str]) -> str | None:
    """``day-first`` or ``month-first``, as the numbers show; ``None`` where all can be read both ways.

    Dates with dots have the day first. Where no date is written in numbers, the answer does not matter.
    """
    is_open = False
    for one in written:
        match = _NUMBERS.search(one)
        if match is None or len(match[1]) == 4:
            continue
        first, second = int(match[1]), int(match[3])
        if match[2] == "." or first > 12:
            return "day-first"
        if second > 12:
            return "month-first"
        is_open = is_open or first != second
    return None if is_open else "day-first"


class Clock:
    """Turns written times into moments, one after the other; a clock without a date may pass midnight."""

    def __init__(self, dates: str) -> None:
        self._is_day_first = dates == "day-first"
        self._last: datetime | None = None
        self._days = 0

    def moment(self, written: str) -> datetime | None:
        """The moment in UTC (without an offset, as if it were UTC); ``None`` for a time that does not exist."""
        lowered = written.casefold().strip().rstrip(".")
        if match := _CLOCK_FIRST.fullmatch(lowered):
            lowered = f"{match['date']} {match['clock']}"
        try:
            return self._moment(lowered)
        except (ValueError, OverflowError):
            return None

    def _moment(self, written: str) -> datetime | None:
        day, rest = self._day(written)
        match = _PARTS.search(rest)
        if match is None:
            return None if day is None else datetime.combine(day, time(), UTC)
        hour = int(match["hour"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] == "p" else 0)
        fraction = int((match["fraction"] or "0").ljust(6, "0"))
        clock = time(hour, int(match["minute"]), int(match["second"] or 0), fraction)
        zone = match["zone"] or ""
        offset = _offset(zone) if zone[:1] in ("+", "-") else UTC
        if day is not None:
            return datetime.combine(day, clock, offset).astimezone(UTC)
        moment = datetime.combine(_NO_DATE, clock, UTC) + timedelta(days=self._days)
        if self._last is not None and self._last - moment > _HALF_DAY:
            self._days += 1
            moment += timedelta(days=1)
        self._last = moment
        return moment

    def _day(self, written: str) -> tuple[date | None, str]:
        if written.startswith("yesterday"):
            return _NO_DATE, written.removeprefix("yesterday")
        if written.startswith("today"):
            return _NO_DATE + timedelta(days=1), written.removeprefix("today")
        if match := _NUMBERS.match(written):
            first, second, third = int(match[1]), int(match[3]), int(match[4])
            if len(match[1]) == 4:
                found = date(first, second, third)
            else:
                year = third + 2000 if third < 100 else third
                # A dot never stands between month and day.
                day_first = self._is_day_first or match[2] == "."
                found = date(year, second, first) if day_first else date(year, first, second)
            return found, written[match.end() :]
        if match := _NAMED.match(written):
            name = match["month"] or match["first"]
            number = int(match["day"] or match["second"])
            year = int(match["year"])
            return date(year + 2000 if year < 100 else year, _MONTHS.index(name[:3]) + 1, number), written[
                match.end() :
            ]
        return None, written


def _offset(zone: str) -> timezone:
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


_EMPHASIS = re.compile(r"\*\*|__|^#+\s+|(?<!\w)[*_]|[*_](?!\w)")
_LIST = re.compile(
    r"(?:the\s)?(?:(?P<players>players?(?: list)?|cast|participants?|characters|dramatis personae|seats)"
    r"|(?P<roles>roles?(?: list)?|role assignments?|identities))(?:\s?\(.{1,30}\))?\s*(?::\s*(?P<rest>.*)|)",
    re.IGNORECASE,
)
_VOTES = re.compile(
    r"(?:the\s)?(?:votes?|voting|vote results?|results? of the vote|ballots?|tally)\s*:?\s*(?P<rest>.*)", re.I
)
_ENTRY = re.compile(
    r"(?:[-*•]|\d{1,3}[.)])?\s*(?P<name>[^:=()\[\]\n]{1,60}?)"
    r"(?:\s*[(\[](?P<bracket>[^()\[\]]{1,60})[)\]]|\s*(?P<mark>:|=|->|→|\s[-–—]\s|\bis (?:the|an?)\b|\bas\b)\s*"
    r"(?P<role>.{1,60})|)\s*[.,;]?"
)
_VOTE = re.compile(
    r"(?P<voter>.{1,60}?)(?: \([^()]*\))?,? (?:has |have )?(?:voted|votes|vote)"
    r"(?: (?:for|against|to (?:eliminate|lynch|execute|hang|kill|exile|banish|remove))| out)? "
    r"(?P<target>.{1,60}?)(?:\s?[,;:]? ?\(?(?P<why>because .*|\(.*\))\)?)?[.!]?"
)
_ABSTAINS = re.compile(
    r"(?P<voter>.{1,60}?) (?:abstained|abstains|did not vote|didn't vote|skipped the vote|passes)(?: .{0,30})?[.!]?"
)
_ARROW = re.compile(r"(?P<voter>.{1,60}?)\s*(?:->|→|=>|➜|-->|⟶|▶|>)\s*(?P<target>.{1,60}?)[.]?")
_FOR = re.compile(r"(?P<voter>.{1,60}?)(?:\s*[:=]\s*|\s+[-–—]\s+| for )(?P<target>.{1,60}?)[.]?")
_TALLY = re.compile(
    r"(?P<target>.{1,60}?)(?:\s*[:=-]?\s*\(?(?P<count>\d{1,3})(?: votes?)?\)?)\s*(?:[:-]|from|by|\()\s*"
    r"(?P<voters>[^()]{1,400}?)\)?[.]?"
)
_OUT = re.compile(
    r"(?P<player>.{1,60}?)(?:,? \(?(?:the|an?) (?P<before>[\w -]{2,30})\)?,?| \((?P<bracket>[\w -]{2,30})\),?)?"
    r" (?:(?:was|is|has been|have been|got|gets|were) (?:voted out|eliminated|lynched|executed|killed|hanged|murdered"
    r"|exiled|banished|removed|found dead|sent home|put to death|attacked and killed|thrown out)"
    r"|died|dies|is dead|has died)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_OUT_LABEL = re.compile(
    r"(?:eliminated|elimination|lynched|voted out|executed|killed|died|dead|exiled|out|night kill|killed in the night)"
    r"\s*[:=]\s*(?P<player>[^,()\-–—.]{1,60}?)"
    r"(?:,? \(?(?:the |an? )?(?P<role>[\w -]{2,30})\)?| [-–—] (?P<after>[\w -]{2,30}))?[.!]?",
    re.IGNORECASE,
)
_ROLE_AFTER = re.compile(
    r"(?:(?:he|she|they|it|who|whose role|\w+) (?:was|is|were|had been) |role(?: was)?:? |revealed (?:as|to be) |\()"
    r"(?:the |an? )?(?P<role>[A-Za-z][\w -]{1,29}?)(?:\)|[.,;!]|$)",
    re.IGNORECASE,
)
# What is asked, supposed or only likely has not happened.
_UNSURE = re.compile(
    r"[?]|\b(?:if|when|unless|until|would|will|may|might|could|should|think|thinks|believe|suppose|maybe|almost|nearly|not)\b",
    re.IGNORECASE,
)
# "Ann died laughing", "Ann is dead to me", "Ann was removed from the chat" are something else.
_LEAVES = re.compile(
    r"\s*(?:$|[.,;:!(–—-]|(?:in|during|at|by|on|last|and|with|overnight|tonight|today|this|after|out|first)\b"
    r"|from the (?:game|village|town|table)\b)",
    re.IGNORECASE,
)
_AT_NIGHT = re.compile(r"\b(?:night|murdered|found dead|killed)\b", re.IGNORECASE)
_WINNER = re.compile(
    r"(?:winners?\s*[:=]\s*(?P<label>.{1,40}?)"
    r"|(?:the )?(?P<side>[\w ]{3,30}?) (?:wins?|won|have won|has won)(?: the game)?)[.!]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PLAIN_ROLE = re.compile(r"[\w' /-]{2,40}")

_CAPITALISED = re.compile(r"[^\W\d_a-zà-ÿ][\w'’.-]*(?: [^\W\d_a-zà-ÿ][\w'’.-]*){0,2}(?: \d{1,3})?")
_NO_NAMES = frozenset(
    {"he", "she", "they", "it", "i", "you", "we", "who", "that", "this"}
    | {"everyone", "everybody", "nobody", "no", "one", "somebody", "someone", "the", "a", "an"}
    | {"yesterday", "sadly", "unfortunately", "then", "so", "today", "tonight", "now", "finally", "suddenly", "later"}
)

# The longest line that is looked at: a tally of fifty names fits, and no pattern meets more.
_LONGEST = 2000

Find = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A player in a list, with the role where one is given."""

    name: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote; ``target`` is ``None`` for an abstention."""

    voter: str
    target: str | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A player who leaves, with the role if it is told."""

    player: str
    role: str | None
    is_at_night: bool


def bare(line: str) -> str:
    """A line without emphasis, the signs of a heading and needless space; nothing of a line too long for a result."""
    return " ".join(_EMPHASIS.sub("", line).split()) if len(line) <= _LONGEST else ""


def opens_list(line: str) -> tuple[bool, str] | None:
    """Whether a line opens a list of players: (does it promise roles, what stands behind the colon)."""
    match = _LIST.fullmatch(bare(line))
    return None if match is None else (match["roles"] is not None, (match["rest"] or "").strip())


def opens_votes(line: str) -> str | None:
    """The text behind "Votes:"; empty where the line is only the heading of a list of votes."""
    written = bare(line)
    match = _VOTES.fullmatch(written)
    if match is None or (match["rest"] and ":" not in written):
        return None
    return match["rest"].strip()


def entry_of(line: str, *, is_open: bool) -> Entry | None:
    """A line of a list of players; behind a colon only a known role counts unless the list is one of roles."""
    match = _ENTRY.fullmatch(bare(line))
    if match is None:
        return None
    name, role = match["name"].strip(), (match["bracket"] or match["role"] or "").strip(" .*") or None
    if not is_name(name) or (role is not None and not _PLAIN_ROLE.fullmatch(role)):
        return None
    is_sure = role is None or match["bracket"] or match["mark"] != ":" or is_open or alignment_of(role) is not None
    return Entry(name, role) if is_sure and (role is None or len(role.split()) <= 4) else None


def entries_in(text: str, *, has_roles: bool) -> list[Entry]:
    """The players of a list in one line; none where one of its parts is not one, or lacks the role that it promises."""
    parts = [part for part in re.split(r"[,;]\s*(?![^()]*\))|\s+and\s+", text.rstrip(".")) if part.strip()]
    found = [entry_of(part, is_open=True) for part in parts]
    complete = all(entry and (entry.role or not has_roles) for entry in found)
    return [entry for entry in found if entry] if complete else []


def tells_result(line: str) -> bool:
    """Whether a line is a list of players or votes, an elimination or a winner, by its first word."""
    written = bare(line)
    return (
        opens_list(written) is not None
        or opens_votes(written) is not None
        or _OUT_LABEL.fullmatch(written) is not None
        or bool((won := _WINNER.fullmatch(written)) and won["label"])
    )


def looks_like_a_ballot(line: str) -> bool:
    """Whether a line below "Votes:" may be one of them: two short names, with a sign between them."""
    written = re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line))
    match = _ARROW.fullmatch(written) or _FOR.fullmatch(written)
    return match is not None and all(len(match[side].split()) <= 3 for side in ("voter", "target"))


def ballots_in(line: str, find: Find, *, is_list: bool) -> list[Ballot]:
    """The votes that a line tells; none where it names somebody unknown. ``find`` gives a name as the game has it."""
    written = re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line))
    if match := _VOTE.fullmatch(written):
        made = _ballot(match["voter"], match["target"], find, match["why"])
        return [made] if made else []
    if (match := _ABSTAINS.fullmatch(written)) and (voter := find(match["voter"])):
        return [Ballot(voter, None)]
    if match := _TALLY.fullmatch(written):
        voters = [find(one.strip()) for one in re.split(r",\s*|\s+and\s+|;\s*", match["voters"])]
        target = find(match["target"].strip(" :-"))
        if target and all(voters) and len(voters) == int(match["count"]):
            return [Ballot(voter, target) for voter in voters if voter]
    parts = re.split(r"[,;]\s+", written)
    found = [_listed_ballot(part, find, is_list=is_list) for part in parts]
    return [ballot for ballot in found if ballot] if all(found) else []


def _listed_ballot(part: str, find: Find, *, is_list: bool) -> Ballot | None:
    for pattern in (_ARROW, _VOTE, _FOR) if is_list else (_ARROW,):
        if (match := pattern.fullmatch(part.strip())) and (made := _ballot(match["voter"], match["target"], find)):
            return made
    return None


def _ballot(voter: str, target: str, find: Find, why: str | None = None) -> Ballot | None:
    who, whom = find(voter.strip()), find(target.strip(" ."))
    if who is None:
        return None
    if whom is None:
        return Ballot(who, None, why) if is_abstention(target.removeprefix("to ").strip(" .")) else None
    return Ballot(who, whom, why)


def departures_in(line: str, find: Find) -> Iterator[Departure]:
    """The players who leave by a line that nobody says, with the role that it or its next sentence tells."""
    sentences = _SENTENCE.split(bare(line))
    for place, sentence in enumerate(sentences):
        if _UNSURE.search(sentence):
            continue
        if match := _OUT_LABEL.fullmatch(sentence):
            names, role, rest = match["player"], match["role"] or match["after"], ""
        elif match := _OUT.fullmatch(sentence):
            if not _LEAVES.match(match["rest"]):
                continue
            names, role = match["player"], match["before"] or match["bracket"]
            rest = f"{match['rest']} {sentences[place + 1] if place + 1 < len(sentences) else ''}"
        else:
            continue
        if role is None and (told := _ROLE_AFTER.search(rest)):
            role = told["role"] if alignment_of(told["role"]) or "role" in rest.casefold() else None
        for name in re.split(r",\s*|\s+and\s+", names.strip()):
            if player := find(name.strip()):
                yield Departure(player, role, bool(_AT_NIGHT.search(sentence)))


def winner_in(line: str) -> str | None:
    """The side that a line, or a sentence of it, calls the winner."""
    for sentence in _SENTENCE.split(bare(line)):
        match = None if _UNSURE.search(sentence) else _WINNER.fullmatch(sentence)
        if match and (match["label"] or alignment_of(match["side"])):
            return match["label"] or match["side"]
    return None


def names_of_departed(line: str) -> list[str]:
    """Those of whom a line says "Nell was killed", whoever they are."""
    sentences = (sentence for sentence in _SENTENCE.split(bare(line)) if not _UNSURE.search(sentence))
    matches = (_OUT.fullmatch(sentence) for sentence in sentences)
    names = [match["player"].strip() for match in matches if match and _LEAVES.match(match["rest"])]
    return [name for name in names if _CAPITALISED.fullmatch(name) and name.split()[0].casefold() not in _NO_NAMES]


def names_in_votes(line: str) -> tuple[str, ...]:
    """Voter and target of a line "Ann voted for Bob", whoever they are; nothing for other lines."""
    match = _VOTE.fullmatch(re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line)))
    if match is None or not re.search(r" vote[sd]? (?:for|against|to|out) ", f"{bare(line)} "):
        return ()
    voter, target = match["voter"].strip(), match["target"].strip(" .")
    both = all(is_name(one) and one[0].isupper() and len(one.split()) <= 3 for one in (voter, target))
    if both and not is_abstention(target):
        return voter, target
    return (voter,) if is_name(voter) and voter[0].isupper() and is_abstention(target) else ()


FORMAT = "plain-text"

_NARRATOR = "System"
_NIGHT = "night"
# What people write before a colon inside a message.
_LABELS = frozenset(
    {"result", "results", "outcome", "winner", "winners", "dead", "alive", "eliminated", "wolves", "roles", "voting"}
    | {"note", "notes", "ps", "pps", "p.s", "p.p.s", "edit", "update", "reminder", "tip", "hint", "e.g", "i.e", "q"}
    | {"a", "tldr", "tl;dr", "btw", "fyi", "re", "fwd", "cc", "vote", "votes", "name", "id", "text", "type"}
    | {"version", "url", "author", "description", "key", "value", "status", "role", "content", "message", "info"}
    | {"debug", "error", "warn", "trace", "critical", "ingredients", "method", "directions", "instructions"}
    | {"serves", "yield", "time", "date", "place", "location", "title", "also"}
)
# Words that may be either: they are asked about, whatever they look like.
_DOUBTFUL = frozenset(
    {"argument", "answer", "conclusion", "condition", "consequence", "evidence", "example", "exception", "fact"}
    | {"facts", "first", "finally", "however", "important", "meaning", "narration", "option", "options"}
    | {"plan", "point", "problem", "question", "quote", "reason", "remember", "second"}
    | {"solution", "source", "spoiler", "step", "subject", "suggestion", "summary", "theory", "therefore", "third"}
    | {"topic", "translation", "verdict", "warning"}
)
_MARKED_SHARE = 0.6
_MOST_ASKED = 12
_LEAST_SHARE = 0.15
_MEDIA = re.compile(
    r"(?:<(?:media|attached|image|video|audio|sticker|gif|document|contact card|.{1,20}) (?:omitted|weggelassen)>"
    r"|(?:image|video|audio|sticker|gif|document|contact card|photo|voice message|media)s? omitted"
    r"|(?:this message was|you) deleted(?: this message)?\.?|\[(?:photo|sticker|video|voice message|file|gif)\]"
    r"|.{1,80} \(file attached\))",
    re.IGNORECASE,
)
_TO = re.compile(
    r"(?:(?:whisper(?:s|ed|ing)?|dm|pm|private(?:ly)?|quietly|secretly|only|message)[: ]+)?"
    r"(?:to|with|->|→|@)[: ]*(?P<who>.{1,120})"
    r"|(?:whisper(?:s|ed)?|dm|pm)[: ]+(?P<dm>.{1,120})",
    re.IGNORECASE,
)
_THINKS = re.compile(
    r"(?:thinks?|thinking|thoughts?|inner (?:voice|thoughts?|monologue)|to (?:him|her|them)self|private thoughts?)",
    re.I,
)
_CHANNEL_LINE = re.compile(r"(?P<hash>#[\w-]{2,40})|(?:[-=~*]{2,}|\[)\s*(?P<named>[\w '-]{2,30}?)\s*(?:[-=~*]{2,}|\])")
_NUMBERED = re.compile(
    r"(?:quest|mission|round|day|night|turn|game|vote|phase|step|team|act|scene)s? \d{1,3}(?: \w{1,12})?"
)
_TALLIED = re.compile(r"\d{1,3}(?: votes?)?")
_WORD = re.compile(r"[\w'-]+")
_WHISPERED = re.compile(r"[\[(](?P<note>[^\[\]()]{1,60})[\])]\s*(?P<text>\S.*)")
_REPLIES = re.compile(
    r"\d{1,4} (?:repl(?:y|ies)|reactions?)|\{(?:attachments|embed|reactions|stickers|forwarded message)\}", re.I
)
_ANGLED = re.compile(r"\s*<[^<>/!?\n]{1,60}>\s")
_NOBODY = ("nobody", "no one", "skip", "abstain", "none")
_QUIET = frozenset(
    {"whisper", "whispers", "whispered", "whispering", "dm", "pm", "private", "privately", "only", "secretly"}
)
_PLACES = frozenset({"chat", "channel", "den", "dm", "room", "team", "only"})
_BANNER = re.compile(
    r"(?:guild|channel|topic|exported|messages?|after|before|server|exported \d+ message\(s\))\s*[:.]?.*", re.I
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file; ``cleaned`` is what is matched, ``text`` what was written."""

    number: int
    text: str
    cleaned: str
    head: Head | None = None
    heading: Heading | None = None
    is_code: bool = False


@dataclass(slots=True)
class _Spoken:
    """A message while its lines come in."""

    speaker: str
    lines: list[str]
    round: int | None
    phase: str | None
    channel: Channel = "public"
    channel_name: str | None = None
    recipients: tuple[str, ...] = ()
    time: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


@dataclass(frozen=True, slots=True)
class _Result:
    """A vote or an elimination where it stands in the game."""

    round: int | None
    phase: str | None
    what: Ballot | Departure


def _recognises(document: Document) -> bool:
    text = document.text
    if text.lstrip()[:1] in ("{", "<") and not _ANGLED.match(text):
        return False
    return _speakers(document).are_enough


def _read(document: Document) -> GameReading:
    return _Page(document, _speakers(document)).reading()


def _speakers(document: Document) -> _Speakers:
    """The lines and who speaks in them, found once for recognising and reading."""
    found = document.kept.get(FORMAT)
    if found is None:
        document.limits.check_lines(document.text)
        found = document.kept[FORMAT] = _Speakers(_lines(document.text), document.answers)
    assert isinstance(found, _Speakers)
    return found


def _lines(text: str) -> list[_Line]:
    """The lines with what they begin; inside a block of code nothing begins."""
    written = text.split("\n")
    code = code_lines(written)
    found: list[_Line] = []
    for place, line in enumerate(written):
        cleaned = plain(line)
        if place in code or not cleaned:
            found.append(_Line(place + 1, line, cleaned, is_code=place in code))
            continue
        heading = heading_of(cleaned)
        below = place + 1
        if joined := joined_time(cleaned, written[below] if below < len(written) else ""):
            cleaned, written[below], below = joined, "", below + 1
        following = plain(written[below]) if below < len(written) else ""
        head = None if heading else head_of(cleaned) or standing_alone(cleaned, following)
        if head is not None and head.shape is Shape.ABOVE and (not following or begins_with_time(following)):
            # Nothing is said below: what stands behind a time in brackets is told, anything else is text.
            head = Head(Shape.EVENT, "", head.name, time=head.time) if cleaned.startswith("[") else None
        found.append(_Line(place + 1, line, cleaned, head, heading))
    names = {line.number - 1: fold(line.head.name) for line in found if line.head and line.head.name}
    counts = Counter(names.values())
    names = {number: name for number, name in names.items() if counts[name] > 1}
    for number in thought_lines(written, names):
        found[number] = replace(found[number], head=None, heading=None)
    return found


class _Speakers:
    """Those of the names at the beginnings of lines that speak.

    Attributes:
        lines: Of the file.
        listed: Role, or ``None``, of the players whom lists name, by folded name.
        list_lines: Numbers of the lines of these lists.
        asked: Names that nothing shows to be a speaker's, with the line where they stand.
        labels: How many lines begin with a label, and stay text.
        untimed: How many lines begin with a speaker's name but, unlike the messages here, without a time.
        is_timed: Whether messages carry times here; a line without one is then a further line of a message.
    """

    def __init__(self, lines: Sequence[_Line], answers: Answers) -> None:
        self.lines = lines
        self._answers = answers
        heads = [line.head for line in lines if line.head and line.head.name]
        timed = sum(head.time is not None for head in heads)
        self.is_timed = timed > 1 and timed >= _MARKED_SHARE * len(heads)
        self._shape = _ruling_shape(heads)
        self._is_list = sum(head.is_listed for head in heads) >= _MARKED_SHARE * len(heads)
        self._words = self._words_said()
        self.listed: dict[str, str | None] = {}
        self.list_lines: set[int] = set()
        self._voting: set[str] = set()
        self._spellings: dict[str, Counter[str]] = {}
        self._read_lists()
        beginning = [
            line
            for line in lines
            if line.head
            and self.may_begin(line.head)
            and line.number not in self.list_lines
            and not (tells_result(line.cleaned) and fold(line.head.name) not in self.listed)
        ]
        self._counts = Counter(fold(line.head.name) for line in beginning if line.head)
        self._marked = {fold(line.head.name) for line in beginning if line.head and line.head.is_marked}
        for line in beginning:
            assert line.head is not None
            self._spellings.setdefault(fold(line.head.name), Counter())[line.head.name] += 1
        self._builds = {
            _build(line.head.name)
            for line in beginning
            if line.head
            and (self._counts[fold(line.head.name)] > 1 or self._is_named(line.head.name))
            and fold(line.head.name) not in _LABELS | _DOUBTFUL
        } | {_build(self.spelling(name)) for name in self.listed}
        self._stand_alike = self._all_stand_alike(beginning)
        self.labels = 0
        self.asked: dict[str, int] = {}
        self._accepted: set[str] = set()
        for line in beginning:
            self._decide(line)
        self.untimed = sum(
            1
            for line in lines
            if self.is_timed and line.head and not line.head.time and fold(line.head.name) in self._accepted
        )

    def may_begin(self, head: Head) -> bool:
        """Whether a message may begin so in this file."""
        if head.shape is Shape.EVENT or not head.name:
            return False
        if self.is_timed:
            return head.time is not None
        if head.is_listed and not self._is_list:
            # A list inside of a message.
            return False
        name = fold(head.name)
        if self._shape is None:
            return head.shape is not Shape.ABOVE
        is_named = head.shape is Shape.COLON and name not in _LABELS | _DOUBTFUL and self._is_named(head.name)
        return head.shape is self._shape or name in self.listed or is_named

    def _decide(self, line: _Line) -> None:
        head = line.head
        assert head is not None
        name = fold(head.name)
        answer = self._answers.speaker(name)
        known = name in self.listed or name in self._voting
        if answer is not None:
            accepted = answer != "text"
        elif known:
            accepted = True
        elif name.rstrip(".") in _LABELS or _NUMBERED.fullmatch(name):
            accepted = False
            self.labels += 1
        else:
            accepted = name not in _DOUBTFUL and (
                name in self._marked
                or self._counts[name] > 1
                or self._stand_alike
                or is_moderator(head.name)
                or self._is_named(head.name)
                or (_build(head.name) in self._builds and not _is_ordinary(head.name))
            )
            if not accepted:
                self.asked.setdefault(self.spelling(head.name), line.number)
        if accepted:
            self._accepted.add(name)

    def _is_named(self, name: str) -> bool:
        return any(word in self._words for word in name.split() if len(word) > 1 and not word.islower())

    def _words_said(self) -> set[str]:
        texts = (line.head.text if line.head and line.head.name else line.cleaned for line in self.lines)
        return {word for text in texts for word in _WORD.findall(text)}

    def _all_stand_alike(self, beginning: Sequence[_Line]) -> bool:
        """Whether each line of a short file is "Name: text", with names that look like names."""
        if not beginning or max(self._counts.values()) > 1:
            return False
        others = [line for line in self.lines if line.cleaned and not line.heading and not line.head]
        names = [line.head.name for line in beginning if line.head]
        return not others and len(names) > 1 and all(_looks_like_a_name(name) for name in names)

    def _read_lists(self) -> None:
        """The players whom lists name, and those of "Ann voted for Bob"."""
        is_open: bool | None = None
        in_votes = False
        for line in self.lines:
            opened = opens_list(line.cleaned)
            in_votes = opens_votes(line.cleaned) == "" or (in_votes and looks_like_a_ballot(line.cleaned))
            if in_votes:
                is_open = None
                self.list_lines |= {line.number} if opens_votes(line.cleaned) is None else set()
            elif opened is not None:
                entries = entries_in(opened[1], has_roles=opened[0]) if opened[1] else []
                is_open = None if opened[1] else opened[0]
                if entries or not opened[1]:
                    self.list_lines.add(line.number)
                for entry in entries:
                    self._list(entry)
            elif line.cleaned and not is_rule(line.cleaned):
                found = entry_of(line.cleaned, is_open=is_open) if is_open is not None and not line.heading else None
                if found is not None and (found.role or not is_open):
                    self.list_lines.add(line.number)
                    self._list(found)
                    continue
                is_open = None
                is_speech = line.head is not None and line.head.name and not is_moderator(line.head.name)
                told = line.head.text if line.head and line.head.name else line.cleaned
                if not is_speech:
                    for name in (*names_in_votes(told), *names_of_departed(told)):
                        self._voting.add(fold(name))
                        self._spellings.setdefault(fold(name), Counter())[name] += 1

    def _list(self, entry: Entry) -> None:
        name = fold(entry.name)
        self.listed[name] = self.listed.get(name) or entry.role
        # The list spells the name, whatever the lines do.
        self._spellings.setdefault(name, Counter())[entry.name] += len(self.lines)

    def spelling(self, name: str) -> str:
        """The name as the list, or else most of the lines, write it."""
        found = self._spellings.get(fold(name))
        return found.most_common(1)[0][0] if found else name

    def speaks(self, head: Head) -> bool:
        """Whether the line begins a message of somebody."""
        return self.may_begin(head) and fold(head.name) in self._accepted

    @property
    def names(self) -> list[str]:
        """All who speak, are listed or vote, as spelt, in the order of the file."""
        folded = dict.fromkeys([*self.listed, *self._counts, *self._voting])
        known = self._accepted | self.listed.keys()
        seats = seat_numbers([self.spelling(name) for name in known])
        known |= {name for name in self._voting if name not in _NOBODY and seat_of(name) not in seats}
        return [self.spelling(name) for name in folded if name in known]

    @property
    def are_enough(self) -> bool:
        """Whether this is a transcript: two speak, or one in lines that show it, and not in a few lines of many."""
        heads = [(line, line.head) for line in self.lines if line.head and self.speaks(line.head)]
        written = sum(1 for line in self.lines if line.cleaned)
        # Keys of a file of settings, nested by indents, look like speakers in small letters.
        keys = [(line, head) for line, head in heads if not head.is_marked and head.name[0].islower()]
        nested = sum(1 for line, head in keys if line.text[:1] in " -" or not head.text)
        if len(self.asked) > max(_MOST_ASKED, len(heads)) or nested * 3 > len(heads):
            return False
        players = {fold(head.name) for _, head in heads if not is_moderator(head.name)}
        shown = len(players) > 1 or (
            len(players) == 1 and len(heads) > 2 and (self.is_timed or self._shape is not None)
        )
        return shown and len(heads) >= _LEAST_SHARE * written


def _ruling_shape(heads: Sequence[Head]) -> Shape | None:
    """The shape that most beginnings have, if it is one that itself shows a name."""
    shapes = Counter(head.shape for head in heads)
    for shape, count in shapes.most_common(1):
        if shape not in (Shape.COLON, Shape.PIPE) and count > 1 and count >= _MARKED_SHARE * len(heads):
            return shape
    return None


def _build(name: str) -> str:
    """The build of a name: "A" for "Ann", "A A" for "Ann Lee", "A 1" for "Player 3", "a" for "ann"."""
    return " ".join("1" if word[0].isdigit() else "A" if word[0].isupper() else "a" for word in name.split())


def _is_ordinary(name: str) -> bool:
    """Whether a name consists of English words alone ("Evidence", "Final Thoughts")."""
    return all(word.isalpha() and word.casefold() in english_words() for word in name.split())


def _looks_like_a_name(name: str) -> bool:
    words = name.split()
    return (
        len(words) <= 2
        and fold(name) not in _LABELS | _DOUBTFUL
        and all(word[0].isupper() or word[0].isdigit() for word in words)
    )


class _Page:
    """Goes through the lines and builds the game."""

    def __init__(self, document: Document, speakers: _Speakers) -> None:
        self._document = document
        self._answers = document.answers
        self._speakers = speakers
        self._round: int | None = None
        self._phase: str | None = None
        self._channel: str | None = None
        self._spoken: list[_Spoken] = []
        self._open: _Spoken | None = None
        self._results: list[_Result] = []
        self._winner: str | None = None
        self._in_votes = False
        self._roles = dict(speakers.listed)
        self._roster = Roster(speakers.names)
        self._seats = seat_numbers(self._roster.names)
        self._notes: dict[str, Counter[str]] = {}
        for head in (line.head for line in speakers.lines if line.head and speakers.speaks(line.head)):
            self._notes.setdefault(fold(head.name), Counter()).update(head.notes)
        self._noted = sum(found.total() for found in self._notes.values())

    def reading(self) -> GameReading:
        """The game with what is open about it."""
        for line in self._speakers.lines:
            self._add(line)
        written = [one.time for one in self._spoken if one.time is not None]
        # What the numbers prove is right, whatever was answered for other files.
        dates = order_of_dates(written) or self._answers.dates
        clock = Clock(dates or "day-first")
        draft = TranscriptDraft(self._roster, self._document.limits)
        for one in self._spoken:
            if not one.text:
                continue
            draft.round, draft.phase = one.round, one.phase
            draft.say(
                one.speaker,
                one.text,
                one.channel,
                channel_name=one.channel_name,
                recipients=one.recipients,
                sent_at=None if one.time is None else clock.moment(one.time),
                metadata=one.metadata,
            )
        for result in self._results:
            draft.round, draft.phase = result.round, result.phase
            if isinstance(result.what, Ballot):
                draft.vote(result.what.voter, result.what.target, justification=result.what.why)
            else:
                draft.eliminate(result.what.player, role=result.what.role)
        transcript = draft.build(
            game_id=self._document.game_id(FORMAT),
            source_format=FORMAT,
            players=self._players(),
            winner=self._winner,
            metadata={},
        )
        return GameReading(transcript, tuple(self._remarks()), tuple(self._questions(dates, written)))

    def _players(self) -> list[dict[str, Any]]:
        involved = {one.speaker for one in self._spoken if one.channel != "system"}
        for result in self._results:
            what = result.what
            involved |= {what.voter, what.target or what.voter} if isinstance(what, Ballot) else {what.player}
        names = [name for name in self._roster.names if name in involved or fold(name) in self._speakers.listed]
        roles = {name: self._roles.get(fold(name)) for name in names}
        return [{"name": name, "role": role, "alignment": alignment_of(role)} for name, role in roles.items()]

    def _remarks(self) -> Iterator[str]:
        if self._speakers.labels:
            yield (
                f"{counted(self._speakers.labels, 'line')} with a label before a colon (such as PS or Note) left in "
                "the message above."
            )
        if self._speakers.untimed:
            yield (
                f"{counted(self._speakers.untimed, 'line')} with a speaker's name but without a time left in the "
                "message above."
            )

    def _questions(self, dates: str | None, written: Sequence[str]) -> Iterator[Question]:
        for name, number in self._speakers.asked.items():
            yield Question(
                Topic.SPEAKER,
                name,
                f'Line {number} begins with "{shorten(name)}:", and nothing else shows that this is a speaker. '
                "A player, a moderator, or text of the message above?",
            )
        for name in self._roster.names:
            is_open = fold(name) in self._speakers.listed and self._answers.speaker(name) is None
            if is_open and is_moderator(name) and self._roles.get(fold(name)) is None:
                yield Question(
                    Topic.SPEAKER, name, f'"{shorten(name)}" is listed as a player and called like a moderator.'
                )
        if dates is None:
            example = next(one for one in written if one[:1].isdigit())
            yield Question(Topic.DATES, "", f'Does "{shorten(example)}" name the day or the month first?')
        at_night = [
            one
            for one in self._spoken
            if one.phase == _NIGHT and one.channel == "public" and not self._is_leading(one.speaker)
        ]
        if at_night and self._answers.channel(_NIGHT) is None:
            told = f"{counted(len(at_night), 'message')} {'stands' if len(at_night) == 1 else 'stand'} under a night"
            yield Question(Topic.CHANNEL, _NIGHT, f"{told}, taken as public. Who hears them?", "public")

    def _add(self, line: _Line) -> None:
        if line.is_code:
            self._continue(line.text)
        elif line.heading is not None:
            self._begin(line.heading)
        elif not line.cleaned:
            self._continue("")
        elif is_rule(line.cleaned) or (self._speakers.is_timed and _REPLIES.fullmatch(line.cleaned)):
            self._in_votes = False
        elif self._open is not None and self._speakers.is_timed and is_time(line.cleaned):
            self._open = replace(self._open, lines=[], time=line.cleaned, metadata={})
            self._spoken.append(self._open)
        elif self._is_result(line):
            return
        elif line.number in self._speakers.list_lines:
            self._tell(line.cleaned)
        elif not self._opens_channel(line.cleaned):
            self._in_votes = False
            self._speak_or_continue(line)

    def _begin(self, heading: Heading) -> None:
        if heading.phase == "day" and heading.round is None and self._phase == _NIGHT and self._round is not None:
            self._round += 1
        self._round = self._round if heading.round is None else heading.round
        self._phase = heading.phase
        self._open, self._channel = None, None
        self._in_votes = heading.phase == "vote"

    def _opens_channel(self, line: str) -> bool:
        """A line that is only a channel's name: "#mafia-chat", "--- wolf den ---"."""
        match = _CHANNEL_LINE.fullmatch(line)
        words = set(_WORD.findall((match["named"] or "").casefold())) if match else set()
        if match is None or (words and not self._name_a_place(words)):
            return False
        self._channel = match["hash"] or match["named"].strip()
        self._open = None
        return True

    @staticmethod
    def _name_a_place(words: set[str]) -> bool:
        """Whether words are nothing but the name of a channel that some do not hear ("wolf den")."""
        hidden = {word for word in words if channel_named(word) in ("team", "private")}
        return bool(hidden) and words - hidden <= _PLACES | {"the", "chat"}

    def _is_result(self, line: _Line) -> bool:
        """Whether a line tells a vote, an elimination or the winner; the line itself stands in the system channel."""
        written = line.cleaned
        head = line.head
        if head is not None and head.shape is not Shape.EVENT and self._speakers.speaks(head):
            is_list = self._in_votes and self._find(head.text.strip(" .")) is not None
            if not is_list and not any(_TALLIED.fullmatch(note) for note in head.notes):
                return False
        elif head is not None and head.time is not None:
            written = head.text if head.shape is Shape.EVENT else written
        rest = opens_votes(written)
        if rest is not None:
            self._in_votes = True
            ballots = ballots_in(rest, self._find, is_list=True) if rest else []
        else:
            ballots = ballots_in(written, self._find, is_list=self._in_votes)
        if rest is None and not ballots and not self._results_in(written):
            return False
        self._vote(ballots)
        if rest is None or ballots or not rest:
            self._tell(written)
            return True
        return False

    def _results_in(self, written: str) -> bool:
        departures = list(departures_in(written, self._find))
        for one in departures:
            phase = _NIGHT if one.is_at_night and self._phase != "vote" else self._phase
            self._results.append(_Result(self._round, phase, one))
        winner = winner_in(written)
        self._winner = winner or self._winner
        return bool(departures or winner)

    def _vote(self, ballots: Sequence[Ballot]) -> None:
        self._results += [_Result(self._round, self._phase, ballot) for ballot in ballots]

    def _find(self, name: str) -> str | None:
        cleaned = name.strip(" *_.@")
        return self._roster.find(cleaned) or self._seats.get(seat_of(cleaned))

    def _speak_or_continue(self, line: _Line) -> None:
        head = line.head
        if head is None:
            self._continue(line.text)
        elif head.shape is Shape.EVENT:
            if self._speakers.is_timed or head.time is None:
                self._spoken.append(self._system(head.text, EVENT_CHANNEL, head.time))
                self._open = None
            else:
                self._continue(line.text)
        elif self._speakers.speaks(head):
            self._say(head)
        elif self._speakers.may_begin(head) and self._speakers.spelling(head.name) in self._speakers.asked:
            self._tell(line.cleaned)
        else:
            self._continue(line.text)

    def _continue(self, text: str) -> None:
        if self._open is not None:
            self._open.lines.append(text.rstrip())
        elif text.strip() and not _BANNER.fullmatch(plain(text)):
            self._tell(plain(text))

    def _tell(self, text: str) -> None:
        self._spoken.append(self._system(text, None, None))
        self._open = None

    def _system(self, text: str, channel_name: str | None, time: str | None) -> _Spoken:
        return _Spoken(_NARRATOR, [text], self._round, self._phase, "system", channel_name, time=time)

    def _say(self, head: Head) -> None:
        speaker = self._speakers.spelling(head.name)
        one = _Spoken(speaker, [head.text], self._round, self._phase, channel_name=self._channel, time=head.time)
        one.recipients = tuple(self._find(name) or name for name in head.recipients)
        for tag in head.tags:
            self._note(one, tag, is_before=True)
        for note in head.notes:
            self._note(one, note, is_before=False)
        if (match := _WHISPERED.match(head.text)) and set(_WORD.findall(match["note"].casefold())) & _QUIET:
            self._note(one, match["note"], is_before=False)
            one.lines = [match["text"]]
        if self._is_leading(speaker):
            self._vote(ballots_in(head.text, self._find, is_list=False))
            self._results_in(head.text)
        if head.is_told:
            one.channel, one.channel_name = "system", EVENT_CHANNEL
        if _MEDIA.fullmatch(head.text):
            one.channel, one.channel_name = "system", "media"
        if one.phase == _NIGHT and one.channel == "public" and not one.recipients and one.channel_name is None:
            answer = self._answers.channel(_NIGHT)
            one.channel_name = _NIGHT if answer not in (None, "public") else None
        self._spoken.append(one)
        self._open = one

    def _is_leading(self, speaker: str) -> bool:
        answer = self._answers.speaker(speaker)
        if answer is not None:
            return answer == "moderator"
        return is_moderator(speaker) or is_moderator(self._roles.get(fold(speaker)) or "")

    def _note(self, one: _Spoken, note: str, *, is_before: bool) -> None:
        """Takes in the words in brackets around a name: a round, a role, who is spoken to, a channel, a thought."""
        words = set(_WORD.findall(note.casefold()))
        to = _TO.fullmatch(note)
        if heading := heading_of(f"[{note}]" if is_before else note):
            self._round = self._round if heading.round is None else heading.round
            self._phase = heading.phase
            one.round, one.phase = self._round, self._phase
        elif _THINKS.fullmatch(note):
            one.channel, one.channel_name = "private", THOUGHTS_CHANNEL
        elif to and (to["dm"] or words & _QUIET or any(self._find(name) for name in _names(to["who"]))):
            one.recipients = tuple(self._find(name) or name for name in _names(to["who"] or to["dm"]))
        elif not is_before and not words & _PLACES and (alignment_of(note) or is_moderator(note)):
            self._roles[fold(one.speaker)] = self._roles.get(fold(one.speaker)) or note
        elif channel_named(note) or words & _PLACES or note.startswith("#"):
            one.channel_name = note
        elif not is_before and self._is_role_of(one.speaker, note):
            self._roles[fold(one.speaker)] = self._roles.get(fold(one.speaker)) or note
        else:
            one.metadata["note"] = note

    def _is_role_of(self, speaker: str, note: str) -> bool:
        """Whether the same words always stand behind this name, and other words behind other names."""
        own = self._notes.get(fold(speaker), Counter())
        is_repeated = self._noted > len(self._notes)
        return len(own) == 1 and is_repeated and is_name(note)


def _names(written: str) -> list[str]:
    return [one.strip() for one in re.split(r",\s*|\s+and\s+|\s*&\s*", written) if one.strip()]


READER = FileReader(FORMAT, _recognises, _read)
