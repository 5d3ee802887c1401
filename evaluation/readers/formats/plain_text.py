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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers._who_speaks import EVENT_CHANNEL, channel_named
from evaluation.readers.base.answers import Answers, GameReading, Question, Topic
from evaluation.readers.base.document import Document
from evaluation.readers.base.draft import THOUGHTS_CHANNEL, TranscriptDraft
from evaluation.readers.base.reader import FileReader
from evaluation.readers.base.roster import Roster, alignment_of, is_moderator
from evaluation.readers.formats._plain_lines import (
    Clock,
    Head,
    Heading,
    Shape,
    begins_with_time,
    code_lines,
    head_of,
    heading_of,
    is_name,
    is_rule,
    is_time,
    joined_time,
    order_of_dates,
    plain,
    standing_alone,
    thought_lines,
)
from evaluation.readers.formats._plain_results import (
    Ballot,
    Departure,
    Entry,
    ballots_in,
    departures_in,
    entries_in,
    entry_of,
    looks_like_a_ballot,
    names_in_votes,
    names_of_departed,
    opens_list,
    opens_votes,
    tells_result,
    winner_in,
)
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.lexicon import english_words
from evaluation.text.normal import fold
from evaluation.transcript import Channel

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
