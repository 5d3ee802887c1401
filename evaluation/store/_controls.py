"""Controls: whether a metric's score differs from chance, stored beside the results that they qualify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.rubric.controls import CONTROLLED
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS
from evaluation.rubric.link_strength import Link
from evaluation.store.engine.bulk_rows import from_json, to_json
from evaluation.store.transcripts import require_transcript

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.score import MetricResult
    from evaluation.store.database import Store


class Controls:
    """Stores controls and finds the transcripts that lack them, and keeps the latest validity report."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, transcript_id: str, results: Mapping[str, MetricResult], links: Sequence[Link]) -> None:
        """Stores the controls that ``results`` carry, each with the version of its result.

        Args:
            transcript_id: Whose they are.
            results: By metric; those without a control are passed over.
            links: The link strength of every public message.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        rows = [
            (transcript_id, name, result.definition.version, to_json(dict(result.control)), _links_of(name, links))
            for name, result in results.items()
            if result.control is not None
        ]
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            for row in rows:
                cursor.execute(_INSERT, row)
            self._store.results.rewrite([transcript_id], list(CONTROLLED))

    def missing(self, iteration: str | None = None) -> list[str]:
        """The transcripts of which a stored result of today's version has no control yet, in their order.

        Args:
            iteration: Only its transcripts; ``None`` for all.
        """
        versions = [DEFINITIONS[name].version for name in CONTROLLED]
        values = {"metrics": list(CONTROLLED), "versions": versions, "iteration": iteration}
        with self._store.unit() as cursor:
            return [str(key) for (key,) in cursor.execute(_MISSING, values).fetchall()]

    def save_report(self, report: Mapping[str, Any]) -> None:
        """Stores what the metrics noticed of faults planted into the corpus."""
        with self._store.unit(write=True, join=True) as cursor:
            cursor.execute("INSERT INTO validity_reports (report) VALUES (?)", [to_json(dict(report))])

    def report(self) -> dict[str, Any] | None:
        """The latest validity report; ``None`` before the first."""
        with self._store.unit() as cursor:
            found = cursor.execute("SELECT report FROM validity_reports ORDER BY report_id DESC LIMIT 1").fetchall()
        return from_json(found[0][0]) if found else None


def read_controls(
    cursor: DuckDBPyConnection, transcript_id: str
) -> tuple[dict[tuple[str, str], dict[str, Any]], tuple[Link, ...]]:
    """The controls of a transcript by metric and version, and the link strengths of its messages."""
    controls: dict[tuple[str, str], dict[str, Any]] = {}
    links: tuple[Link, ...] = ()
    for metric, version, control, listed in cursor.execute(_SELECT, [transcript_id]).fetchall():
        controls[metric, version] = from_json(control)
        if metric == COHERENCE.name:
            links = _links(listed)
    return controls, links


def _links(listed: str | None) -> tuple[Link, ...]:
    return tuple(Link(one["message_id"], one["strength"], tuple(one["words"])) for one in from_json(listed) or ())


def _links_of(metric: str, links: Sequence[Link]) -> str | None:
    return to_json([link.as_dict() for link in links]) if metric == COHERENCE.name else None


_INSERT = "INSERT INTO controls (transcript_id, metric, version, control, links) VALUES (?, ?, ?, ?, ?)"

_SELECT = "SELECT metric, version, control, links FROM controls WHERE transcript_id = ? ORDER BY control_id"

_MISSING = """
WITH today AS (SELECT unnest($metrics::text[]) AS metric, unnest($versions::text[]) AS version)
SELECT t.transcript_id FROM transcripts t
WHERE ($iteration::text IS NULL OR t.iteration = $iteration) AND EXISTS (
    FROM current_results r JOIN today USING (metric, version)
    WHERE r.transcript_id = t.transcript_id AND NOT EXISTS (
        FROM controls c
        WHERE c.transcript_id = r.transcript_id AND c.metric = r.metric AND c.version = r.version
    )
)
ORDER BY t.position
"""
