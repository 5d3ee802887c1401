"""Settle who speaks, to whom and when, for every format after its reader (see docs/formats.md).

A reader says what stands in the file. Here thoughts leave the messages, moderators and chat events go to the system
channel, recipients and names of channels decide who hears a message, and times put messages in order. What stays open
becomes a question; what was settled without one is told as a remark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import THOUGHTS_CHANNEL, TOOL_CHANNEL, Roster, is_moderator, word_lists, word_set
from evaluation.readers.document import Answers, GameReading, Question, Topic
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.text.reasoning import Part, parts_of
from evaluation.transcript import CANONICAL_FORMAT, Channel, Message, Player, Transcript, build_transcript

EVENT_CHANNEL = "event"
BROKEN_OFF = "broken_off"
"""Key of a transcript's metadata: why the run ended before its end."""
LEFT_OUT = "rows_without_message"
"""Key of a transcript's metadata: how many rows of the table had no speaker or no text."""

# Their readers know the game: who hears a message is settled there.
_SETTLED = frozenset(
    {"native", "llmafia", "llm-werewolf", "werewolf-gpt", "aiwolf", "tinytroupe", "recorder", "simulation"}
)
# Here it is settled who was handed what; that others say it too is for the reader to see.
_HEARERS_SETTLED = frozenset({"opentelemetry", "langfuse", "langsmith"})
_WORD = re.compile(r"[a-z]+")
_END = r"(?:[.!]?|\s?[(\[:\"'#].{0,200}|\s(?:to|from|using|via|by|with|as|because)\b.{0,200})"
_EVENT = re.compile(
    r"(?:<@\w+>|@?[\w .+'-]{1,40}?)?\s*(?:has |have |was |were )?(?:"
    r"(?:joined|left|(?:added|invited|removed|kicked)(?: \S+)? (?:to|from))"
    rf"(?: (?:(?:the |this )?(?:channel|chat|group|server|room|conversation|call)\b|#\S+){_END})?[.!]?"
    r"|(?:set|sets|changed|cleared|updated|renamed|created) (?:the |this )?"
    r"(?:(?:channel|group|chat|server)(?:'s)? ?)?(?:topic|purpose|description|name|subject|icon|photo|settings|group)?"
    rf"{_END}"
    rf"|pinned (?:a|this) message(?: to this channel)?{_END})\s*",
    re.IGNORECASE,
)
_PRONOUNS = re.compile(r"(?:i|you|he|she|we|they|it|who|nobody|somebody|everyone|everybody)\b", re.IGNORECASE)
_BARE_EVENT = frozenset({"joined", "left"})
_EVENT_KINDS = re.compile(
    r"(?:channel|group|chat|member|guildmember)?_?(?:join|leave|topic|purpose|name|archive|unarchive)(?:ed)?"
    r"|(?:channel)?pinned_?(?:item|message)?|service|bot_add|bot_remove|reminder_add",
    re.IGNORECASE,
)
_MOST_ASKED = 20
_KIND_COLUMNS = ("subtype", "event", "type", "kind")


def settle(found: GameReading, format_name: str, answers: Answers) -> GameReading:
    """Settles a game; a canonical transcript was settled before it was written, and stays as it is.

    Raises:
        BrokenTranscriptError: Nobody is left who speaks.
    """
    if format_name == CANONICAL_FORMAT:
        return found
    table = _Table(found, answers)
    if found.transcript.source_format not in _SETTLED:
        table.order()
        table.replies()
        table.events()
        table.moderators()
        table.channels()
    table.thoughts()
    return table.settled()


