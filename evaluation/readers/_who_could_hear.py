"""Weigh the evidence of who could hear each message, for every format after its reader.

Recipients, kinds and flags of a row, names of channels and phases are gathered for a message; what says "not public"
wins over what says nothing. Evidence that may mean something else is asked about, and its message is not public until
somebody answers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from evaluation.files.strict_json import shorten
from evaluation.readers._draft import Roster, column_key, letters, word_lists, word_set, words_in
from evaluation.readers.document import EVERY, Answers, Question, Topic
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.transcript import Channel, Message, Transcript, build_transcript

_PUBLIC_FLAGS = frozenset({"public", "ispublic", "visibletoall"})
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
_MOST_ASKED = 20
_RECIPIENTS = "recipients"
# Here it is settled who was handed what; that others say it too is for the reader to see.
_HEARERS_SETTLED = frozenset({"opentelemetry", "langfuse", "langsmith"})
_NUMBER = re.compile(r"\s*[#:-]?\s*\d+\s*")
_CHANNELS: tuple[Channel, ...] = ("team", "private", "system", "public")
_OPEN_ENDS = ("private", "team")
# Names that readers give to what a program was told: nothing says whether others heard it.
ANSWERS_IN_A_FORM = "answers in a set form"
ANSWERS_TO_THE_PROGRAM = "answers to the program"
REASONS_OF_VOTES = "reasons of votes"
_Part = TypeVar("_Part", bound=BaseModel)
_UNHEARD = frozenset({ANSWERS_IN_A_FORM, ANSWERS_TO_THE_PROGRAM, REASONS_OF_VOTES})


def channel_named(name: str) -> Channel | None:
    """The channel that a name means, by its whole words, hidden ones before public ones; ``None`` if none tells."""
    found = set(words_in(name))
    known = word_lists("channel_words")
    return next((one for one in _CHANNELS if found & {*known[one]}), None)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Evidence about the hearers of one message.

    Attributes:
        channel: Who hears it by this evidence.
        name: The channel, phase or kind that says so, by which it is asked about.
        is_certain: Whether nobody needs to be asked.
    """

    channel: Channel
    name: str
    is_certain: bool = True


