"""Reads Dramaturg's own files: JSON as ``Transcript.to_json`` writes it, and the journal of a recorder.

A recorder that did not come to its end leaves JSON Lines, a head and then one event a line. The last line may be torn:
the process was killed while it was written. It is left out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.document import Document, FileReader, Node, records
from evaluation.recorder import JOURNAL_FORMAT, JOURNAL_VERSION, transcript_of_events
from evaluation.transcript import CANONICAL_FORMAT, CANONICAL_VERSION, Transcript

_CUT_OFF = "recording_cut_off"


def _is_journal(document: Document) -> bool:
    head = document.first_line
    return isinstance(head, dict) and head.get("journal") == JOURNAL_FORMAT


def _read_journal(document: Document) -> Transcript:
    head, *lines = records(_whole_lines(document))
    known = head.rest("journal", "version")
    if (version := head["version"].value) != JOURNAL_VERSION:
        raise BrokenTranscriptError(f"Version {version!r} of the journal is not known.", remedy="Update Dramaturg.")
    events = [_event(line) for line in lines]
    counts = Counter(kind for kind, _ in events)
    document.limits.check_sizes(players=counts["player"], messages=counts["message"], votes=counts["vote"])
    metadata = known.get("metadata")
    known["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), _CUT_OFF: True}
    return transcript_of_events(known, events)


def _whole_lines(document: Document) -> Document:
    whole, newline, torn = document.text.rpartition("\n")
    return Document((whole + newline).encode(), document.limits) if torn.strip() else document


def _event(line: Node) -> tuple[str, dict[str, Any]]:
    held = line.value
    pairs = list(held.items()) if isinstance(held, dict) and len(held) == 1 else [("", held)]
    ((kind, fields),) = pairs
    if not kind or not isinstance(fields, dict):
        raise BrokenTranscriptError(
            f"{shorten(fields)} is not an event.", place=line.path, remedy="Correct the line, or delete it."
        )
    return kind, fields


def _is_canonical(document: Document) -> bool:
    return isinstance(document.json, dict) and document.json.get("format") == CANONICAL_FORMAT


def _read_canonical(document: Document) -> Transcript:
    # Not Transcript.from_json: the document was parsed already, and more strictly.
    body = dict(document.json)
    if (version := body.get("version")) != CANONICAL_VERSION:
        raise BrokenTranscriptError(
            f"Version {version!r} of the format is not known.", place="$.version", remedy="Update Dramaturg."
        )
    for key in ("format", "version", "id"):
        body.pop(key, None)
    return document.limits.build(body)


READER = FileReader(CANONICAL_FORMAT, _is_canonical, _read_canonical)
JOURNAL_READER = FileReader(JOURNAL_FORMAT, _is_journal, _read_journal)
