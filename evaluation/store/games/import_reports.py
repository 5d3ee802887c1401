"""Import reports: the latest hundred, each updated during its import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.readers.import_report import ImportOutcome, ImportReport
from evaluation.store.engine.bulk_rows import marks
from evaluation.store.engine.transactions import Units

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEPT = 100
"""How many reports are kept; older ones make room."""

_Reports = list[ImportReport]


class Imports:
    """Keeps what became of the files of each import."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def save(self, report: ImportReport) -> None:
        """Stores a report, in place of the one with the same id; beyond the latest hundred the oldest goes."""
        document = well_formed(json.dumps(report.as_dict(), ensure_ascii=False))
        with self._units.unit(write=True, join=True) as cursor:
            held = cursor.execute("SELECT position FROM import_reports WHERE report_id = ?", [report.id]).fetchone()
            if held is None:
                held = cursor.execute("SELECT nextval('import_numbers')").fetchone()
            assert held is not None
            cursor.execute(
                "INSERT OR REPLACE INTO import_reports (report_id, position, document) VALUES (?, ?, ?)",
                [report.id, held[0], document],
            )
            cursor.execute("DELETE FROM import_reports WHERE position <= ?", [held[0] - KEPT])

    def discard(self, report_id: str) -> None:
        """Forgets a report whose import did not begin."""
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute("DELETE FROM import_reports WHERE report_id = ?", [report_id])

    def settle(self) -> None:
        """Completes the reports of imports that have ended, by what the store has of their games by now."""
        with self._units.unit(write=True, join=True):
            for report in self.list():
                if report.seconds is None:
                    passed = datetime.now(UTC) - report.started_at
                    self.save(replace(self.so_far(report), seconds=round(passed.total_seconds(), 3)))

    def so_far(self, report: ImportReport) -> ImportReport:
        """A report with the games that are stored by now; one that is complete stays as it is."""
        if report.seconds is not None:
            return report
        with self._units.unit() as cursor:
            found = _found(cursor, [line.transcript_id for line in report.lines if line.transcript_id])
        return report.with_outcomes(found, None)

    def list(self, limit: int = KEPT) -> _Reports:
        """The latest reports, newest first."""
        with self._units.unit() as cursor:
            return self._select(cursor, "ORDER BY position DESC LIMIT ?", [limit])

    def get(self, report_id: str) -> ImportReport:
        """The report with that id.

        Raises:
            NotFoundError: There is none.
        """
        with self._units.unit() as cursor:
            found = self._select(cursor, "WHERE report_id = ?", [well_formed(report_id)])
        if not found:
            raise NotFoundError(f"There is no import report {report_id!r}.", remedy="Older ones made room for new.")
        return found[0]

    def _select(self, cursor: DuckDBPyConnection, rest: str, values: Sequence[object]) -> _Reports:
        found = cursor.execute(f"SELECT document FROM import_reports {rest}", values).fetchall()
        return [ImportReport.from_dict(json.loads(document)) for (document,) in found]


def _found(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> dict[str, tuple[ImportOutcome, str]]:
    """The stored ones among the transcripts, each with the metrics that could not be computed."""
    stored = cursor.execute(
        f"SELECT transcript_id FROM transcripts WHERE transcript_id IN ({marks(transcript_ids)})", transcript_ids
    ).fetchall()
    failed = cursor.execute(
        f"SELECT transcript_id, subject FROM score_failures WHERE transcript_id IN ({marks(transcript_ids)})",
        transcript_ids,
    ).fetchall()
    remarks: dict[str, list[str]] = {transcript_id: [] for (transcript_id,) in stored}
    for transcript_id, what in failed:
        remarks[transcript_id].append(what)
    return {transcript_id: (ImportOutcome.STORED, " ".join(words)) for transcript_id, words in remarks.items()}
