"""Read the ledger rows of many games that a person should check, without the rest of their ledgers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from evaluation.overrides import Override
from evaluation.precedence import results_as_they_stand
from evaluation.rubric.controls import Link, attach_controls
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS
from evaluation.rubric.rows_in_doubt import REVIEWED, STRONG_LINK, WEAK_LINK, ReviewItem, review_items
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import LedgerRow, MetricResult
from evaluation.store.engine.bulk_rows import numbers
from evaluation.store.results._result_rows import LEDGER_COLUMNS, RESULT_COLUMNS, ledger_row, metric_result, rest_of
from evaluation.store.results.controls import read_links
from evaluation.store.results.judge_decisions import standing_decisions

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Decided = TypeVar("Decided", Override, RowDecision)
_Stored = dict[str, MetricResult]
_Links = Mapping[tuple[str, str], Sequence[Link]]


def rows_in_doubt(
    cursor: DuckDBPyConnection, transcript_ids: Sequence[str], overrides: Iterable[Override]
) -> dict[str, tuple[ReviewItem, ...]]:
    """Items that ``review_items`` finds in the results as they stand, by transcript that has any results.

    Of each ledger only rows are read that may be in doubt or that judges or people decided; one row stands for the
    others, so that the scores stay what they are.

    Args:
        cursor: Where to read.
        transcript_ids: Some hundreds at most: all their rows in doubt are held as the database gives them.
        overrides: Those that stand, also of other transcripts.
    """
    decisions = _by_transcript(standing_decisions(cursor, transcript_ids))
    of_people = _by_transcript(overrides)
    links = read_links(cursor, transcript_ids)
    found = {}
    for transcript_id, stored in _results(cursor, transcript_ids, links, (decisions, of_people)).items():
        results = results_as_they_stand(stored, decisions.get(transcript_id, ()), of_people.get(transcript_id, ()))
        found[transcript_id] = review_items(_with_links(transcript_id, results, links))
    return found


def _by_transcript(made: Iterable[Decided]) -> dict[str, list[Decided]]:
    parts: dict[str, list[Decided]] = {}
    for one in made:
        parts.setdefault(one.transcript_id, []).append(one)
    return parts


def _results(
    cursor: DuckDBPyConnection,
    transcript_ids: Sequence[str],
    links: _Links,
    decided: Iterable[Mapping[str, Sequence[Override | RowDecision]]],
) -> dict[str, _Stored]:
    """Results of the metrics that are reviewed, by transcript and in the rubric's order, their ledgers shortened."""
    columns = ("transcript_id", *RESULT_COLUMNS)
    query = _RESULTS.format(", ".join(columns))
    values = cursor.execute(query, [list(REVIEWED), list(transcript_ids)]).fetchall()
    rows = [dict(zip(columns, one, strict=True)) for one in values]
    linked = [
        (row["result_id"], link.message_id)
        for row in rows
        if row["metric"] == COHERENCE.name
        for link in links.get((row["transcript_id"], row["version"]), ())
        if link.strength is not None and not WEAK_LINK < link.strength < STRONG_LINK
    ]
    decided_rows = [
        (row["result_id"], one.row_id)
        for row in rows
        for made in decided
        for one in made.get(row["transcript_id"], ())
        if one.metric == row["metric"]
    ]
    ledgers = _ledgers(cursor, [row["result_id"] for row in rows], linked, decided_rows)
    results: dict[str, _Stored] = {}
    for row in rows:
        read = ledgers.get(row["result_id"], [])
        ledger = (rest_of(row["numerator"], row["denominator"], read), *read)
        results.setdefault(row["transcript_id"], {})[row["metric"]] = metric_result(row, ledger)
    return {key: {name: found[name] for name in DEFINITIONS if name in found} for key, found in results.items()}


def _ledgers(
    cursor: DuckDBPyConnection,
    result_ids: Sequence[int],
    linked: Sequence[tuple[int, str | None]],
    decided: Sequence[tuple[int, str]],
) -> dict[int, list[LedgerRow]]:
    query = _ROWS.format(", ".join(LEDGER_COLUMNS), numbers(result_ids))
    chosen = [[one[place] for one in pairs] for pairs in (linked, decided) for place in (0, 1)]
    ledgers: dict[int, list[LedgerRow]] = {}
    for result_id, *values in cursor.execute(query, chosen).fetchall():
        ledgers.setdefault(result_id, []).append(ledger_row(tuple(values)))
    return ledgers


def _with_links(transcript_id: str, results: Mapping[str, MetricResult], links: _Links) -> Mapping[str, MetricResult]:
    coherence = results.get(COHERENCE.name)
    found = links.get((transcript_id, coherence.definition.version)) if coherence else None
    return results if found is None else attach_controls(results, {COHERENCE.name: {}}, found)


_RESULTS = """
SELECT {} FROM current_results
WHERE metric IN (SELECT unnest(?::text[])) AND transcript_id IN (SELECT unnest(?::text[]))
"""

# Wider than what ``review_items`` offers, never narrower; a test compares both on random rows.
_ROWS = """
SELECT result_id, {} FROM ledger
WHERE result_id IN ({}) AND (
    verdict = 'excluded' OR details->>'$.review' IS NOT NULL
    OR (result_id, message_id) IN (SELECT unnest(?::bigint[]), unnest(?::text[]))
    OR (result_id, row_id) IN (SELECT unnest(?::bigint[]), unnest(?::text[]))
)
ORDER BY result_id, position
"""