@dataclass
class Weighing:
    """Puts every message that its reader left public into the channel that the evidence says.

    Attributes:
        messages: In their order; changed in place.
        transcript: The game, for its players, roles and eliminations.
        gone: Speakers who do not play.
        answers: A person's answers, which go before all evidence.
        remarks: What was settled without a question is added.
        questions: What is uncertain is added; without an assumed answer where nothing would be public, or where the
            assumptions would hide more than half of what is said.
    """

    messages: list[Message]
    transcript: Transcript
    gone: Collection[str]
    answers: Answers
    remarks: list[str]
    questions: list[Question]
    asked: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    taken: dict[str, Channel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        players = [player.name for player in self.transcript.players if player.name not in self.gone]
        self.roster = Roster(players)
        self.seats = seat_numbers(players)
        self.people = {*self.roster.names} | {message.speaker for message in self.messages}
        public = [message for message in self.messages if message.channel == "public"]
        self.names = Counter(message.channel_name for message in public)
        self.is_named_public = any(name is not None and channel_named(name) == "public" for name in self.names)
        self.kinds = {kind for message in public for kind in kinds_of(message)}
        words = {kind: {letters(kind), *words_in(kind)} for kind in self.kinds}
        known = word_set("speech_labels") | word_set("talk_kinds") | word_set("told_kinds")
        # Beside rows of speech, what rows of no known kind are is not public until somebody says so.
        unknown = {kind for kind, held in words.items() if not (held & known or channel_named(kind))}
        is_beside = any(held & word_set("speech_labels") for held in words.values())
        # What an action's column says of some rows alone is what these did, and not what they said.
        acts = [{*map(column_key, one.metadata)} & {"action", "actiontype"} for one in public]
        is_act = any(acts) and not all(acts)
        unnamed = {
            kind for kind, held in words.items() if not (held & word_set("speech_labels") or channel_named(kind))
        }
        self.beside_speech = unnamed if is_act else unknown if is_beside else set()
        self.hidden_phases = self._hidden_phases(public)
        self.last_heard = {
            name: place
            for place, message in enumerate(self.messages)
            # Announcements reach those who have left as well.
            if message.channel != "system" and channel_named(message.channel_name or "") != "system"
            for name in (message.speaker, *message.recipients)
        }
        self.names_all = any(map(_is_everybody, (one for message in self.messages for one in message.recipients)))
        self.out = {elimination.player for elimination in self.transcript.eliminations}

    def _hidden_phases(self, messages: Sequence[Message]) -> Mapping[str, bool]:
        """The phases that are hidden by their names or by who alone speaks in them, and whether both say so."""
        sides = {player.name: player.alignment for player in self.transcript.players}
        speakers: dict[str, list[str | None]] = defaultdict(list)
        for message in messages:
            if message.phase is not None and message.speaker not in self.gone:
                speakers[_phase(message.phase)].append(sides.get(message.speaker))
        is_mixed = {"mafia", "town"} <= {side for said in speakers.values() for side in said}
        found = {}
        for phase, said in speakers.items():
            named = channel_named(phase)
            is_alone = is_mixed and len(said) > 1 and set(said) == {"mafia"} and named != "public"
            if named in _OPEN_ENDS or is_alone:
                found[phase] = named in _OPEN_ENDS and is_alone
        return found

    def run(self) -> None:
        """Puts each public message into its channel, and asks about what is uncertain."""
        unknown = [
            name for name in self.names if name is not None and not (self.answers.channel(name) or channel_named(name))
        ]
        self.is_crowd = len(unknown) > _MOST_ASKED
        self.has_unknown = bool(unknown) and (len(self.names) > 1 or self.is_named_public)
        whole: Counter[str] = Counter()
        for place, message in enumerate(self.messages):
            if message.channel == "public":
                self._weigh(place, message, whole)
        told = [m for m in self.messages if m.channel != "system" and not m.is_thought]
        if whole and not any(message.channel == "public" for message in told):
            for name in whole:
                self._ask(name, f'Nothing here is public: "{shorten(name)}" says who hears it', None)
        hidden = sum(map(len, self.asked.values()))
        for name, places in self.asked.items():
            taken = None if hidden * 2 > len(told) else self.taken[name]
            stand = "stands" if len(places) == 1 else "stand"
            told_by = f'{counted(len(places), "message")} {stand} under "{shorten(name)}"'
            told_by = "Channels whose names tell nothing" if name == EVERY else told_by
            self._ask(name, f"{told_by}, taken as not public", taken)
        count = sum(message.channel == "private" and bool(message.recipients) for message in self.messages)
        if count:
            are = "is" if count == 1 else "are"
            self.remarks.append(f"{counted(count, 'message')} with recipients that are not all players {are} private.")

    def _ask(self, name: str, sentence: str, taken: str | None) -> None:
        self.questions.append(Question(Topic.CHANNEL, name, f"{sentence}. Who hears it?", taken))

    def _weigh(self, place: int, message: Message, whole: Counter[str]) -> None:
        recipients, is_for_some = self._recipients(message, place)
        found = list(self._evidence(message, is_for_some))
        if recipients and not is_for_some:
            # All who still play are named as those who hear it.
            found = [one for one in found if one.is_certain]
        answered = next((answer for one in found if (answer := self.answers.channel(one.name))), None)
        hidden = [one for one in found if one.channel != "public"]
        # What is certain goes before what is only likely.
        strongest = next((one for one in hidden if one.is_certain), hidden[0] if hidden else None)
        channel = answered or (strongest.channel if strongest else "public")
        if strongest and not answered:
            if strongest.is_certain:
                whole[strongest.name] += 1
            else:
                self.asked[strongest.name].append(place)
                self.taken[strongest.name] = strongest.channel
        name = message.channel_name
        # One of our own four words says it, and is not kept as a name.
        name = None if name is not None and fold(name).strip() == channel else name
        if strongest and name is None and channel != "public" and strongest.name not in (_RECIPIENTS, channel):
            name = strongest.name[:200]
        change(self.messages, place, channel=channel, channel_name=name, recipients=recipients)

    def _evidence(self, message: Message, is_for_some: bool) -> Iterator[_Evidence]:
        name = message.channel_name
        if name is not None:
            if (meant := channel_named(name)) is not None:
                yield _Evidence(meant, name)
            elif self.answers.channel(name) is not None:
                yield _Evidence("public", name)
            elif self.has_unknown or name in _UNHEARD:
                yield _Evidence("team", EVERY if self.is_crowd else name, is_certain=False)
        if is_for_some:
            is_channel = len(message.recipients) == 1 and message.recipients[0] not in self.people
            yield _Evidence((channel_named(message.recipients[0]) if is_channel else None) or "private", _RECIPIENTS)
        for kind in kinds_of(message):
            meant = channel_named(kind)
            is_told = bool({*words_in(kind)} & word_set("told_kinds"))
            if meant in _OPEN_ENDS or kind in self.beside_speech:
                yield _Evidence(meant or "private", kind, is_certain=meant is not None)
            elif meant == "system" or (is_told and len(self.kinds) > 1 and meant is None):
                yield _Evidence("system", kind)
        for column, value in message.metadata.items():
            if (flag := _flag(column, value)) is not None:
                yield _Evidence(flag, column)
        if message.phase is not None and (phase := _phase(message.phase)) in self.hidden_phases and name is None:
            meant = channel_named(phase)
            channel: Channel = meant if meant in _OPEN_ENDS else "team"
            yield _Evidence(channel, phase, is_certain=self.hidden_phases[phase])

    def _recipients(self, message: Message, place: int) -> tuple[tuple[str, ...], bool]:
        """The recipients by their names in the game, and whether they are fewer than all others who still play."""
        if not message.recipients or self.transcript.source_format in _HEARERS_SETTLED:
            return message.recipients, False
        # "Ann (Seller)" is Ann.
        known = ((self.roster.find(one) or self.roster.find(one.partition(" (")[0]), one) for one in message.recipients)
        found = (name or self.seats.get(seat_of(one)) or one for name, one in known)
        recipients = tuple(dict.fromkeys(found))
        if any(map(_is_everybody, recipients)):
            return (), False
        if self.names_all and len(recipients) == 1:
            # A file that has a word for all means one of them by a name, even where no other is seen to play.
            return recipients, True
        if channel_named(message.channel_name or "") == "public":
            # The row itself says who hears it, so that these are addressees.
            return recipients, False
        left = {name for name in self.out if self.last_heard.get(name, -1) < place}
        return recipients, not {*self.roster.names} - {message.speaker} - left <= {*recipients}


def _is_everybody(recipient: str) -> bool:
    return "".join(words_in(recipient)) in word_set("everybody")


def _phase(phase: str) -> str:
    """A phase without its number: "night" of "Night 2"."""
    return _NUMBER.sub(" ", fold(phase)).strip() or fold(phase)


def kinds_of(message: Message) -> list[str]:
    """The values of the columns that say what kind of row it is."""
    known = word_set("kind_columns") | word_set("visibility_columns")
    held = ((column, value) for column, value in message.metadata.items() if isinstance(value, str))
    return [value for column, value in held if len(value) <= 60 and column_key(column) in known]


def _flag(column: str, value: object) -> Channel | None:
    """The channel that a column of true and false says, such as ``is_private``."""
    bare, said = column_key(column), str(value).casefold().strip()
    if bare in _PUBLIC_FLAGS:
        return "private" if said in _FALSE else None
    words = {*words_in(column)}
    if words & word_set("flag_words") and words <= word_set("flag_words") | {"is", "only", "message"} and said in _TRUE:
        return "team" if "team" in words else "private"
    return None


def change(messages: list[Message], place: int, **update: Any) -> None:
    """Puts a message with other values in its place, where one of them differs."""
    if any(getattr(messages[place], name) != value for name, value in update.items()):
        messages[place] = changed(messages[place], **update)


def changed(part: _Part, **update: Any) -> _Part:
    """The message or transcript with other values, checked."""
    fields = {name: getattr(part, name) for name in type(part).model_fields}
    return build_transcript(type(part), fields | update)
