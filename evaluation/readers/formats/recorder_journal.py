"""Reads the journal of a recorder that did not come to its end: JSON Lines, a head and then one event a line.

The last line may be torn: the process was killed while it was written. It is left out.
"""

from __future__ import annotations

from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document, records
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileReader
from evaluation.recorder import JOURNAL_FORMAT, JOURNAL_VERSION, transcript_of_events
from evaluation.transcript import Transcript

_CUT_OFF = "recording_cut_off"
_AGAIN = "Correct the line, or delete it."


def _recognises(document: Document) -> bool:
    head = document.first_line
    return isinstance(head, dict) and head.get("journal") == JOURNAL_FORMAT


def _read(document: Document) -> Transcript:
    head, *lines = records(_whole_lines(document))
    known = head.rest("journal", "version")
    if (version := head["version"].value) != JOURNAL_VERSION:
        raise BrokenTranscriptError(f"Version {version!r} of the journal is not known.", remedy="Update Dramaturg.")
    events = [_event(line) for line in lines]
    document.limits.check_messages(sum(kind == "message" for kind, _ in events))
    document.limits.check_votes(sum(kind == "vote" for kind, _ in events))
    document.limits.check_players(sum(kind == "player" for kind, _ in events))
    metadata = known.get("metadata")
    known["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), _CUT_OFF: True}
    return transcript_of_events(known, events)


def _whole_lines(document: Document) -> Document:
    whole, newline, torn = document.text.rpartition("\n")
    return Document((whole + newline).encode(), document.limits) if torn.strip() else document


def _event(line: Node) -> tuple[str, dict[str, Any]]:
    held = line.value
    if not isinstance(held, dict) or len(held) != 1:
        raise BrokenTranscriptError(f"{shorten(held)} is not an event.", place=line.path, remedy=_AGAIN)
    ((kind, fields),) = held.items()
    if not isinstance(fields, dict):
        raise BrokenTranscriptError(f"{shorten(fields)} is not an event.", place=line.path, remedy=_AGAIN)
    return kind, fields


READER = FileReader(JOURNAL_FORMAT, _recognises, _read)
