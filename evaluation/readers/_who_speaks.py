"""Settle who speaks, to whom and when, for every format after its reader (see docs/formats.md).

A reader says what stands in the file. Here thoughts leave the messages, moderators and chat events go to the system
channel, recipients and names of channels decide who hears a message, and times put messages in order. What stays open
becomes a question; what was settled without one is told as a remark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, count, pairwise
from typing import Any

from pydantic import BaseModel

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import (
    THOUGHTS_CHANNEL,
    TOOL_CHANNEL,
    is_moderator,
    is_neutral,
    is_ordinary,
    letters,
    word_set,
    words_in,
)
from evaluation.readers._line_shapes import part as line_part
from evaluation.readers._text_parts import text_parts
from evaluation.readers._who_could_hear import Weighing, change, changed, kinds_of
from evaluation.readers.document import Answers, Question, ReadResult, Topic
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.text.reasoning import Part
from evaluation.transcript import CANONICAL_FORMAT, Message, Player, Transcript

EVENT_CHANNEL = "event"
BROKEN_OFF = "broken_off"
"""Key of a transcript's metadata: why the run ended before its end."""
LEFT_OUT = "rows_without_message"
"""Key of a transcript's metadata: how many rows of the table became nothing."""

# Their readers know the game: who hears a message is settled there.
_SETTLED = frozenset({"native", "llmafia", "llm-werewolf", "werewolf-gpt", "aiwolf", "tinytroupe", "simulation"})
_OF_CHATS = frozenset({"openai-chat", "table"})
_BARE_EVENT = frozenset({"joined", "left"})
# Their people are told apart by ids.
_KNOWN_BY_ID = frozenset({"telegram", "discord", "slack"})
_NO = frozenset({"false", "0", "no", "none", ""})
_LONGEST_LIST = 300
_MOST_PASSED_ON = 0.8
_MOST_ROLES = 40
_LEAST_TALK = 6


def settle(read: ReadResult, answers: Answers) -> ReadResult:
    """Settles a game; a canonical transcript was settled before it was written, and stays as it is.

    Raises:
        BrokenTranscriptError: Nobody is left who speaks.
    """
    transcript = read.transcript
    if read.format == CANONICAL_FORMAT or transcript is None:
        return read
    remarks, questions = list(read.remarks), list(read.questions)
    gone: set[str] = set()
    is_settled = transcript.source_format in _SETTLED
    if not is_settled:
        transcript = _one_spelling(_names_in_texts(transcript, answers, questions), remarks)
    messages = list(transcript.messages)
    in_results = {name for vote in transcript.votes for name in (vote.voter, vote.target)}
    in_results |= {elimination.player for elimination in transcript.eliminations}
    if not is_settled:
        _order(messages, remarks)
        _resolve_replies(messages)
        _move_events(messages, remarks)
        roles = {player.name: player.role for player in transcript.players}
        flagged = _flagged(messages)
        gone = {
            name
            for name in dict.fromkeys(message.speaker for message in messages if message.channel != "system")
            if _is_moderator(name, roles.get(name), name in in_results, answers, questions)
            or (name in flagged and answers.speaker(name) is None)
        }
        questions += _of_programs(messages, answers) if transcript.source_format in _OF_CHATS else ()
        _move_moderators(messages, gone, remarks)
        Weighing(messages, transcript, gone, answers, remarks, questions).run()
    messages = _without_thoughts(messages, remarks)
    players = list(transcript.players)
    if gone or messages != list(transcript.messages):
        speaking = {message.speaker for message in messages if message.channel != "system"}
        # Those whom nothing but speaking made players: no role, side or persona is known.
        gone |= {
            player.name
            for player in players
            if player.name in {message.speaker for message in messages} - speaking
            and not (is_settled or player.role or player.persona)
        }
        players = [player for player in players if player.name not in gone - in_results]
        if not players:
            raise BrokenTranscriptError(
                "Nobody speaks but the system and moderators.",
                remedy="Export the whole chat, or say who plays (--speaker NAME=player).",
            )
        for place in range(len(messages)):
            change(messages, place, index=place)
    if not is_settled:
        players = _with_sides(players, answers, questions)
    if players != list(transcript.players) or messages != list(transcript.messages):
        transcript = changed(transcript, players=players, messages=tuple(messages))
    asked, kinds = tuple(dict.fromkeys(questions)), read.kinds or _kinds_of(transcript)
    read = read if is_settled or read.not_understood else replace(read, not_understood=_of_several_talks(transcript))
    return replace(read, transcript=transcript, remarks=tuple(remarks), questions=asked, kinds=kinds)


