"""Judge decisions on ledger rows: append-only; the latest on a row stands until it is withdrawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import RowVerdict
from evaluation.store.engine.bulk_rows import append_rows, marks
from evaluation.store.engine.text_checks import require_text
from evaluation.store.engine.timestamps import from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RowKey = tuple[str, str, str]
"""Transcript, metric and row."""


class Decisions:
    """Stores and reads judges' decisions on ledger rows.

    They stand between the rule and people, row by row: a row is as a person decided it, else as the latest judge did,
    else as the rule computed it. They are kept apart from the rule's results and applied on reading, so that neither a
    new evaluation by the rule nor a new judge loses anything.
    """

    def __init__(self, units: Units) -> None:
        self._units = units

    def save(self, decisions: Iterable[RowDecision]) -> int:
        """Stores decisions in one transaction; how many are new. One that stands already, word for word, is not.

        Raises:
            NotFoundError: A transcript is not stored.
        """
        given = list(decisions)
        with self._units.unit(write=True, join=True) as cursor:
            ids = sorted({one.transcript_id for one in given})
            for transcript_id in ids:
                require_transcript(cursor, transcript_id)
            standing = {_key(one): _content(one) for one in standing_decisions(cursor, ids)}
            new = [one for one in given if standing.get(_key(one)) != _content(one)]
            append_rows(cursor, "row_decisions", (_values(one) for one in new))
        return len(new)

    def current(self, transcript_id: str) -> list[RowDecision]:
        """The decisions that stand, at most one per row, in the order in which they were made.

        Their rows may have gone from the ledger since; such decisions change nothing until the row comes back.
        """
        with self._units.unit() as cursor:
            return standing_decisions(cursor, [transcript_id])

    def withdraw(self, transcript_id: str, metric: str | None = None, *, who: str) -> int:
        """Gives the rows that judges decided back to the rule; how many there were. All decisions stay on record.

        Args:
            transcript_id: The transcript's full id.
            metric: Only the rows of this metric.
            who: The person's name.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: Nobody is named.
        """
        require_text(who=who)
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            chosen = [one for one in standing_decisions(cursor, [transcript_id]) if metric in (None, one.metric)]
            append_rows(cursor, "row_decisions", (_withdrawn(one, who) for one in chosen))
        return len(chosen)


def decided_sums(
    cursor: DuckDBPyConnection, overridden: Collection[RowKey]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Sums that judges' decisions add to numerator and denominator of the current results, by transcript and metric.

    Args:
        cursor: Where to read.
        overridden: Rows that people decided; what a judge said about them does not matter.
    """
    if cursor.execute("SELECT 1 FROM row_decisions LIMIT 1").fetchone() is None:
        return {}
    keys = ["\x1f".join(key) for key in overridden]
    return {(row[0], row[1]): (row[2], row[3]) for row in cursor.execute(_SUMS, [keys]).fetchall()}


def decisions_on(cursor: DuckDBPyConnection, rows: Collection[RowKey]) -> dict[RowKey, RowDecision]:
    """The decisions of judges that stand on these rows."""
    if not rows:
        return {}
    found = standing_decisions(cursor, sorted({key[0] for key in rows}), sorted({key[2] for key in rows}))
    return {_key(one): one for one in found if _key(one) in rows}


def _key(one: RowDecision) -> RowKey:
    return one.transcript_id, one.metric, one.row_id


def _content(one: RowDecision) -> tuple[Any, ...]:
    return one.verdict, one.label, one.reason, one.confidence, one.citations, one.judge, one.model, one.key


def _values(one: RowDecision) -> Mapping[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "metric": one.metric,
        "row_id": one.row_id,
        "verdict": one.verdict.value,
        "label": one.label,
        "reason": one.reason,
        "confidence": one.confidence,
        "citations": list(one.citations),
        "judge": one.judge,
        "model": one.model,
        "judgement_key": one.key,
        "withdrawn_by": None,
    }


def _withdrawn(one: RowDecision, who: str) -> Mapping[str, Any]:
    return {**_values(one), "verdict": None, "withdrawn_by": who}


def standing_decisions(
    cursor: DuckDBPyConnection, transcript_ids: Sequence[str], row_ids: Sequence[str] | None = None
) -> list[RowDecision]:
    """The decisions of judges that stand, in the order in which they were made.

    Args:
        cursor: Where to read.
        transcript_ids: Of which transcripts.
        row_ids: Only on rows with these ids; ``None`` for all.
    """
    query = _CURRENT.format(marks(transcript_ids))
    rows = cursor.execute(query, [*transcript_ids, row_ids, row_ids]).fetchall()
    return [_decision(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _decision(row: Mapping[str, Any]) -> RowDecision:
    return RowDecision(
        transcript_id=row["transcript_id"],
        metric=row["metric"],
        row_id=row["row_id"],
        verdict=RowVerdict(row["verdict"]),
        label=row["label"],
        reason=row["reason"],
        confidence=row["confidence"],
        citations=tuple(row["citations"]),
        judge=row["judge"],
        model=row["model"],
        key=row["judgement_key"],
        decided_at=from_microseconds(row["at"]),
    )


_COLUMNS = (
    "transcript_id",
    "metric",
    "row_id",
    "verdict",
    "label",
    "reason",
    "confidence",
    "citations",
    "judge",
    "model",
    "judgement_key",
    "at",
)

_CURRENT = f"""
SELECT {", ".join(_COLUMNS[:-1])}, epoch_us(decided_at)
FROM (
    SELECT * FROM row_decisions
    WHERE transcript_id IN ({{}}) AND (?::text[] IS NULL OR list_contains(?::text[], row_id))
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric, row_id ORDER BY decision_id DESC) = 1
) WHERE verdict IS NOT NULL ORDER BY decision_id
"""

# The weights are those of ``score.redecided``; a test compares both on random rows.
# Grouping finds the latest decisions several times as fast as a window.
_SUMS = """
WITH latest AS (SELECT max(decision_id) AS decision_id FROM row_decisions GROUP BY transcript_id, metric, row_id),
decided AS (
    SELECT d.transcript_id, d.metric, d.verdict, l.numerator, l.denominator,
        CASE WHEN d.verdict = 'excluded' THEN 0 WHEN l.denominator = 0 THEN 1 ELSE l.denominator END AS weight
    FROM row_decisions d SEMI JOIN latest USING (decision_id)
    JOIN current_results r USING (transcript_id, metric)
    JOIN ledger l ON l.result_id = r.result_id AND l.row_id = d.row_id
    WHERE d.verdict IS NOT NULL
        AND NOT list_contains(?::text[], d.transcript_id || chr(31) || d.metric || chr(31) || d.row_id)
)
SELECT transcript_id, metric, sum(CASE WHEN verdict = 'counts' THEN weight ELSE 0 END - numerator),
    sum(weight - denominator)
FROM decided GROUP BY transcript_id, metric
"""
