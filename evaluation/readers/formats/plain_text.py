"""Reads transcripts written as plain text, and chats as messengers export or copy them to text.

A message begins with its speaker: ``Name: text``, ``[12:03] Name: text``, ``2024-06-01 10:00 - Name: text``,
``**Name:** text``, ``Name (role): text``, or a line with name and time above the text. What follows without a speaker
belongs to the message above. Headings ("Day 2", "## Night 1") start rounds and phases; lists of players and roles,
lines such as "Ann voted for Bob" and "Bob was voted out" become players, votes and eliminations.

A name before a colon is a speaker if it is listed, votes, is named by others, or stands like the other speakers; a
label ("PS:") is text. Whatever else stands there once is asked about, and so is a date that can be read in two ways.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers._draft import (
    THOUGHTS_CHANNEL,
    Roster,
    TranscriptDraft,
    alignment_of,
    is_abstention,
    is_moderator,
    word_lists,
    word_set,
)
from evaluation.readers._who_speaks import EVENT_CHANNEL, channel_named
from evaluation.readers.document import Answers, Document, FileReader, Question, ReadResult, Topic
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import english_words, fold
from evaluation.transcript import Channel

FORMAT = "plain-text"

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:z|utc|[+-]\d{2}:?\d{2}))?"
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\.?"
    rf"|\d{{1,2}}\.?[\s-]{_MONTH},?[\s-]\d{{2,4}}|{_MONTH}\s\d{{1,2}},?\s\d{{4}}|today|yesterday)"
)
# A date, a clock time, or both; matched without regard to case.
_TIME = rf"(?:{_DATE}(?:(?:,?\s|,|\s?t|,?\s?at\s)\s?{_CLOCK})?|{_CLOCK}(?:,\s?{_DATE})?)"

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
    rf"(?:\[(?P<square>{_TIME})\]|\((?P<round>{_TIME})\)|(?P<bare>{_TIME})(?=\s))\s*(?:[-–—|:]\s+)?", re.IGNORECASE
)
_BULLET = re.compile(r"(?:[-*•·]|\(?\d{1,4}[.)]|#\d{1,5})\s+")
_TAG = re.compile(r"[\[({](?P<tag>[^\[\](){}\n]{1,60})[\])}]\s*(?=\S)")
_BOLD = re.compile(
    r"(?P<mark>\*\*\*|\*\*|__|\*|_)(?P<name>[^*_:\n][^*:\n]{0,80}?)(?P<in>\s?[:：])?(?P=mark)"
    r"(?P<note>\s*[\[(][^\[\]()]{1,60}[\])])?(?(in)(?:\s?[:：])?|\s?[:：])(?P<text>\s.*|)"
)
_COLON = re.compile(r"(?P<name>[^:：\n]{1,100}?)\s?(?:[:：])(?P<text>\s.*|(?<=：).*|(?![/\d]).*)")
_ABOVE = re.compile(
    rf"(?:\[(?P<before>{_TIME})\]\s+(?P<later>[^:\n]{{1,60}})"
    rf"|(?P<name>[^:\n]{{1,200}}?)(?:,\s\[|\s{{1,8}}[-–—•|]\s{{0,8}}|\s{{1,8}}\[?)(?P<after>{_TIME})\]?:?)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\s*[\[(](?P<note>[^\[\]()]{1,60})[\])]\s*$")
_TO_RECIPIENTS = re.compile(r"\s*(?:->|→|=>|➜|»|>>)\s*|\s+(?:whispers?|whispered|whispering|privately)\s+(?:to\s+)?")
_SAYS = re.compile(
    r"\s(?P<verb>says|said|asks|asked|replies|replied|answers|answered|shouts|adds|wrote|writes|thinks)$", re.I
)
_ONLY_TIME = re.compile(_TIME, re.IGNORECASE)
_PHONE = re.compile(r"\+\d[\d ()-]{6,20}")
# Addresses, quotes and tags of reasoning or tools.
_NO_NAME = re.compile(
    r'https?|ftp|file|mailto|.*[,;!?=-]|[>#/].*|.*".*'
    r"|(?:seed:)?think(?:ing)?|thoughts?|reasoning|scratchpad|tool_?calls?",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT = re.compile(r"<(/?)(think(?:ing)?|thoughts?|reasoning|scratchpad)>", re.IGNORECASE)
_TIME_BEHIND = re.compile(
    rf"(?P<name>[^:()\[\]\n]{{1,60}}?)\s?[\[(](?P<time>{_TIME})[\])]:(?P<text>\s.*|)", re.IGNORECASE
)
_ROUND_TAG = re.compile(r"(?P<tag>(?:day|night|round|turn)\s\d{1,3})\s?[:|–—-]\s(?=\S.{0,60}:)", re.IGNORECASE)
_TIME_BELOW = re.compile(rf"(?P<dash>[-–—•|]\s*)?(?P<time>{_TIME})", re.IGNORECASE)

_PERIODS = {"day": "day", "night": "night", "round": None, "turn": None, "morning": "day", "evening": "day"}
_HEADING = re.compile(
    r"(?:the\s)?(?:(?P<ordinal>[a-z]{3,8})\s(?P<second>day|night|round)"
    r"|(?:game\s)?(?P<period>day|night|round|turn|morning|evening)\s?[#:]?\s?(?P<number>\d{1,3}|[a-z]{3,5}))\b"
    r"\s*(?P<rest>.{0,60})",
    re.IGNORECASE,
)
_PHASES = {
    "night": "night", "night falls": "night", "nightfall": "night", "night phase": "night",
    "day": "day", "day breaks": "day", "day phase": "day", "discussion": "day", "discussion phase": "day",
    "vote": "vote", "voting": "vote", "votes": "vote", "voting phase": "vote", "vote phase": "vote",
}  # fmt: skip
_SPOKEN_PHASES = frozenset({"night falls", "day breaks", "nightfall"})


# Shapes that begin a message, in the order in which they are tried; the groups are the name and the text.
_SHAPES = (("bold", _BOLD), ("colon", _COLON))


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a message; without a name, an event that the chat tells, or the beginning of nothing.

    Attributes:
        shape: How the name stands out: one of ``_SHAPES``; ``above`` its text, with a time; ``event``; empty where
            nothing begins.
        name: The speaker as written.
        text: What follows in the same line.
        tags: What stands in brackets before the name: a channel, a round.
        notes: What stands in brackets behind the name: a role, "to Bob".
        recipients: The names behind an arrow: "Ann -> Bob".
        time: The time as written; ``None`` without one.
        is_listed: Whether a bullet or number stands before it.
        is_told: Whether the messenger itself tells the text (WhatsApp marks that with a mark of direction).
    """

    shape: str = ""
    name: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    time: str | None = None
    is_listed: bool = False
    is_told: bool = False

    @property
    def key(self) -> str:
        """The name as it is compared."""
        return fold(self.name)


