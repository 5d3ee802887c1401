"""Writes corpora of ConvoKit, as https://convokit.cornell.edu/documentation/data_format.html describes them.

A conversation is known there by its first utterance, and an utterance's id is unique in the corpus: so the ids of a
transcript's messages get the transcript's id in front. What ConvoKit has no place for (roles, votes, eliminations,
costs, the channel of a message) stands in the metadata of the conversation and of the utterances, from which
``evaluation.readers.formats.convokit`` restores the transcript.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from evaluation.readers.formats.convokit import (
    CONVERSATIONS,
    GAME_META,
    MESSAGE_META,
    PREFIX_META,
    REPLY_META,
    SPEAKERS,
    UTTERANCES,
)
from evaluation.transcript import Message, Transcript


def write_convokit(transcripts: Iterable[Transcript], target: IO[bytes]) -> int:
    """Writes a zip with the five files of a corpus, and returns how many conversations are in it.

    ConvoKit loads it once it is unpacked into a folder: ``Corpus(filename=...)``.
    """
    speakers: dict[str, Any] = {}
    conversations: dict[str, Any] = {}
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        with archive.open(UTTERANCES, "w") as lines:
            for transcript in transcripts:
                for utterance in _utterances(transcript):
                    lines.write(_json(utterance) + b"\n")
                conversations[_root(transcript)] = {"meta": _game_meta(transcript), "vectors": []}
                for message in transcript.messages:
                    speakers.setdefault(message.speaker, {"meta": {}, "vectors": []})
        archive.writestr(SPEAKERS, _json(speakers))
        archive.writestr(CONVERSATIONS, _json(conversations))
        archive.writestr("corpus.json", _json({"source": "Dramaturg"}))
        archive.writestr("index.json", _json(_index()))
    return len(conversations)


def _prefix(transcript: Transcript) -> str:
    return f"{transcript.id}:"


def _root(transcript: Transcript) -> str:
    return _prefix(transcript) + transcript.messages[0].id


def _utterances(transcript: Transcript) -> Iterable[Mapping[str, Any]]:
    for message in transcript.messages:
        answered = transcript.message(message.reply_to) if message.reply_to else None
        yield {
            "id": _prefix(transcript) + message.id,
            "conversation_id": _root(transcript),
            "text": message.text,
            "speaker": message.speaker,
            "meta": _message_meta(message, is_resolved=answered is not None),
            "reply_to": _prefix(transcript) + answered.id if answered else None,
            "timestamp": message.sent_at.timestamp() if message.sent_at else None,
            "vectors": [],
        }


def _message_meta(message: Message, *, is_resolved: bool) -> dict[str, Any]:
    """ConvoKit refuses a reply to an utterance that the conversation does not hold; such an id is kept here."""
    meta = message.model_dump(mode="json", include=set(MESSAGE_META))
    return meta if is_resolved or message.reply_to is None else meta | {REPLY_META: message.reply_to}


def _game_meta(transcript: Transcript) -> dict[str, Any]:
    meta: dict[str, Any] = transcript.model_dump(mode="json", include=set(GAME_META))
    return meta | {PREFIX_META: _prefix(transcript)}


def _index() -> dict[str, Any]:
    """Which metadata there is; no type named means any, in ConvoKit's own words."""
    return {
        "utterances-index": {key: [] for key in (*MESSAGE_META, REPLY_META)},
        "speakers-index": {},
        "conversations-index": {key: [] for key in (*GAME_META, PREFIX_META)},
        "overall-index": {"source": []},
        "version": 1,
        "vectors": [],
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
