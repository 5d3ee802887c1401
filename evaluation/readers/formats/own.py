"""Reads Dramaturg's own files: JSON as ``Transcript.to_json`` writes it, and what a recorder wrote.

A recording is JSON Lines, a head and then one event a line. One that has no end was cut off: its last line may be torn,
as the process was killed while it was written. Such a line is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.document import Document, FileReader, Limits, Node, records
from evaluation.recorder import RECORDING_FORMAT, RECORDING_VERSION
from evaluation.transcript import CANONICAL_FORMAT, CANONICAL_VERSION, Cost, Transcript, build_transcript

_CUT_OFF = "recording_cut_off"
_PARTS: Mapping[str, str] = {"player": "players", "message": "messages", "vote": "votes", "elimination": "eliminations"}


def _is_recording(document: Document) -> bool:
    head = document.first_line
    return isinstance(head, dict) and head.get("recording") == RECORDING_FORMAT


def _read_recording(document: Document) -> Transcript:
    head, *lines = records(_whole_lines(document))
    known = head.rest("recording", "version")
    if (version := head["version"].value) != RECORDING_VERSION:
        raise BrokenTranscriptError(f"Version {version!r} of the recording is not known.", remedy="Update Dramaturg.")
    events = [_event(line) for line in lines]
    ends = [fields for kind, fields in events if kind == "end"]
    metadata = known.get("metadata")
    known["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **(ends[-1] if ends else {_CUT_OFF: True})}
    return _transcript(known, [event for event in events if event[0] != "end"], document.limits)


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


def _transcript(head: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]], limits: Limits) -> Transcript:
    """The game of a head and its events; costs are summed, and who has left the game is not alive at its end."""
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in _PARTS.values()}
    cost: dict[str, Any] = {}
    winner = None
    for kind, fields in events:
        if kind in _PARTS:
            parts[_PARTS[kind]].append(dict(fields))
        elif kind == "cost":
            for name, value in build_transcript(Cost, fields).model_dump(exclude_none=True).items():
                cost[name] = cost.get(name, 0) + value
        elif kind == "winner":
            winner = fields.get("name")
        else:
            raise BrokenTranscriptError(f"{kind!r:.60} is not a kind of event.", remedy="Record the game again.")
    _add_unnamed(parts)
    gone = {each.get("player") for each in parts["eliminations"]}
    for player in parts["players"]:
        if gone:
            player["is_alive"] = player.get("name") not in gone
    if cost.get("input_tokens") and "cached_tokens" in cost:
        cost["cache_hit_rate"] = min(1.0, cost["cached_tokens"] / cost["input_tokens"])
    return limits.build({**head, **parts, "winner": winner, "cost": cost or None})


def _add_unnamed(parts: Mapping[str, list[dict[str, Any]]]) -> None:
    """Makes players of those who speak, vote or are voted for without having been named."""
    named = {each.get("name") for each in parts["players"]}
    heard = [each.get("speaker") for each in parts["messages"] if each.get("channel") != "system"]
    voted = [each.get(side) for each in parts["votes"] for side in ("voter", "target")]
    seen = [*heard, *voted, *(each.get("player") for each in parts["eliminations"])]
    parts["players"].extend({"name": name} for name in dict.fromkeys(seen) if name is not None and name not in named)


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
RECORDING_READER = FileReader(RECORDING_FORMAT, _is_recording, _read_recording)