_NOTHING = Head()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file; ``cleaned`` is what is matched, ``text`` what was written.

    A heading is the round and the phase that it starts; ``None`` for what it does not say.
    """

    number: int
    text: str
    cleaned: str
    head: Head = _NOTHING
    heading: tuple[int | None, str | None] | None = None
    is_code: bool = False


def _plain(line: str) -> str:
    """A line for matching: spaces of one kind, no marks of direction at its ends."""
    return line.translate(_SPACES).strip().strip(_MARKS).strip()


def _lines(text: str) -> list[_Line]:
    """The lines with what they begin; inside a block of code nothing begins."""
    written = text.split("\n")
    code = _code_lines(written)
    found: list[_Line] = []
    for place, line in enumerate(written):
        cleaned = _plain(line)
        if place in code or not cleaned:
            found.append(_Line(place + 1, line, cleaned, is_code=place in code))
            continue
        heading = _heading(cleaned)
        below = place + 1
        if joined := _joined_time(cleaned, written[below] if below < len(written) else ""):
            cleaned, written[below], below = joined, "", below + 1
        following = _plain(written[below]) if below < len(written) else ""
        head = _NOTHING if heading else _head(cleaned) or _NOTHING
        if head.shape == "above" and (not following or _TIMED.match(following)):
            # Nothing is said below: what stands behind a time in brackets is told, anything else is text.
            head = Head("event", text=head.name, time=head.time) if cleaned.startswith("[") else _NOTHING
        found.append(_Line(place + 1, line, cleaned, head, heading))
    names = {line.number - 1: line.head.key for line in found if line.head.name}
    counts = Counter(names.values())
    for number in _thought_lines(written, {number: name for number, name in names.items() if counts[name] > 1}):
        found[number] = replace(found[number], head=_NOTHING, heading=None)
    return found


def _thought_lines(lines: Sequence[str], names: Mapping[int, str]) -> Iterator[int]:
    """The places of the lines inside blocks of reasoning that go over several lines.

    A tag that is closed only after somebody else has spoken was left open, and hides nothing.

    Args:
        lines: Of the file.
        names: The folded name at the beginning of a line, for those lines whose name begins others, too.
    """
    place = 0
    while place < len(lines):
        end = place
        is_open = False
        for number in range(place, min(place + _LONGEST_THOUGHT, len(lines)) if "<" in lines[place] else place):
            if is_open and number in names and names[number] != names.get(place):
                break
            for tag in _THOUGHT.finditer(lines[number]):
                is_open = not tag[1]
            if not is_open:
                end = number
                break
        yield from range(place + 1, end + 1)
        place = end + 1


def _code_lines(lines: Sequence[str]) -> set[int]:
    """The places of the lines in blocks of code, the fences included but one that a speaker's line opens.

    A fence without a second one opens nothing.
    """
    fences = [number for number, line in enumerate(lines) if (line.count("```") + line.count("~~~")) % 2]
    inside: set[int] = set()
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        inside.update(range(first + (not lines[first].lstrip().startswith(("```", "~~~"))), last + 1))
    return inside


def _is_rule(line: str) -> bool:
    """Whether a line only separates: "---", "* * *", "====="."""
    return len(line) > 2 and len(set(line.replace(" ", ""))) == 1 and line[0] in "-=*_~#–—"


def _joined_time(line: str, following: str) -> str | None:
    """Name and time in one line, where a messenger copies the time to the line below the name, indented or dashed."""
    match = _TIME_BELOW.fullmatch(_plain(following))
    if match is None or not (match["dash"] or following.startswith((" ", "\t"))):
        return None
    return f"{line} — {match['time']}" if _is_name(line) else None


def _heading(line: str) -> tuple[int | None, str | None] | None:
    """The round and phase that a heading starts; ``None`` for any other line."""
    bare = line.strip(" #*=_~-–—[](){}<>|:.!\t")
    is_decorated = bare != line.rstrip(" :.!")
    lowered = bare.casefold()
    if (phase := _PHASES.get(lowered)) and (is_decorated or lowered in _SPOKEN_PHASES or bare.isupper()):
        return None, phase
    match = _HEADING.fullmatch(bare)
    if match is None:
        return None
    number = _number((match["ordinal"] or match["number"]).casefold())
    rest = match["rest"].casefold()
    if number is None or not _ends_like_a_heading(match["rest"], is_decorated=is_decorated):
        return None
    phase = _PERIODS[(match["second"] or match["period"]).casefold()]
    return number, "vote" if re.search(r"\bvot", rest) else "night" if "night" in rest else phase


def _number(word: str) -> int | None:
    numbers = word_lists("words")["numbers"]
    return int(word) if word.isdigit() else numbers.index(word) // 2 + 1 if word in numbers else None


def _ends_like_a_heading(rest: str, *, is_decorated: bool) -> bool:
    behind = re.findall(r"[^\W\d_]+", rest)
    # "[Round 1] Ann: hi" and "Round 2: Ann: hi" are messages.
    if any(mark in rest.lstrip(":-–—(,|/ ") for mark in ":]"):
        return False
    if all(word.casefold() in word_set("heading") for word in behind):
        return True
    stands_apart = is_decorated or rest[:1] in ":-–—(,|/"
    return stands_apart and len(behind) <= 4 and behind[0][0].isupper()


def _head(line: str) -> Head | None:
    """The beginning of a message in a cleaned line (``_plain``); ``None`` where no name stands."""
    if above := _above(line):
        return above
    if match := _TIME_BEHIND.fullmatch(line):
        return _named("colon", match["name"], match["text"], time=match["time"])
    time = None
    if match := _TIMED.match(line):
        time = match["square"] or match["round"] or match["bare"]
        line = line[match.end() :].lstrip(_MARKS + " ")
    # In a chat every line with a time is somebody's or tells an event.
    event = Head("event", text=line, time=time)
    bullet = _BULLET.match(line)
    rest = line[bullet.end() :] if bullet else line
    tags: list[str] = []
    if match := _ROUND_TAG.match(rest):
        rest, tags = rest[match.end() :], [match["tag"]]
    while (match := _TAG.match(rest)) and len(tags) < 3:
        tags.append(match["tag"])
        rest = rest[match.end() :]
    for shape, pattern in _SHAPES:
        if match := pattern.fullmatch(rest):
            name = match["name"] + (match.groupdict().get("note") or "")
            if found := _named(shape, name, match["text"], tuple(tags), time, is_listed=bullet is not None):
                return found
    return event if time is not None else None


def _named(
    shape: str, written: str, text: str, tags: tuple[str, ...] = (), time: str | None = None, *, is_listed: bool = False
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
    if not _is_name(name):
        return None
    is_told = time is not None and text.lstrip(" ").startswith("\u200e")
    cleaned = text.strip(_MARKS + " \t") if time is None else text.strip().strip(_MARKS).strip()
    return Head(
        shape, name, cleaned, tags, tuple(notes), tuple(one.strip() for one in recipients), time, is_listed, is_told
    )


def _is_name(name: str) -> bool:
    """Whether something may be a name: short, few words, no sentence, no address."""
    if not 0 < len(name) <= _LONGEST_NAME or len(name.split()) > _MOST_WORDS or _NO_NAME.fullmatch(name):
        return False
    if _PHONE.fullmatch(name):
        return True
    if not any(character.isalpha() or ord(character) > 0x2190 for character in name):
        return False
    # "J. R." and "Mr. Gray" have dots, sentences have them before a word in small letters.
    return not re.search(r"[.,;!?]\s+[a-z]|[.]$(?<![A-Z][.])(?<!\b[JS]r\.)", name) and "//" not in name


def _above(line: str) -> Head | None:
    """A line of name and time, above the text."""
    match = _ABOVE.fullmatch(line)
    if match is None:
        return None
    written, time = match["later"] or match["name"], match["before"] or match["after"]
    note = _NOTE.search(written)
    name = written[: note.start() if note else None].strip(_MARKS + " ")
    if len(written.split()) > _MOST_WORDS and match["later"] is None and re.search(r"[-–—•|]", line):
        return Head("event", text=written.strip(), time=time)
    if not _is_name(name) or _TIMED.match(name + " ") or name.startswith(("<", "[", "(", "*", "-")):
        return None
    # "we met at 10:30" ends like such a line.
    is_sentence = match["later"] is None and (name[0].islower() or name.split()[-1].islower()) and " " in name
    return None if is_sentence else Head("above", name, notes=(note["note"],) if note else (), time=time)


def _order_of_dates(written: Iterable[str]) -> str | None:
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


def _moments(written: Iterable[str | None], *, is_day_first: bool) -> Iterator[datetime | None]:
    """Written times as moments in UTC (without an offset, as if it were UTC); ``None`` for one that does not exist.

    A clock without a date may pass midnight.
    """
    last, days = None, 0
    for one in written:
        try:
            day, clock = _day_and_clock((one or "").casefold().strip().rstrip("."), is_day_first=is_day_first)
            if day is not None:
                yield datetime.combine(day, clock or time(tzinfo=UTC)).astimezone(UTC)
                continue
            if clock is None:
                yield None
                continue
            moment = datetime.combine(_NO_DATE, clock.replace(tzinfo=UTC)) + timedelta(days=days)
        except (ValueError, OverflowError):
            yield None
            continue
        if last is not None and last - moment > _HALF_DAY:
            days += 1
            moment += timedelta(days=1)
        last = moment
        yield moment


def _day_and_clock(written: str, *, is_day_first: bool) -> tuple[date | None, time | None]:
    if match := _CLOCK_FIRST.fullmatch(written):
        written = f"{match['date']} {match['clock']}"
    day = None
    if match := re.match("today|yesterday", written):
        day = _NO_DATE + timedelta(days=match[0] == "today")
    elif match := _NUMBERS.match(written):
        first, second, third = int(match[1]), int(match[3]), int(match[4])
        if len(match[1]) == 4:
            day = date(first, second, third)
        else:
            # A dot never stands between month and day.
            month, number = (second, first) if is_day_first or match[2] == "." else (first, second)
            day = date(_year(third), month, number)
    elif match := _NAMED.match(written):
        month = _MONTHS.index((match["month"] or match["first"])[:3]) + 1
        day = date(_year(int(match["year"])), month, int(match["day"] or match["second"]))
    found = _PARTS.search(written[match.end() :] if match else written)
    if found is None:
        return day, None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] == "p" else 0)
    zone = found["zone"] or ""
    offset = datetime.strptime(zone, "%z").tzinfo if zone[:1] in ("+", "-") else UTC
    fraction = int((found["fraction"] or "0").ljust(6, "0"))
    return day, time(hour, int(found["minute"]), int(found["second"] or 0), fraction, offset)


def _year(written: int) -> int:
    return written + 2000 if written < 100 else written


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
_POINT = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_PLAIN_ROLE = re.compile(r"[\w' /-]{2,40}")

_CAPITALISED = re.compile(r"[^\W\d_a-zà-ÿ][\w'’.-]*(?: [^\W\d_a-zà-ÿ][\w'’.-]*){0,2}(?: \d{1,3})?")
# The longest line that is looked at: a tally of fifty names fits, and no pattern meets more.
_LONGEST = 2000

Find = Callable[[str], str | None]
"""Gives a player's name as the game has it; ``None`` for anybody else."""

