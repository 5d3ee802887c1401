"""Convert a transcript to rows of the database's tables."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

from evaluation.errors import StoreError
from evaluation.store._bulk_rows import fitting, from_json, to_json, to_utc
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
"""Of a transcript as JSON: ten times as many as one of 50,000 messages."""


def _transcript_row(transcript: Transcript) -> dict[str, Any]:
    """The transcript's own row. Money and cache hits are unknown, not zero, where nothing was recorded."""
    cost = transcript.cost if transcript.cost is not None and transcript.cost.is_known else Cost()
    return {
        "transcript_id": transcript.id,
        "game_id": transcript.game_id,
        "source_format": transcript.source_format,
        "language": transcript.language,
        "started_at": to_utc(transcript.started_at),
        "winner": transcript.winner,
        "players": len(transcript.players),
        "messages": len(transcript.messages),
        "player_names": [player.name for player in transcript.players],
        "opening": _opening(transcript),
        "total_usd": cost.total_usd,
        "input_tokens": fitting(cost.input_tokens, 64),
        "cached_tokens": fitting(cost.cached_tokens, 64),
        "output_tokens": fitting(cost.output_tokens, 64),
        "cache_hit_rate": cost.cache_hit_rate,
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


def _child_rows(transcript: Transcript) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables below it, by table."""
    rows = {
        "players": _players(transcript),
        "messages": _messages(transcript),
        "votes": _votes(transcript),
        "eliminations": _eliminations(transcript),
    }
    for table in rows.values():
        for position, row in enumerate(table):
            row["transcript_id"] = transcript.id
            row["position"] = position
    return rows


def _players(transcript: Transcript) -> list[dict[str, Any]]:
    return [
        {
            "name": player.name,
            "role": player.role,
            "alignment": player.alignment,
            "personality": player.personality,
            "persona": to_json(player.persona),
            "model": player.model,
            "is_human": player.is_human,
            "is_alive": player.is_alive,
            "metadata": to_json(player.metadata),
        }
        for player in transcript.players
    ]


def _messages(transcript: Transcript) -> list[dict[str, Any]]:
    return [
        {
            "message_id": message.id,
            "round": fitting(message.round),
            "phase": message.phase,
            "channel": message.channel,
            "channel_name": message.channel_name,
            "speaker": message.speaker,
            "recipients": list(message.recipients),
            "text": message.text,
            "sent_at": to_utc(message.sent_at),
            "reply_to": message.reply_to,
            "is_control": message.is_control,
            "metadata": to_json(message.metadata),
        }
        for message in transcript.messages
    ]


def _votes(transcript: Transcript) -> list[dict[str, Any]]:
    return [
        {
            "round": fitting(vote.round),
            "phase": vote.phase,
            "voter": vote.voter,
            "target": vote.target,
            "justification": vote.justification,
            "sent_at": to_utc(vote.sent_at),
        }
        for vote in transcript.votes
    ]


def _eliminations(transcript: Transcript) -> list[dict[str, Any]]:
    return [
        {
            "round": fitting(elimination.round),
            "phase": elimination.phase,
            "player": elimination.player,
            "role": elimination.role,
            "sent_at": to_utc(elimination.sent_at),
        }
        for elimination in transcript.eliminations
    ]
