"""Judge decisions on ledger rows: append-only; the latest on a row stands until it is withdrawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.store.engine.bulk_rows import append_rows, from_json, marks, to_json
from evaluation.store.engine.values import from_microseconds, require_text
from evaluation.store.result_rows import ledger_row, ledger_values
from evaluation.store.transcripts import require_transcript

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.store.database import Store


class Decisions:
    """Stores and reads judges' decisions on ledger rows.

    They stand between the rule and people, row by row: a row is as a person decided it, else as the latest judge did,
    else as the rule computed it. They are kept apart from the rule's results, so that neither a new evaluation by the
    rule nor a new judge loses anything.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, decisions: Iterable[RowDecision]) -> int:
        """Stores decisions in one transaction; how many are new. One that stands already, word for word, is not.

        Raises:
            NotFoundError: A transcript is not stored.
        """
        given = list(decisions)
        with self._store.unit(write=True, join=True) as cursor:
            ids = sorted({one.transcript_id for one in given})
            for transcript_id in ids:
                require_transcript(cursor, transcript_id)
            standing = {_key(one): _content(one) for one in standing_decisions(cursor, ids)}
            new = [one for one in given if standing.get(_key(one)) != _content(one)]
            append_rows(cursor, "row_decisions", (_values(one) for one in new))
            self._rewrite(new)
        return len(new)

    def current(self, transcript_id: str) -> list[RowDecision]:
        """The decisions that stand, at most one per row, in the order in which they were made.

        Their rows may have gone from the ledger since; such decisions change nothing until the row comes back.
        """
        with self._store.unit() as cursor:
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
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            chosen = [one for one in standing_decisions(cursor, [transcript_id]) if metric in (None, one.metric)]
            append_rows(cursor, "row_decisions", (_withdrawn(one, who) for one in chosen))
            self._rewrite(chosen)
        return len(chosen)

    def _rewrite(self, changed: Sequence[RowDecision]) -> None:
        for transcript_id in {one.transcript_id for one in changed}:
            metrics = sorted({one.metric for one in changed if one.transcript_id == transcript_id})
            self._store.results.rewrite([transcript_id], metrics)


def _key(one: RowDecision) -> tuple[str, str, str]:
    return one.transcript_id, one.metric, one.row_id


def _content(one: RowDecision) -> tuple[Any, ...]:
    return one.verdict, one.label, one.reason, one.confidence, one.citations, one.judge, one.model, one.key, one.added


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
        "added_row": None if one.added is None else to_json(list(ledger_values(one.added))),
    }


def _withdrawn(one: RowDecision, who: str) -> Mapping[str, Any]:
    return {**_values(one), "verdict": None, "withdrawn_by": who}


def standing_decisions(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> list[RowDecision]:
    """The decisions of judges that stand on rows of these transcripts, in the order in which they were made."""
    rows = cursor.execute(_STANDING.format(marks(transcript_ids)), list(transcript_ids)).fetchall()
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
        added=None if row["added_row"] is None else ledger_row(from_json(row["added_row"])),
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
    "added_row",
    "at",
)

_STANDING = f"""
SELECT {", ".join(_COLUMNS[:-1])}, epoch_us(decided_at)
FROM (
    SELECT * FROM row_decisions WHERE transcript_id IN ({{}})
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric, row_id ORDER BY decision_id DESC) = 1
) WHERE verdict IS NOT NULL ORDER BY decision_id
"""