_Ballot = tuple[str, str | None, str | None]
"""Voter, target and reason; no target for an abstention."""


def _bare(line: str) -> str:
    """A line without emphasis, the signs of a heading and needless space; nothing of a line too long for a result."""
    return " ".join(_EMPHASIS.sub("", line).split()) if len(line) <= _LONGEST else ""


def _sentences(line: str) -> list[str]:
    """The sentences of a line; empty ones for what is asked, supposed or only likely, since that has not happened."""
    return ["" if _UNSURE.search(one) else one for one in _SENTENCE.split(_bare(line))]


def _opens_list(line: str) -> tuple[bool, str] | None:
    """Whether a line opens a list of players: (does it promise roles, what stands behind the colon)."""
    match = _LIST.fullmatch(_bare(line))
    return None if match is None else (match["roles"] is not None, (match["rest"] or "").strip())


def _opens_votes(line: str) -> str | None:
    """The text behind "Votes:"; empty where the line is only the heading of a list of votes."""
    written = _bare(line)
    match = _VOTES.fullmatch(written)
    return None if match is None or (match["rest"] and ":" not in written) else match["rest"].strip()


def _entry(line: str, *, is_open: bool) -> tuple[str, str | None] | None:
    """Name and role in a line of a list of players.

    Behind a colon only a known role counts unless the list is one of roles.
    """
    match = _ENTRY.fullmatch(_bare(line))
    if match is None:
        return None
    name, role = match["name"].strip(), (match["bracket"] or match["role"] or "").strip(" .*") or None
    if not _is_name(name) or (role is not None and not _PLAIN_ROLE.fullmatch(role)):
        return None
    is_sure = role is None or match["bracket"] or match["mark"] != ":" or is_open or alignment_of(role) is not None
    return (name, role) if is_sure and (role is None or len(role.split()) <= 4) else None


