"""Writes transcripts: as a table of messages (CSV, JSON Lines, Parquet), or whole as canonical JSON in a zip.

The columns of the table have the names that the table reader knows, so what a table can hold comes back: speakers,
texts, rounds, channels, replies, times and roles. Votes, eliminations, costs and metadata stay behind; canonical JSON
holds these too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

from evaluation.transcript import Message, Transcript

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "transcript_id",
    "game_id",
    "source_format",
    "message_id",
    "index",
    "round",
    "phase",
    "channel",
    "channel_name",
    "speaker",
    "role",
    "alignment",
    "recipients",
    "text",
    "sent_at",
    "reply_to",
)


def message_rows(transcripts: Iterable[Transcript]) -> Iterator[dict[str, Any]]:
    """One row per message, in order.

    Yields:
        ``transcript_id``, ``game_id``, ``source_format``; ``message_id``, ``index`` (from 0), ``round``, ``phase``,
        ``channel``, ``channel_name``, ``speaker``, the speaker's ``role`` and ``alignment``, ``recipients`` (names
        separated by "; "), ``text``, ``sent_at`` (ISO 8601), ``reply_to`` (a message id); ``None`` for what is unknown.
    """
    for transcript in transcripts:
        for message in transcript.messages:
            yield _row(transcript, message)


def _row(transcript: Transcript, message: Message) -> dict[str, Any]:
    is_player = message.speaker in transcript.player_names
    player = transcript.player(message.speaker) if is_player else None
    values = (
        transcript.id,
        transcript.game_id,
        transcript.source_format,
        message.id,
        message.index,
        message.round,
        message.phase,
        message.channel,
        message.channel_name,
        message.speaker,
        player.role if player else None,
        player.alignment if player else None,
        "; ".join(message.recipients) or None,
        message.text,
        message.sent_at.isoformat() if message.sent_at else None,
        message.reply_to,
    )
    return dict(zip(COLUMNS, values, strict=True))


def json_lines(transcripts: Iterable[Transcript]) -> Iterator[str]:
    """One line of JSON per message, each with its line end."""
    for row in message_rows(transcripts):
        yield json.dumps(row, ensure_ascii=False) + "\n"


def message_table(transcripts: Iterable[Transcript]) -> pd.DataFrame:
    """The rows of ``message_rows`` as a table; ``index`` and ``round`` are whole numbers, the others text."""
    import pandas as pd

    table = pd.DataFrame(message_rows(transcripts), columns=list(COLUMNS))
    # Without this, a missing round would turn the others into fractions.
    return table.astype({column: "Int64" if column in ("index", "round") else "string" for column in COLUMNS})


_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60


def write_canonical(transcripts: Iterable[Transcript], target: IO[bytes]) -> int:
    """Writes a zip with one file per transcript, and returns how many are in it.

    A file's name begins with the game's id, as far as any system takes it, and ends with the transcript's.
    """
    count = 0
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for transcript in transcripts:
            count += 1
            archive.writestr(_file_name(transcript), transcript.to_json(indent=2) + "\n")
    return count


def _file_name(transcript: Transcript) -> str:
    # No leading dot: hidden files are passed over when the zip is read.
    name = _NOT_FOR_NAMES.sub("-", transcript.game_id)[:_LONGEST_NAME].strip("-.")
    return f"{name or 'game'}-{transcript.id}.json"
