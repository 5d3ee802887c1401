"""Imports: games that wait to be scored, and reports on what became of files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.readers.import_report import ImportOutcome, ImportReport
from evaluation.store._bulk_rows import Columns, append, marks
from evaluation.store.transactions import UnitsPart
from evaluation.store.transcript_rows import pack, unpack
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class ImportQueue(UnitsPart):
    """Keeps the games of jobs until they are scored."""

    def put(self, job_id: str, games: Sequence[tuple[Transcript, str]], iteration: str | None) -> None:
        """Keeps the games of a job, with their source names and where they should go: all of them or none."""
        columns: Columns = {
            "job_id": [job_id] * len(games),
            "position": list(range(len(games))),
            "source_name": [well_formed(source_name) for _, source_name in games],
            "iteration": [iteration] * len(games),
            "document": [pack(transcript) for transcript, _ in games],
        }
        with self._units.unit(write=True, join=True) as cursor:
            append(cursor, "spool", columns)

    def waiting(self, job_id: str) -> list[int]:
        """The positions of the games that are not scored yet, in the order given."""
        query = "SELECT position FROM spool WHERE job_id = ? ORDER BY position"
        return [position for (position,) in self._units.rows(query, [job_id])]

    def get(self, job_id: str, position: int) -> tuple[Transcript, str, str | None]:
        """The game that waits there, the name of its file, and the iteration where it should go, if any.

        Raises:
            NotFoundError: None does.
        """
        query = "SELECT document, source_name, iteration FROM spool WHERE job_id = ? AND position = ?"
        found = self._units.rows(query, [job_id, position])
        if not found:
            raise NotFoundError(f"No game {position + 1} waits in the job {job_id!r}.", remedy="Upload it again.")
        document, source_name, iteration = found[0]
        return unpack(document), source_name, iteration

    def remove(self, job_id: str, position: int) -> None:
        """Lets go of a game that is scored."""
        self._units.write("DELETE FROM spool WHERE job_id = ? AND position = ?", [job_id, position])

    def clear(self, job_id: str) -> None:
        """Forgets the job's games; those that are scored stay in the store."""
        self._units.write("DELETE FROM spool WHERE job_id = ?", [job_id])


KEPT = 100
"""How many reports are kept; older ones make room."""

_Reports = list[ImportReport]


class Imports(UnitsPart):
    """Keeps what became of the files of each import."""

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
        found = self._units.rows("SELECT document FROM import_reports ORDER BY position DESC LIMIT ?", [limit])
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