def _entries(text: str, *, has_roles: bool) -> list[tuple[str, str | None]]:
    """The players of a list in one line; none where one of its parts is not one, or lacks the role that it promises."""
    parts = re.split(r"[,;]\s*(?![^()]*\))|\s+and\s+", text.rstrip("."))
    found = [_entry(part, is_open=True) for part in parts if part.strip()]
    entries = [entry for entry in found if entry and (entry[1] or not has_roles)]
    return entries if len(entries) == len(found) else []


def _tells_result(line: str) -> bool:
    """Whether a line is a list of players or votes, an elimination or a winner, by its first word."""
    written = _bare(line)
    won = _WINNER.fullmatch(written)
    is_list = _opens_list(written) is not None or _opens_votes(written) is not None
    return is_list or _OUT_LABEL.fullmatch(written) is not None or bool(won and won["label"])


def _looks_like_a_ballot(line: str) -> bool:
    """Whether a line below "Votes:" may be one of them: two short names, with a sign between them."""
    written = _POINT.sub("", _bare(line))
    match = _ARROW.fullmatch(written) or _FOR.fullmatch(written)
    return match is not None and all(len(match[side].split()) <= 3 for side in ("voter", "target"))


def _ballots(line: str, find: Find, *, is_list: bool) -> list[_Ballot]:
    """The votes that a line tells; none where it names somebody unknown."""
    written = _POINT.sub("", _bare(line))
    if match := _VOTE.fullmatch(written):
        made = _ballot(match, find, match["why"])
        return [made] if made else []
    if (match := _ABSTAINS.fullmatch(written)) and (voter := find(match["voter"])):
        return [(voter, None, None)]
    if match := _TALLY.fullmatch(written):
        voters = [find(one.strip()) for one in re.split(r",\s*|\s+and\s+|;\s*", match["voters"])]
        target = find(match["target"].strip(" :-"))
        if target and all(voters) and len(voters) == int(match["count"]):
            return [(voter, target, None) for voter in voters if voter]
    patterns = (_ARROW, _VOTE, _FOR) if is_list else (_ARROW,)
    found = []
    for part in re.split(r"[,;]\s+", written):
        matches = (pattern.fullmatch(part.strip()) for pattern in patterns)
        made = next((made for match in matches if match and (made := _ballot(match, find))), None)
        if made is None:
            return []
        found.append(made)
    return found


def _ballot(match: re.Match[str], find: Find, why: str | None = None) -> _Ballot | None:
    voter, target = find(match["voter"].strip()), match["target"].strip(" .")
    whom = find(target)
    is_vote = whom is not None or is_abstention(match["target"].removeprefix("to ").strip(" ."))
    return (voter, whom, why) if voter is not None and is_vote else None


