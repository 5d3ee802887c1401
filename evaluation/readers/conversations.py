"""Transcripts of what a program has at hand: a list of messages, or a DataFrame with one message a row."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.errors import InputError
from evaluation.readers._reading import read_upload
from evaluation.readers.tables import guess_mapping
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    import pandas as pd

_REMEDY = 'Give a Transcript, a list of {"speaker": ..., "text": ...}, or a DataFrame with one message a row.'
_NAME = "conversation.json"


def transcript_of(conversation: Transcript | Sequence[Mapping[str, Any]] | pd.DataFrame) -> Transcript:
    """The transcript of a conversation.

    Args:
        conversation: A transcript, which is returned as it is; messages as ``{"speaker": "Ann", "text": "Hello."}``, in
            order; or a DataFrame of them. Further keys or columns are read by their names as those of a table are
            (``round``, ``channel``, ``recipients``, ``timestamp``, ``role``, ``game``, ...), the others are kept with
            each message. Missing values may be ``None`` or NaN.

    Raises:
        InputError: It is none of these, it names no speaker or no text, or its messages cannot be read as one game.
    """
    if isinstance(conversation, Transcript):
        return conversation
    rows = _rows(conversation)
    columns = list(dict.fromkeys(str(column) for row in rows for column in row))
    missing = guess_mapping(columns).missing
    if not rows or missing:
        lacking = " and no ".join(f"column for the {field}" for field in missing)
        raise InputError(
            f"There is no {lacking}; there are {', '.join(columns)}." if rows else "There is no message.",
            place="conversation",
            remedy=_REMEDY,
        )
    whole = [{column: row.get(column) for column in columns} for row in rows]
    text = json.dumps(whole, default=str, allow_nan=False, ensure_ascii=True)
    found = read_upload(_NAME, text, choose_columns=guess_mapping)
    if len(found) != 1 or found[0].transcript is None:
        raise found[0].error or InputError(
            "It holds several games.", place="conversation", remedy="Give one at a time."
        )
    return found[0].transcript


def _rows(conversation: object) -> list[dict[str, Any]]:
    to_records = getattr(conversation, "to_dict", None)
    given = to_records("records") if to_records is not None and hasattr(conversation, "columns") else conversation
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise InputError(f"{type(conversation).__name__} is not a conversation.", place="conversation", remedy=_REMEDY)
    for number, row in enumerate(given, start=1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"Message {number} is {type(row).__name__}, not a mapping.", place="conversation", remedy=_REMEDY
            )
    return [{str(name): _plain(value) for name, value in row.items()} for row in given]


def _plain(value: Any) -> Any:
    """Numbers of arrays as Python's, and ``None`` for what is missing."""
    plain = value.item() if hasattr(value, "item") and not hasattr(value, "columns") else value
    is_missing = type(plain).__name__ in ("NAType", "NaTType") or (
        isinstance(plain, float) and not math.isfinite(plain)
    )
    return None if is_missing else plain
