"""Reads transcripts written as plain text, and chats as messengers export or copy them to text.

What a line may be stands in a table (``line_shapes.yaml``, printed in docs/formats.md). One pass gives each line its
shape; then the names at the beginnings of lines are settled together; one pass joins the lines to a game.

A name before a colon is a speaker if it is listed, votes, is named by others, or stands like the other speakers; a
label ("PS:") is text. Whatever else stands there is asked about, and so is a date that can be read in two ways.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property, lru_cache, partial
from typing import Any

from dateutil.parser import parse as parse_date

from evaluation.files.strict_json import shorten
from evaluation.readers import _game_log as game_log
from evaluation.readers._draft import (
    THOUGHTS_CHANNEL,
    Roster,
    TranscriptDraft,
    alignment_of,
    is_abstention,
    is_approval,
    is_moderator,
    is_ordinary,
    word_set,
)
from evaluation.readers._line_shapes import known_by_sight, part, shape
from evaluation.readers._who_could_hear import ANSWERS_TO_THE_PROGRAM, channel_named
from evaluation.readers._who_speaks import BROKEN_OFF, EVENT_CHANNEL
from evaluation.readers.document import (
    NO_PROGRAM,
    Answers,
    Document,
    FileReader,
    Found,
    LeftOut,
    Question,
    ReadResult,
    Topic,
    leave_out,
)
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.transcript import Channel

FORMAT = "plain-text"

# A clock without a date stands on a day that means nothing.
_NO_DATE = date(1970, 1, 1)
_HALF_DAY = timedelta(hours=12)
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
# Marks of writing direction, as messengers put them before names and times.
_MARKS = "\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# The same few names are compared in every line.
_fold = lru_cache(maxsize=4096)(fold)
_LEAST_NUMBERED = 5
_LEAST_TOLD = 3
_LONGEST_MATTER = 60
_LONGEST_NAME = 60
_LONGEST_THOUGHT = 200
_MOST_WORDS = 5
_NARRATOR = "System"
_MEDIA = "media"
_TURNS_SHARE = 0.3
_NIGHT = "night"
_OWN_LOG = "a line of the program's own log"
_TRACEBACK = "the traceback of a program"
_OF_EXPORT = "a line of the program that exported the chat"
_MARKED_SHARE = 0.6
# A larger part of the text that nobody is known to say may be speech.
_MUCH_TOLD = 0.5
_LEAST_LETTERS = 500
_LONGEST_NOTICE = 100
_MOST_ASKED = 12
_MOST_TITLES = 3
# As programs of IRC tell who comes and goes.
_NOTICES = ("*** ", "-!- ", "=== ", "⇐ ", "⇒ ", "← ", "→ ", "<-- ", "--> ", "|<-- ", "-->| ")
_LEAST_SHARE = 0.15
_IDEOGRAPHS = range(0x2E80, 0xFB00)


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a message; without a name, an event that the chat tells, or the beginning of nothing.

    Attributes:
        shape: The line's shape in the table; ``event`` for what a chat tells; empty where nothing begins.
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
        return _fold(self.name)

    @property
    def untimed(self) -> str:
        """The line of a message or an event without its time."""
        return f"{self.name}: {self.text}" if self.name else self.text


_NOTHING = Head()
_JOINS = frozenset({"and", "&", "with"})


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file; ``cleaned`` is what is matched, ``text`` what was written.

    A heading is the round and the phase that it starts; ``None`` for what it does not say. ``noise`` is the reason why
    a line is left out.
    """

    number: int
    text: str
    cleaned: str
    head: Head = _NOTHING
    heading: tuple[int | None, str | None] | None = None
    is_code: bool = False
    noise: str = ""


def _plain(line: str) -> str:
    """A line for matching: spaces of one kind, no marks of direction at its ends."""
    return line.translate(_SPACES).strip().strip(_MARKS).strip()


def _lines(text: str) -> list[_Line]:
    """The lines with their shapes; inside a block of code, of reasoning or of a traceback nothing begins."""
    written = _unnumbered(text.split("\n"))
    titles = _turn_titles(written)
    left = dict.fromkeys(range(_front_matter(written)), "front matter of the page")
    left |= dict.fromkeys(_fields_below(written, titles), "a field of the turn")
    code, traces = _code_lines(written), _traceback_lines(written)
    is_bracketed = _speaks_in_brackets(written)
    is_told = sum(part("by the system").fullmatch(_plain(line)) is not None for line in written) >= _LEAST_TOLD
    found: list[_Line] = []
    for place, line in enumerate(written):
        cleaned = _plain(line)
        noise = _TRACEBACK if place in traces else left.get(place, "") if cleaned else ""
        if place in code or noise or not cleaned:
            found.append(_Line(place + 1, line, cleaned, is_code=place in code, noise=noise))
            continue
        starts = None if place in titles or part("field").fullmatch(cleaned) else game_log.heading(cleaned)
        below = place + 1
        if joined := _joined_time(cleaned, written[below] if below < len(written) else ""):
            cleaned, written[below], below = joined, "", below + 1
        following = _plain(written[below]) if below < len(written) else ""
        told = part("by the system").fullmatch(cleaned) if is_told else _told_by_tag(cleaned)
        head = (
            Head("event", text=told["text"])
            if told
            else titles.get(place) or _NOTHING
            if starts or place in titles
            else _head(cleaned, is_bracketed=is_bracketed) or _NOTHING
        )
        if titles and head.shape == "titled" and place not in titles:
            head = _NOTHING
        if head.shape == "program log":
            found.append(_Line(place + 1, line, cleaned, noise=_OWN_LOG))
            continue
        if head.shape == "above" and (not following or shape("time in front").match(following)):
            # Nothing is said below: what stands behind a time in brackets is told, anything else is text.
            head = Head("event", text=head.name, time=head.time) if cleaned.startswith("[") else _NOTHING
        if (head.shape == "event" or head.time) and starts is None:
            starts = game_log.heading(head.untimed)
        found.append(_Line(place + 1, line, cleaned, head, starts))
    found = _without_kinds(_with_initials(_without_marks(found)))
    names = {line.number - 1: line.head.key for line in found if line.head.name}
    counts = Counter(names.values())
    for number in _thought_lines(written, {number: name for number, name in names.items() if counts[name] > 1}):
        found[number] = replace(found[number], head=_NOTHING, heading=None)
    return found


def _told_by_tag(line: str) -> re.Match[str] | None:
    """The line behind a tag by which the game tells something: "[vote] Ann -> Ben", "[system] Ann left."."""
    match = part("told tag").fullmatch(line)
    words = _words(match["tag"]) if match else set()
    if match is None or not words <= word_set("told_kinds") | word_set("leave_kinds") | word_set("vote_kinds"):
        return None
    return None if words & word_set("vote_kinds") and ":" in match["text"] else match


def _unnumbered(lines: list[str]) -> list[str]:
    """The lines without a number that goes up by one from line to line: that of the log, not of a round."""
    matches = [part("round number").match(line) for line in lines if line.strip()]
    numbers = [int(match["number"]) for match in matches if match]
    is_log = len(numbers) >= _LEAST_NUMBERED and len(numbers) >= _MARKED_SHARE * len(matches)
    if not is_log or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return lines
    return [part("round number").sub("", line) for line in lines]


def _front_matter(lines: Sequence[str]) -> int:
    """The number of lines at the beginning that are the settings of a page, between two lines of dashes."""
    ends = (place for place, line in enumerate(lines[1:_LONGEST_MATTER], 2) if line.rstrip() == "---")
    return next(ends, 0) if lines[0].rstrip() == "---" else 0


def _turn_titles(lines: Sequence[str]) -> dict[int, Head]:
    """The headings of the turns of a debate, "## Turn 3: PRO Reply", where two speak in turns; by place.

    Another heading as high as they are ends a turn. Only a number that is called a round is one.
    """
    found = {place: match for place, line in enumerate(lines) if (match := shape("turn title").fullmatch(line.strip()))}
    wholes = Counter(match["name"] for match in found.values())
    is_whole = 2 * len(wholes) <= len(found)
    names = {
        place: match["who"] or match["side"] or (match["name"] if is_whole else match["name"].split()[0])
        for place, match in found.items()
    }
    counts = Counter(names.values())
    if len(counts) < 2 or len(found) < 4 or max(counts.values()) < 2:
        return {}
    heads = {
        place: Head("titled", name, tags=(f"round {found[place]['count']}",) if found[place]["period"] else ())
        for place, name in names.items()
    }
    highest = max(len(match["level"]) for match in found.values())
    others = ((place, part("any title").fullmatch(line.strip())) for place, line in enumerate(lines))
    ends = {place: Head("event", text=match[0]) for place, match in others if match and len(match["level"]) <= highest}
    return ends | heads if len(found) > _TURNS_SHARE * len(ends) else {}