def _departures(line: str, find: Find) -> Iterator[tuple[str, str | None, bool]]:
    """The players who leave by a line that nobody says, their roles where they are told, and whether by night."""
    written = _SENTENCE.split(_bare(line))
    for place, sentence in enumerate(_sentences(line)):
        if match := _OUT_LABEL.fullmatch(sentence):
            role, rest = match["role"] or match["after"], ""
        elif (match := _OUT.fullmatch(sentence)) and _LEAVES.match(match["rest"]):
            role, rest = match["before"] or match["bracket"], " ".join((match["rest"], *written[place + 1 : place + 2]))
        else:
            continue
        if role is None and (told := _ROLE_AFTER.search(rest)):
            role = told["role"] if alignment_of(told["role"]) or "role" in rest.casefold() else None
        for name in re.split(r",\s*|\s+and\s+", match["player"].strip()):
            if player := find(name.strip()):
                yield player, role, bool(_AT_NIGHT.search(sentence))


def _winner(line: str) -> str | None:
    """The side that a line, or a sentence of it, calls the winner."""
    for match in map(_WINNER.fullmatch, _sentences(line)):
        if match and (match["label"] or alignment_of(match["side"])):
            return match["label"] or match["side"]
    return None


def _named_in_results(line: str) -> Iterator[str]:
    """Voter and target of "Ann voted for Bob", and those of whom it is said "Nell was killed", whoever they are."""
    match = _VOTE.fullmatch(_POINT.sub("", _bare(line)))
    if match and re.search(r" vote[sd]? (?:for|against|to|out) ", f"{_bare(line)} "):
        voter, target = match["voter"].strip(), match["target"].strip(" .")
        is_for_nobody = is_abstention(target)
        both = all(_is_name(one) and one[0].isupper() and len(one.split()) <= 3 for one in (voter, target))
        if both and not is_for_nobody:
            yield from (voter, target)
        elif is_for_nobody and _is_name(voter) and voter[0].isupper():
            yield voter
    for match in map(_OUT.fullmatch, _sentences(line)):
        name = match["player"].strip() if match and _LEAVES.match(match["rest"]) else ""
        if _CAPITALISED.fullmatch(name) and name.split()[0].casefold() not in word_set("no_names"):
            yield name


_NARRATOR = "System"
_NIGHT = "night"
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
_NOBODY = ("nobody", "no one", "skip", "abstain", "none")
_QUIET = frozenset(
    {"whisper", "whispers", "whispered", "whispering", "dm", "pm", "private", "privately", "only", "secretly"}
)
_PLACES = frozenset({"chat", "channel", "den", "dm", "room", "team", "only"})
_BANNER = re.compile(
    r"(?:guild|channel|topic|exported|messages?|after|before|server|exported \d+ message\(s\))\s*[:.]?.*", re.I
)


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


_BEGINNING = 4000
# Texts that look like transcripts and are none, by their first lines, with what is read instead.
_TOOL_LOGS = (
    (
        re.compile(r"\A\s*-{8,} (?:\w+(?:Message|Event) \([^()\n]{1,200}\)|user) -{8,}\s*\n"),
        "the console output of AutoGen",
        "Save the messages of the result as JSON, or the team's state (save_state).",
    ),
    (
        re.compile(r'\A\s*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: (?:task_name|task)="'),
        "a log of CrewAI as text",
        "Have it written as JSON: output_log_file with a name that ends in .json.",
    ),
    (
        re.compile(r"(?:^(?:\[?\d\d?:\d\d(?::\d\d)?\]?\s)?<[^<>/!?\s]{1,60}> .*\n){2}", re.MULTILINE),
        "a log of IRC",
        "Write each line as [12:03] Name: text.",
    ),
)


def log_of_tool(text: str) -> tuple[str, str] | None:
    """The tool that wrote a text which is not read, and what to hand in instead; ``None`` for any other text."""
    return next(((name, remedy) for log, name, remedy in _TOOL_LOGS if log.search(text[:_BEGINNING])), None)


def _recognises(document: Document) -> bool:
    is_other = document.text.lstrip()[:1] in ("{", "<") or log_of_tool(document.text) is not None
    return not is_other and _speakers(document).are_enough


