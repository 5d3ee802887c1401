"""Reads Dramaturg's own files: JSON as ``Transcript.to_json`` writes it."""

from __future__ import annotations

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import CANONICAL_FORMAT, CANONICAL_VERSION, Transcript


def _is_canonical(document: Document) -> bool:
    return isinstance(document.json, dict) and document.json.get("format") == CANONICAL_FORMAT


def _read_canonical(document: Document) -> Transcript:
    # Not Transcript.from_json: the document was parsed already, and more strictly.
    if (version := document.json.get("version")) != CANONICAL_VERSION:
        raise BrokenTranscriptError(
            f"Version {version!r} of the format is not known.", place="$.version", remedy="Update Dramaturg."
        )
    return document.limits.build(Node(document.json).rest("format", "version", "id"))


READER = FileReader(CANONICAL_FORMAT, _is_canonical, _read_canonical)
