"""Lines of a plain-text transcript: where a message begins, dates and times, headings of rounds, events, code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import StrEnum

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
_TO = re.compile(r"\s*(?:->|→|=>|➜|»|>>)\s*|\s+(?:whispers?|whispered|whispering|privately)\s+(?:to\s+)?")
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
    name, *recipients = _TO.split(name)
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
