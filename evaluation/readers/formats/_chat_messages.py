"""Chats of a model as lists of ``{role, name, content}``: what OpenAI's interface, Inspect and ShareGPT have in common.

The speaker is the name, else the role. What ``system`` and ``developer`` say, what tools are asked and what they answer
is in the system channel. Thoughts ("reasoning") are private messages before
the message that they led to. A message whose content is a list of parts is the text of its parts; the kinds of others
(pictures, sound) are kept in ``metadata["parts"]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.draft import TranscriptDraft
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.roster import Roster
from evaluation.transcript import Transcript

TOOL_CHANNEL = "tool"
THOUGHTS_CHANNEL = "thoughts"

_INSTRUCTIONS = frozenset({"system", "developer"})
_TOOLS = frozenset({"tool", "function", "ipython", "observation", "function_call", "tool_call", "function_response"})
_MODELS = frozenset({"assistant", "gpt", "chatgpt", "model", "bot"})
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_CALL_PARTS = frozenset({"tool_use", "function_call", "tool_call"})
_KNOWN = ("role", "name", "content", "tool_calls", "function_call", "reasoning", "reasoning_content", "refusal")


@dataclass(slots=True)
class _Content:
    """Content of one message."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def is_chat_message(value: Any) -> bool:
    """Whether a JSON value is a message of this shape, however broken."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and any(key in value for key in ("content", "tool_calls", "function_call"))
        and "playerName" not in value
    )


def chat_transcript(
    source_format: str,
    messages: Iterator[Node],
    limits: Limits,
    *,
    game_id: str,
    model: str | None = None,
    started_at: datetime | None = None,
    cost: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any],
) -> Transcript:
    """The transcript of a chat.

    Args:
        source_format: The format's name.
        messages: The messages.
        limits: Bounds for the transcript.
        game_id: The chat's id.
        model: The model that speaks as ``assistant`` or ``gpt``.
        started_at: When the chat began.
        cost: Fields of ``Cost``.
        metadata: What else is known about the chat.

    Raises:
        InputError: A message is broken, or nobody but the system speaks.
    """
    nodes = list(messages)
    limits.check_messages(len(nodes))
    roles = _roles(nodes)
    draft = TranscriptDraft(Roster(roles), limits)
    for node in nodes:
        _add(node, draft)
    if not roles:
        raise BrokenTranscriptError("Nobody speaks but the system.", remedy="Export the whole chat.")
    players = [{"name": name, "model": model if role in _MODELS else None} for name, role in roles.items()]
    return draft.build(
        game_id=game_id,
        source_format=source_format,
        players=players,
        winner=None,
        metadata=metadata,
        started_at=started_at,
        cost=cost,
    )


def _roles(nodes: list[Node]) -> dict[str, str]:
    """The first role of each who speaks in public, by name."""
    roles: dict[str, str] = {}
    for node in nodes:
        role, speaker = _role(node), _speaker(node)
        if role not in _INSTRUCTIONS | _TOOLS:
            roles.setdefault(speaker, role)
    return roles


def _role(node: Node) -> str:
    return (node["role"].text_or_none() or "").strip().casefold()


def _speaker(node: Node) -> str:
    return node["name"].name_or_none() or node["role"].name()


def _add(node: Node, draft: TranscriptDraft) -> None:
    role, speaker = _role(node), _speaker(node)
    content = _content(node)
    sent_at = node["timestamp"].time_or_none()
    for thought in content.thoughts:
        is_player = speaker in draft.roster.names
        draft.say(
            speaker, thought, "private" if is_player else "system", channel_name=THOUGHTS_CHANNEL, sent_at=sent_at
        )
    metadata = node.rest(*_KNOWN, "timestamp") | ({"parts": content.others} if content.others else {})
    if node["name"].name_or_none():
        metadata["role"] = role
    if content.texts or not (content.calls or content.thoughts):
        text = "\n".join(content.texts)
        if role in _INSTRUCTIONS | _TOOLS or speaker not in draft.roster.names:
            channel_name = TOOL_CHANNEL if role in _TOOLS else None
            draft.say(speaker, text, "system", channel_name=channel_name, sent_at=sent_at, metadata=metadata)
        else:
            draft.say(speaker, text, "public", sent_at=sent_at, metadata=metadata)
    for call in content.calls:
        draft.say(speaker, call, "system", channel_name=TOOL_CHANNEL, sent_at=sent_at)


def _content(node: Node) -> _Content:
    content = _Content()
    for key in ("reasoning", "reasoning_content"):
        if isinstance(node[key].value, str) and node[key].value.strip():
            content.thoughts.append(node[key].value)
    given = node["content"]
    if isinstance(given.value, list):
        for part in given.entries():
            _add_part(part, content)
    elif given.value is not None:
        if not isinstance(given.value, str):
            raise given.wrong("text or a list of parts")
        content.texts += [given.value] if given.value else []
    if refusal := node["refusal"].text_or_none():
        content.texts.append(refusal)
    calls = [*node["tool_calls"].entries()] + ([node["function_call"]] if node["function_call"].value else [])
    content.calls += [_call(call) for call in calls]
    if given.value is None and not (content.texts or content.calls or content.thoughts):
        raise given.wrong("text or a list of parts")
    return content


def _add_part(part: Node, content: _Content) -> None:
    if isinstance(part.value, str):
        content.texts.append(part.value)
        return
    kind = part["type"].text_or_none() or "text"
    if kind in _TEXT_PARTS:
        content.texts.append(part["text"].text())
    elif kind in ("reasoning", "thinking"):
        thought = part[kind].text_or_none() or part["text"].text_or_none()
        content.thoughts += [thought] if thought else []
    elif kind == "refusal":
        content.texts.append(part["refusal"].text())
    elif kind in _CALL_PARTS:
        content.calls.append(_call(part))
    else:
        content.others.append(kind)


def _call(call: Node) -> str:
    """A call as it is read: ``search({"query": "wolves"})``; the function stands in it or one level below."""
    inner = call["function"] if isinstance(call["function"].value, dict) else call
    name = inner["name"].text_or_none() or (call["function"].text_or_none() if inner is call else None) or "tool"
    arguments = next((inner[key].value for key in ("arguments", "input") if inner[key].value is not None), "")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"{name}({written})"