def _fields_below(lines: Sequence[str], titles: Mapping[int, Head]) -> Iterator[int]:
    """The places of the settings between a heading and the text below it, "- model: olga-2"."""
    for title, head in titles.items():
        for place in range(title + 1, len(lines) if head.name else 0):
            if lines[place].strip() and not part("field").fullmatch(lines[place].strip()):
                break
            yield place


def _without_marks(lines: list[_Line]) -> list[_Line]:
    """The lines with bare names where some begin with a picture: the speaker of "💭 Ann Strategy: ..." is Ann.

    A picture that does not always stand before a name says who hears the text, as do words behind the name that tell of
    thoughts; one of no known meaning becomes a channel, which is asked about.
    """
    split = {line.head.name: _picture_and_name(line.head.name) for line in lines if line.head.name}
    bare = {name for pictures, name in split.values() if pictures}
    bare |= {" ".join(words[:-1]) for name in bare if (words := name.split())[1:] and _tells_of_thoughts(words[-1])}
    own: dict[str, set[str]] = {}
    last = ""
    for pictures, name in (split[line.head.name] for line in lines if line.head.name):
        if pictures or name != last:
            # Who has begun may write the own name once more.
            own[name] = own.get(name, pictures) & pictures
        last = name
    shared = Counter(picture for pictures in own.values() for picture in pictures)
    if max(shared.values(), default=0) < 2 and all(
        pictures == own[name] and pictures.isdisjoint(_THINKS | _SAYS) for pictures, name in split.values()
    ):
        # Pictures that never change, mean nothing, and are one person's alone, are parts of the names.
        return lines

    def renamed(head: Head, pictures: set[str], name: str) -> Head:
        words = name.split()
        # The longest name goes first; words behind it that tell of nothing hidden belong to it.
        parts = ((" ".join(words[:count]), " ".join(words[count:])) for count in range(len(words) - 1, 0, -1))
        thinker = next((whose for whose, behind in parts if whose in bare and _tells_of_thoughts(behind)), None)
        whose = thinker or (words[0] if is_moderator(words[0]) else name)
        said = pictures - own.get(name, set()) | pictures & (_THINKS | _SAYS)
        is_thought = thinker is not None or not said.isdisjoint(_THINKS)
        notes = ("thinking",) if is_thought else tuple("public" if one in _SAYS else f"#{one}" for one in sorted(said))
        return replace(head, name=whose, tags=(*head.tags, *notes))

    def unmarked(line: _Line) -> Head:
        """The beginning of "🗣️ 1. Ann I wait", whose name ends without a colon."""
        pictures, written = _picture_and_name(line.cleaned) if line.head == _NOTHING else (set(), "")
        words = written.split(maxsplit=_MOST_WORDS)[:_MOST_WORDS]
        names = [name for count in range(_MOST_WORDS, 0, -1) if (name := " ".join(words[:count])) in bare]
        if pictures.isdisjoint(_THINKS | _SAYS) or not names:
            return line.head
        return renamed(Head("colon", text=written.removeprefix(names[0]).strip()), pictures, names[0])

    heads = (renamed(one.head, *split[one.head.name]) if one.head.name else unmarked(one) for one in lines)
    return [replace(line, head=head) for line, head in zip(lines, heads, strict=True)]


def _tells_of_thoughts(words: str) -> bool:
    return channel_named(words) == "private" or fold(words) in ("strategy", "plan")


def _picture_and_name(written: str) -> tuple[set[str], str]:
    """The pictures before a name, and the name without them and without a number of its turn."""
    kinds = ((place, unicodedata.category(sign)) for place, sign in enumerate(written))
    end = next((place for place, kind in kinds if kind not in ("So", "Sk", "Cf", "Mn", "Me", "Zs")), len(written))
    pictures, name = {sign for sign in written[:end] if unicodedata.category(sign) == "So"}, written[end:]
    if not (pictures and name.strip()):
        return set(), written
    bullet = part("bullet").match(name)
    return pictures, " ".join((name[bullet.end() :] if bullet else name).split()) or name


_THINKS = frozenset("\U0001f4ad\U0001f9e0\U0001f914")
_SAYS = frozenset("\U0001f5e3\U0001f4ac\U0001f4e2")


def _with_initials(lines: list[_Line]) -> list[_Line]:
    """The lines with full names where initials speak that stand behind a name elsewhere: "Ann Lee (AL): ..."."""
    names = {line.head.key for line in lines if line.head.name}
    known = {
        _fold(note): line.head.name
        for line in lines
        for note in line.head.notes
        if _fold(note) in names and _fold(note) == "".join(word[0] for word in _fold(line.head.name).split())
    }
    if not known:
        return lines

    def renamed(head: Head) -> Head:
        notes = tuple(note for note in head.notes if _fold(note) not in known)
        return replace(head, name=known.get(head.key, head.name), notes=notes)

    return [replace(line, head=renamed(line.head)) if line.head.name else line for line in lines]


def _without_kinds(lines: list[_Line]) -> list[_Line]:
    """The lines of a log with bare names where a program writes behind each of several what it is: "Ann argument"."""
    counts = Counter(line.head.name for line in lines if line.head.time)
    split = {name: name.rpartition(" ") for name, count in counts.items() if count > 1}
    kinds = Counter(kind for whose, _, kind in split.values() if whose and kind in word_set("speech_labels"))
    bare = {name: whose for name, (whose, _, kind) in split.items() if kinds[kind] > 1}
    # "Ann to Bob", where Bob speaks as well.
    names = {line.head.name for line in lines}
    pairs = {name: name.split(" to ") for name in names if name.count(" to ") == 1}
    people = {whose for whose, _ in pairs.values()}
    hidden = {line.head.name for line in lines if any(channel_named(tag) == "private" for tag in line.head.tags)}
    pairs = {
        name: pair
        for name, pair in pairs.items()
        if (pair[0] in names and (pair[1] in names or name in hidden)) or (len(people) > 1 and pair[1] in people)
    }

    def renamed(head: Head) -> Head:
        name, *to = pairs.get(head.name) or [bare.get(head.name, head.name)]
        return replace(head, name=name, recipients=(*head.recipients, *to))

    return [replace(one, head=renamed(one.head)) if one.head.name else one for one in lines]


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
            for tag in part("thought").finditer(lines[number]):
                is_open = not tag[1]
            if not is_open:
                end = number
                break
        yield from range(place + 1, end + 1)
        place = end + 1


def _code_lines(lines: Sequence[str]) -> set[int]:
    """The places of the lines in blocks of code, the fences included but one that a speaker's line opens.

    A fence without a second one opens nothing, and most of the file is not code, but for what a speaker's line opens.
    """
    # A chat stretches words: "Broccoli~~~".
    fences = [number for number, line in enumerate(lines) if (line.count("```") + line.lstrip().startswith("~~~")) % 2]
    own, inside = set[int](), set[int]()
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        is_own = not lines[first].lstrip().startswith(("```", "~~~"))
        (own if is_own else inside).update(range(first + is_own, last + 1))
    # Where a page quotes a whole talk so, the talk is the text.
    return own | (inside if len(inside) < _MARKED_SHARE * len(lines) else inside & {*fences})


def _traceback_lines(lines: Sequence[str]) -> set[int]:
    """The places of the lines of tracebacks, each up to the error that it ends with."""
    inside: set[int] = set()
    is_open = False
    for number, line in enumerate(lines):
        begins = shape("traceback").fullmatch(line.strip()) is not None
        inside |= {number} if is_open or begins else set()
        is_open = begins or (is_open and line.startswith((" ", "\t")))
    return inside


