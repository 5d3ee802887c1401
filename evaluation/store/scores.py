"""Scores of many transcripts at once, without reading their ledgers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.overrides import Override
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.engagement import measure_ratings
from evaluation.score import LedgerRow, MetricResult, RowVerdict, Status, overrule
from evaluation.store.overrides import OVERRIDE_COLUMNS, override_of
from evaluation.store.ratings import RATING_COLUMNS, rating_of
from evaluation.store.result_rows import definition_of

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

SCORE_COLUMNS = (
    "transcript_id",
    "metric",
    "score",
    "numerator",
    "denominator",
    "status",
    "threshold",
    "method",
    "version",
    "reason",
)

Row = tuple[Any, ...]


def score_table(cursor: DuckDBPyConnection, iteration: str | None, engagement_threshold: float) -> pd.DataFrame:
    """The table that ``Results.scores`` describes."""
    import pandas as pd

    chosen = {"iteration": iteration}
    transcript_ids = [row[0] for row in cursor.execute(_TRANSCRIPTS, chosen).fetchall()]
    rows = {(row[0], row[1]): row for row in cursor.execute(_RESULTS, chosen).fetchall()}
    rows |= _overruled_rows(cursor, rows)
    rows |= _engagement_rows(cursor, transcript_ids, engagement_threshold)
    keys = ((transcript_id, metric) for transcript_id in transcript_ids for metric in DEFINITIONS)
    table = pd.DataFrame([rows[key] for key in keys if key in rows], columns=list(SCORE_COLUMNS))
    return table.astype({"score": float, "numerator": float, "denominator": float, "threshold": float})


def _row(transcript_id: str, result: MetricResult) -> Row:
    return (
        transcript_id,
        result.name,
        result.score,
        result.numerator,
        result.denominator,
        result.status.value,
        result.threshold,
        result.method.value,
        result.definition.version,
        result.reason,
    )


def _engagement_rows(
    cursor: DuckDBPyConnection, transcript_ids: Sequence[str], threshold: float
) -> dict[tuple[str, str], Row]:
    ratings: dict[str, list[Rating]] = {}
    for values in cursor.execute(f"SELECT {RATING_COLUMNS} FROM current_ratings").fetchall():
        ratings.setdefault(values[0], []).append(rating_of(values))
    unrated = measure_ratings((), threshold=threshold)
    return {
        (key, ENGAGEMENT.name): _row(
            key, measure_ratings(ratings[key], threshold=threshold) if key in ratings else unrated
        )
        for key in transcript_ids
    }


def _overruled_rows(cursor: DuckDBPyConnection, rows: Mapping[tuple[str, str], Row]) -> dict[tuple[str, str], Row]:
    decisions: dict[tuple[str, str], list[tuple[Override, LedgerRow]]] = {}
    for values in cursor.execute(_OVERRULED).fetchall():
        override = override_of(values[:_OVERRIDE_WIDTH])
        row = _bare_row(override.row_id, *values[_OVERRIDE_WIDTH:])
        decisions.setdefault((override.transcript_id, override.metric), []).append((override, row))
    return {key: _row(key[0], _overrule(rows[key], decided)) for key, decided in decisions.items() if key in rows}


def _overrule(stored: Row, decided: Sequence[tuple[Override, LedgerRow]]) -> MetricResult:
    """The stored result with decisions applied; one row stands for all that nobody overruled."""
    _, metric, score, numerator, denominator, status, threshold, _, version, reason = stored
    overruled = [row for _, row in decided]
    rest = _bare_row(
        "",
        RowVerdict.COUNTS,
        numerator - sum(row.numerator for row in overruled),
        denominator - sum(row.denominator for row in overruled),
    )
    result = MetricResult(
        definition_of(metric, version),
        Status(status),
        score,
        numerator,
        denominator,
        threshold,
        ledger=(rest, *overruled),
        reason=reason,
    )
    return overrule(result, {row.id: override.applied_to(row) for override, row in decided})


def _bare_row(row_id: str, verdict: str, numerator: float, denominator: float) -> LedgerRow:
    return LedgerRow(row_id, "", RowVerdict(verdict), "", numerator=numerator, denominator=denominator)


_TRANSCRIPTS = """
SELECT transcript_id FROM transcripts WHERE $iteration::text IS NULL OR iteration = $iteration ORDER BY position
"""

_RESULTS = f"""
SELECT {", ".join(SCORE_COLUMNS)} FROM current_results
WHERE $iteration::text IS NULL
   OR transcript_id IN (SELECT transcript_id FROM transcripts WHERE iteration = $iteration)
"""

_OVERRULED = f"""
SELECT {OVERRIDE_COLUMNS}, NULL, NULL, l.verdict, l.numerator, l.denominator
FROM current_overrides o
JOIN current_results r ON r.transcript_id = o.transcript_id AND r.metric = o.metric
JOIN ledger l ON l.result_id = r.result_id AND l.row_id = o.row_id
"""
_OVERRIDE_WIDTH = 10