class _Table:
    """The messages of one game while they are settled."""

    def __init__(self, found: GameReading, answers: Answers) -> None:
        transcript = self._transcript = found.transcript
        self._answers = answers
        self._messages: list[Message] = list(transcript.messages)
        self._players = {player.name: player for player in transcript.players}
        self._voters = {name for vote in transcript.votes for name in (vote.voter, vote.target) if name is not None}
        self._voters |= {elimination.player for elimination in transcript.eliminations}
        self._gone: set[str] = set()
        self._remarks = list(found.remarks)
        self._questions = list(found.questions)
        self._is_changed = False

    def order(self) -> None:
        """Turns a file around that has its newest message first; ids that were only counted are counted again."""
        times = [message.sent_at for message in self._messages if message.sent_at is not None]
        if len(times) < max(2, len(self._messages)) or times[0] <= times[-1]:
            return
        if any(before < after for before, after in pairwise(times)):
            return
        self._remarks.append("The file has its newest message first; the times put the messages in order.")
        count = len(self._messages)
        if all(message.id == f"m{place + 1}" for place, message in enumerate(self._messages)):
            turned = {message.id: f"m{count - place}" for place, message in enumerate(self._messages)}
        else:
            turned = {}
        self._messages = [
            _changed(message, id=turned.get(message.id, message.id), reply_to=_turned(message.reply_to, turned))
            for message in reversed(self._messages)
        ]
        self._is_changed = True

    def replies(self) -> None:
        """An answer to a player, and not to a message, is one to that player's latest message before it."""
        ids = {message.id for message in self._messages}
        latest: dict[str, str] = {}
        for place, message in enumerate(self._messages):
            reply = message.reply_to
            if reply is not None and reply not in ids and reply in latest:
                self._change(place, reply_to=latest[reply])
            latest[message.speaker] = message.id

    def events(self) -> None:
        """Joined, left, changed the topic, pinned: no speech."""
        count = 0
        for place, message in enumerate(self._messages):
            if message.channel == "public" and _is_event(message):
                count += 1
                self._change(place, channel="system", channel_name=EVENT_CHANNEL)
        if count:
            self._remarks.append(f"{counted(count, 'chat event')} (joined, left, pinned) in the system channel.")

    def moderators(self) -> None:
        """Speakers who do not play, by role, by the whole of their name, or as a person has said."""
        speakers = dict.fromkeys(message.speaker for message in self._messages if message.channel != "system")
        found = dict.fromkeys(name for name in speakers if self._is_moderator(name))
        for place, message in enumerate(self._messages):
            if message.speaker in found and message.channel != "system":
                name = message.channel_name
                self._change(place, channel="system", channel_name=None if fold(name or "") == "system" else name)
        self._gone |= found.keys()
        if found:
            self._remarks.append(f"{_named(list(found))} in the system channel: a moderator or narrator does not play.")

    def _is_moderator(self, name: str) -> bool:
        answer = self._answers.speaker(name)
        if answer is not None:
            return answer == "moderator"
        player = self._players.get(name)
        role = player.role if player else None
        if role is not None and is_moderator(role):
            return name not in self._voters
        if not is_moderator(name):
            return False
        if role is None and name not in self._voters:
            return True
        why = f"has the role {shorten(role)}" if role is not None else "takes part in votes"
        if not any((one.topic, one.name) == (Topic.SPEAKER, name) for one in self._questions):
            words = f'"{shorten(name)}" is called like a moderator and {why}: player or not?'
            self._questions.append(Question(Topic.SPEAKER, name, words, kinds=("player", "moderator")))
        return False

    def channels(self) -> None:
        """Recipients and names of channels decide on what is said in public so far."""
        decided = self._by_channel_name()
        people = set(self._players) | {message.speaker for message in self._messages}
        roster = Roster([name for name in self._players if name not in self._gone])
        seats = seat_numbers(roster.names)
        hidden = 0
        for place, message in enumerate(self._messages):
            if message.channel != "public":
                continue
            channel, name = decided.get(message.channel_name, (None, message.channel_name))
            recipients = message.recipients
            if recipients and self._transcript.source_format not in _HEARERS_SETTLED:
                recipients = tuple(dict.fromkeys(_person(one, roster, seats) for one in recipients))
                if _are_everybody(recipients):
                    recipients = ()
                elif channel is None and not {*roster.names} - {message.speaker} <= {*recipients}:
                    channel = _named_team(recipients, people) or "private"
                    hidden += channel == "private"
            channel = channel or "public"
            if (channel, name, recipients) != (message.channel, message.channel_name, message.recipients):
                self._change(place, channel=channel, channel_name=name, recipients=recipients)
        if hidden:
            self._remarks.append(
                f"{counted(hidden, 'message')} with recipients that are not all players "
                f"{'is' if hidden == 1 else 'are'} private."
            )

    def _by_channel_name(self) -> dict[str | None, tuple[Channel | None, str | None]]:
        """Channel, and the name that stays, by the name in the file; ``None`` where the name says nothing."""
        names = Counter(message.channel_name for message in self._messages if message.channel == "public")
        most = max(names.values(), default=0)
        largest = [name for name, count in names.items() if count == most]
        decided: dict[str | None, tuple[Channel | None, str | None]] = {}
        for name in names:
            if name is None:
                continue
            answer = self._answers.channel(name)
            meant = answer or channel_named(name)
            # One of our own four words says it, and is not kept as a name.
            is_plain = fold(name).strip() == meant
            kept = None if is_plain else name
            if answer is not None or (is_plain and meant is not None):
                decided[name] = (_channel(answer or str(meant)), kept)
            elif meant not in (None, "public") and largest == [name]:
                which = "only" if len(names) == 1 else "largest"
                self._ask_channel(name, f'"{shorten(name)}" is the {which} channel here, so it is taken as public')
                decided[name] = ("public", name)
            elif meant is None:
                decided[name] = (None, name)
            else:
                decided[name] = (_channel(meant), kept)
        self._ask_about([name for name, (channel, _) in decided.items() if channel is None and name is not None])
        return decided

    def _ask_about(self, unknown: Sequence[str]) -> None:
        """Asks about channels whose names tell nothing; a single one needs no question, very many are only told."""
        if len({message.channel_name for message in self._messages if message.channel == "public"}) == 1:
            return
        if len(unknown) > _MOST_ASKED:
            self._remarks.append(f"{_named(unknown)}: channels whose names tell nothing are taken as public.")
            return
        for name in unknown:
            self._ask_channel(name, f'The channel "{shorten(name)}" is taken as public')

    def thoughts(self) -> None:
        """Blocks of reasoning become private thoughts before the message, tool calls go to the system channel."""
        settled: list[Message] = []
        taken = {message.id for message in self._messages}
        thoughts = 0
        for message in self._messages:
            parts = parts_of(message.text)
            is_speech = [part.kind for part in parts] == ["speech"]
            if is_speech or message.channel == "system" or message.is_thought:
                settled.append(message)
                continue
            thoughts += 1
            settled += _split(message, parts, taken)
        if thoughts:
            self._messages, self._is_changed = settled, True
            self._remarks.append(
                f"{counted(thoughts, 'message')} with reasoning in tags: private thoughts of the speaker, not heard by "
                "others."
            )

    def settled(self) -> GameReading:
        """The game with the players that are left."""
        transcript = self._transcript
        if left_out := transcript.metadata.get(LEFT_OUT):
            self._remarks.append(f"{counted(int(str(left_out)), 'row')} without a speaker or a text left out.")
        if not self._is_changed and not self._gone:
            return GameReading(transcript, tuple(self._remarks), tuple(self._questions))
        speaking = {message.speaker for message in self._messages if message.channel != "system"}
        silent_now = {message.speaker for message in self._messages} - speaking - self._voters
        gone = {name for name in self._gone if name not in self._voters}
        gone |= {name for name in silent_now if name in self._players and self._is_only_speaker(name)}
        players = [player for player in transcript.players if player.name not in gone]
        if not players:
            raise BrokenTranscriptError(
                "Nobody speaks but the system and moderators.",
                remedy="Export the whole chat, or say who plays (--speaker NAME=player).",
            )
        numbered = (
            message if message.index == place else _changed(message, index=place)
            for place, message in enumerate(self._messages)
        )
        fields: dict[str, Any] = {name: getattr(transcript, name) for name in Transcript.model_fields}
        fields |= {"players": players, "messages": tuple(numbered)}
        return GameReading(build_transcript(Transcript, fields), tuple(self._remarks), tuple(self._questions))

    def _is_only_speaker(self, name: str) -> bool:
        """Whether nothing but speaking made somebody a player: no role, side or persona is known."""
        player: Player = self._players[name]
        return player.role is None and player.persona is None and self._transcript.source_format not in _SETTLED

    def _change(self, place: int, **update: Any) -> None:
        self._messages[place] = _changed(self._messages[place], **update)
        self._is_changed = True

    def _ask_channel(self, name: str, sentence: str) -> None:
        self._questions.append(Question(Topic.CHANNEL, name, f"{sentence}. Who hears it?", "public"))