def _speaks_in_brackets(lines: Sequence[str]) -> bool:
    """Whether lines begin with a speaker in brackets: "[Ann] text", and not with a channel before "Ann: text"."""
    written = [_plain(line) for line in lines if line.strip()]
    found = [match for line in written if (match := shape("bracketed").fullmatch(line))]
    names = Counter(
        match["name"]
        for match in found
        if _is_name(part("to recipients").split(match["name"])[0]) and not game_log.heading(f"[{match['name']}]")
    )
    with_colon = sum(
        (colon := shape("colon").fullmatch(match["text"])) is not None and len(colon["name"].split()) <= 2
        for match in found
    )
    # Of names that come again, fewer lines say so: others go on with what somebody says.
    share = _MARKED_SHARE if names.total() < _LEAST_NUMBERED * len(names) else _TURNS_SHARE
    is_most = names.total() >= share * len(written) and with_colon * 2 < len(found)
    levels = word_set("told_kinds") | {"warning", "critical"}
    return len(names) > 1 and is_most and not all(_fold(name) in levels for name in names)


def _is_rule(line: str) -> bool:
    """Whether a line only separates: "---", "* * *", "====="."""
    return len(line) > 2 and len(set(line.replace(" ", ""))) == 1 and line[0] in "-=*_~#–—"


def _joined_time(line: str, following: str) -> str | None:
    """Name and time in one line, where a messenger copies the time to the line below the name, indented or dashed."""
    below = _plain(following)
    dashed = below.lstrip("-–—•| \t")
    if not part("time").fullmatch(dashed) or not (dashed != below or following.startswith((" ", "\t"))):
        return None
    return f"{line} — {dashed}" if _is_name(line) else None


def _head(line: str, *, is_bracketed: bool = False) -> Head | None:
    """The beginning of a message in a cleaned line (``_plain``); ``None`` where no name stands."""
    if above := _above(line):
        return above
    if match := part("bold time").match(line):
        line = f"{match['time']} {match['mark']}{line[match.end() :]}"
    if match := shape("time behind").fullmatch(line):
        return _named("colon", match["name"], match["text"], time=match["time"])
    if is_bracketed and (match := shape("bracketed").fullmatch(line)):
        behind = shape("time in front").match(match["text"])
        said = match["text"][behind.end() if behind else 0 :]
        return _named("bracketed", match["name"], said, time=behind["square"] if behind else None)
    time = None
    if match := shape("time in front").match(line):
        time = match["square"] or match["round"] or match["bare"]
        line = line[match.end() :].lstrip(_MARKS + " ")
        if named := _after_time(line, time):
            return named
        line = _marked(line)
    # In a chat every line with a time is somebody's or tells an event.
    event = Head("event", text=line.removeprefix("[event] "), time=time)
    bullet = part("bullet").match(line)
    rest = line[bullet.end() :] if bullet else line
    rest, tags = _untagged(rest)
    if time is not None and any(_fold(tag) in word_set("told_kinds") or channel_named(tag) == "system" for tag in tags):
        return replace(event, text=rest)
    for name in ("bold", "colon"):
        if match := shape(name).fullmatch(rest):
            written = match["name"] + (match.groupdict().get("note") or "")
            if found := _named(name, written, match["text"], tuple(tags), time, is_listed=bullet is not None):
                return found
    if match := shape("titled").fullmatch(line):
        return _named("titled", (match["name"] or match["bold"]) + (match["note"] or ""), "", time=time)
    return event if time is not None else None


def _after_time(line: str, time: str) -> Head | None:
    """The speaker as chats of the net and of conferences write it behind a time: "<Ann>", "From Ann to Bob"."""
    if match := part("nick").fullmatch(line):
        return Head("nick", match["nick"], match["text"], time=time)
    if match := part("tabbed").fullmatch(line):
        is_name = any(map(str.isalnum, match["nick"]))
        return Head("nick" if is_name else "event", match["nick"] if is_name else "", match["text"], time=time)
    if part("program log").fullmatch(line):
        return Head("program log")
    match = part("conference").fullmatch(line)
    to = (match["to"],) if match and match["to"] else ()
    return Head("colon", match["name"], match["text"] or "", recipients=to, time=time) if match else None


def _marked(line: str) -> str:
    """The line of a log without its level; with a tag, where a server or a warning of the program tells it."""
    if level := part("level").match(line):
        return line[level.end() :] if level["level"].casefold() == "info" else f"[{level['level']}] {line}"
    is_event = line.startswith(_NOTICES) or part("service notice").match(line)
    return f"[event] {line}" if is_event else line


def _untagged(rest: str) -> tuple[str, list[str]]:
    """The line behind the tags in front of a name, and the tags."""
    tags: list[str] = []
    if match := part("round tag").match(rest):
        rest, tags = rest[match.end() :], [match["tag"]]
    while (match := part("tag").match(rest)) and len(tags) < 3:
        tags.append(match["tag"])
        rest = rest[match.end() :]
    return rest, tags


def _named(
    shape: str, written: str, text: str, tags: tuple[str, ...] = (), time: str | None = None, *, is_listed: bool = False
) -> Head | None:
    name = written.strip(_MARKS + " ~\t")
    notes: list[str] = []
    if match := part("says").search(name):
        notes += ["thinks"] if match["verb"].casefold() == "thinks" else []
        name = name[: match.start()] + name[match.end() :]
    while match := part("last note").search(name):
        notes += [match["note"], *filter(None, (match["behind"],))]
        name = name[: match.start()].rstrip()
    if (match := part("as role").search(name)) and game_log.is_role(match["role"]):
        name, notes = name[: match.start()], [*notes, match["role"]]
    name, *recipients = part("to recipients").split(name)
    # A message between two may be counted in front: "3 ANN -> BOB: text".
    name = (part("counted").sub("", name) if recipients else name).strip(" *_@\t")
    if not (_is_name(name) or (name and time is not None and written.startswith("~"))):
        return None
    is_told = time is not None and text.lstrip(" ").startswith("\u200e")
    cleaned = text.strip(_MARKS + " \t") if time is None else text.strip().strip(_MARKS).strip()
    if cleaned.startswith(name):
        # "Ann: Ann says: Hello"
        cleaned = part("again").sub("", cleaned[len(name) :]) if part("again").match(cleaned[len(name) :]) else cleaned
    return Head(
        shape, name, cleaned, tags, tuple(notes), tuple(one.strip() for one in recipients), time, is_listed, is_told
    )


def _is_name(name: str) -> bool:
    """Whether something may be a name: short, few words, no sentence, no address."""
    if (
        not 0 < len(name) <= _LONGEST_NAME
        or name.count("(") != name.count(")")
        or len(name.split()) > _MOST_WORDS
        or part("no name").fullmatch(name)
    ):
        return False
    if part("phone").fullmatch(name):
        return True
    if not any(character.isalpha() or ord(character) > 0x2190 for character in name):
        return False
    # "J. R." and "Mr. Gray" have dots, sentences have them before a word in small letters.
    is_sentence = part("in sentence").search(name) or (name.endswith(".") and not part("title end").search(name))
    return not is_sentence and "//" not in name


def _above(line: str) -> Head | None:
    """A line of name and time, above the text."""
    match = shape("above").fullmatch(line)
    if match is None:
        return None
    written, time = match["later"] or match["name"], match["before"] or match["after"]
    note = part("last note").search(written)
    name = written[: note.start() if note else None].strip(_MARKS + " ")
    if len(written.split()) > _MOST_WORDS and match["later"] is None and re.search(r"[-–—•|]", line):
        return Head("event", text=written.strip(), time=time)
    # A name of an account may end with a full stop.
    is_name = _is_name(name if " " in name else name.rstrip("."))
    if not is_name or shape("time in front").match(name + " ") or name.startswith(("<", "[", "(", "*", "-")):
        return None
    # "we met at 10:30" ends like such a line.
    is_sentence = match["later"] is None and (name[0].islower() or name.split()[-1].islower()) and " " in name
    return None if is_sentence else Head("above", name, notes=(note["note"],) if note else (), time=time)


