"""Keep the table of all scores of a store, and read again only the games that changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from evaluation.iterations.board import metrics_by_transcript
from evaluation.kept_values import KEPT_GAMES
from evaluation.rubric.verdict import MetricScore

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

Read = Callable[[Sequence[str] | None], "pd.DataFrame"]
"""Reads the scores of the transcripts with these ids, ``None`` for all."""


class KeptScores:
    """The latest table of all scores, with a stamp per game of everything that its scores follow from."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._unchanged_since: tuple[int, float] | None = None
        self._stamps: Mapping[str, object] = {}
        self._table: pd.DataFrame | None = None
        self._metrics: dict[str, dict[str, MetricScore]] | None = None

    def table(self, cursor: DuckDBPyConnection, generation: int | None, threshold: float, read: Read) -> pd.DataFrame:
        """All scores; the caller may change the table.

        Args:
            cursor: Where the stamps are read.
            generation: Of the database, see ``Units.generation``: while it is the same, no stamps are read.
            threshold: Of engagement, whose scores are judged when they are read.
            read: Reads the scores of some games.
        """
        with self._lock:
            # What the caller changes is copied then.
            return self._update(cursor, generation, threshold, read).copy(deep=False)

    def metrics(
        self, cursor: DuckDBPyConnection, generation: int | None, threshold: float, read: Read
    ) -> dict[str, dict[str, MetricScore]]:
        """The same by transcript and metric; an unchanged game has the same mapping as before, which nobody changes."""
        with self._lock:
            table = self._update(cursor, generation, threshold, read)
            if self._metrics is not None:
                return self._metrics
            found = metrics_by_transcript(table)
            if self._table is not None:
                self._metrics = found
            return found

    def _update(self, cursor: DuckDBPyConnection, generation: int | None, threshold: float, read: Read) -> pd.DataFrame:
        if self._table is not None and generation is not None and self._unchanged_since == (generation, threshold):
            return self._table
        table = self._compare(cursor, threshold, read)
        self._unchanged_since = None if generation is None else (generation, threshold)
        return table

    def _compare(self, cursor: DuckDBPyConnection, threshold: float, read: Read) -> pd.DataFrame:
        # Before the scores: what is stored in between is then read once more the next time.
        stamps = {str(key): (stamp, threshold) for key, stamp in cursor.execute(_STAMPS).fetchall()}
        held, metrics = self._table, self._metrics
        changed = [key for key, stamp in stamps.items() if self._stamps.get(key) != stamp]
        if held is None or 2 * len(changed) > len(stamps):
            table, metrics = read(None), None
        elif changed or list(stamps) != list(self._stamps):
            part = read(changed) if changed else held.iloc[:0]
            is_same_order = list(stamps) == list(self._stamps)
            replaced = _with_rows_replaced(held, part, changed) if is_same_order else None
            table = _spliced(held, part, stamps, set(changed)) if replaced is None else replaced
            if metrics is not None:
                found = metrics | metrics_by_transcript(part)
                metrics = {key: found[key] for key in stamps if key in found}
        else:
            return held
        is_kept = len(stamps) <= KEPT_GAMES
        self._stamps, self._table, self._metrics = (stamps, table, metrics) if is_kept else ({}, None, None)
        return table


def _with_rows_replaced(held: pd.DataFrame, part: pd.DataFrame, changed: Sequence[str]) -> pd.DataFrame | None:
    """The table with the rows of games that have as many rows as before, in their places; ``None`` for other games."""
    rows = held["transcript_id"].isin(changed).to_numpy()
    before = held[rows].reset_index(drop=True)
    if before["transcript_id"].tolist() != part["transcript_id"].tolist():
        return None
    table = held.copy(deep=False)
    for name in held.columns:
        # Most columns of most changes stay, and those of texts take a while to make.
        if not before[name].equals(part[name]):
            values = held[name].copy()
            values[rows] = part[name].to_numpy()
            table[name] = values
    return table


def _spliced(held: pd.DataFrame, part: pd.DataFrame, stamps: Mapping[str, object], changed: set[str]) -> pd.DataFrame:
    """The table with the rows of the changed games replaced and those of deleted ones gone, in today's order."""
    import pandas as pd

    places = {key: place for place, key in enumerate(stamps)}
    stays = held[held["transcript_id"].isin(places.keys() - changed)]
    table = pd.concat([one for one in (stays, part) if len(one)] or [held.iloc[:0]], ignore_index=True)
    order = table["transcript_id"].map(places).to_numpy().argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


# Whole rows, so that no column is left out, but for the controls' links, which are long and never change for an id.
_LEDGER_PARTS = """
    SELECT transcript_id, hash('result', result_id, digest, metric, version, status, score, threshold, reason) AS part
    FROM metric_results WHERE method = 'rule'
    UNION ALL SELECT transcript_id, hash('control', control_id, metric, version, control::text) FROM controls
    UNION ALL SELECT transcript_id, hash('override', o) FROM overrides o
    UNION ALL SELECT transcript_id, hash('row decision', d) FROM row_decisions d
"""

_STAMPS = f"""
WITH parts AS (
    {_LEDGER_PARTS}
    UNION ALL SELECT transcript_id, hash('rating', r) FROM ratings r
    UNION ALL SELECT transcript_id, hash('engagement decision', e) FROM engagement_decisions e
), stamps AS (SELECT transcript_id, sum(part) AS stamp FROM parts GROUP BY transcript_id)
SELECT transcript_id, stamp FROM transcripts LEFT JOIN stamps USING (transcript_id) ORDER BY position
"""

LEDGER_STAMPS = f"""
WITH chosen AS (SELECT unnest(?::text[]) AS transcript_id), parts AS ({_LEDGER_PARTS})
SELECT transcript_id, sum(part) FROM chosen JOIN parts USING (transcript_id) GROUP BY transcript_id
"""
"""Stamps of what the ledgers of some games as they stand follow from: ratings, which change often, are none of it."""
