"""Scores of many transcripts at once, without reading their ledgers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict, Status, overrule, summarise
from evaluation.store.checks import readable
from evaluation.store.result_rows import definition_of
from evaluation.store.tables import frame, numbers

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

_NUMBERS = ("score", "numerator", "denominator", "threshold")

Row = tuple[Any, ...]


def score_table(
    cursor: DuckDBPyConnection, iteration: str | None, overrides: Sequence[Override], engagement_threshold: float
) -> pd.DataFrame:
    """The table that ``Results.scores`` describes.

    The stored scores come as they are. What ratings and standing ``overrides`` change goes through ``summarise``, like
    every score, and takes the place of the stored row.
    """
    import pandas as pd

    chosen = {"iteration": None if iteration is None else readable(iteration)}
    positions = dict(cursor.execute(_POSITIONS, chosen).fetchall())
    stored = frame(cursor, _STORED, chosen | {"metrics": list(DEFINITIONS)})
    overruled = _overruled_rows(cursor, overrides)
    fresh = [row for row in overruled.values() if row[0] in positions]
    fresh += _engagement_rows(cursor, positions, engagement_threshold)
    added = pd.DataFrame(fresh, columns=list(SCORE_COLUMNS)).astype(dict.fromkeys(_NUMBERS, float))
    added["place"] = [positions[row[0]] * _STEP + _RUBRIC_ORDER[row[1]] for row in fresh]
    kept = stored[~stored["result_id"].isin(overruled)] if overruled else stored
    table = pd.concat([kept, added], ignore_index=True) if len(kept) else added
    return table.sort_values("place", ignore_index=True)[list(SCORE_COLUMNS)]


# A row's place is its transcript's position times the step, plus the place of its metric in the rubric, from 1.
_STEP = 16
_RUBRIC_ORDER = {metric: number for number, metric in enumerate(DEFINITIONS, start=1)}


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


def _engagement_rows(cursor: DuckDBPyConnection, transcript_ids: Iterable[str], threshold: float) -> list[Row]:
    latest: dict[tuple[str, str], int] = {}
    for transcript_id, rater, score in cursor.execute(_RATINGS).fetchall():
        latest[transcript_id, rater] = score
    given: dict[str, list[int]] = {}
    for (transcript_id, _), score in latest.items():
        given.setdefault(transcript_id, []).append(score)
    unrated = _row("", summarise(ENGAGEMENT, (), threshold=threshold))[1:]
    return [
        _row(key, _engagement(given[key], threshold)) if key in given else (key, *unrated) for key in transcript_ids
    ]


def _engagement(scores: Sequence[int], threshold: float) -> MetricResult:
    rows = [
        LedgerRow("", "rating", RowVerdict.COUNTS, "", numerator=float(score), denominator=1.0, method=Method.HUMAN)
        for score in scores
    ]
    return summarise(ENGAGEMENT, rows, threshold=threshold)


def _overruled_rows(cursor: DuckDBPyConnection, overrides: Sequence[Override]) -> dict[int, Row]:
    """By the number of the stored result that each replaces."""
    wanted = {(override.transcript_id, override.metric, override.row_id): override for override in overrides}
    if not wanted:
        return {}
    transcript_ids, _, row_ids = (sorted(set(part)) for part in zip(*wanted, strict=True))
    concerned = {key[:2] for key in wanted}
    # Read in the order in which they were stored, so that the current result is the one that stays.
    current = {row[1:3]: row for row in cursor.execute(_HISTORY, [transcript_ids]).fetchall() if row[1:3] in concerned}
    results = {row[0]: row[1:] for row in current.values()}
    decisions: dict[int, list[tuple[Override, LedgerRow]]] = {}
    for result_id, *row in cursor.execute(_ROWS.format(numbers(results)), [row_ids]).fetchall():
        if override := wanted.get((*results[result_id][:2], row[0])):
            decisions.setdefault(result_id, []).append((override, _bare_row(*row)))
    return {key: _row(results[key][0], _overrule(results[key], decided)) for key, decided in decisions.items()}


def _overrule(stored: Sequence[Any], decided: Sequence[tuple[Override, LedgerRow]]) -> MetricResult:
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


_POSITIONS = """
SELECT transcript_id, position FROM transcripts WHERE $iteration::text IS NULL OR iteration = $iteration
ORDER BY position
"""

_STORED = f"""
SELECT result_id, t.position * {_STEP} + list_position($metrics, metric) AS place, {", ".join(SCORE_COLUMNS)}
FROM current_results JOIN transcripts t USING (transcript_id)
WHERE ($iteration::text IS NULL OR t.iteration = $iteration) AND list_contains($metrics, metric)
"""

_HISTORY = f"""
SELECT result_id, {", ".join(SCORE_COLUMNS)} FROM metric_results
WHERE method = 'rule' AND list_contains(?::text[], transcript_id) ORDER BY result_id
"""

_ROWS = """
SELECT result_id, row_id, verdict, numerator, denominator FROM ledger
WHERE result_id IN ({}) AND list_contains(?::text[], row_id)
"""

# In the order in which they stand, so that of one rater's ratings the last one read is the latest.
_RATINGS = "SELECT transcript_id, rater, score FROM ratings ORDER BY created_at, rating_id"
