"""Reads messages of AgentVerse: lists of ``{content, sender, receiver, tool_response}``, also as ``{messages: [...]}``.

A message to ``all`` is public, any other private to its receivers. Tools that it used come before it, each with its
result, in the system channel. ``sender_agent`` may hold keys of providers and is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft, speaker_name
from evaluation.readers.base.reader import FileReader
from evaluation.readers.base.records import first_record, records
from evaluation.readers.base.roster import is_moderator
from evaluation.readers.traces.turns import ToolCall, as_text
from evaluation.transcript import Channel, Transcript

FORMAT = "agentverse"

_KEYS = frozenset({"content", "sender", "receiver"})
_ALL = "all"


def _recognises(document: Document) -> bool:
    first = first_record(document)
    if isinstance(first, dict) and isinstance(first.get("messages"), list) and first["messages"]:
        first = first["messages"][0]
    # With a plain receiver it may be a table like any other, whose further columns are kept.
    return (
        isinstance(first, dict)
        and set(first) >= _KEYS
        and (isinstance(first["receiver"], list) or "tool_response" in first or "sender_agent" in first)
    )


def _read(document: Document) -> Transcript:
    draft = OpenDraft(document.limits)
    for record in records(document):
        held = record["messages"]
        for message in held.entries() if isinstance(held.value, list) else (record,):
            _say(message, draft)
    return draft.build(FORMAT, document.game_id(FORMAT), {})


def _say(message: Node, draft: OpenDraft) -> None:
    speaker = speaker_name(message["sender"].text_or_none() or "", "agent")
    for name, text in _tools(message):
        draft.tool(speaker, text, name)
    content = message["content"].value
    text = content if isinstance(content, str) else "" if content in (None, [], {}) else as_text(content)
    if not text.strip():
        return
    heard_by = tuple(speaker_name(one.text(), "agent") for one in _receivers(message["receiver"]))
    heard_by = () if _ALL in heard_by else tuple(name for name in dict.fromkeys(heard_by) if name != speaker)
    channel: Channel = "system" if is_moderator(speaker) else "private" if heard_by else "public"
    draft.say(speaker, text, channel, recipients=heard_by)


def _receivers(receiver: Node) -> Iterator[Node]:
    """The receivers, one or a list; a set that was written as an object has them as its keys."""
    if isinstance(receiver.value, str):
        yield receiver
    elif isinstance(receiver.value, dict):
        yield from (Node(name, receiver.path) for name in receiver.value)
    else:
        yield from receiver.entries()


def _tools(message: Node) -> Iterator[tuple[str, str]]:
    """Each tool that was used, as a name and the call with its result."""
    for pair in message["tool_response"].entries():
        parts = list(pair.entries())
        action = parts[0] if parts else pair
        yield _tool(action["tool"], action["tool_input"].value, parts[1].value if len(parts) > 1 else None)
    if message["tool_name"].text_or_none():
        yield _tool(message["tool_name"], message["tool_input"].value, None)


def _tool(name: Node, given: Any, result: Any) -> tuple[str, str]:
    called = name.text_or_none() or "tool"
    told = "" if result in (None, "") else f"\n{as_text(result)}"
    return called, f"{ToolCall(called, given).text}{told}"


READER = FileReader(FORMAT, _recognises, _read)
