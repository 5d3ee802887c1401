"""Overrides of ledger rows: append-only, taken back by another row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.score import RowVerdict
from evaluation.store.checks import require_text
from evaluation.store.times import from_microseconds, maybe_from_microseconds
from evaluation.store.transcripts import require_transcript
from evaluation.store.units import Units

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_Overrides = list[Override]


class Overrides:
    """Stores and reads what people decided against the rule."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(
        self, transcript_id: str, metric: str, row_id: str, verdict: RowVerdict | str, *, author: str, reason: str
    ) -> Override:
        """Overrules one ledger row. The latest override of a row that was not undone stands.

        Raises:
            NotFoundError: The transcript is not stored, or its current ledger has no such row.
            InputError: No such metric or verdict, or nobody or no reason is named. Ratings are revised, not overruled.
        """
        _require_metric(metric)
        require_text(author=author, reason=reason)
        decision = _verdict(verdict)
        with self._units.unit(write=True) as cursor:
            require_transcript(cursor, transcript_id)
            _require_row(cursor, transcript_id, metric, row_id)
            added = cursor.execute(_INSERT, [transcript_id, metric, row_id, decision, author, reason]).fetchone()
        assert added is not None
        return Override(added[0], transcript_id, metric, row_id, decision, author, reason, from_microseconds(added[1]))

    def undo(self, override_id: int, author: str) -> None:
        """Takes an override back; the row is again what it was before. Both acts stay on record.

        Raises:
            NotFoundError: There is no such override.
            ConflictError: It was undone before.
            InputError: Nobody is named.
        """
        require_text(author=author)
        with self._units.unit(write=True) as cursor:
            found = cursor.execute(_UNDOABLE, [override_id]).fetchone()
            if found is None:
                raise NotFoundError(f"There is no override {override_id}.")
            if found[0]:
                raise ConflictError(f"The override {override_id} was undone before.")
            cursor.execute(_UNDO, [author, override_id])

    def list(self, transcript_id: str) -> _Overrides:
        """Every override of the transcript's rows, undone ones too, in the order in which they were made."""
        return self._select(_HISTORY, transcript_id)

    def current(self, transcript_id: str) -> _Overrides:
        """The overrides that stand: one per row at most, in the order in which they were made."""
        return self._select(
            f"SELECT {OVERRIDE_COLUMNS}, NULL, NULL FROM current_overrides o {_OF} ORDER BY 1", transcript_id
        )

    def orphans(self, transcript_id: str) -> _Overrides:
        """The overrides that stand, but whose row the current ledger no longer has: they wait for a person."""
        return self._select(_ORPHANS, transcript_id)

    def _select(self, query: str, transcript_id: str) -> _Overrides:
        with self._units.unit() as cursor:
            return [override_of(row) for row in cursor.execute(query, [transcript_id]).fetchall()]


_INSERT = """
INSERT INTO overrides (transcript_id, metric, row_id, verdict, author, reason) VALUES (?, ?, ?, ?, ?, ?)
RETURNING override_id, epoch_us(created_at)
"""

_UNDOABLE = """
SELECT EXISTS (SELECT 1 FROM overrides u WHERE u.undoes = o.override_id)
FROM overrides o WHERE override_id = ? AND undoes IS NULL
"""

_UNDO = """
INSERT INTO overrides (transcript_id, metric, row_id, author, reason, undoes)
SELECT transcript_id, metric, row_id, ?, '', override_id FROM overrides WHERE override_id = ?
"""

OVERRIDE_COLUMNS = """
o.override_id, o.transcript_id, o.metric, o.row_id, o.verdict, o.author, o.reason, epoch_us(o.created_at)
"""

_OF = "WHERE o.transcript_id = ?"

_HISTORY = f"""
SELECT {OVERRIDE_COLUMNS}, u.author, epoch_us(u.created_at)
FROM overrides o LEFT JOIN overrides u ON u.undoes = o.override_id
{_OF} AND o.undoes IS NULL ORDER BY o.override_id
"""

_ORPHANS = f"""
SELECT {OVERRIDE_COLUMNS}, NULL, NULL FROM current_overrides o
{_OF} AND NOT EXISTS (
    SELECT 1 FROM current_results r JOIN ledger l USING (result_id)
    WHERE r.transcript_id = o.transcript_id AND r.metric = o.metric AND l.row_id = o.row_id
)
ORDER BY o.override_id
"""

_ROW = """
SELECT 1 FROM current_results r JOIN ledger l USING (result_id)
WHERE r.transcript_id = ? AND r.metric = ? AND l.row_id = ? LIMIT 1
"""


def _require_metric(metric: str) -> None:
    if metric == ENGAGEMENT.name:
        raise InputError("A rating is not overruled.", place="metric", remedy="Let the rater revise it.")
    if metric not in DEFINITIONS:
        raise InputError(
            f"{metric!r} is not a metric.", place="metric", remedy=f"Choose from {', '.join(DEFINITIONS)}."
        )


def _verdict(verdict: RowVerdict | str) -> RowVerdict:
    try:
        return RowVerdict(verdict)
    except ValueError:
        choices = ", ".join(RowVerdict)
        raise InputError(f"{verdict!r} is not a verdict.", place="verdict", remedy=f"Choose from {choices}.") from None


def _require_row(cursor: DuckDBPyConnection, transcript_id: str, metric: str, row_id: str) -> None:
    if cursor.execute(_ROW, [transcript_id, metric, row_id]).fetchone() is None:
        raise NotFoundError(f"The ledger of {metric} has no row {row_id!r}.", remedy="Evaluate the transcript first.")


def override_of(row: tuple[Any, ...]) -> Override:
    """The override in a row of ``OVERRIDE_COLUMNS``, who undid it and when."""
    number, transcript_id, metric, row_id, verdict, author, reason, created_at, undone_by, undone_at = row
    return Override(
        number,
        transcript_id,
        metric,
        row_id,
        RowVerdict(verdict),
        author,
        reason,
        from_microseconds(created_at),
        undone_by,
        maybe_from_microseconds(undone_at),
    )