def channel_named(name: str) -> Channel | None:
    """The channel that a name means, by its whole words, hidden ones before public ones; ``None`` if none tells."""
    found = set(_WORD.findall(fold(name)))
    known = word_lists("channel_words")
    return next((_channel(one) for one in ("team", "private", "system", "public") if found & {*known[one]}), None)


def _channel(name: str) -> Channel:
    channels: dict[str, Channel] = {"public": "public", "team": "team", "private": "private", "system": "system"}
    return channels[name]


def _changed(message: Message, **update: Any) -> Message:
    fields = {name: getattr(message, name) for name in Message.model_fields}
    return build_transcript(Message, fields | update)


def _turned(reply_to: str | None, turned: Mapping[str, str]) -> str | None:
    return None if reply_to is None else turned.get(reply_to, reply_to)


def _is_event(message: Message) -> bool:
    kinds = (message.metadata.get(column) for column in _KIND_COLUMNS)
    if any(isinstance(kind, str) and _EVENT_KINDS.fullmatch(kind) for kind in kinds):
        return True
    if len(message.text) > 300 or message.text.strip().rstrip(".!").casefold() in _BARE_EVENT:
        return False
    text = message.text.strip()
    return _EVENT.fullmatch(text) is not None and not _PRONOUNS.match(text) and _names_speaker_or_place(message)


