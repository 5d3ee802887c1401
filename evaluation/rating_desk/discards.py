"""Games that a rater cannot rate: recorded with the reason, out of that rater's queue, undoable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_NOTE_LENGTH = 2_000


class DiscardReason(StrEnum):
    """Why a game cannot be rated."""

    TRUNCATED = "truncated"
    LANGUAGE = "language"
    GARBLED = "garbled"
    NO_DISCUSSION = "no_discussion"
    KNOWN = "known"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The reason in the form's words."""
        return _WORDS[self]


_WORDS = {
    DiscardReason.TRUNCATED: "It is cut off, or parts are missing",
    DiscardReason.LANGUAGE: "I do not read its language well enough",
    DiscardReason.GARBLED: "It is garbled: cannot be read as a conversation",
    DiscardReason.NO_DISCUSSION: "It is not a discussion: nobody talks with anybody",
    DiscardReason.KNOWN: "I know it: I took part, made it or saw its scores",
    DiscardReason.OTHER: "Another reason (say it below)",
}


@dataclass(frozen=True, slots=True)
class Discard:
    """One game that one rater put aside for good.

    Attributes:
        undone_by: Who gave it back to the rater; ``None`` while it stands.
        undone_at: When.
    """

    id: int
    transcript_id: str
    rater: str
    reason: DiscardReason
    note: str
    created_at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None
