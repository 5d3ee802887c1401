"""Convert a transcript to rows of the database's tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from evaluation.errors import StoreError
from evaluation.store._bulk_rows import fitting, from_json, picked, to_json, to_utc
from evaluation.transcript import Cost, Transcript


@dataclass(frozen=True, slots=True)
class TranscriptRows:
    """A transcript as rows of plain values, which another process can send and the store takes as they are.

    Attributes:
        id: Its id.
        own: Its own row, without the source's name and the iteration.
        children: The rows of the tables below it, by table.
    """

    id: str
    own: dict[str, Any]
    children: dict[str, list[dict[str, Any]]]

    @classmethod
    def of(cls, transcript: Transcript) -> TranscriptRows:
        """The rows of ``transcript``."""
        return cls(transcript.id, _transcript_row(transcript), _child_rows(transcript))


_OPENING = 120
_MOST_BYTES = 200_000_000
"""Of a transcript as JSON: a hundred times as many as one of 5,000 messages."""


def _transcript_row(transcript: Transcript) -> dict[str, Any]:
    """The transcript's own row. Money and cache hits are unknown, not zero, where nothing was recorded."""
    cost = transcript.cost if transcript.cost is not None and transcript.cost.is_known else Cost()
    return {
        "transcript_id": transcript.id,
        **picked(transcript, "game_id", "source_format", "language", "winner"),
        "started_at": to_utc(transcript.started_at),
        "players": len(transcript.players),
        "messages": len(transcript.messages),
        "player_names": [player.name for player in transcript.players],
        "opening": _opening(transcript),
        **picked(cost, "total_usd", "cache_hit_rate"),
        **{name: fitting(getattr(cost, name), 64) for name in ("input_tokens", "cached_tokens", "output_tokens")},
        "document": pack(transcript),
    }


def _opening(transcript: Transcript) -> str:
    """The beginning of the first public message, with its speaker; empty without one."""
    said = (one for one in transcript.messages if one.channel == "public" and not one.is_control and one.text.strip())
    first = next(said, None)
    return "" if first is None else f"{first.speaker}: {first.text[:_OPENING]}"


def pack(transcript: Transcript) -> bytes:
    """The canonical JSON, compressed: the database's own compression of long texts makes reading one of them slow."""
    return zlib.compress(transcript.to_json().encode("utf-8"), level=1)


def unpack(document: bytes) -> Transcript:
    """The transcript that ``pack`` packed.

    Raises:
        StoreError: It unpacks to more than any game holds, as a forged backup may.
    """
    return Transcript.from_json(_inflated(document))


def _inflated(document: bytes) -> bytes:
    packed = zlib.decompressobj()
    found = packed.decompress(document, _MOST_BYTES)
    if packed.unconsumed_tail:
        raise StoreError(
            f"A transcript unpacks to more than {_MOST_BYTES:,} bytes.",
            remedy="Restore a backup that you made yourself.",
        )
    return found


def metadata_of(document: bytes) -> dict[str, Any]:
    """The game's metadata alone, without building its messages."""
    metadata: dict[str, Any] = from_json(_inflated(document).decode("utf-8")).get("metadata") or {}
    return metadata


_COLUMNS = {
    "players": ("name", "role", "alignment", "personality", "persona", "model", "is_human", "is_alive", "metadata"),
    "messages": (
        *("id", "round", "phase", "channel", "channel_name", "speaker", "recipients", "text", "sent_at", "reply_to"),
        *("is_control", "metadata"),
    ),
    "votes": ("round", "phase", "voter", "target", "justification", "sent_at"),
    "eliminations": ("round", "phase", "player", "role", "sent_at"),
}
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "persona": to_json,
    "metadata": to_json,
    "round": fitting,
    "recipients": list,
    "sent_at": to_utc,
}


def _child_rows(transcript: Transcript) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables below it, by table."""
    found = {}
    for table, names in _COLUMNS.items():
        read = [("message_id" if name == "id" else name, attrgetter(name), _CONVERTED.get(name)) for name in names]
        found[table] = [
            {"transcript_id": transcript.id, "position": position}
            | {column: convert(get(one)) if convert else get(one) for column, get, convert in read}
            for position, one in enumerate(getattr(transcript, table))
        ]
    return found