def _names_speaker_or_place(message: Message) -> bool:
    """ "Ann left" said by Ann is an event, "Bob left" said by Ann is talk, unless it says what was left."""
    text = fold(message.text)
    if text.startswith(("<@", fold(message.speaker), "has ", "have ")):
        return True
    return any(
        f" {place}" in text for place in ("channel", "chat", "group", "server", "topic", "subject", "message", "#")
    )


def _person(written: str, roster: Roster, seats: Mapping[str, str]) -> str:
    return roster.find(written) or seats.get(seat_of(written)) or written


def _are_everybody(recipients: Iterable[str]) -> bool:
    return any("".join(_WORD.findall(fold(one))) in word_set("everybody") for one in recipients)


def _named_team(recipients: Sequence[str], people: set[str]) -> Channel | None:
    """The channel, where what stands as recipient is a channel's name."""
    if len(recipients) != 1 or recipients[0] in people:
        return None
    return channel_named(recipients[0])


def _split(message: Message, parts: Sequence[Part], taken: set[str]) -> Iterator[Message]:
    """The thoughts and calls, then what was said; the id stays with the last, which answers refer to."""
    said = "\n".join(part.text for part in parts if part.kind == "speech")
    hidden = [part for part in parts if part.kind != "speech"]
    for number, part in enumerate(hidden, start=1):
        is_last = number == len(hidden) and not said
        yield _changed(
            message,
            id=message.id if is_last else _free_id(message.id, number, taken),
            channel="private" if part.kind == "thought" else "system",
            channel_name=THOUGHTS_CHANNEL if part.kind == "thought" else TOOL_CHANNEL,
            recipients=(),
            text=part.text,
        )
    if said:
        yield _changed(message, text=said)


def _free_id(message_id: str, number: int, taken: set[str]) -> str:
    stem = f"{message_id[:180]}-thought-{number}"
    found, further = stem, 1
    while found in taken:
        further += 1
        found = f"{stem}-{further}"
    taken.add(found)
    return found


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