def _order_of_dates(written: Iterable[str]) -> str | None:
    """``day-first`` or ``month-first``, as the numbers show; ``None`` where all can be read both ways.

    Dates with dots have the day first. Where no date is written in numbers, the answer does not matter.
    """
    is_open = False
    for match in filter(None, map(part("date numbers").search, written)):
        first, second = int(match[1]), int(match[3])
        if len(match[1]) == 4:
            continue
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
        lowered = (one or "").casefold().translate(_SPACES).strip().rstrip(".")
        found = part("date").search(lowered)
        match = part("clock").search(lowered if found is None else lowered[: found.start()] or lowered[found.end() :])
        moment = None
        with suppress(ValueError, OverflowError):
            clock = _clock(match[0].strip()) if match else None
            if found is not None:
                moment = datetime.combine(_day(found[0], is_day_first), clock or time(tzinfo=UTC)).astimezone(UTC)
            elif clock is not None:
                moment = datetime.combine(_NO_DATE + timedelta(days=days), clock.replace(tzinfo=UTC))
                passes_midnight = last is not None and last - moment > _HALF_DAY
                days += passes_midnight
                last = moment = moment + timedelta(days=passes_midnight)
        yield moment


@lru_cache(maxsize=4096)
def _day(written: str, is_day_first: bool) -> date:
    """The day of a date; raises ``ValueError`` for one that does not exist."""
    if written in ("today", "yesterday"):
        return _NO_DATE + timedelta(days=written == "today")
    numbers = part("date numbers").fullmatch(written.rstrip("."))
    # The parser would take a year in front for a day where days come first; a dot never stands behind a month.
    is_year_first = numbers is not None and len(numbers[1]) == 4
    is_day_first = not is_year_first and (is_day_first or (numbers is not None and numbers[2] == "."))
    day: date = parse_date(written, dayfirst=is_day_first, yearfirst=is_year_first).date()
    return day


@lru_cache(maxsize=4096)
def _clock(written: str) -> time:
    """The time of "1:55 p. m.", "13.55.10" or "13:55:10,5"; raises ``ValueError`` for one that does not exist."""
    written = part("half of day").sub("m", written)
    written = (written if ":" in written else part("dots of clock").sub(":", written)).replace(",", ".").upper()
    moment: datetime = parse_date(written, default=datetime(1970, 1, 1, tzinfo=UTC))
    return moment.timetz()


def _recognises(document: Document) -> bool:
    is_other = document.text.lstrip()[:1] in ("{", "<") or known_by_sight(document.text, "logs") is not None
    return not is_other and _speakers(document).are_enough


def _speakers(document: Document) -> _Speakers:
    """The lines and who speaks in them, found once for recognising and reading."""
    found = document.kept.get(FORMAT)
    if found is None:
        document.limits.check_lines(document.text)
        plain = part("colours").sub("", document.text)
        # Tags of a page come with its signs.
        plain = html.unescape(plain) if "&lt;" in plain and plain != document.text else plain
        text = part("korean clock").sub(_in_digits, part("korean time").sub(_in_digits, plain))
        found = document.kept[FORMAT] = _Speakers(_lines(text), document.answers)
    assert isinstance(found, _Speakers)
    return found


