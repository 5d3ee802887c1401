"""Reads chats in the shape of OpenAI's interface, as JSON or JSON Lines.

One chat is an object with ``messages``, or a bare list of messages, or one message a line. Several are a list of such
objects, or one a line. An ``id`` or ``conversation_id`` is the game's id; whatever else the object holds is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from evaluation.readers.base.document import Document, content_id, first_record, records
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.formats._chat_messages import chat_transcript, is_chat_message
from evaluation.transcript import Transcript

FORMAT = "openai-chat"

_IDS = ("id", "conversation_id", "custom_id")
# A line with any other key is a row of a table that happens to have a column named role.
_MESSAGE_KEYS = frozenset(
    {"role", "name", "content", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning", "id"}
    | {"reasoning_content", "audio", "annotations", "timestamp", "weight", "prefix"}
)


def _is_chat(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and bool(messages) and is_chat_message(messages[0])


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return _is_chat(first) or (is_chat_message(first) and set(first) <= _MESSAGE_KEYS)


def _read(document: Document) -> Found:
    if not _is_chat(first_record(document)):
        game_id = content_id(FORMAT, document.text)
        return chat_transcript(FORMAT, records(document), document.limits, game_id=game_id, metadata={})
    if isinstance(document.json, dict):
        return chat_in(Node(document.json), document.limits)
    return _games(document)


def _games(document: Document) -> Iterator[FileGame]:
    for number, chat in enumerate(records(document), start=1):
        name = _id(chat) if isinstance(chat.value, dict) else None
        yield FileGame(name or str(number), partial(chat_in, chat, document.limits))


def _id(chat: Node) -> str | None:
    return next((found for key in _IDS if (found := chat[key].identifier_or_none())), None)


def chat_in(chat: Node, limits: Limits, source_format: str = FORMAT) -> Transcript:
    """The transcript of one chat, which may stand in a file of another format.

    Raises:
        InputError: It is broken.
    """
    game_id = _id(chat) or content_id(FORMAT, json.dumps(chat.value, sort_keys=True))
    messages = chat["messages"]
    metadata = chat.rest("messages", *_IDS, "model")
    model = chat["model"].text_or_none()
    return chat_transcript(source_format, messages.entries(), limits, game_id=game_id, model=model, metadata=metadata)


READER = FileReader(FORMAT, _recognises, _read)
