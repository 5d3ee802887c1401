"""Reads chats of a model: OpenAI's messages and ShareGPT's conversations, as JSON or JSON Lines.

OpenAI: one chat is an object with ``messages``, or a bare list of messages, or one message a line. Several are a list
of such objects, or one a line. ShareGPT: ``conversations[{from, value}]``, one conversation or several; ``from`` is the
speaker (human, gpt, or any name), and a ``system`` text beside the conversation comes first. An ``id`` is the game's
id; whatever else the object holds is kept.

The speaker is the name, else the role. What ``system`` and ``developer`` say, what tools are asked and what they answer
is in the system channel. Thoughts ("reasoning") are private messages before the message that they led to. A message
whose content is a list of parts is the text of its parts; ``[image_url]`` and the like stand for pictures and sound.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import step
from evaluation.readers._draft import THOUGHTS_CHANNEL, TOOL_CHANNEL, Roster, TranscriptDraft
from evaluation.readers._turns import ChatTurn, add_message
from evaluation.readers.document import Document, FileReader, Found, Limits, Node, content_id, first_record, records
from evaluation.transcript import Transcript

FORMAT = "openai-chat"
SHAREGPT = "sharegpt"

_IDS = ("id", "conversation_id", "custom_id")
# A line with any other key is a row of a table that happens to have a column named role.
_MESSAGE_KEYS = frozenset(
    {"role", "name", "content", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning", "id"}
    | {"reasoning_content", "audio", "annotations", "timestamp", "weight", "prefix"}
)
_TOOLS = frozenset({"tool", "function", "ipython", "observation", "function_call", "tool_call", "function_response"})
_NO_PLAYERS = frozenset({"system", "developer"}) | _TOOLS
_MODELS = frozenset({"assistant", "gpt", "chatgpt", "model", "bot"})
_KNOWN = ("role", "name", "content", "tool_calls", "function_call", "reasoning", "reasoning_content", "refusal")


def chat_transcript(
    source_format: str, messages: Iterable[Node], limits: Limits, game_id: str, model: str | None = None, **about: Any
) -> Transcript:
    """The transcript of a chat.

    Args:
        source_format: The format's name.
        messages: The messages.
        limits: Bounds for the transcript.
        game_id: The chat's id.
        model: The model that speaks as ``assistant`` or ``gpt``.
        about: What else is known about it, as ``TranscriptDraft.build`` takes it.

    Raises:
        InputError: A message is broken, or nobody but the system speaks.
    """
    nodes = list(messages)
    # The first role of each who speaks in public, by name.
    roles: dict[str, str] = {}
    for node in nodes:
        role, speaker = _role(node), _speaker(node)
        if role not in _NO_PLAYERS:
            roles.setdefault(speaker, role)
    draft = TranscriptDraft(Roster(roles), limits)
    for node in nodes:
        _add(node, draft)
    if not roles:
        raise BrokenTranscriptError("Nobody speaks but the system.", remedy="Export the whole chat.")
    players = [{"name": name, "model": model if role in _MODELS else None} for name, role in roles.items()]
    return draft.build(source_format, game_id, players, **about)


def _role(node: Node) -> str:
    return (node["role"].text_or_none() or "").strip().casefold()


def _speaker(node: Node) -> str:
    return node["name"].name_or_none() or node["role"].name()


def _add(node: Node, draft: TranscriptDraft) -> None:
    role, speaker, turn = _role(node), _speaker(node), _turn(node)
    is_player = speaker in draft.roster.names
    say = partial(draft.say, speaker, sent_at=node["timestamp"].time_or_none())
    for thought in turn.thoughts:
        say(thought, "private" if is_player else "system", channel_name=THOUGHTS_CHANNEL)
    metadata = node.rest(*_KNOWN, "timestamp")
    if node["name"].name_or_none():
        metadata["role"] = role
    if turn.texts or not (turn.calls or turn.thoughts or turn.results):
        is_public = is_player and role not in _NO_PLAYERS
        channel_name = TOOL_CHANNEL if role in _TOOLS else None
        text = "\n".join(turn.texts)
        say(text, "public" if is_public else "system", channel_name=channel_name, metadata=metadata)
    for told in [call.text for call in turn.calls] + [result.text for result in turn.results]:
        say(told, "system", channel_name=TOOL_CHANNEL)


def _turn(node: Node) -> ChatTurn:
    content, turn = node["content"], ChatTurn(_role(node))
    add_message(node.fields(), content.value, turn)
    is_wrong = not isinstance(content.value, (str, list, type(None)))
    if is_wrong or (turn.is_empty and content.value not in ("", [])):
        raise content.wrong("text or a list of parts")
    return turn


def _is_message(value: Any) -> bool:
    """Whether a JSON value is a message of OpenAI's shape, however broken."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and any(key in value for key in ("content", "tool_calls", "function_call"))
        and "playerName" not in value
    )


def _is_chat(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and bool(messages) and _is_message(messages[0])


def _is_conversation(value: Any) -> bool:
    turns = value.get("conversations") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict) and {"from", "value"} <= set(turns[0])


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return _is_chat(first) or (_is_message(first) and set(first) <= _MESSAGE_KEYS)


def _read(document: Document) -> Found:
    if _is_chat(first_record(document)):
        return _games(document, FORMAT, lambda chat: chat["messages"].entries(), "messages")
    return chat_transcript(FORMAT, records(document), document.limits, document.game_id(FORMAT))


def _games(document: Document, source_format: str, messages: Callable[[Node], Iterable[Node]], *read: str) -> Found:
    """The only chat of a file, or each of several; what stands under other keys than those read is kept."""

    def game(chat: Node) -> Transcript:
        game_id = _id(chat) or content_id(source_format, json.dumps(chat.value, sort_keys=True))
        model, rest = chat["model"].text_or_none(), chat.rest(*read, *_IDS, "model")
        return chat_transcript(source_format, messages(chat), document.limits, game_id, model, metadata=rest)

    if isinstance(document.json, dict):
        return game(Node(document.json))
    chats = enumerate(records(document), start=1)
    return ((_id(chat) or str(number), partial(game, chat)) for number, chat in chats)


def _id(chat: Node) -> str | None:
    is_object = isinstance(chat.value, dict)
    return next((found for key in _IDS if (found := chat[key].identifier_or_none())), None) if is_object else None


def _turns(conversation: Node) -> Iterator[Node]:
    """The turns of ShareGPT with the keys of a chat message, and paths of which the last step is still the file's."""
    if prompt := conversation["system"].text_or_none():
        yield Node({"role": "system", "content": prompt}, step(conversation.path, "system"))
    for turn in conversation["conversations"].entries():
        role, text = turn["from"].name(), turn["value"].text()
        yield Node({"role": role, "content": text} | turn.rest("from", "value", "role", "content"), turn.path)


READER = FileReader(FORMAT, _recognises, _read)
SHAREGPT_READER = FileReader(
    SHAREGPT,
    lambda document: _is_conversation(first_record(document)),
    lambda document: _games(document, SHAREGPT, _turns, "conversations", "system"),
)
