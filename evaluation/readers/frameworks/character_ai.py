"""Reads chats with characters: exports of Character.AI (both of its interfaces) and SillyTavern's JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.base.records import first_record, records
from evaluation.transcript import Transcript

FORMAT = "character-ai"


def _recognises(document: Document) -> bool:
    first = first_record(document)
    if not isinstance(first, dict):
        return False
    if "character_name" in first and "user_name" in first:
        return True
    turns = first.get("turns")
    is_turns = isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict) and "candidates" in turns[0]
    return is_turns or _histories(first) is not None


def _histories(value: Mapping[str, Any]) -> list[Any] | None:
    held = value.get("histories")
    inner = held.get("histories") if isinstance(held, dict) else held
    if not isinstance(inner, list) or not inner or not isinstance(inner[0], dict):
        return None
    return inner if isinstance(inner[0].get("msgs"), list) else None


def _read(document: Document) -> Found:
    first = first_record(document)
    if "character_name" in first:
        return _lines(document)
    root = Node(first)
    if "turns" in first:
        return _turns(root, document)
    return _games(root, document)


def _games(root: Node, document: Document) -> Iterator[FileGame]:
    held = root["histories"]
    histories = held["histories"] if isinstance(held.value, dict) else held
    for number, history in enumerate(histories.entries(), start=1):
        name = history["external_id"].identifier_or_none() or str(number)
        yield FileGame(name, partial(_history, history, name, document.limits))


def _history(history: Node, name: str, limits: Limits) -> Transcript:
    draft = OpenDraft(limits)
    for message in history["msgs"].entries():
        source = message["src"]
        speaker = source["name"].name_or_none() or source["user"]["name"].name()
        _say(
            draft, speaker, source["is_human"].flag_or_none(), message["text"].text(), message["created"].time_or_none()
        )
    return draft.build(FORMAT, name, {})


def _turns(root: Node, document: Document) -> Transcript:
    """The newer interface: a turn holds alternatives, one of which was kept. The list is newest first."""
    draft = OpenDraft(document.limits)
    turns = list(root["turns"].entries())
    times = [turn["create_time"].time_or_none() for turn in turns]
    known = [time for time in times if time is not None]
    if known and known[0] > known[-1]:
        turns.reverse()
        times.reverse()
    for turn, time in zip(turns, times, strict=True):
        author = turn["author"]
        _say(draft, author["name"].name(), author["is_human"].flag_or_none(), _chosen(turn), time)
    chat = root["chat_id"].identifier_or_none() or document.game_id(FORMAT)
    return draft.build(FORMAT, chat, {})


def _chosen(turn: Node) -> str:
    candidates = list(turn["candidates"].entries())
    primary = turn["primary_candidate_id"].value
    chosen = [one for one in candidates if primary is not None and one["candidate_id"].value == primary] or candidates
    if not chosen:
        raise BrokenTranscriptError("The turn has no text.", place=turn.path, remedy="Export the chat again.")
    return chosen[0]["raw_content"].text()


def _lines(document: Document) -> Transcript:
    """SillyTavern: a line about the chat, then a line a message."""
    draft = OpenDraft(document.limits)
    lines = list(records(document))
    for line in lines[1:]:
        speaker, text = line["name"].name(), line["mes"].text()
        if line["is_system"].flag_or_none():
            draft.say(speaker, text, "system")
        else:
            # Its times have a form of their own in each version, often local: they are not read.
            _say(draft, speaker, line["is_user"].flag_or_none(), text, None)
    return draft.build(FORMAT, document.game_id(FORMAT), {})


def _say(draft: OpenDraft, speaker: str, is_human: bool | None, text: str, when: datetime | None) -> None:
    if not text.strip():
        return
    draft.player(speaker, is_human=is_human)
    draft.say(speaker, text, sent_at=when)


READER = FileReader(FORMAT, _recognises, _read)