def _of_several_talks(transcript: Transcript) -> str:
    """A remark on the place from which on only others speak than before, several on either side; else empty."""
    said = [message.speaker for message in transcript.discussion]
    last = {name: place for place, name in enumerate(said)}
    ends = (place for place, end in enumerate(accumulate((last[name] for name in said), max)) if place == end)
    apart = ((said[: end + 1], said[end + 1 :]) for end in ends)
    fits = (before for before, after in apart if min(map(len, (before, after))) >= _LEAST_TALK and len({*after}) > 1)
    before = next((before for before in fits if len({*before}) > 1), [])
    return f"After {len(before)} public messages only others speak: it may be several talks." if before else ""


def _kinds_of(transcript: Transcript) -> dict[str, int]:
    """Counts of what a game holds, by the kinds of ``ReadResult.kinds``."""
    events = sum(message.channel == "system" for message in transcript.messages)
    counts = {"message": len(transcript.messages) - events, "vote": len(transcript.votes)}
    counts |= {"elimination": len(transcript.eliminations), "event": events}
    return {kind: count for kind, count in counts.items() if count}


def _names_in_texts(transcript: Transcript, answers: Answers, questions: list[Question]) -> Transcript:
    """Several people under one role of a chat ("user"), each text with its speaker's name before a colon, are those."""
    found = transcript.messages
    inside = _scribed(found) or _relayed(found) or _inside_roles(found)
    if not inside:
        return transcript
    names = list(dict.fromkeys(held["speaker"] for held in inside.values()))
    listed = ", ".join(names)
    if len(listed) > _LONGEST_LIST or answers.speaker(listed) == "text":
        return transcript
    words = f"{counted(len(inside), 'text')} of others' begin with a name, taken as who speaks: {shorten(listed)}."
    questions.append(Question(Topic.SPEAKER, listed, words, answers.speaker(listed) or "player", ("player", "text")))
    # What stands under another role without a name is what a program asks.
    of_program = {"channel": "system"} if _is_of_chat(transcript.messages) else {}
    messages = [
        changed(message, **inside.get(message.id, of_program if message.channel == "public" else {}))
        for message in transcript.messages
    ]
    speaking = {message.speaker for message in messages if message.channel != "system"}
    # Those who never spoke, and only vote or leave, play as well.
    renamed = {message.speaker for message in transcript.messages} - speaking
    players = [player for player in transcript.players if player.name not in renamed]
    players += [Player(name=name) for name in names if name not in {player.name for player in players}]
    return changed(transcript, players=players, messages=tuple(messages))


def _inside_roles(messages: Sequence[Message]) -> dict[str, dict[str, str]]:
    """Speaker and text, by message, of what is said under a role each of whose texts begins with a name."""
    if not _is_of_chat(messages):
        return {}
    public = [message for message in messages if message.channel == "public"]
    found = [(message, line_part("name inside").match(message.text)) for message in public]
    without = {message.speaker for message, match in found if match is None}
    if not all(fold(role) in ("user", "human") for role in without):
        # The program's own side answers under its role.
        return {}
    pairs = [(message, match) for message, match in found if match and message.speaker not in without]
    # One name in each role is a habit of the chat; more than there are roles are people.
    if len({match["name"] for _, match in pairs}) < 2:
        return {}
    return {one.id: {"speaker": match["name"].strip("* "), "text": match["text"]} for one, match in pairs}


