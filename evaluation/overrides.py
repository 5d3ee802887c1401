"""Overrides: a person's decision on one ledger row, against a rule or a judge."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.errors import InputError
from evaluation.score import Evidence, LedgerRow, Method, RowVerdict, decided, redecided, row_id_of


@dataclass(frozen=True, slots=True)
class Override:
    """One overridden ledger row, with the author, reason and time of the override.

    Attributes:
        verdict: What the row is to be.
        undone_by: The person who undid the override; ``None`` while it stands.
        added_words: The words of the message that the row is about, where the person added a row that no rule saw;
            its id names message and span. ``None`` for a row that is there.
    """

    id: int
    transcript_id: str
    metric: str
    row_id: str
    verdict: RowVerdict
    author: str
    reason: str
    created_at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None
    added_words: str | None = None

    def added_row(self) -> LedgerRow:
        """The row that the person added, as it is without their verdict: considered, and left out."""
        message_id, _, span = self.row_id.removeprefix(row_id_of(self.metric, "")).rpartition(":")
        start, end = map(int, span.split("-"))
        evidence = (Evidence(start, end, self.added_words or ""),)
        reason = "The rule saw no reference here; a person marked one."
        return decided(self.row_id, "claim", None, reason, message_id=message_id, evidence=evidence)

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as this person decided it."""
        return redecided(
            row,
            self.verdict,
            method=Method.HUMAN,
            reason=f"{self.author}: {self.reason}",
            details={**row.details, "override_id": self.id, "author": self.author, "at": self.created_at.isoformat()},
        )


def parse_overrides(text: str, transcript_id: str) -> list[Override]:
    """The overrides of one transcript in what ``dramaturg override list GAME --format json`` wrote.

    Raises:
        InputError: It is not such a list; the message names the entry and the field.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise _not_a_list("It is not JSON.") from None
    if not isinstance(entries, list):
        raise _not_a_list("It is not a list.")
    return [_parsed(entry, f"entry {number}", transcript_id) for number, entry in enumerate(entries, start=1)]


_ADDED_ROW = re.compile(r".+:\d{1,9}-\d{1,9}", re.DOTALL)


def _parsed(entry: Any, place: str, transcript_id: str) -> Override:
    if not isinstance(entry, Mapping):
        raise _not_a_list("It is not an object.", place)
    texts: dict[str, str] = {}
    for name in ("metric", "row", "verdict", "author", "reason", "at"):
        value = entry.get(name)
        if not isinstance(value, str) or not value.strip():
            raise _not_a_list(f"{name} is {value!r:.60}, not a text.", place)
        texts[name] = value
    number, undone_by = entry.get("id"), entry.get("undone_by")
    if type(number) is not int or (undone_by is not None and not isinstance(undone_by, str)):
        raise _not_a_list("id is not a number, or undone_by not a name.", place)
    try:
        verdict, at = RowVerdict(texts["verdict"]), datetime.fromisoformat(texts["at"])
        at = at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _not_a_list(f"{error}.", place) from None
    words = entry.get("added_words")
    if words is not None and (not isinstance(words, str) or not _ADDED_ROW.fullmatch(texts["row"])):
        raise _not_a_list("added_words is not a text, or row has no span.", place)
    metric, row, author, reason = (texts[name] for name in ("metric", "row", "author", "reason"))
    return Override(number, transcript_id, metric, row, verdict, author, reason, at, undone_by, added_words=words)


def _not_a_list(message: str, place: str = "") -> InputError:
    return InputError(message, place=place, remedy="Write it with: dramaturg override list GAME --format json.")
