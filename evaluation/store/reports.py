"""Reports over everything that is stored, read in one unit of work: agreement, and the comparison of two iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.agreement.disagreements import Overruled
from evaluation.agreement.report import AgreementReport, agreement_report
from evaluation.store.database import Store
from evaluation.store.tables import marks

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.overrides import Override


def stored_agreement(store: Store, *, seed: int = 0) -> AgreementReport:
    """Agreement over all current ratings, with the scores as they stand and today's thresholds.

    Args:
        store: Where to read.
        seed: Of the bootstrap intervals.
    """
    with store.unit() as cursor:
        summaries = store.transcripts.summaries()
        names = dict(zip(summaries["transcript_id"], summaries["game_id"], strict=True))
        # A transcript in the bin keeps its ratings; only those of stored ones count.
        ratings = store.ratings.all()
        ratings = ratings[ratings["transcript_id"].isin(summaries["transcript_id"])]
        scores, thresholds = store.results.scores(), store.settings.thresholds()
        overruled = _overruled(cursor, [one for one in store.overrides.current() if one.transcript_id in names], names)
    return agreement_report(ratings, scores, names, thresholds, overruled, seed=seed)


def _overruled(cursor: DuckDBPyConnection, overrides: list[Override], names: dict[str, str]) -> list[Overruled]:
    transcript_ids = sorted({override.transcript_id for override in overrides})
    row_ids = sorted({override.row_id for override in overrides})
    query = _MESSAGES.format(marks(transcript_ids), marks(row_ids))
    messages = {tuple(key): message for *key, message in cursor.execute(query, [*transcript_ids, *row_ids]).fetchall()}
    return [
        Overruled(
            override.transcript_id,
            names[override.transcript_id],
            override.metric,
            override.row_id,
            messages.get((override.transcript_id, override.metric, override.row_id)),
            str(override.verdict),
            override.author,
            override.reason,
        )
        for override in overrides
    ]


_MESSAGES = """
SELECT transcript_id, metric, row_id, message_id FROM current_results JOIN ledger USING (result_id)
WHERE transcript_id IN ({}) AND row_id IN ({})
"""