def _is_of_chat(messages: Sequence[Message]) -> bool:
    """Whether all that is public stands under roles of a chat ("user")."""
    return all(fold(one.speaker) in word_set("chat_roles") for one in messages if one.channel == "public")


def _scribed(messages: Sequence[Message]) -> dict[str, dict[str, str]]:
    """Speaker and text, by message, of what a scribe ("scribe: Ann") writes down that others say ("Bob: Hello")."""
    scribes = {fold(match["name"]) for one in messages if (match := line_part("scribe").fullmatch(one.text.strip()))}
    people = {fold(one.speaker): one.speaker for one in messages if not is_moderator(one.speaker)}
    inside: dict[str, dict[str, str]] = {}
    last = None
    for message in messages if scribes else ():
        if fold(message.speaker) not in scribes:
            continue
        match = line_part("name inside").match(message.text)
        if match and (speaker := people.get(fold(match["name"]))):
            last = speaker
            inside[message.id] = {"speaker": speaker, "text": match["text"]}
        elif last and message.text.startswith(("... ", "…")):
            inside[message.id] = {"speaker": last, "text": message.text.lstrip(".… ")}
    return inside


def _relayed(messages: Sequence[Message]) -> dict[str, dict[str, str]]:
    """Speaker and text, by message, of what a bot passes on from another chat: "<Ann> Hello"."""
    public = [one for one in messages if one.channel == "public"]
    found = {one.id: match for one in public if (match := line_part("relayed").match(one.text))}
    said, passed = (Counter(one.speaker for one in part) for part in (public, [m for m in public if m.id in found]))
    bridges = {name for name, count in passed.items() if count > 1 and count >= _MOST_PASSED_ON * said[name]}
    return {one.id: found[one.id].groupdict() for one in public if one.id in found and one.speaker in bridges}


def _one_spelling(transcript: Transcript, remarks: list[str]) -> Transcript:
    """ "Bob", "bob " and "BOB" are one player, spelt as most often; that "Bob" and "Bob Lee" are two is told."""
    if transcript.source_format in _KNOWN_BY_ID:
        return transcript
    names = Counter(message.speaker for message in transcript.messages)
    names.update(player.name for player in transcript.players)
    best: dict[str, str] = {}
    for name, _ in names.most_common():
        best.setdefault(" ".join(fold(name).split()), name)
    short = _first_names(transcript, best.values())
    remarks += [f'"{shorten(one)}" and "{shorten(whole)}" are taken for two people.' for one, whole in short]
    other = {name: best[" ".join(fold(name).split())] for name in names}
    if all(name == spelt for name, spelt in other.items()):
        return transcript
    players: dict[str, Player] = {}
    for player in transcript.players:
        known = players.get(other[player.name])
        if known is None or (known.role is None and player.role is not None):
            players[other[player.name]] = player.model_copy(update={"name": other[player.name]})

    def renamed(parts: Sequence[BaseModel], *names: str) -> list[Any]:
        held = [{name: getattr(part, name) for name in names} for part in parts]
        return [
            part.model_copy(update={key: other.get(name, name) for key, name in names.items()})
            for part, names in zip(parts, held, strict=True)
        ]

    return changed(
        transcript,
        players=list(players.values()),
        messages=tuple(renamed(transcript.messages, "speaker")),
        votes=renamed(transcript.votes, "voter", "target"),
        eliminations=renamed(transcript.eliminations, "player"),
    )


def _first_names(transcript: Transcript, names: Iterable[str]) -> list[tuple[str, str]]:
    """First names that speak beside the only whole name of that kind; none where votes or roles tell two people."""
    apart = {player.name for player in transcript.players if player.role}
    apart |= {name for vote in transcript.votes for name in (vote.voter, vote.target) if name}
    known = dict.fromkeys(names)
    whole: dict[str, list[str]] = {}
    for name in known:
        first, _, rest = name.partition(" ")
        if first in known and first not in apart and rest.replace(" ", "").isalpha() and rest[:1].isupper():
            whole.setdefault(first, []).append(name)
    return [(first, found[0]) for first, found in whole.items() if len(found) == 1 and not is_ordinary(first)]