def _speakers(document: Document) -> _Speakers:
    """The lines and who speaks in them, found once for recognising and reading."""
    found = document.kept.get(FORMAT)
    if found is None:
        document.limits.check_lines(document.text)
        found = document.kept[FORMAT] = _Speakers(_lines(document.text), document.answers)
    assert isinstance(found, _Speakers)
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
        heads = [line.head for line in lines if line.head.name]
        timed = sum(head.time is not None for head in heads)
        self.is_timed = timed > 1 and timed >= _MARKED_SHARE * len(heads)
        self._shape = _ruling_shape(heads)
        self._is_list = sum(head.is_listed for head in heads) >= _MARKED_SHARE * len(heads)
        said = (line.head.text if line.head.name else line.cleaned for line in lines)
        self._words = {word for text in said for word in _WORD.findall(text)}
        self.listed: dict[str, str | None] = {}
        self.list_lines: set[int] = set()
        # Those of "Ann voted for Bob", in the order of the file.
        self._voting: dict[str, None] = {}
        self._spellings: dict[str, Counter[str]] = {}
        self._read_lists()
        beginning = {
            line.number: line.head
            for line in lines
            if line.number not in self.list_lines
            and self.may_begin(line.head)
            and (line.head.key in self.listed or not _tells_result(line.cleaned))
        }
        self._counts = Counter(head.key for head in beginning.values())
        self._marked = {head.key for head in beginning.values() if head.time or head.shape == "above"}
        for head in beginning.values():
            self._spell(head.name)
        self._builds = {
            _build(head.name)
            for head in beginning.values()
            if (self._counts[head.key] > 1 or self._is_named(head.name)) and not _is_label(head.key)
        } | {_build(self.spelling(name)) for name in self.listed}
        self._stand_alike = self._all_stand_alike([head.name for head in beginning.values()])
        self.labels = 0
        self.asked: dict[str, int] = {}
        self._accepted: set[str] = set()
        for number, head in beginning.items():
            self._decide(number, head)
        self.untimed = sum(self.is_timed and not head.time and head.key in self._accepted for head in heads)

    def may_begin(self, head: Head) -> bool:
        """Whether a message may begin so in this file."""
        if not head.name or self.is_timed:
            return bool(head.name and head.time)
        if head.is_listed and not self._is_list:
            # A list inside of a message.
            return False
        if self._shape is None:
            return head.shape != "above"
        is_named = head.shape == "colon" and not _is_label(head.key) and self._is_named(head.name)
        return head.shape == self._shape or head.key in self.listed or is_named

    def _decide(self, number: int, head: Head) -> None:
        name = head.key
        answer = self._answers.speaker(name)
        if answer is not None:
            accepted = answer != "text"
        elif name in self.listed or name in self._voting:
            accepted = True
        elif name.rstrip(".") in word_set("labels") or _NUMBERED.fullmatch(name):
            accepted = False
            self.labels += 1
        else:
            accepted = name not in word_set("doubtful") and (
                name in self._marked
                or self._counts[name] > 1
                or self._stand_alike
                or is_moderator(head.name)
                or self._is_named(head.name)
                or (_build(head.name) in self._builds and not _is_ordinary(head.name))
            )
            if not accepted:
                self.asked.setdefault(self.spelling(head.name), number)
        if accepted:
            self._accepted.add(name)

    def _is_named(self, name: str) -> bool:
        return any(word in self._words for word in name.split() if len(word) > 1 and not word.islower())

    def _all_stand_alike(self, names: Sequence[str]) -> bool:
        """Whether each line of a short file is "Name: text", with names that look like names."""
        if len(names) < 2 or max(self._counts.values()) > 1:
            return False
        is_all = all(line.heading or line.head is not _NOTHING for line in self.lines if line.cleaned)
        return is_all and all(_looks_like_a_name(name) for name in names)

    def _read_lists(self) -> None:
        """The players whom lists name, and those of "Ann voted for Bob"."""
        is_open: bool | None = None
        in_votes = False
        for line in self.lines:
            opened, votes = _opens_list(line.cleaned), _opens_votes(line.cleaned)
            in_votes = votes == "" or (in_votes and _looks_like_a_ballot(line.cleaned))
            if in_votes:
                is_open = None
                self.list_lines |= {line.number} if votes is None else set()
            elif opened is not None:
                entries = _entries(opened[1], has_roles=opened[0]) if opened[1] else []
                is_open = None if opened[1] else opened[0]
                self.list_lines |= {line.number} if entries or not opened[1] else set()
                for entry in entries:
                    self._list(*entry)
            elif line.cleaned and not _is_rule(line.cleaned):
                found = _entry(line.cleaned, is_open=is_open) if is_open is not None and not line.heading else None
                if found is not None and (found[1] or not is_open):
                    self.list_lines.add(line.number)
                    self._list(*found)
                    continue
                is_open = None
                if not line.head.name or is_moderator(line.head.name):
                    for name in _named_in_results(line.head.text if line.head.name else line.cleaned):
                        self._voting[fold(name)] = None
                        self._spell(name)

    def _list(self, written: str, role: str | None) -> None:
        self.listed[fold(written)] = self.listed.get(fold(written)) or role
        # The list spells the name, whatever the lines do.
        self._spell(written, len(self.lines))

    def _spell(self, name: str, count: int = 1) -> None:
        self._spellings.setdefault(fold(name), Counter())[name] += count

    def spelling(self, name: str) -> str:
        """The name as the list, or else most of the lines, write it."""
        found = self._spellings.get(fold(name))
        return found.most_common(1)[0][0] if found else name

    def speaks(self, head: Head) -> bool:
        """Whether the line begins a message of somebody."""
        return self.may_begin(head) and head.key in self._accepted

    @property
    def names(self) -> list[str]:
        """All who speak, are listed or vote, as spelt, in the order of the file."""
        known = self._accepted | self.listed.keys()
        seats = seat_numbers([self.spelling(name) for name in known])
        known |= {name for name in self._voting if name not in _NOBODY and seat_of(name) not in seats}
        folded = dict.fromkeys([*self.listed, *self._counts, *self._voting])
        return [self.spelling(name) for name in folded if name in known]

    @property
    def are_enough(self) -> bool:
        """Whether this is a transcript: two speak, or one in lines that show it, and not in a few lines of many."""
        lines = [line for line in self.lines if self.speaks(line.head)]
        # Keys of a file of settings, nested by indents, look like speakers in small letters.
        nested = sum(
            line.head.name[0].islower() and (line.text[:1] in " -" or not line.head.text)
            for line in lines
            if not line.head.time and line.head.shape != "above"
        )
        if len(self.asked) > max(_MOST_ASKED, len(lines)) or nested * 3 > len(lines):
            return False
        players = {line.head.key for line in lines if not is_moderator(line.head.name)}
        is_alone = len(players) == 1 and len(lines) > 2 and (self.is_timed or self._shape is not None)
        written = sum(1 for line in self.lines if line.cleaned)
        return (len(players) > 1 or is_alone) and len(lines) >= _LEAST_SHARE * written


def _ruling_shape(heads: Sequence[Head]) -> str | None:
    """The shape that most beginnings have, if it is one that itself shows a name."""
    for shape, count in Counter(head.shape for head in heads).most_common(1):
        if shape != "colon" and count > 1 and count >= _MARKED_SHARE * len(heads):
            return shape
    return None


def _is_label(name: str) -> bool:
    return name in word_set("labels") or name in word_set("doubtful")


def _build(name: str) -> str:
    """The build of a name: "A" for "Ann", "A A" for "Ann Lee", "A 1" for "Player 3", "a" for "ann"."""
    return " ".join("1" if word[0].isdigit() else "A" if word[0].isupper() else "a" for word in name.split())


