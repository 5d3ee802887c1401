"""Reads ShareGPT: ``conversations[{from, value}]``, one conversation or a list of them, as JSON or JSON Lines.

``from`` is the speaker (human, gpt, or any name). What ``system`` and tools say is in the system channel, and a
``system`` text beside the conversation comes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from evaluation.files.strict_json import step
from evaluation.readers.base.document import Document, content_id, first_record, records
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.formats._chat_messages import chat_transcript
from evaluation.transcript import Transcript

FORMAT = "sharegpt"


def _is_conversation(value: Any) -> bool:
    turns = value.get("conversations") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict) and {"from", "value"} <= set(turns[0])


def _recognises(document: Document) -> bool:
    return _is_conversation(first_record(document))


def _read(document: Document) -> Found:
    if isinstance(document.json, dict):
        return conversation_transcript(Node(document.json), document.limits)
    return _games(document)


def _games(document: Document) -> Iterator[FileGame]:
    for number, conversation in enumerate(records(document), start=1):
        name = conversation["id"].identifier_or_none() if isinstance(conversation.value, dict) else None
        yield FileGame(name or str(number), partial(conversation_transcript, conversation, document.limits))


def conversation_transcript(conversation: Node, limits: Limits, source_format: str = FORMAT) -> Transcript:
    """The transcript of one conversation, which may stand in a file of another format.

    Raises:
        InputError: It is broken.
    """
    game_id = conversation["id"].identifier_or_none()
    return chat_transcript(
        source_format,
        _messages(conversation),
        limits,
        game_id=game_id or content_id(FORMAT, json.dumps(conversation.value, sort_keys=True)),
        model=conversation["model"].text_or_none(),
        metadata=conversation.rest("id", "conversations", "system", "model"),
    )


def _messages(conversation: Node) -> Iterator[Node]:
    """The turns with the keys of a chat message, and paths of which the last step is still the file's."""
    if prompt := conversation["system"].text_or_none():
        yield Node({"role": "system", "content": prompt}, step(conversation.path, "system"))
    for turn in conversation["conversations"].entries():
        role, text = turn["from"].name(), turn["value"].text()
        yield Node({"role": role, "content": text} | turn.rest("from", "value", "role", "content"), turn.path)


READER = FileReader(FORMAT, _recognises, _read)
