"""Reads Dramaturg's own JSON (``Transcript.to_json``)."""

from __future__ import annotations

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileReader
from evaluation.transcript import CANONICAL_FORMAT, CANONICAL_VERSION, Transcript, build_transcript


def _recognises(document: Document) -> bool:
    return isinstance(document.json, dict) and document.json.get("format") == CANONICAL_FORMAT


def _read(document: Document) -> Transcript:
    # Not Transcript.from_json: the document was parsed already, and more strictly.
    body = dict(document.json)
    if (version := body.get("version")) != CANONICAL_VERSION:
        raise BrokenTranscriptError(
            f"Version {version!r} of the format is not known.", place="$.version", remedy="Update Dramaturg."
        )
    for key in ("format", "version", "id"):
        body.pop(key, None)
    root = Node(body)
    document.limits.check_players(root["players"].size)
    document.limits.check_messages(root["messages"].size)
    document.limits.check_votes(root["votes"].size)
    return build_transcript(Transcript, body)


READER = FileReader(CANONICAL_FORMAT, _recognises, _read)
