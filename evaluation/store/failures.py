"""Metrics that could not be computed, kept apart from scores until they can be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from evaluation.inert import well_formed
from evaluation.store.tables import append, columns_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.engine import ScoreFailure


def replace_failures(
    cursor: DuckDBPyConnection, tried: Mapping[str, Collection[str]], failures: Sequence[tuple[str, ScoreFailure]]
) -> None:
    """Records what failed this time, in place of what failed before.

    Args:
        cursor: Of a writing unit.
        tried: By transcript id, the metrics that were computed or failed.
        failures: With the ids of their transcripts.
    """
    query = "SELECT DISTINCT transcript_id, scorer FROM score_failures WHERE list_contains(?::text[], transcript_id)"
    for transcript_id, metric in cursor.execute(query, [list(tried)]).fetchall():
        if metric in tried[transcript_id]:
            cursor.execute("DELETE FROM score_failures WHERE transcript_id = ? AND scorer = ?", [transcript_id, metric])
    rows = [
        {
            "transcript_id": transcript_id,
            "scorer": failure.metric,
            "subject": well_formed(failure.what),
            "reason": well_formed(failure.why),
            "traceback": well_formed(failure.traceback),
        }
        for transcript_id, failure in failures
    ]
    append(cursor, "score_failures", columns_of(rows))


def read_failures(cursor: DuckDBPyConnection, transcript_id: str) -> list[ScoreFailure]:
    """What failed when the transcript was last evaluated."""
    from evaluation.engine import ScoreFailure

    query = "SELECT scorer, subject, reason, traceback FROM score_failures WHERE transcript_id = ? ORDER BY scorer"
    return [ScoreFailure(*row) for row in cursor.execute(query, [transcript_id]).fetchall()]