def _in_digits(match: re.Match[str]) -> str:
    half = "am" if match["half"] == "오전" else "pm"
    day = f"{match['year']}-{match['month']}-{match['day']} " if "year" in match.groupdict() else ""
    return f"{day}{match['clock']} {half}"


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
        # Between the lines of a log stands what belongs to the line above, however it looks.
        self.is_log = sum(part("logged").match(line.cleaned) is not None for line in lines) > 1
        self.is_timed = timed > 1 and (self.is_log or timed >= _MARKED_SHARE * len(heads))
        free = Counter(head.name for head in heads if not head.is_listed)
        speaking = [one for one, count in free.items() if count > 1 and not (_is_label(_fold(one)) or is_ordinary(one))]
        # Where people speak without a mark of a list, a list stands inside what they say.
        self._is_list = len(speaking) < 2 and len(heads) - free.total() >= _MARKED_SHARE * len(heads)
        self._shape = _ruling_shape([head for head in heads if self._is_list or not head.is_listed])
        said = [line.head.text if line.head.name else line.cleaned for line in lines]
        self._words = {word for text in said for word in part("word").findall(text)}
        self._said = _fold("\n".join(said)) if any(map(_is_ideographic, (one.name for one in heads))) else ""
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
            and (line.head.key in self.listed or not game_log.tells_result(line.cleaned))
        }
        self._counts = Counter(head.key for head in beginning.values())
        bare = [head for head in beginning.values() if head.shape != "nick" and _is_bare(head)]
        self._bare = {head.key for head in bare} - {head.key for head in beginning.values() if not _is_bare(head)}
        self._marked = {head.key for head in beginning.values() if head.time or head.shape in ("above", "titled")}
        # Beside people whose messages have times, what never has one is doubtful.
        times = Counter(head.key for head in beginning.values() if head.time)
        self._timed, self._has_timed = {*times}, sum(count > 1 for count in times.values()) > 1
        titled = ("above", "titled")
        told = [one for one in beginning.values() if one.shape in titled or len(one.text.split(",")[0].split()) > 2]
        counts = Counter(one.key for one in told)
        self._sentences = {name for name, count in counts.items() if count * 2 >= self._counts[name]}
        for head in beginning.values():
            self._spell(head.name)
        self._builds = {
            _build(head.name)
            for head in beginning.values()
            if (self._counts[head.key] > 1 or self._is_named(head.name)) and not _is_label(head.key)
        } | {_build(self.spelling(name)) for name in self.listed}
        names = [name for name, count in self._counts.items() if count > 1]
        self._has_names = sum(not is_ordinary(_unjoined(name)) for name in names) > 1
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
            return head.shape not in ("above", "titled")
        is_named = head.shape == "colon" and not _is_label(head.key) and self._is_named(head.name)
        return head.shape == self._shape or head.key in self.listed or (is_named and self._shape != "titled")

    def _decide(self, number: int, head: Head) -> None:
        name = head.key
        answer = self._answers.speaker(name)
        if answer is not None:
            accepted = answer != "text"
        elif name in self.listed or name in self._voting:
            accepted = True
        elif (
            name.rstrip(".") in word_set("labels")
            or part("numbered").fullmatch(name)
            or (head.time is None and part("clause").fullmatch(name))
            or self._tells_of(head.name)
        ):
            accepted = False
            self.labels += 1
        else:
            is_doubtful = head.shape != "nick" and self._is_doubtful(head)
            is_shown = name in self._marked or self._counts[name] > 1 or self._stand_alike
            is_known = is_shown or is_moderator(head.name) or self._is_named(head.name)
            is_alike = _build(head.name) in self._builds and not is_ordinary(head.name)
            accepted = not is_doubtful and (is_known or is_alike)
            if not accepted:
                self.asked.setdefault(self.spelling(head.name), number)
        self._accepted |= {name} if accepted else set()

    def _is_doubtful(self, head: Head) -> bool:
        """Whether one of the signs of a label stands in the name: the words of a program, a page, or a sentence."""
        key, words = head.key, _unjoined(head.name).split()
        is_once, is_named, is_long = self._counts[key] == 1, self._is_named(head.name), len(words) > 1
        is_led = is_moderator(head.name) or _fold(words[0]) in word_set("titles")
        is_plain = is_ordinary(" ".join(words)) and not is_led
        small = [word for word in words if word.islower() and len(word) > 3]
        is_title = is_long and head.shape == "titled"
        is_section = is_title and (is_once or bool(small)) and _build(head.name) != "A 1"
        is_odd = self._has_names and not head.recipients and (is_long or is_once or not is_named)
        shown = (
            {key, _fold(words[-1]) if is_plain else key} & word_set("doubtful") or key in self._bare,
            # Without spaces no word shows that somebody is spoken of; a label stands in no text.
            # Who is called by the first of several names is named, too.
            head.time is None and _is_ideographic(head.name) and key.replace("・", "·").split("·")[0] not in self._said,
            # "Score", "Turn order"
            is_ordinary(head.name) and is_plain and not (is_named or is_once or key in self._sentences),
            self._has_timed and key not in self._timed,
            # "**Topic:** the fair", above lines of a list that people say.
            self._is_list and not head.is_listed,
            # In the log of a program, "Totals" told once.
            self.is_log and is_plain and is_once and not (is_named or head.tags),
            is_plain and is_long and (is_title or (is_once and head.time is not None)),
            is_section and any(map(is_ordinary, words)) and not is_led,
        )
        free = (
            # "He giggled and thought: ..."
            is_once and len(small) > 1,
            # "Other Players in Hallway", "PRIVATE INFO for Ann"
            not word_set("joins_of_labels").isdisjoint(words[1:-1]),
            # "Memory updated", "Debate complete - Winner"
            is_long and words[0][0].isupper() and words[-1] in small and is_ordinary(words[-1]),
            is_long and len(words[-1]) > 1 and _is_label(_fold(words[-1])),
            # Among names of people "Your Action", "EVENT"
            is_plain and (is_odd or (is_long and head.name.islower() and not is_named)),
        )
        # In a chat whoever stands behind a time writes; in a log the program does.
        return any(shown) or (any(free) and (head.time is None or self.is_log))

    def _tells_of(self, name: str) -> bool:
        """Whether a speaker's name stands there with more behind it: "Ann targets: Bob", "Ann's last words:"."""
        known = self._counts.keys() | self.listed
        *before, last = name.split()
        owner, *owned = part("owned").split(name, 1)
        is_told = bool(before) and last.islower() and _fold(" ".join(before)) in known
        # "First Ann and Ben Debate"
        words = [_fold(word) for word in name.split()]
        is_about = sum(word in known for word in words) > 1 and not all(word in known | _JOINS for word in words)
        return is_told or is_about or bool(owned and _fold(owner) in known)

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
        in_votes = has_begun = False
        for line in self.lines:
            has_begun = has_begun or (self.is_timed and line.head.time is not None)
            if has_begun and not line.head.time:
                # Part of what somebody says.
                continue
            is_timed = line.head.time and line.head.shape == "colon"
            untimed = line.head.untimed if is_timed else line.cleaned
            opened = game_log.opens_list(line.head.text if line.head.shape == "event" else untimed)
            votes = game_log.opens_votes(line.cleaned)
            in_votes = votes == "" or (in_votes and game_log.looks_like_a_ballot(line.cleaned))
            if in_votes:
                is_open = None
                self.list_lines |= {line.number} if votes is None else set()
            elif opened is not None:
                listed = game_log.entries(opened[1], _is_name, has_roles=opened[0]) if opened[1] else []
                is_open = None if opened[1] else opened[0]
                self.list_lines |= {line.number} if listed or not opened[1] else set()
                for each in listed:
                    self._list(*each)
            elif line.cleaned and not _is_rule(line.cleaned):
                is_entry = is_open is not None and not line.heading
                found = game_log.entry(line.cleaned, _is_name, is_open=bool(is_open)) if is_entry else None
                if found is not None and (found[1] or not is_open):
                    self.list_lines.add(line.number)
                    self._list(*found)
                    continue
                is_open = None
                if not line.head.name or is_moderator(line.head.name):
                    for name in game_log.named_in_results(line.head.text or line.cleaned, _is_name):
                        self._voting[_fold(name)] = None
                        self._spell(name)
        self._read_role_lines()

    def _read_role_lines(self) -> None:
        """Lines one below the other that say nothing but a role behind a name ("P1: Role.FASCIST") are a list."""
        block: list[_Line] = []
        people = {line.head.key for line in self.lines}
        for line in self.lines:
            # "Wolves: Ann, Bob", "God: Cleo", where these speak.
            named = [one.strip() for one in line.head.text.split(",")] if line.head.shape in ("colon", "bold") else [""]
            is_list = game_log.opens_list(f"{line.head.name}: {line.head.text}") is not None
            if all(named) and not is_list and game_log.is_role(line.head.name) and {*map(_fold, named)} <= people:
                self.list_lines.add(line.number)
                for name in named:
                    self._list(name, game_log.singular(line.head.name))
        for line in [*(line for line in self.lines if line.cleaned), _Line(0, "", "")]:
            # In a chat "gm" is a greeting.
            is_free = self.is_log or not (self.is_timed or line.head.time)
            role = part("last note").sub("", line.head.text)
            is_entry = is_free and line.head.shape in ("colon", "bold") and game_log.is_role(role)
            is_entry = is_entry and not game_log.tells_result(line.cleaned)
            if is_entry and not is_moderator(line.head.name) and not _is_label(line.head.key):
                block.append(line)
                continue
            if len({one.head.key for one in block}) == len(block) > 1:
                for one in block:
                    self.list_lines.add(one.number)
                    self._list(one.head.name, part("last note").sub("", one.head.text).strip(" ."))
            block = []

    def _list(self, written: str, role: str | None) -> None:
        self.listed[_fold(written)] = self.listed.get(_fold(written)) or role
        # The list spells the name, whatever the lines do.
        self._spell(written, len(self.lines))

    def _spell(self, name: str, count: int = 1) -> None:
        self._spellings.setdefault(_fold(name), Counter())[name] += count

    def spelling(self, name: str) -> str:
        """The name as the list, or else most of the lines, write it."""
        found = self._spellings.get(_fold(name))
        return found.most_common(1)[0][0] if found else name

    def speaks(self, head: Head) -> bool:
        """Whether the line begins a message of somebody."""
        return self.may_begin(head) and head.key in self._accepted

    def begins(self, line: _Line) -> bool:
        """Whether somebody plays who speaks in the line, which is none of a list of players."""
        is_led = is_moderator(line.head.name) or self._answers.speaker(line.head.name) == "moderator"
        return self.speaks(line.head) and line.number not in self.list_lines and not is_led

    @cached_property
    def notes(self) -> Mapping[str, Counter[str]]:
        """The words in brackets behind each speaker's name, with how often they stand there."""
        notes: dict[str, Counter[str]] = {}
        for head in (line.head for line in self.lines if self.speaks(line.head)):
            notes.setdefault(head.key, Counter()).update(head.notes)
        return notes

    @cached_property
    def names(self) -> list[str]:
        """All who speak, are listed or vote, as spelt, in the order of the file."""
        known = self._accepted | self.listed.keys()
        seats = seat_numbers([self.spelling(name) for name in known])
        known |= {name for name in self._voting if not is_abstention(name) and seat_of(name) not in seats}
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
            if not line.head.time and line.head.shape not in ("above", "titled")
        )
        if len(self.asked) > max(_MOST_ASKED, len(lines)) or nested * 3 > len(lines):
            return False
        players = {line.head.key for line in lines if not is_moderator(line.head.name)}
        # Whom a person calls a player is one, however much else stands in the file.
        is_answered = any(self._answers.speaker(name) == "player" for name in players)
        is_alone = len(players) == 1 and len(lines) > 2 and (self.is_timed or self._shape is not None)
        # Paragraphs stand below a heading, so there are fewer of them.
        share = _LEAST_SHARE if self._shape != "titled" else 0
        # What stands before the talk is asked about where it is most of the text.
        written = [line.number for line in self.lines if line.cleaned and not line.noise]
        behind = sum(number >= lines[0].number for number in written) if lines else 0
        are_many = len(lines) >= share * len(written) or len(lines) >= 2 * share * behind
        return (len(players) > 1 or is_alone) and (are_many or (is_answered and len(self.asked) <= _MOST_ASKED))


def _ruling_shape(heads: Sequence[Head]) -> str | None:
    """The shape that most beginnings have, if it is one that itself shows a name."""
    titled = Counter(head.key for head in heads if head.shape == "titled")
    if sum(count > 1 for count in titled.values()) > 1:
        return "titled"
    others = [head for head in heads if head.shape != "titled"]
    ((name, count),) = Counter(head.shape for head in others).most_common(1) or [("", 0)]
    return name if name != "colon" and count > 1 and count >= _MARKED_SHARE * len(others) else None


def _is_ideographic(name: str) -> bool:
    return any(ord(character) in _IDEOGRAPHS for character in name)


def _is_bare(head: Head) -> bool:
    """Whether nothing but an address, or a number without a time, stands behind a name."""
    return (head.time is None and head.text.isdecimal()) or part("address").fullmatch(head.text) is not None


def _unjoined(name: str) -> str:
    return name.replace("_", " ").replace(" & ", " ")


def _is_label(name: str) -> bool:
    return name in word_set("labels") or name in word_set("doubtful")


