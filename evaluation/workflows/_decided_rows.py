"""Ledger rows that a judge or a person decided, with what the rule had said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.agreement.rows import Confirmed, DecidedRow
from evaluation.overrides import Override
from evaluation.score import LedgerRow, Method, RowVerdict

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.store.engine.transactions import Cursor


def read_decided_rows(
    cursor: Cursor, names: Mapping[str, str], overrides: Sequence[Override], scores: pd.DataFrame
) -> tuple[list[DecidedRow], Confirmed]:
    """The rows on which a judge's or a person's decision stands, with the verdicts of all who gave one.

    The rule's verdict is the one of its current ledger. A judge's decision on a row that the ledger no longer has is
    left out, unless a person decided that row too.

    Args:
        cursor: Where to read.
        names: Game ids by transcript id.
        overrides: Those that stand, of these transcripts.
        scores: As ``Store.results.scores`` returns them.

    Returns:
        The rows on which rule and judge differ or that a person decided, and how many others the judge confirmed.
    """
    made = {(one.transcript_id, one.metric, one.row_id): one for one in overrides}
    keys = list(zip(*made, strict=True)) or [(), (), ()]
    values = dict(zip(("transcripts", "metrics", "rows"), map(list, keys), strict=True))
    sums = zip(*(scores[name] for name in ("transcript_id", "metric", "numerator", "denominator")), strict=True)
    results = {(key, metric): (numerator, denominator) for key, metric, numerator, denominator in sums}
    decided = [
        _decided(row, names[row[0]], made.get(row[:3]), results.get(row[:2], (0.0, 0.0)))
        for row in cursor.execute(_DIFFERENT, values).fetchall()
        if row[0] in names
    ]
    confirmed = {
        (transcript_id, metric, RowVerdict(verdict)): rows
        for transcript_id, metric, verdict, rows in cursor.execute(_CONFIRMED, values).fetchall()
        if transcript_id in names
    }
    return decided, confirmed


def _decided(row: Sequence[Any], game_id: str, override: Override | None, result: tuple[float, float]) -> DecidedRow:
    transcript_id, metric, row_id, rule, judge, judge_reason, *fields = row
    computed = _row(row_id, rule, *fields)
    given = {
        Method.RULE: (rule, computed.reason),
        Method.JUDGE: (judge, judge_reason),
        Method.HUMAN: (override and override.verdict, override and override.reason),
    }
    return DecidedRow(
        transcript_id,
        game_id,
        metric,
        computed,
        {method: RowVerdict(verdict) for method, (verdict, _) in given.items() if verdict is not None},
        {method: str(reason) for method, (verdict, reason) in given.items() if verdict is not None},
        override.author if override else "",
        *result,
    )


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


_WANTED = """
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
    SELECT transcript_id, metric, row_id, decision_id, j.verdict AS judge, j.reason AS judge_reason, place
    FROM judged j FULL JOIN overruled USING (transcript_id, metric, row_id)
)
"""

_FOUND = """
FROM wanted w {join} (
    SELECT r.transcript_id, r.metric, l.* FROM current_results r JOIN ledger l USING (result_id)
) l USING (transcript_id, metric, row_id)
"""

# In the order in which they were decided: what judges decided first, then what only people did.
_DIFFERENT = f"""
{_WANTED}
SELECT transcript_id, metric, row_id, l.verdict, w.judge, w.judge_reason, l.message_id, l.player, l.numerator,
    l.denominator, l.reason
{_FOUND.format(join="LEFT JOIN")}
WHERE place IS NOT NULL OR l.verdict <> w.judge
ORDER BY decision_id NULLS LAST, place
"""

_CONFIRMED = f"""
{_WANTED}
SELECT transcript_id, metric, w.judge, count(*)
{_FOUND.format(join="JOIN")}
WHERE place IS NULL AND l.verdict = w.judge GROUP BY ALL ORDER BY ALL
"""
