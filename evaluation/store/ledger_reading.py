"""Read ledger rows of many games at once, as they stand or with the verdicts of all who gave one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store.engine.transactions import Units

if TYPE_CHECKING:
    import pandas as pd


class RowVerdicts(NamedTuple):
    """A row that a judge or a person decided, with the verdicts as they are stored; ``None`` for none.

    The rule's are those of the current ledger; all fields after ``judge_reason`` are its, too.
    """

    transcript_id: str
    metric: str
    row_id: str
    rule: str | None
    judge: str | None
    judge_reason: str | None
    message_id: str | None
    player: str | None
    numerator: float | None
    denominator: float | None
    rule_reason: str | None


class LedgerReading:
    """Reads rows of ledgers without building results of them."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def rows(self, transcript_ids: Sequence[str], metrics: Collection[str] = tuple(DEFINITIONS)) -> pd.DataFrame:
        """The ledgers of computed metrics as they stand, decided and added rows among the others.

        Returns:
            ``transcript_id``, ``metric``, ``player``, ``message_id`` (both may be empty), ``numerator``,
            ``denominator``, ``reason``; result by result in the order in which they were stored, rows in theirs.
        """
        with self._units.unit() as cursor:
            return cursor.execute(_ROWS, [list(transcript_ids), list(metrics)]).df()

    def decided(self, overrides: Sequence[Override]) -> tuple[list[RowVerdicts], dict[tuple[str, str, str], int]]:
        """The rows on which a judge's or a person's decision stands.

        A judge's decision on a row that the ledger no longer has is left out, unless a person decided that row too.

        Args:
            overrides: Those that stand.

        Returns:
            The rows on which rule and judge differ or that a person decided, what judges decided first; and how many
            others a judge confirmed, by transcript, metric and verdict.
        """
        keys = [(one.transcript_id, one.metric, one.row_id) for one in overrides]
        columns: list[list[Any]] = [[key[place] for key in keys] for place in range(3)]
        values = dict(zip(("transcripts", "metrics", "rows"), columns, strict=True))
        with self._units.unit() as cursor:
            rows = [RowVerdicts(*row) for row in cursor.execute(_DIFFERENT, values).fetchall()]
            confirmed = {tuple(key): count for *key, count in cursor.execute(_CONFIRMED, values).fetchall()}
        return rows, confirmed


_ROWS = """
SELECT transcript_id, metric, player, message_id, numerator, denominator, reason FROM current_ledger
WHERE transcript_id IN (SELECT unnest(?::text[])) AND metric IN (SELECT unnest(?::text[]))
ORDER BY result_id, position
"""

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
    SELECT c.transcript_id, c.metric, l.* FROM current_scores c SEMI JOIN wanted USING (transcript_id, metric)
    JOIN ledger l USING (result_id)
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
