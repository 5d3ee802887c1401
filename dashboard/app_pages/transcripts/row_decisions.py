"""Read overrides and judge decisions on ledger rows for the pages. Independent of Streamlit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from evaluation.judging.judges.cached import KeptAnswer
from evaluation.overrides import Override
from evaluation.score import LedgerRow
from evaluation.store import Store


@dataclass(frozen=True, slots=True)
class RowOverrides:
    """A transcript's overrides.

    Attributes:
        made: All of them, in the order in which they were made.
        standing: The numbers of those that stand.
        orphans: Those that stand although their row is gone from the ledger.
    """

    made: tuple[Override, ...]
    standing: frozenset[int]
    orphans: tuple[Override, ...]

    def of(self, row: LedgerRow) -> list[Override]:
        """The overrides of one row, the latest first."""
        return [one for one in reversed(self.made) if (one.metric, one.row_id) == (row.metric, row.id)]


def overrides_of(store: Store, transcript_id: str) -> RowOverrides:
    """All overrides of the transcript's rows."""
    with store.unit():
        return RowOverrides(
            tuple(store.overrides.list(transcript_id)),
            frozenset(one.id for one in store.overrides.current(transcript_id)),
            tuple(store.overrides.orphans(transcript_id)),
        )


def kept_answer(store: Store, key: str) -> KeptAnswer | None:
    """The prompt and the raw answer behind a judgement; ``None`` when they are not kept."""
    return store.judgements.lookup([key]).get(key)


def row_key(transcript_id: str, row: LedgerRow) -> str:
    """A name for a row's widgets that holds none of its text."""
    return hashlib.blake2b(f"{transcript_id}\n{row.id}".encode(), digest_size=8).hexdigest()
