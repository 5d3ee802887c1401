"""Settle who speaks, to whom and when, for every format after its reader (see docs/formats.md).

A reader says what stands in the file. Here thoughts leave the messages, moderators and chat events go to the system
channel, recipients and names of channels decide who hears a message, and times put messages in order. What stays open
becomes a question; what was settled without one is told as a remark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import THOUGHTS_CHANNEL, TOOL_CHANNEL, Roster, is_moderator, word_lists, word_set
from evaluation.readers.document import Answers, Question, ReadResult, Topic
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.text.reasoning import Part, parts_of
from evaluation.transcript import CANONICAL_FORMAT, Channel, Message, Transcript, build_transcript

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


def settle(read: ReadResult, answers: Answers) -> ReadResult:
    """Settles a game; a canonical transcript was settled before it was written, and stays as it is.

    Raises:
        BrokenTranscriptError: Nobody is left who speaks.
    """
    transcript = read.transcript
    if read.format == CANONICAL_FORMAT or transcript is None:
        return read
    messages = list(transcript.messages)
    remarks, questions = list(read.remarks), list(read.questions)
    in_results = {name for vote in transcript.votes for name in (vote.voter, vote.target) if name is not None}
    in_results |= {elimination.player for elimination in transcript.eliminations}
    gone: set[str] = set()
    is_settled = transcript.source_format in _SETTLED
    if not is_settled:
        _order(messages, remarks)
        _resolve_replies(messages)
        _move_events(messages, remarks)
        roles = {player.name: player.role for player in transcript.players}
        gone = {
            name
            for name in dict.fromkeys(message.speaker for message in messages if message.channel != "system")
            if _is_moderator(name, roles.get(name), name in in_results, answers, questions)
        }
        _move_moderators(messages, gone, remarks)
        _decide_channels(messages, transcript, gone, _channels_by_name(messages, answers, remarks, questions), remarks)
    messages = _without_thoughts(messages, remarks)
    if left_out := transcript.metadata.get(LEFT_OUT):
        remarks.append(f"{counted(int(str(left_out)), 'row')} without a speaker or a text left out.")
    if gone or messages != list(transcript.messages):
        speaking = {message.speaker for message in messages if message.channel != "system"}
        # Those whom nothing but speaking made players: no role, side or persona is known.
        gone |= {
            player.name
            for player in transcript.players
            if player.name in {message.speaker for message in messages} - speaking
            and not (is_settled or player.role or player.persona)
        }
        players = [player for player in transcript.players if player.name not in gone - in_results]
        if not players:
            raise BrokenTranscriptError(
                "Nobody speaks but the system and moderators.",
                remedy="Export the whole chat, or say who plays (--speaker NAME=player).",
            )
        for place, message in enumerate(messages):
            if message.index != place:
                _change(messages, place, index=place)
        fields: dict[str, Any] = {name: getattr(transcript, name) for name in Transcript.model_fields}
        transcript = build_transcript(Transcript, fields | {"players": players, "messages": tuple(messages)})
    return replace(read, transcript=transcript, remarks=tuple(remarks), questions=tuple(questions))


def _order(messages: list[Message], remarks: list[str]) -> None:
    """Turns a file around that has its newest message first; ids that were only counted are counted again."""
    times = [message.sent_at for message in messages if message.sent_at is not None]
    if len(times) < max(2, len(messages)) or times[0] <= times[-1]:
        return
    if any(before < after for before, after in pairwise(times)):
        return
    remarks.append("The file has its newest message first; the times put the messages in order.")
    turned: dict[str | None, str] = {}
    if all(message.id == f"m{place}" for place, message in enumerate(messages, start=1)):
        turned = {message.id: f"m{len(messages) - place}" for place, message in enumerate(messages)}
    messages.reverse()
    for place, message in enumerate(messages):
        reply = turned.get(message.reply_to, message.reply_to)
        _change(messages, place, id=turned.get(message.id, message.id), reply_to=reply)


def _resolve_replies(messages: list[Message]) -> None:
    """An answer to a player, and not to a message, is one to that player's latest message before it."""
    ids = {message.id for message in messages}
    latest: dict[str | None, str] = {}
    for place, message in enumerate(messages):
        if message.reply_to not in ids and message.reply_to in latest:
            _change(messages, place, reply_to=latest[message.reply_to])
        latest[message.speaker] = message.id


def _move_events(messages: list[Message], remarks: list[str]) -> None:
    """Joined, left, changed the topic, pinned: no speech."""
    events = [place for place, one in enumerate(messages) if one.channel == "public" and _is_event(one)]
    for place in events:
        _change(messages, place, channel="system", channel_name=EVENT_CHANNEL)
    if events:
        remarks.append(f"{counted(len(events), 'chat event')} (joined, left, pinned) in the system channel.")


def _is_moderator(
    name: str, role: str | None, is_in_results: bool, answers: Answers, questions: list[Question]
) -> bool:
    """Whether a speaker does not play, by role, by the whole of the name, or as a person has said."""
    answer = answers.speaker(name)
    if answer is not None:
        return answer == "moderator"
    if role is not None and is_moderator(role):
        return not is_in_results
    if not is_moderator(name):
        return False
    if role is None and not is_in_results:
        return True
    why = f"has the role {shorten(role)}" if role is not None else "takes part in votes"
    if not any((one.topic, one.name) == (Topic.SPEAKER, name) for one in questions):
        words = f'"{shorten(name)}" is called like a moderator and {why}: player or not?'
        questions.append(Question(Topic.SPEAKER, name, words, kinds=("player", "moderator")))
    return False