def _is_ordinary(name: str) -> bool:
    """Whether a name consists of English words alone ("Evidence", "Final Thoughts")."""
    return all(word.isalpha() and word.casefold() in english_words() for word in name.split())


def _looks_like_a_name(name: str) -> bool:
    return _build(name) in ("A", "1", "A A", "A 1", "1 A", "1 1") and not _is_label(fold(name))


class _Page:
    """Goes through the lines and builds the game."""

    def __init__(self, document: Document, speakers: _Speakers) -> None:
        self._document = document
        self._answers = document.answers
        self._speakers = speakers
        # Its round and phase are those of the line that is read.
        self._draft = TranscriptDraft(Roster(speakers.names), document.limits)
        self._seats = seat_numbers(self._draft.roster.names)
        self._channel: str | None = None
        self._spoken: list[_Spoken] = []
        self._open: _Spoken | None = None
        self._winner: str | None = None
        self._in_votes = False
        self._roles = dict(speakers.listed)
        self._notes: dict[str, Counter[str]] = {}
        for head in (line.head for line in speakers.lines if speakers.speaks(line.head)):
            self._notes.setdefault(head.key, Counter()).update(head.notes)

    def reading(self) -> ReadResult:
        """The game with what is open about it."""
        for line in self._speakers.lines:
            self._add(line)
        written = [one.time for one in self._spoken if one.time is not None]
        # What the numbers prove is right, whatever was answered for other files.
        dates = _order_of_dates(written) or self._answers.dates
        players = self._players()
        said = [one for one in self._spoken if any(one.lines)]
        for one, moment in zip(
            said, _moments((one.time for one in said), is_day_first=dates != "month-first"), strict=True
        ):
            self._draft.round, self._draft.phase = one.round, one.phase
            self._draft.say(
                one.speaker,
                "\n".join(one.lines).strip("\n"),
                one.channel,
                channel_name=one.channel_name,
                recipients=one.recipients,
                sent_at=moment,
                metadata=one.metadata,
            )
        transcript = self._draft.build(
            game_id=self._document.game_id(FORMAT), source_format=FORMAT, players=players, winner=self._winner
        )
        remarks, questions = tuple(self._remarks()), tuple(self._questions(dates, written))
        return ReadResult(transcript=transcript, remarks=remarks, questions=questions)

    def _players(self) -> list[dict[str, Any]]:
        involved = {one.speaker for one in self._spoken if one.channel != "system"}
        involved |= {vote[who] for vote in self._draft.votes for who in ("voter", "target")}
        involved |= {elimination["player"] for elimination in self._draft.eliminations}
        listed = self._speakers.listed
        names = [name for name in self._draft.roster.names if name in involved or fold(name) in listed]
        roles = {name: self._roles.get(fold(name)) for name in names}
        return [{"name": name, "role": role, "alignment": alignment_of(role)} for name, role in roles.items()]

    def _remarks(self) -> Iterator[str]:
        for count, what in (
            (self._speakers.labels, "a label before a colon (such as PS or Note)"),
            (self._speakers.untimed, "a speaker's name but without a time"),
        ):
            if count:
                yield f"{counted(count, 'line')} with {what} left in the message above."

    def _questions(self, dates: str | None, written: Sequence[str]) -> Iterator[Question]:
        for name, number in self._speakers.asked.items():
            yield Question(
                Topic.SPEAKER,
                name,
                f'Line {number} begins with "{shorten(name)}:", and nothing else shows that this is a speaker. '
                "A player, a moderator, or text of the message above?",
            )
        for name in self._draft.roster.names:
            is_open = fold(name) in self._speakers.listed and self._answers.speaker(name) is None
            if is_open and is_moderator(name) and self._roles.get(fold(name)) is None:
                words = f'"{shorten(name)}" is listed as a player and called like a moderator.'
                yield Question(Topic.SPEAKER, name, words)
        if dates is None:
            example = next(one for one in written if one[:1].isdigit())
            yield Question(Topic.DATES, "", f'Does "{shorten(example)}" name the day or the month first?')
        at_night = sum(
            one.phase == _NIGHT and one.channel == "public" and not self._is_leading(one.speaker)
            for one in self._spoken
        )
        if at_night and self._answers.channel(_NIGHT) is None:
            told = f"{counted(at_night, 'message')} {'stands' if at_night == 1 else 'stand'} under a night"
            yield Question(Topic.CHANNEL, _NIGHT, f"{told}, taken as public. Who hears them?", "public")

    def _add(self, line: _Line) -> None:
        if line.is_code or not line.cleaned:
            self._continue(line.text)
        elif line.heading is not None:
            self._begin(*line.heading)
            self._open, self._channel = None, None
            self._in_votes = self._draft.phase == "vote"
        elif _is_rule(line.cleaned) or (self._speakers.is_timed and _REPLIES.fullmatch(line.cleaned)):
            self._in_votes = False
        elif self._open is not None and self._speakers.is_timed and _ONLY_TIME.fullmatch(line.cleaned):
            # A messenger groups the messages of one person.
            self._open = replace(self._open, lines=[], time=line.cleaned, metadata={})
            self._spoken.append(self._open)
        elif self._is_result(line):
            return
        elif line.number in self._speakers.list_lines:
            self._tell(line.cleaned)
        elif not self._opens_channel(line.cleaned):
            self._in_votes = False
            self._speak_or_continue(line)

    def _begin(self, number: int | None, phase: str | None) -> None:
        if phase == "day" and number is None and self._draft.phase == _NIGHT and self._draft.round is not None:
            number = self._draft.round + 1
        self._draft.round = self._draft.round if number is None else number
        self._draft.phase = phase

    def _opens_channel(self, line: str) -> bool:
        """A line that is only a channel's name: "#mafia-chat", "--- wolf den ---"."""
        match = _CHANNEL_LINE.fullmatch(line)
        if match is None:
            return False
        named = set(_WORD.findall((match["named"] or "").casefold()))
        # Nothing but the name of a channel that some do not hear.
        hidden = {word for word in named if channel_named(word) in ("team", "private")}
        if named and (not hidden or named - hidden - _PLACES - {"the"}):
            return False
        self._channel = match["hash"] or match["named"].strip()
        self._open = None
        return True

    def _is_result(self, line: _Line) -> bool:
        """Whether a line tells a vote, an elimination or the winner; the line itself stands in the system channel."""
        written, head = line.cleaned, line.head
        if self._speakers.speaks(head):
            is_list = self._in_votes and self._find(head.text.strip(" .")) is not None
            if not is_list and not any(_TALLIED.fullmatch(note) for note in head.notes):
                return False
        elif head.shape == "event":
            written = head.text
        rest = _opens_votes(written)
        if rest is not None:
            self._in_votes = True
        is_told = self._vote(written if rest is None else rest, is_list=self._in_votes)
        if rest is None and not is_told:
            is_told = self._take_results(written)
        if is_told or rest == "":
            self._tell(written)
            return True
        return False

    def _take_results(self, written: str) -> bool:
        found = list(_departures(written, self._find))
        for player, role, is_at_night in found:
            self._draft.eliminate(player, role=role)
            if is_at_night and self._draft.phase != "vote":
                self._draft.eliminations[-1]["phase"] = _NIGHT
        winner = _winner(written)
        self._winner = winner or self._winner
        return bool(found or winner)

    def _vote(self, written: str, *, is_list: bool) -> bool:
        ballots = _ballots(written, self._find, is_list=is_list) if written else []
        for voter, target, why in ballots:
            self._draft.vote(voter, target, justification=why)
        return bool(ballots)

    def _find(self, name: str) -> str | None:
        cleaned = name.strip(" *_.@")
        return self._draft.roster.find(cleaned) or self._seats.get(seat_of(cleaned))

    def _speak_or_continue(self, line: _Line) -> None:
        head = line.head
        if head.shape == "event" and self._speakers.is_timed:
            self._tell(head.text, EVENT_CHANNEL, head.time)
        elif self._speakers.speaks(head):
            self._say(head)
        elif self._speakers.may_begin(head) and self._speakers.spelling(head.name) in self._speakers.asked:
            self._tell(line.cleaned)
        else:
            self._continue(line.text)

    def _continue(self, text: str) -> None:
        if self._open is not None:
            self._open.lines.append(text.rstrip())
        elif text.strip() and not _BANNER.fullmatch(_plain(text)):
            self._tell(_plain(text))

    def _tell(self, text: str, channel_name: str | None = None, time: str | None = None) -> None:
        when = (self._draft.round, self._draft.phase)
        self._spoken.append(_Spoken(_NARRATOR, [text], *when, "system", channel_name, time=time))
        self._open = None

    def _say(self, head: Head) -> None:
        speaker = self._speakers.spelling(head.name)
        recipients = tuple(self._find(name) or name for name in head.recipients)
        one = _Spoken(speaker, [head.text], self._draft.round, self._draft.phase, "public", self._channel, recipients)
        one.time = head.time
        for tag in head.tags:
            self._note(one, tag, is_before=True)
        for note in head.notes:
            self._note(one, note, is_before=False)
        if (match := _WHISPERED.match(head.text)) and set(_WORD.findall(match["note"].casefold())) & _QUIET:
            self._note(one, match["note"], is_before=False)
            one.lines = [match["text"]]
        if self._is_leading(speaker):
            self._vote(head.text, is_list=False)
            self._take_results(head.text)
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
        is_called_so = is_moderator(speaker) or is_moderator(self._roles.get(fold(speaker)) or "")
        return answer == "moderator" or (answer is None and is_called_so)

    def _note(self, one: _Spoken, note: str, *, is_before: bool) -> None:
        """Takes in the words in brackets around a name: a round, a role, who is spoken to, a channel, a thought."""
        said = set(_WORD.findall(note.casefold()))
        to = _TO.fullmatch(note)
        names = _names(to["who"] or to["dm"]) if to else []
        if heading := _heading(f"[{note}]" if is_before else note):
            number, self._draft.phase = heading
            self._draft.round = self._draft.round if number is None else number
            one.round, one.phase = self._draft.round, self._draft.phase
        elif _THINKS.fullmatch(note):
            one.channel, one.channel_name = "private", THOUGHTS_CHANNEL
        elif to and (to["dm"] or said & _QUIET or any(map(self._find, names))):
            one.recipients = tuple(self._find(name) or name for name in names)
        elif not is_before and not said & _PLACES and (alignment_of(note) or is_moderator(note)):
            self._roles[fold(one.speaker)] = self._roles.get(fold(one.speaker)) or note
        elif channel_named(note) or said & _PLACES or note.startswith("#"):
            one.channel_name = note
        elif not is_before and self._is_role_of(one.speaker, note):
            self._roles[fold(one.speaker)] = self._roles.get(fold(one.speaker)) or note
        else:
            one.metadata["note"] = note

    def _is_role_of(self, speaker: str, note: str) -> bool:
        """Whether the same words always stand behind this name, and other words behind other names."""
        is_repeated = sum(found.total() for found in self._notes.values()) > len(self._notes)
        return len(self._notes.get(fold(speaker), ())) == 1 and is_repeated and _is_name(note)


def _names(written: str) -> list[str]:
    return [one.strip() for one in re.split(r",\s*|\s+and\s+|\s*&\s*", written) if one.strip()]


READER = FileReader(FORMAT, _recognises, lambda document: _Page(document, _speakers(document)).reading())