def _build(name: str) -> str:
    """The build of a name: "A" for "Ann", "A A" for "Ann Lee", "A 1" for "Player 3", "a" for "ann"."""
    return " ".join("1" if word[0].isdigit() else "A" if _begins_name(word) else "a" for word in name.split())


def _begins_name(word: str) -> bool:
    """Whether a word begins as names do: with a capital, or in a script that has none."""
    return word[0].isupper() or (word[0].isalpha() and not word[0].islower())


def _looks_like_a_name(name: str) -> bool:
    return _build(name) in ("A", "1", "A A", "A 1", "1 A", "1 1") and not _is_label(_fold(name))


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


class _Page:
    """Goes through the lines of one game and builds it."""

    def __init__(self, document: Document, speakers: _Speakers, lines: Sequence[_Line]) -> None:
        self._document = document
        self._answers = document.answers
        self._speakers = speakers
        self._lines = lines
        # Its round and phase are those of the line that is read.
        self._draft = TranscriptDraft(Roster(speakers.names), document.limits)
        self._seats = seat_numbers(self._draft.roster.names)
        self._channel: str | None = None
        self._spoken: list[_Spoken] = []
        self._open: _Spoken | None = None
        self._in_votes = False
        self._holds_phases = False
        self._is_log = any(line.noise == _OWN_LOG for line in lines)
        self._roles = dict(speakers.listed)
        self._kinds: Counter[str] = Counter()
        self._left_out: list[LeftOut] = []
        # The letters of lines that are taken for the game's own words since nobody is known to say them.
        self._told = self._titles = 0
        self._is_described = True
        self._verdicts, self._in_speech = 0, tuple[str, ...]()
        self.winner: str | None = None

    def reading(self, game_id: str, broken_off: str | None = None) -> ReadResult:
        """The game with what is open about it; ``broken_off`` says what ended it before its end."""
        for line in self._lines:
            self._add(line)
        written = [one.time for one in self._spoken if one.time is not None]
        # What the numbers prove is right, whatever was answered for other files.
        dates = _order_of_dates(written) or self._answers.dates
        for one in self._spoken:
            if one.channel_name == _MEDIA and any(one.lines[1:]):
                # What stands below the name of a file is said.
                one.channel, one.channel_name, one.lines = "public", None, one.lines[1:]
        self._votes_in_speech()
        players = self._players()
        said = [one for one in self._spoken if any(one.lines)]
        moments = _moments((one.time for one in said), is_day_first=dates != "month-first")
        for one, moment in zip(said, moments, strict=True):
            about = asdict(one)
            self._draft.round, self._draft.phase, _ = (about.pop(key) for key in ("round", "phase", "time"))
            self._draft.say(text="\n".join(about.pop("lines")).strip("\n"), sent_at=moment, **about)
        metadata = {BROKEN_OFF: broken_off} if broken_off and self.winner is None else {}
        transcript = self._draft.build(FORMAT, game_id, players, winner=self.winner, metadata=metadata)
        about = {"remarks": tuple(self._remarks()), "questions": tuple(self._questions(dates, written))}
        kinds = {kind: count for kind, count in self._kinds.items() if count}
        least = max(_LEAST_LETTERS, _MUCH_TOLD * sum(len("".join(one.lines)) for one in said))
        is_much = self._told > least and not self._speakers.asked
        words = "Most of the text stands in lines that no player is known to say." if is_much else self._inside(said)
        words = " ".join(filter(None, (words, "" if self._is_described else NO_PROGRAM)))
        left_out = tuple(self._left_out)
        return ReadResult(transcript=transcript, kinds=kinds, left_out=left_out, not_understood=words, **about)

    def _votes_in_speech(self) -> None:
        """Takes what players say before all as their votes of the round, where no other is recorded of them."""
        recorded = {(vote["round"], vote["voter"]) for vote in self._draft.votes}
        found: dict[tuple[int | None, str], tuple[_Spoken, str, str]] = {}
        for one in self._spoken:
            key = (one.round, one.speaker)
            is_public = one.channel == "public" and not (one.channel_name or one.recipients or one.metadata)
            if is_public and key not in recorded and not self._is_leading(one.speaker):
                for said, whom in game_log.votes_in_speech("\n".join(one.lines), self._find):
                    found[key] = (one, said, whom)
        for one, _, whom in found.values():
            self._draft.round, self._draft.phase = one.round, one.phase
            self._draft.vote(one.speaker, whom)
        self._in_speech = tuple(said for _, said, _ in found.values())

    def _inside(self, said: Sequence[_Spoken]) -> str:
        """A remark on names of speakers, in capitals with a colon, that stand in the middle of another's lines.

        In other letters they address somebody: "Cleo: you first. Dan: you second."
        """
        names = sorted({one.speaker for one in said if one.speaker.isupper()}, key=len, reverse=True)
        if self._speakers.is_timed or not names:
            return ""
        begins = re.compile(rf"[.!?…)\]\"”’][ \t]+({'|'.join(map(re.escape, names))}):[ \t]")
        found = [name for one in said for line in one.lines for name in begins.findall(line) if name != one.speaker]
        stands = f"a speaker's name stands in the middle of a line of another ({found[0]}:)" if found else ""
        return f"{counted(len(found), 'time')} {stands}." if found else ""

    def _players(self) -> list[dict[str, Any]]:
        involved = {one.speaker for one in self._spoken if one.channel != "system"}
        involved |= {vote[who] for vote in self._draft.votes for who in ("voter", "target")}
        involved |= {elimination["player"] for elimination in self._draft.eliminations}
        listed = self._speakers.listed
        names = [name for name in self._draft.roster.names if name in involved or _fold(name) in listed]
        roles = {name: self._roles.get(_fold(name)) for name in names}
        return [{"name": name, "role": role, "alignment": alignment_of(role)} for name, role in roles.items()]

    def _remarks(self) -> Iterator[str]:
        if labels := self._speakers.labels:
            label = "a label before a colon (such as PS or Note)"
            yield f"{counted(labels, 'line')} with {label} left in the message above."
        if self._verdicts:
            yield f"{counted(self._verdicts, 'vote')} on a trial or a proposal (guilty, yes) left out: for no player."
        if self._in_speech:
            first = shorten(self._in_speech[0])
            votes = counted(len(self._in_speech), "vote")
            yield f'{votes} taken from speech ("{first}"): their voters have no recorded vote in that round.'
        if count := self._speakers.untimed:
            yield f"{counted(count, 'line')} with a speaker's name but without a time left in the message above."
        lines = self._lines if self._speakers.is_timed else ()
        nearly = [one for one in lines if not one.head.time and shape("nearly timed").fullmatch(one.cleaned)]
        if nearly:
            shown = f'line {nearly[0].number}, "{shorten(nearly[0].cleaned)}"'
            yield f"{counted(len(nearly), 'line')} like a message, with a time that is not known, left above: {shown}."

    def _questions(self, dates: str | None, written: Sequence[str]) -> Iterator[Question]:
        if asked := self._speakers.asked:
            named = ", ".join(f'"{shorten(name)}:" (line {number})' for name, number in asked.items())
            begins = f"Lines begin with {named[:400]}"
            if len(asked) == 1:
                begins = f'Line {next(iter(asked.values()))} begins with "{shorten(next(iter(asked)))}:"'
            words = f"{begins}, and nothing else shows that this is a speaker. A player, a moderator, or text of the "
            yield Question(Topic.SPEAKER, ", ".join(asked), f"{words}message above?")
        for name in self._draft.roster.names:
            is_open = _fold(name) in self._speakers.listed and self._answers.speaker(name) is None
            if is_open and is_moderator(name) and self._roles.get(_fold(name)) is None:
                words = f'"{shorten(name)}" is listed as a player and called like a moderator.'
                yield Question(Topic.SPEAKER, name, words)
        if dates is None:
            example = next(one for one in written if one[:1].isdigit())
            yield Question(Topic.DATES, "", f'Does "{shorten(example)}" name the day or the month first?')

    def _add(self, line: _Line) -> None:
        if line.noise or (self._speakers.is_timed and shape("header").fullmatch(line.cleaned) and not line.head.name):
            leave_out(self._kinds, self._left_out, f"line {line.number}", line.cleaned, line.noise or _OF_EXPORT)
        elif line.is_code or not line.cleaned:
            self._continue(line)
        elif line.heading is not None:
            self._begin(*line.heading)
            self._open, self._channel = None, None
            self._in_votes = self._draft.phase == "vote"
            self._kinds["round"] += 1
        elif _is_rule(line.cleaned):
            self._in_votes = False
        elif self._open is not None and self._speakers.is_timed and part("time").fullmatch(line.cleaned):
            # A messenger groups the messages of one person.
            self._open = replace(self._open, lines=[], time=line.cleaned, metadata={})
            self._spoken.append(self._open)
            self._kinds["message"] += 1
        elif self._is_result(line):
            return
        elif line.number in self._speakers.list_lines:
            self._tell(line.head.text if line.head.shape == "event" else line.cleaned, "role", time=line.head.time)
        elif not self._opens_channel(line.cleaned):
            self._in_votes = False
            self._speak_or_continue(line)

    def _begin(self, number: int | None, phase: str | None) -> None:
        is_next = phase == "day" and self._draft.phase == _NIGHT and not self._holds_phases
        if is_next and number is None and self._draft.round is not None:
            number = self._draft.round + 1
        # A round that is counted by itself holds its night and its day.
        self._holds_phases = phase is None if number is not None else self._holds_phases
        self._draft.round = self._draft.round if number is None else number
        self._draft.phase = phase

    def _opens_channel(self, line: str) -> bool:
        """A line that is only a channel's name: "#mafia-chat", "--- wolf den ---"."""
        match = shape("channel").fullmatch(line)
        if match is None or (self._open is not None and (self._speakers.is_timed or match["thoughts"])):
            return False
        if part("of two").fullmatch(match["named"] or ""):
            self._channel, self._open = f"private: {match['named']}", None
            return True
        if match["kept"]:
            self._channel, self._open = f"private: {match['kept']}", None
            self._kinds["round"] += 1
            return True
        named = _words(match["named"] or "")
        # Nothing but the name of a channel that some do not hear.
        hidden = {word for word in named if channel_named(word) in ("team", "private")}
        if named and (not hidden or named - hidden - word_set("places") - {"the"}):
            return False
        self._channel = match["hash"] or match["thoughts"] or match["named"].strip()
        self._open = None
        self._kinds["round"] += 1
        return True

    def _is_result(self, line: _Line) -> bool:
        """Whether a line tells a vote, an elimination or the winner; the line itself stands in the system channel."""
        written, head = line.cleaned, line.head
        silent = shape("silence").fullmatch(game_log.bare(head.text if head.name else written))
        is_silent = silent is not None and self._find(silent["player"]) is not None
        if self._speakers.speaks(head) and not (is_silent and silent and _fold(silent["player"]) == head.key):
            is_list = self._in_votes and self._find(head.text.strip(" .")) is not None
            if not is_list and not any(part("tallied").fullmatch(note) for note in head.notes):
                return self._votes_by_saying(head)
        elif head.shape == "event" or head.time:
            written = head.untimed
        # Below somebody's words, and where messages have times, only a line that tells nothing else counts.
        is_event = head.shape == "event" and head.time is None
        is_told = self._open is None or is_event or (self._speakers.is_timed and head.time is not None)
        rest = game_log.opens_votes(written)
        if rest is not None:
            self._in_votes = True
        said = written if rest is None else rest
        kind = "vote" if self._vote(said, is_list=self._in_votes, is_told=is_told) else None
        if rest is None and (kind is None or is_told):
            kind = self._take_roles(written, is_told=is_told) or self._take_results(written, is_told=is_told) or kind
        is_nobody = shape("nobody out").fullmatch(game_log.bare(written)) is not None
        kind = kind or ("event" if is_silent or is_nobody else None)
        if kind or rest == "":
            self._tell(written, kind or "event")
            return True
        return False

    def _votes_by_saying(self, head: Head) -> bool:
        """Whether a message is only a command or the record of a vote; one that says it in words stays a message."""
        said = game_log.said_vote(head.text, self._speakers.spelling(head.name), self._find)
        if said is None or self._is_leading(head.name) or head.tags or head.recipients:
            return False
        ballot, is_command = said
        self._draft.vote(ballot.voter, ballot.target)
        if is_command:
            self._tell(f"{ballot.voter}: {head.text}", "vote", time=head.time)
        return is_command

    def _take_roles(self, written: str, *, is_told: bool) -> str | None:
        found = list(game_log.holders(written, self._find)) if is_told else []
        for player, role in found:
            self._roles[_fold(player)] = self._roles.get(_fold(player)) or role
        return "role" if found else None

    def _take_results(self, written: str, *, is_told: bool = True) -> str | None:
        """The kind of what a line tells: an elimination or, as an event, the winner; ``None`` for neither."""
        written = part("point").sub("", written)
        found = list(game_log.departures(written, self._find, is_told=is_told))
        gone = {elimination["player"]: elimination for elimination in self._draft.eliminations}
        for player, role, is_at_night in found:
            if player in gone:
                # Told twice: the second may add the role.
                gone[player]["role"] = gone[player]["role"] or role
                continue
            self._draft.eliminate(player, role=role)
            if is_at_night and self._draft.phase != "vote":
                self._draft.eliminations[-1]["phase"] = _NIGHT
        side = game_log.winner(written, is_told=is_told)
        self.winner = side or self.winner
        return "elimination" if found else "event" if side else None

    def _vote(self, written: str, *, is_list: bool, is_told: bool) -> bool:
        found = game_log.ballots(written, self._find, is_list=is_list, is_told=is_told) if written else []
        for ballot in found:
            self._draft.vote(ballot.voter, ballot.target, justification=ballot.why)
        return bool(found)

    def _find(self, name: str) -> str | None:
        cleaned = name.strip(" *_.@")
        return self._draft.roster.find(cleaned) or self._seats.get(seat_of(cleaned))

    def _speak_or_continue(self, line: _Line) -> None:
        head = line.head
        if head.shape == "event" and (self._speakers.is_timed or head.time is None):
            self._tell(head.text, "event", EVENT_CHANNEL, head.time)
        elif self._speakers.speaks(head):
            self._say(head, line.number)
        elif self._speakers.may_begin(head) and self._speakers.spelling(head.name) in self._speakers.asked:
            self._tell(line.cleaned, "event")
        elif self._speakers.is_log and head.time:
            # Each line with a time of its own is one that the program wrote.
            self._tell_unknown(head.untimed, time=head.time)
        else:
            self._continue(line)

    def _continue(self, line: _Line) -> None:
        opened = self._open
        if (
            opened is not None
            and not (self._speakers.is_timed or line.is_code)
            and (part("aside").fullmatch(line.cleaned) or self._is_gesture(line.cleaned))
        ):
            # A note of who writes down what is said: "[crosstalk]".
            self._tell(line.cleaned, "event")
            self._open = opened
        elif opened is not None:
            opened.lines.append(line.text.rstrip())
        elif line.cleaned and shape("header").fullmatch(line.cleaned):
            leave_out(self._kinds, self._left_out, f"line {line.number}", line.cleaned, _OF_EXPORT)
        elif line.cleaned:
            self._tell_unknown(line.cleaned)

    def _tell_unknown(self, text: str, time: str | None = None) -> None:
        """Tells a line that nobody says and that is of no known kind; a few titles may stand above the talk."""
        self._titles += not self._kinds["message"]
        self._is_described &= not self._kinds["message"] and self._titles <= _MOST_TITLES
        self._tell(text, "event", time=time)

    def _is_gesture(self, line: str) -> bool:
        match = part("gesture").fullmatch(line)
        return match is not None and self._find(match["who"]) is not None

    def _tell(self, text: str, kind: str, channel_name: str | None = None, time: str | None = None) -> None:
        when = (self._draft.round, self._draft.phase)
        self._spoken.append(_Spoken(_NARRATOR, [text], *when, "system", channel_name, time=time))
        self._open = None
        self._kinds[kind] += 1
        # What a messenger tells is short.
        self._told += len(text) if kind == "event" and (len(text) > _LONGEST_NOTICE or time is None) else 0

    def _say(self, head: Head, number: int) -> None:
        speaker = self._speakers.spelling(head.name)
        verdict = part("verdict").fullmatch(head.text)
        if verdict and (is_abstention(verdict["vote"]) or is_approval(verdict["vote"])):
            self._open = None
            self._verdicts += 1
            reason = "a vote for no player of the game"
            leave_out(self._kinds, self._left_out, f"line {number}", f"{speaker}: {head.text}", reason)
            return
        recipients = tuple(self._find(name) or name for name in head.recipients)
        one = _Spoken(speaker, [head.text], self._draft.round, self._draft.phase, "public", self._channel, recipients)
        one.time = head.time
        if self._is_log and head.text == "```json":
            # What a program logged of a model's answer, as it came: nothing says that the others heard it.
            one.channel_name = one.channel_name or ANSWERS_TO_THE_PROGRAM
        for tag in head.tags:
            self._note(one, tag, is_before=True)
        for note in head.notes:
            self._note(one, note, is_before=False)
        if (match := part("whispered").match(head.text)) and _words(match["note"]) & word_set("quiet"):
            self._note(one, match["note"], is_before=False)
            one.lines = [match["text"]]
        if self._speakers.is_timed and part("replying").fullmatch(head.text):
            one.lines = []
        kind = "message"
        if self._is_leading(speaker):
            starts = game_log.heading(head.text)
            if starts and len(head.text.split()) <= _MOST_WORDS:
                self._begin(*starts)
                one.round, one.phase = self._draft.round, self._draft.phase
            told = head.text.strip('"“”')
            has_votes = self._vote(told, is_list=False, is_told=True)
            kind = "vote" if has_votes else self._take_results(told) or ("round" if starts else "event")
        if head.is_told or (self._speakers.is_timed and shape("notice").fullmatch(head.text)):
            one.channel, one.channel_name, kind = "system", EVENT_CHANNEL, "event"
        if shape("media").fullmatch(head.text) and (self._speakers.is_timed or not head.text.startswith("<")):
            one.channel, one.channel_name, kind = "system", _MEDIA, "event"
        self._spoken.append(one)
        self._open = one
        self._kinds[kind] += 1

    def _is_leading(self, speaker: str) -> bool:
        answer = self._answers.speaker(speaker)
        is_called_so = is_moderator(speaker) or is_moderator(self._roles.get(_fold(speaker)) or "")
        return answer == "moderator" or (answer is None and is_called_so)

    def _note(self, one: _Spoken, note: str, *, is_before: bool) -> None:
        """Takes in the words in brackets around a name: a round, a role, who is spoken to, a channel, a thought."""
        said, lowered = _words(note), note.casefold()
        to = part("to").fullmatch(note)
        names = _names(to["who"] or to["dm"]) if to else []
        if starts := game_log.heading(f"[{note}]" if is_before else note):
            number, self._draft.phase = starts
            self._draft.round = self._draft.round if number is None else number
            one.round, one.phase = self._draft.round, self._draft.phase
        elif part("thinks").fullmatch(note):
            one.channel, one.channel_name = "private", THOUGHTS_CHANNEL
        elif to and (to["dm"] or said & word_set("quiet") or any(map(self._find, names)) or lowered.startswith("to:")):
            one.recipients = tuple(self._find(name) or name for name in names)
        elif to and not is_before and lowered.startswith("to ") and not channel_named(note):
            # One for all is who runs the talk, and hides nothing.
            notes = self._speakers.notes.values()
            one.metadata["note"] = note
            one.recipients = () if len(notes) > 1 and all({*held} == {note} for held in notes) else tuple(names)
        else:
            names_place = bool(said & word_set("places"))
            is_role = not (names_place or to) and (alignment_of(note) or is_moderator(note))
            is_place = names_place or channel_named(note) or note.startswith("#")
            if is_moderator(note) and len(self._speakers.notes.get(_fold(one.speaker), ())) > 1:
                # One message of a player is what the game tells.
                one.channel = "system"
            elif not is_before and (is_role or (not is_place and self._is_role_of(one.speaker, note))):
                self._roles[_fold(one.speaker)] = self._roles.get(_fold(one.speaker)) or note
            elif is_place:
                one.channel_name = note
            else:
                one.metadata["note"] = note

    def _is_role_of(self, speaker: str, note: str) -> bool:
        """Whether the same words always stand behind this name, and other words behind other names."""
        notes = self._speakers.notes
        is_repeated = sum(found.total() for found in notes.values()) > len(notes)
        # "(CS, Oslo)" behind every name tells of nothing; where one is known, the others are roles as well.
        is_game = any(map(game_log.is_role, {one for found in notes.values() for one in found}))
        return len(notes.get(_fold(speaker), ())) == 1 and is_repeated and is_game and _is_name(note)


