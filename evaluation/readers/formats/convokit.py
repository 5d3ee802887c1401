"""Reads corpora of ConvoKit: ``utterances.jsonl``, and beside it ``speakers.json`` and ``conversations.json``.

Each conversation is a transcript, its utterances in the order of the file. Speakers belong to the corpus there, not to
a conversation, so what is known of them is each player's persona. Corpora that Dramaturg wrote keep roles, votes and
the rest in the metadata that ConvoKit allows everywhere, and come back as they were (``evaluation.writers.convokit``).
A timestamp that is not a time is kept as metadata: many corpora count other things there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.readers.base.alignment import alignment_of
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader, FolderReader
from evaluation.readers.base.records import first_record, records
from evaluation.readers.base.roster import is_moderator
from evaluation.transcript import Transcript, build_transcript

FORMAT = "convokit"

UTTERANCES, SPEAKERS, CONVERSATIONS = "utterances.jsonl", "speakers.json", "conversations.json"
# What the writer puts into the metadata of an utterance and of a conversation, under the model's own names.
MESSAGE_META = ("round", "phase", "channel", "channel_name", "recipients", "metadata")
_GAME_FACTS = ("game_id", "source_format", "language", "started_at", "exported_at", "winner", "cost", "metadata")
GAME_META = (*_GAME_FACTS, "players", "votes", "eliminations")
PREFIX_META = "id_prefix"
REPLY_META = "reply_to"

_OLDER_SPEAKERS = "users.json"
_PARTS = (UTTERANCES, SPEAKERS, _OLDER_SPEAKERS, CONVERSATIONS, "corpus.json", "index.json")
_CHANNELS = ("public", "team", "private", "system")


def _is_utterance(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {"id", "text"} <= set(value)
        and ("speaker" in value or "user" in value)
        and ("conversation_id" in value or "root" in value)
        and ("reply_to" in value or "reply-to" in value)
    )


def _recognises(document: Document) -> bool:
    return _is_utterance(first_record(document))


def _takes(name: str) -> bool:
    return name in _PARTS


def _recognises_folder(names: Set[str]) -> bool:
    return UTTERANCES in names and len(names) > 1


def _confirms(files: Mapping[str, Document]) -> bool:
    return _recognises(files[UTTERANCES])


def _recognises_part(document: Document) -> bool:
    """Speakers or conversations without the utterances: names with nothing but ``meta`` and ``vectors``."""
    content = document.json
    return (
        isinstance(content, dict)
        and bool(content)
        and all(
            isinstance(value, dict) and "meta" in value and set(value) <= {"meta", "vectors"}
            for value in content.values()
        )
    )


def _read(document: Document) -> Iterator[FileGame]:
    return _games(document, Node(None), Node(None))


def _read_folder(files: Mapping[str, Document]) -> Iterator[FileGame]:
    speakers = _json(SPEAKERS if SPEAKERS in files else _OLDER_SPEAKERS, files)
    return _games(files[UTTERANCES], speakers, _json(CONVERSATIONS, files))


def _json(name: str, files: Mapping[str, Document]) -> Node:
    """A file of the corpus; null when it is missing."""
    if name not in files:
        return Node(None)
    if error := files[name].json_error:
        raise _within(name, error)
    content = Node(files[name].json, f"{name}: $")
    content.fields()
    return content


def _within(name: str, error: InputError) -> InputError:
    place = f"{name}, {error.place}" if error.place else name
    return type(error)(error.message, place=place, remedy=error.remedy)


def _games(document: Document, speakers: Node, conversations: Node) -> Iterator[FileGame]:
    utterances: defaultdict[str, list[Node]] = defaultdict(list)
    for node in records(document):
        key = "conversation_id" if "conversation_id" in node.fields() else "root"
        conversation = node[key].identifier_or_none() or node["id"].identifier_or_none()
        if conversation is None:
            raise node[key].wrong("the conversation's id")
        utterances[conversation].append(node)
    for conversation, nodes in utterances.items():
        meta = conversations[conversation]["meta"]
        yield FileGame(conversation, partial(_transcript, conversation, nodes, speakers, meta, document.limits))


def _transcript(conversation: str, nodes: Sequence[Node], speakers: Node, meta: Node, limits: Limits) -> Transcript:
    limits.check_messages(len(nodes))
    prefix = meta[PREFIX_META].text_or_none() if "players" in meta.fields() else None
    messages = _messages(nodes, prefix or "")
    if prefix:
        limits.check_players(meta["players"].size)
        limits.check_votes(meta["votes"].size)
        ours = {key: meta[key].value for key in GAME_META if meta[key].value is not None}
        return build_transcript(Transcript, ours | {"messages": messages})
    players = _players(messages, speakers)
    limits.check_players(len(players))
    fields = {
        "game_id": conversation,
        "source_format": FORMAT,
        "players": players,
        "messages": messages,
        "metadata": dict(meta.fields()),
    }
    return build_transcript(Transcript, fields)


def _messages(nodes: Sequence[Node], prefix: str) -> list[dict[str, Any]]:
    messages = []
    for index, node in enumerate(nodes):
        message_id = node["id"].identifier_or_none()
        if message_id is None:
            raise node["id"].wrong("the utterance's id")
        speaker = (node["speaker"] if "speaker" in node.fields() else node["user"]).identifier_or_none()
        if speaker is None:
            raise node["speaker"].wrong("the speaker's id", remedy="Say who speaks.")
        messages.append(
            {
                "id": message_id.removeprefix(prefix),
                "index": index,
                "speaker": speaker,
                "text": node["text"].text_or_none() or "",
            }
            | _reply(node, prefix)
            | _details(node, speaker, is_ours=bool(prefix))
        )
    return messages


def _reply(node: Node, prefix: str) -> dict[str, Any]:
    answered = (node["reply_to"] if "reply_to" in node.fields() else node["reply-to"]).identifier_or_none()
    if answered is None and prefix:
        answered = node["meta"][REPLY_META].identifier_or_none()
    return {"reply_to": answered.removeprefix(prefix) if answered else None}


def _details(node: Node, speaker: str, *, is_ours: bool) -> dict[str, Any]:
    """The time, and what the metadata holds that the model has a place for."""
    meta = node["meta"]
    try:
        sent_at = _timestamp(node["timestamp"]).time_or_none()
        kept = {}
    except BrokenTranscriptError:
        sent_at, kept = None, {"timestamp": node["timestamp"].value}
    if is_ours:
        known = {key: meta[key].value for key in MESSAGE_META if meta[key].value is not None}
        return {"sent_at": sent_at} | known
    channel = meta["channel"].value if meta["channel"].value in _CHANNELS else None
    default = "system" if is_moderator(speaker) else "public"
    return {"sent_at": sent_at, "channel": channel or default, "metadata": dict(meta.fields()) | kept}


def _timestamp(node: Node) -> Node:
    """ConvoKit also writes numbers as text."""
    try:
        return Node(float(node.value), node.path) if isinstance(node.value, str) else node
    except ValueError:
        return node


def _players(messages: Sequence[Mapping[str, Any]], speakers: Node) -> list[dict[str, Any]]:
    players = []
    for name in dict.fromkeys(message["speaker"] for message in messages if message["channel"] != "system"):
        entry = speakers.fields().get(name)
        # Before version 2, a speaker's metadata stood there without a level of its own.
        meta = entry.get("meta", entry) if isinstance(entry, dict) else {}
        role = meta.get("role") if isinstance(meta, dict) and isinstance(meta.get("role"), str) else None
        players.append({"name": name, "role": role, "alignment": alignment_of(role), "persona": meta or None})
    if not players:
        raise BrokenTranscriptError("Nobody speaks but the system.", remedy="Export the whole conversation.")
    return players


READER = FileReader(FORMAT, _recognises, _read)
FOLDER_READER = FolderReader(FORMAT, _takes, _recognises_folder, _recognises_part, _read_folder, _confirms)