def _flagged(messages: Sequence[Message]) -> set[str]:
    """Speakers whom the file calls bots or webhooks; none where all are, since agents then play through bots."""
    bots = {
        message.speaker
        for message in messages
        for column, value in message.metadata.items()
        if letters(column) in word_set("bot_flags") and str(value).casefold() not in _NO
    }
    return bots if {message.speaker for message in messages if message.channel != "system"} - bots else set()


def _with_sides(players: list[Player], answers: Answers, questions: list[Question]) -> list[Player]:
    """The players with the sides that a person gives to unknown roles, which are asked about in one question."""
    open_roles: dict[str, None] = {}
    settled: list[Player] = []
    for player in players:
        role = player.role if player.alignment is None else None
        answer = answers.role(role) if role is not None else None
        settled.append(player.model_copy(update={"alignment": answer}) if answer in ("mafia", "town") else player)
        if role is not None and answer is None and not is_neutral(role) and fold(role) not in word_set("chat_roles"):
            open_roles[role.replace(",", " ")] = None
    if 0 < len(open_roles) <= _MOST_ROLES:
        listed = ", ".join(open_roles)
        words = f"The sides of these roles are not known: {listed[:300]}. Which side do they play for?"
        questions.append(Question(Topic.ROLE, listed, words, "none"))
    return settled


def _order(messages: list[Message], remarks: list[str]) -> None:
    """Turns a file around that has its newest message first; ids that were only counted are counted again."""
    times = [message.sent_at for message in messages if message.sent_at is not None]
    falls = len(times) > 1 and times[0] > times[-1] and all(before >= after for before, after in pairwise(times))
    if len(times) < len(messages) or not falls:
        return
    remarks.append("The file has its newest message first; the times put the messages in order.")
    turned: dict[str | None, str] = {}
    if all(message.id == f"m{place}" for place, message in enumerate(messages, start=1)):
        turned = {message.id: f"m{len(messages) - place}" for place, message in enumerate(messages)}
    messages.reverse()
    for place, message in enumerate(messages):
        reply = turned.get(message.reply_to, message.reply_to)
        change(messages, place, id=turned.get(message.id, message.id), reply_to=reply)


def _resolve_replies(messages: list[Message]) -> None:
    """An answer to a player, and not to a message, is one to that player's latest message before it."""
    ids = {message.id for message in messages}
    latest: dict[str | None, str] = {}
    for place, message in enumerate(messages):
        if message.reply_to not in ids and message.reply_to in latest:
            change(messages, place, reply_to=latest[message.reply_to])
        latest[message.speaker] = message.id


def _move_events(messages: list[Message], remarks: list[str]) -> None:
    """Joined, left, changed the topic, pinned: no speech."""
    events = [place for place, one in enumerate(messages) if one.channel == "public" and _is_event(one)]
    for place in events:
        change(messages, place, channel="system", channel_name=EVENT_CHANNEL)
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
        is_led = not word_set("leaders").isdisjoint(words_in(role or ""))
        is_called_so = role is None and any(map(is_moderator, words_in(name))) and words_in(name)[1:]
        if not is_in_results and (is_led or is_called_so):
            why = f"the role {shorten(role)}" if is_led else "a word of the name"
            words = f'"{shorten(name)}" may lead the talk, by {why}, and is taken as a player.'
            questions.append(Question(Topic.SPEAKER, name, words, "player", ("player", "moderator")))
        return False
    if role is None and not is_in_results:
        return True
    why = f"has the role {shorten(role)}" if role is not None else "takes part in votes"
    if not any((one.topic, one.name) == (Topic.SPEAKER, name) for one in questions):
        words = f'"{shorten(name)}" is called like a moderator and {why}: player or not?'
        questions.append(Question(Topic.SPEAKER, name, words, kinds=("player", "moderator")))
    return False