def _move_moderators(messages: list[Message], gone: set[str], remarks: list[str]) -> None:
    moved = {}
    for place, message in enumerate(messages):
        if message.speaker in gone and message.channel != "system":
            moved[message.speaker] = True
            name = message.channel_name
            kept = None if fold(name or "") == "system" else name
            _change(messages, place, channel="system", channel_name=kept)
    if moved:
        remarks.append(f"{_named(list(moved))} in the system channel: a moderator or narrator does not play.")


_Decided = Mapping[str | None, tuple[Channel | None, str | None]]
"""Channel, and the name that stays, by the name in the file; no channel where the name says nothing."""


def _channels_by_name(
    messages: Sequence[Message], answers: Answers, remarks: list[str], questions: list[Question]
) -> _Decided:
    names = Counter(message.channel_name for message in messages if message.channel == "public")
    most = max(names.values(), default=0)
    largest = [name for name, count in names.items() if count == most]
    decided: dict[str | None, tuple[Channel | None, str | None]] = {}
    unknown = []
    for name in names:
        if name is None:
            continue
        answer = answers.channel(name)
        meant = _channel(answer) if answer else channel_named(name)
        # One of our own four words says it, and is not kept as a name.
        is_plain = fold(name).strip() == meant
        decided[name] = (meant, None if is_plain else name)
        if meant is None:
            unknown.append(name)
        elif not answer and not is_plain and meant != "public" and largest == [name]:
            which = "only" if len(names) == 1 else "largest"
            _ask_channel(name, f'"{shorten(name)}" is the {which} channel here, so it is taken as public', questions)
            decided[name] = ("public", name)
    # A single one needs no question, very many are only told.
    if len(unknown) > _MOST_ASKED:
        remarks.append(f"{_named(unknown)}: channels whose names tell nothing are taken as public.")
    elif len(names) > 1:
        for name in unknown:
            _ask_channel(name, f'The channel "{shorten(name)}" is taken as public', questions)
    return decided


def _ask_channel(name: str, sentence: str, questions: list[Question]) -> None:
    questions.append(Question(Topic.CHANNEL, name, f"{sentence}. Who hears it?", "public"))


def _decide_channels(
    messages: list[Message], transcript: Transcript, gone: set[str], decided: _Decided, remarks: list[str]
) -> None:
    """Recipients and names of channels decide on what is said in public so far."""
    people = {player.name for player in transcript.players} | {message.speaker for message in messages}
    roster = Roster([player.name for player in transcript.players if player.name not in gone])
    seats = seat_numbers(roster.names)
    hidden = 0
    for place, message in enumerate(messages):
        if message.channel != "public":
            continue
        channel, name = decided.get(message.channel_name, (None, message.channel_name))
        recipients = message.recipients
        if recipients and transcript.source_format not in _HEARERS_SETTLED:
            found = (roster.find(one) or seats.get(seat_of(one)) or one for one in recipients)
            recipients = tuple(dict.fromkeys(found))
            if any("".join(_WORD.findall(fold(one))) in word_set("everybody") for one in recipients):
                recipients = ()
            elif channel is None and not {*roster.names} - {message.speaker} <= {*recipients}:
                # What stands as the only recipient may be a channel's name.
                is_named = len(recipients) == 1 and recipients[0] not in people
                channel = (channel_named(recipients[0]) if is_named else None) or "private"
                hidden += channel == "private"
        _change(messages, place, channel=channel or "public", channel_name=name, recipients=recipients)
    if hidden:
        are = "is" if hidden == 1 else "are"
        remarks.append(f"{counted(hidden, 'message')} with recipients that are not all players {are} private.")


def _without_thoughts(messages: list[Message], remarks: list[str]) -> list[Message]:
    """Blocks of reasoning become private thoughts before the message, tool calls go to the system channel."""
    settled: list[Message] = []
    taken = {message.id for message in messages}
    thoughts = 0
    for message in messages:
        parts = parts_of(message.text)
        is_speech = [part.kind for part in parts] == ["speech"]
        if is_speech or message.channel == "system" or message.is_thought:
            settled.append(message)
        else:
            thoughts += 1
            settled += _split(message, parts, taken)
    if thoughts:
        remarks.append(
            f"{counted(thoughts, 'message')} with reasoning in tags: private thoughts of the speaker, not heard by "
            "others."
        )
    return settled


def channel_named(name: str) -> Channel | None:
    """The channel that a name means, by its whole words, hidden ones before public ones; ``None`` if none tells."""
    found = set(_WORD.findall(fold(name)))
    known = word_lists("channel_words")
    return next((_channel(one) for one in ("team", "private", "system", "public") if found & {*known[one]}), None)


def _channel(name: str) -> Channel:
    channels: dict[str, Channel] = {"public": "public", "team": "team", "private": "private", "system": "system"}
    return channels[name]


def _change(messages: list[Message], place: int, **update: Any) -> None:
    """Puts a message with other values in its place, where one of them differs."""
    if any(getattr(messages[place], name) != value for name, value in update.items()):
        messages[place] = _changed(messages[place], **update)


def _changed(message: Message, **update: Any) -> Message:
    fields = {name: getattr(message, name) for name in Message.model_fields}
    return build_transcript(Message, fields | update)


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
