"""Controls: whether a metric's score differs from chance, stored beside the results that they qualify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.escaping import well_formed
from evaluation.rubric.controls import CONTROLLED, Link
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS
from evaluation.store.engine.bulk_rows import from_json, to_json
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.score import MetricResult


class Controls:
    """Stores controls and finds the transcripts that lack them, and keeps the latest validity report."""

    def __init__(self, units: Units) -> None:
        self._units = units

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
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            for row in rows:
                cursor.execute(_INSERT, row)

    def missing(self, iteration: str | None = None) -> list[str]:
        """The transcripts of which a stored result of today's version has no control yet, in their order.

        Args:
            iteration: Only its transcripts; ``None`` for all.
        """
        versions = [DEFINITIONS[name].version for name in CONTROLLED]
        values = {"metrics": list(CONTROLLED), "versions": versions, "iteration": iteration}
        with self._units.unit() as cursor:
            return [str(key) for (key,) in cursor.execute(_MISSING, values).fetchall()]

    def save_report(self, report: Mapping[str, Any]) -> None:
        """Stores what the metrics noticed of faults planted into the corpus."""
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute("INSERT INTO validity_reports (report) VALUES (?)", [to_json(dict(report))])

    def report(self) -> dict[str, Any] | None:
        """The latest validity report; ``None`` before the first."""
        with self._units.unit() as cursor:
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


def read_links(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> dict[tuple[str, str], tuple[Link, ...]]:
    """The link strengths that results of coherence get, by transcript and version; without a control it is missing."""
    versions: dict[tuple[str, str], None] = {}
    latest: dict[str, str | None] = {}
    for transcript_id, version, listed in cursor.execute(_LINKS, [COHERENCE.name, list(transcript_ids)]).fetchall():
        versions[transcript_id, version] = None
        latest[transcript_id] = listed
    links = {transcript_id: _links(listed) for transcript_id, listed in latest.items()}
    return {key: links[key[0]] for key in versions}


def read_all_controls(
    cursor: DuckDBPyConnection, iteration: str | None, only: Sequence[str] | None = None
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The controls of all stored transcripts by transcript, metric and version.

    Args:
        cursor: Where to read.
        iteration: Only its transcripts; ``None`` for all.
        only: Only the transcripts with these ids; ``None`` for all.
    """
    chosen = {
        "iteration": None if iteration is None else well_formed(iteration),
        "only": None if only is None else list(only),
    }
    rows = cursor.execute(_ALL, chosen).fetchall()
    latest = {(transcript_id, metric, version): control for transcript_id, metric, version, control in rows}
    return {key: from_json(control) for key, control in latest.items()}


def _links(listed: str | None) -> tuple[Link, ...]:
    return tuple(Link(one["message_id"], one["strength"], tuple(one["words"])) for one in from_json(listed) or ())


def _links_of(metric: str, links: Sequence[Link]) -> str | None:
    return to_json([link.as_dict() for link in links]) if metric == COHERENCE.name else None


_INSERT = "INSERT INTO controls (transcript_id, metric, version, control, links) VALUES (?, ?, ?, ?, ?)"

_SELECT = "SELECT metric, version, control, links FROM controls WHERE transcript_id = ? ORDER BY control_id"

_LINKS = """
SELECT transcript_id, version, links FROM controls
WHERE metric = ? AND transcript_id IN (SELECT unnest(?::text[])) ORDER BY control_id
"""

_ALL = """
SELECT transcript_id, c.metric, c.version, c.control FROM controls c JOIN transcripts t USING (transcript_id)
WHERE ($iteration::text IS NULL OR t.iteration = $iteration)
    AND ($only::text[] IS NULL OR transcript_id IN (SELECT unnest($only::text[])))
ORDER BY control_id
"""

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