def _of_programs(messages: Sequence[Message], answers: Answers) -> Iterator[Question]:
    """Questions about users of a chat who tell the other side what it is and how to answer, as programs do."""
    users = dict.fromkeys(one.speaker for one in messages if fold(one.speaker) in ("user", "human"))
    for name in users:
        first = next(one.text for one in messages if one.speaker == name)
        if answers.speaker(name) is None and line_part("instruction").search(first):
            words = f'"{shorten(name)}" tells the other how to answer, as a program does that asks one agent.'
            yield Question(Topic.SPEAKER, name, words, kinds=("player", "moderator"))


def _move_moderators(messages: list[Message], gone: set[str], remarks: list[str]) -> None:
    moved = dict.fromkeys(one.speaker for one in messages if one.speaker in gone and one.channel != "system")
    for place, message in enumerate(messages):
        if message.speaker in gone and message.channel != "system":
            kept = None if fold(message.channel_name or "") == "system" else message.channel_name
            change(messages, place, channel="system", channel_name=kept)
    if moved:
        shown = ", ".join(map(shorten, [*moved][:5])) + (f" and {len(moved) - 5} more" if len(moved) > 5 else "")
        remarks.append(f"{shown} in the system channel: a moderator or narrator does not play.")


def _without_thoughts(messages: list[Message], remarks: list[str]) -> list[Message]:
    """Blocks of reasoning become private thoughts before the message, tool calls go to the system channel."""
    settled: list[Message] = []
    taken = {message.id for message in messages}
    thoughts = 0
    for message in messages:
        parts = text_parts(message.text)
        if message.channel == "system" or message.is_thought or [part.kind for part in parts] == ["speech"]:
            settled.append(message)
        else:
            thoughts += 1
            settled += _split(message, parts, taken)
    if thoughts:
        told = f"{counted(thoughts, 'message')} with reasoning in tags, labels or JSON"
        remarks.append(f"{told}: private thoughts of the speaker, not heard by others.")
    return settled


def _is_event(message: Message) -> bool:
    """Whether the chat tells it: "Ann left" said by Ann is an event, said by Bob only with what she left."""
    if any(line_part("event kind").fullmatch(kind) for kind in kinds_of(message)):
        return True
    text = message.text.strip()
    if len(message.text) > 300 or text.rstrip(".!").casefold() in _BARE_EVENT or line_part("pronoun").match(text):
        return False
    folded = fold(message.text)
    names_speaker = folded.startswith(("<@", fold(message.speaker), "has ", "have "))
    return line_part("chat event").fullmatch(text) is not None and (
        names_speaker or line_part("place left").search(folded) is not None
    )


def _split(message: Message, parts: Sequence[Part], taken: set[str]) -> Iterator[Message]:
    """The thoughts and calls, then what was said; the id stays with the last, which answers refer to."""
    said = "\n".join(part.text for part in parts if part.kind == "speech")
    hidden = [part for part in parts if part.kind != "speech"]
    for number, part in enumerate(hidden, start=1):
        is_last = number == len(hidden) and not said
        yield changed(
            message,
            id=message.id if is_last else _free_id(message.id, number, taken),
            channel="private" if part.kind == "thought" else "system",
            channel_name=THOUGHTS_CHANNEL if part.kind == "thought" else TOOL_CHANNEL,
            recipients=(),
            text=part.text,
        )
    if said:
        yield changed(message, text=said)


def _free_id(message_id: str, number: int, taken: set[str]) -> str:
    stem = f"{message_id[:180]}-thought-{number}"
    found = next(one for one in chain([stem], (f"{stem}-{place}" for place in count(2))) if one not in taken)
    taken.add(found)
    return found