def _words(text: str) -> set[str]:
    return set(part("word").findall(text.casefold()))


def _names(written: str) -> list[str]:
    return [one.strip() for one in re.split(r",\s*|\s+and\s+|\s*&\s*", written) if one.strip()]


def _runs(speakers: _Speakers) -> tuple[list[Sequence[_Line]], bool]:
    """The lines of each game in a file, and whether each is whole.

    A line that starts another run begins one, where somebody speaks on both sides; so do lines that are only a number,
    where these count talks from one on.
    """
    starts = [0]
    # A log begins each run with the same line.
    title = next((line.head.text or line.cleaned for line in speakers.lines if line.cleaned), "")
    numbers = [line for line in speakers.lines if line.cleaned.isdecimal()]
    is_counted = len(numbers) > 1 and all(line.cleaned == str(place) for place, line in enumerate(numbers, start=1))
    are_talks = False
    for place, line in enumerate(speakers.lines):
        written = line.head.text if line.head.shape == "event" else line.cleaned
        is_title = title.startswith("===") and not (_is_rule(title) or part("of two").fullmatch(title.strip("= ")))
        is_again = written == title and not line.heading and is_title
        run = shape("run").fullmatch(written.strip(" -=*#~_[]"))
        is_run = not speakers.speaks(line.head) and (is_again or run)
        are_talks = are_talks or bool(run and run["talk"])
        is_start = is_run or (is_counted and not speakers.is_timed and line.cleaned.isdecimal())
        if is_start and any(map(speakers.begins, speakers.lines[starts[-1] : place])):
            starts.append(place)
    runs = [speakers.lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    found = [run for run in runs if any(speakers.speaks(line.head) for line in run)]
    return found or [speakers.lines], is_counted or are_talks


def repeated_labels(document: Document) -> list[str]:
    """The words before a colon that several lines begin with: those taken for speakers, then the most frequent."""
    speakers = _speakers(document)
    listed = Counter(line.head.name for line in speakers.lines if line.head.is_listed)
    counts = Counter(line.head.name for line in speakers.lines if speakers.may_begin(line.head))
    # What stands in lists more often tells about somebody.
    counts -= Counter({name: count for name, count in listed.items() if count > counts[name] - count})
    names = [name for name, count in counts.most_common() if count > 1]
    return sorted(names, key=lambda name: name not in speakers.names)


def names_speaker(line: str) -> bool:
    """Whether a line begins with a name and a colon."""
    head = _head(_plain(line))
    return head is not None and head.shape in ("colon", "bold") and not _is_label(head.key)


def several_speak(document: Document) -> bool:
    """Whether several people speak in a text, or one in most of its lines."""
    speakers = _speakers(document)
    return speakers.are_enough or len([name for name in speakers.names if not is_moderator(name)]) > 1


def read_text(document: Document) -> ReadResult:
    """The whole text as one game."""
    speakers = _speakers(document)
    return _Page(document, speakers, speakers.lines).reading(document.game_id(FORMAT))


def _read(document: Document) -> Found:
    speakers = _speakers(document)
    runs, are_whole = _runs(speakers)
    game_id = document.game_id(FORMAT)
    last = [line for line in speakers.lines if line.cleaned][-1:]
    ends = ["" if are_whole else "the start of another run"] * (len(runs) - 1)
    ends.append("an error of the program that ran it" if any(line.noise == _TRACEBACK for line in last) else "")
    pages = [_Page(document, speakers, run) for run in runs]
    if len(pages) == 1:
        return pages[0].reading(game_id, ends[0])
    games = enumerate(zip(pages, ends, strict=True), start=1)
    return [(f"run {number}", partial(page.reading, f"{game_id}-{number}", end)) for number, (page, end) in games]


READER = FileReader(FORMAT, _recognises, _read)
