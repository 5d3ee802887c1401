"""Reads states of LangGraph and lists of LangChain messages: ``{messages: [{type: "human" | "ai" | ...}]}``.

A history of snapshots (``{values, next, metadata, created_at}``) is newest first: its newest full state is the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from evaluation.readers._turns import ChatTurn, text_in, turns_of
from evaluation.readers.document import Document, FileReader, Node, first_record, records
from evaluation.readers.traces._conversation import call_transcript
from evaluation.readers.traces.calls import Span, usage_of
from evaluation.transcript import Transcript

FORMAT = "langgraph"

_TYPES = frozenset({"human", "ai", "system", "tool", "function", "AIMessageChunk", "HumanMessageChunk"})
_STATES = ("values", "channel_values", "state", "output")


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return _is_message(first) or _messages_in(first) is not None


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "constructor" and "lc" in value:
        return isinstance(value.get("kwargs"), dict) and "content" in value["kwargs"]
    is_typed = isinstance(value.get("type"), str) and value["type"] in _TYPES
    return is_typed and "content" in value and "role" not in value and "source" not in value


def _messages_in(value: Any) -> list[Any] | None:
    """The messages of a state or of a snapshot, ``None`` where it holds none of LangChain's."""
    for _ in range(3):
        if not isinstance(value, dict):
            return None
        held = value.get("messages")
        if isinstance(held, list):
            return held if held and _is_message(held[0]) else None
        value = next((value[key] for key in _STATES if isinstance(value.get(key), dict)), None)
    return None


def _read(document: Document) -> Transcript:
    found = list(records(document))
    if found and _is_message(found[0].value):
        messages, when = found, {}
    else:
        newest = _newest(found)
        messages = [Node(one, f"{newest.path}.messages[{place}]") for place, one in enumerate(_held(newest))]
        when = _times(found)
    calls = list(_calls(_joined(messages), when))
    game_id = _thread(found) or document.game_id(FORMAT)
    return call_transcript(FORMAT, calls, document.limits, game_id=game_id)


def _held(node: Node) -> list[Any]:
    return _messages_in(node.value) or []


def _newest(found: list[Node]) -> Node:
    """The state of the latest time; the first where none says its time, since histories are newest first."""
    if all(isinstance(_field(node, "created_at"), str) for node in found):
        return max(found, key=lambda node: str(_field(node, "created_at")))
    return found[0]


def _field(node: Node, key: str) -> Any:
    return node.value.get(key) if isinstance(node.value, dict) else None


def _thread(found: list[Node]) -> str | None:
    config = _field(found[0], "config") if found else None
    inner = config.get("configurable") if isinstance(config, dict) else None
    return text_in(inner, "thread_id") or None if isinstance(inner, dict) else None


def _times(found: list[Node]) -> dict[str, datetime]:
    """By the id of a message, the time of the earliest snapshot that holds it."""
    times: dict[str, datetime] = {}
    for node in found:
        when = node["created_at"].time_or_none() if isinstance(node.value, dict) else None
        for message in _held(node) if when is not None else ():
            message_id = _id(message)
            if message_id and when is not None and (message_id not in times or when < times[message_id]):
                times[message_id] = when
    return times


def _id(message: Any) -> str | None:
    fields = message.get("kwargs", message) if isinstance(message, dict) else {}
    found = fields.get("id") if isinstance(fields, dict) else None
    return found if isinstance(found, str) else None


def _joined(messages: list[Node]) -> Iterator[Node]:
    """Each message once, by its id; the pieces of one that was streamed as one."""
    by_id: dict[str, Node] = {}
    for number, node in enumerate(messages):
        message_id = _id(node.value) or f"#{number}"
        known = by_id.get(message_id)
        is_piece = known is not None and str(_field(node, "type")).endswith("Chunk")
        if known is not None and is_piece:
            pieces = (known.value.get("content"), node.value.get("content"))
            if all(isinstance(piece, str) for piece in pieces):
                node = Node(known.value | {"content": "".join(pieces)}, known.path)
        by_id[message_id] = node
    yield from by_id.values()


def _calls(messages: Iterator[Node], when: dict[str, datetime]) -> Iterator[Span]:
    instructions: list[ChatTurn] = []
    for node in messages:
        fields = node.value.get("kwargs", node.value) if isinstance(node.value, dict) else {}
        about = fields.get("response_metadata")
        for turn in turns_of(node.value, "user"):
            if turn.role == "system":
                instructions.append(turn)
                continue
            yield Span(
                agent=turn.name or ("user" if turn.role == "user" else None),
                start=when.get(_id(node.value) or ""),
                inputs=list(instructions) if turn.role == "assistant" else [],
                outputs=[turn],
                model=text_in(about if isinstance(about, dict) else {}, "model_name", "model") or None,
                usage=usage_of(fields.get("usage_metadata")),
            )


READER = FileReader(FORMAT, _recognises, _read)
