"""Ledger rows that a judge or a person decided, with what the rule had said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evaluation.agreement.rows import DecidedRow
from evaluation.overrides import Override
from evaluation.score import LedgerRow, Method, RowVerdict

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection


def read_decided_rows(
    cursor: DuckDBPyConnection, names: Mapping[str, str], overrides: Sequence[Override], scores: pd.DataFrame
) -> list[DecidedRow]:
    """The rows on which a judge's or a person's decision stands, with the verdicts of all who gave one.

    The rule's verdict is the one of its current ledger. A judge's decision on a row that the ledger no longer has is
    left out, unless a person decided that row too.

    Args:
        cursor: Where to read.
        names: Game ids by transcript id.
        overrides: Those that stand, of these transcripts.
        scores: As ``Store.results.scores`` returns them.
    """
    made = {(one.transcript_id, one.metric, one.row_id): one for one in overrides}
    keys = list(zip(*made, strict=True)) or [(), (), ()]
    values = dict(zip(("transcripts", "metrics", "rows"), map(list, keys), strict=True))
    sums = scores[["transcript_id", "metric", "numerator", "denominator"]].itertuples(index=False)
    results = {(key, metric): (numerator, denominator) for key, metric, numerator, denominator in sums}
    found = []
    for transcript_id, metric, row_id, rule, judge, *fields in cursor.execute(_DECIDED, values).fetchall():
        override = made.get((transcript_id, metric, row_id))
        if transcript_id not in names or (rule is None and override is None):
            continue
        row, judge_reason = _row(row_id, rule, *fields[:-1]), fields[-1]
        given = {
            Method.RULE: (rule, row.reason),
            Method.JUDGE: (judge, judge_reason),
            Method.HUMAN: (override and override.verdict, override and override.reason),
        }
        found.append(
            DecidedRow(
                transcript_id,
                names[transcript_id],
                metric,
                row,
                {method: RowVerdict(verdict) for method, (verdict, _) in given.items() if verdict is not None},
                {method: str(reason) for method, (verdict, reason) in given.items() if verdict is not None},
                override.author if override else "",
                *results.get((transcript_id, metric), (0.0, 0.0)),
            )
        )
    return found


def _row(
    row_id: str,
    verdict: str | None,
    message_id: str | None,
    player: str | None,
    numerator: float | None,
    denominator: float | None,
    reason: str | None,
) -> LedgerRow:
    return LedgerRow(
        row_id,
        "",
        RowVerdict(verdict or RowVerdict.EXCLUDED),
        reason or "",
        message_id=message_id,
        player=player,
        numerator=numerator or 0.0,
        denominator=denominator or 0.0,
    )


# In the order in which they were decided: what judges decided first, then what only people did.
_DECIDED = """
WITH latest AS (SELECT max(decision_id) AS decision_id FROM row_decisions GROUP BY transcript_id, metric, row_id),
judged AS (
    SELECT decision_id, transcript_id, metric, row_id, verdict, reason FROM row_decisions SEMI JOIN latest
    USING (decision_id) WHERE verdict IS NOT NULL
),
overruled AS (
    SELECT unnest($transcripts::text[]) AS transcript_id, unnest($metrics::text[]) AS metric,
        unnest($rows::text[]) AS row_id, generate_subscripts($rows::text[], 1) AS place
),
wanted AS (
    SELECT transcript_id, metric, row_id, decision_id, verdict, reason, place
    FROM judged FULL JOIN overruled USING (transcript_id, metric, row_id)
)
SELECT w.transcript_id, w.metric, w.row_id, l.verdict, w.verdict, l.message_id, l.player, l.numerator, l.denominator,
    l.reason, w.reason
FROM wanted w LEFT JOIN current_results r USING (transcript_id, metric)
LEFT JOIN ledger l ON l.result_id = r.result_id AND l.row_id = w.row_id
ORDER BY decision_id NULLS LAST, place
"""
