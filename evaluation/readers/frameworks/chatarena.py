"""Reads games of ChatArena: lists of ``{agent_name, content, turn, visible_to, ...}``, or of ``{name, turn, text}``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft
from evaluation.readers.base.reader import FileReader
from evaluation.readers.base.records import first_record, records
from evaluation.readers.base.roster import is_moderator
from evaluation.readers.traces.spans import nanoseconds
from evaluation.transcript import Channel, Transcript

FORMAT = "chatarena"

_LONG = frozenset({"agent_name", "content", "turn"})
_SHORT = frozenset({"name", "turn", "text"})
_ALL = "all"


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return isinstance(first, dict) and (set(first) >= _LONG or set(first) == _SHORT)


def _read(document: Document) -> Transcript:
    draft = OpenDraft(document.limits)
    for node in records(document):
        is_short = "agent_name" not in node.fields()
        speaker = node["name" if is_short else "agent_name"].name()
        text = node["text" if is_short else "content"].text()
        heard_by = tuple(name for name in _names(node["visible_to"]) if name != speaker)
        sent_at = None if is_short else _time(node["timestamp"])
        metadata = {"turn": node["turn"].count_or_none()}
        if is_moderator(speaker):
            draft.say(speaker, text, "system", recipients=heard_by, sent_at=sent_at, metadata=metadata)
        else:
            channel: Channel = "private" if heard_by else "public"
            draft.say(speaker, text, channel, recipients=heard_by, sent_at=sent_at, metadata=metadata)
    return draft.build(FORMAT, document.game_id(FORMAT), {}, without_text="Nobody speaks but the moderator.")


def _names(visible_to: Node) -> Iterator[str]:
    """The names of those who could hear it; none where all could."""
    if isinstance(visible_to.value, list):
        names = [entry.name() for entry in visible_to.entries()]
        yield from names if _ALL not in names else ()
    elif (name := visible_to.name_or_none()) and name != _ALL:
        yield name


def _time(node: Node) -> datetime | None:
    """A time in nanoseconds, as ChatArena writes it; ISO text too."""
    if isinstance(node.value, str) and not node.value.isdigit():
        return node.time_or_none()
    found = nanoseconds(node)
    return found.astimezone(UTC) if found else None


READER = FileReader(FORMAT, _recognises, _read)
