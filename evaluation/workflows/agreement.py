"""Agreement of raters, and of rule, judge and person, over a whole store."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.agreement.report import AgreementReport, agreement_report
from evaluation.agreement.rows import DecidedRow
from evaluation.overrides import Override
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.store.database import Store
from evaluation.store.ledger_reading import RowVerdicts


def stored_agreement(store: Store, *, seed: int = 0) -> AgreementReport:
    """Agreement over all current ratings, with the scores as they stand and today's thresholds.

    Args:
        store: Where to read.
        seed: Of the bootstrap intervals.
    """
    with store.unit():
        names = store.transcripts.game_names()
        ratings = store.ratings.all()
        scores, thresholds = store.results.scores(), store.settings.thresholds()
        overrides = {(one.transcript_id, one.metric, one.row_id): one for one in store.overrides.current()}
        found, confirmed = store.ledger.decided([*overrides.values()])
    columns = (scores[name].tolist() for name in ("transcript_id", "metric", "numerator", "denominator"))
    sums = {(key, metric): (above, below) for key, metric, above, below in zip(*columns, strict=True)}
    decided = [_decided(row, names[row.transcript_id], overrides.get(row[:3]), sums) for row in found]
    agreed = {(key, metric, RowVerdict(verdict)): count for (key, metric, verdict), count in confirmed.items()}
    return agreement_report(ratings, scores, names, thresholds, decided, agreed, seed=seed)


def _decided(
    row: RowVerdicts, game: str, override: Override | None, sums: Mapping[tuple[str, str], tuple[float, float]]
) -> DecidedRow:
    given: dict[Method, tuple[str | None, str | None]] = {
        Method.RULE: (row.rule, row.rule_reason),
        Method.JUDGE: (row.judge, row.judge_reason),
        Method.HUMAN: (override.verdict, override.reason) if override else (None, None),
    }
    computed = LedgerRow(
        row.row_id,
        "",
        RowVerdict(row.rule or RowVerdict.EXCLUDED),
        row.rule_reason or "",
        message_id=row.message_id,
        player=row.player,
        numerator=row.numerator or 0.0,
        denominator=row.denominator or 0.0,
    )
    numerator, denominator = sums.get((row.transcript_id, row.metric), (0.0, 0.0))
    return DecidedRow(
        row.transcript_id,
        game,
        row.metric,
        computed,
        {method: RowVerdict(verdict) for method, (verdict, _) in given.items() if verdict is not None},
        {method: str(reason) for method, (verdict, reason) in given.items() if verdict is not None},
        override.author if override else "",
        numerator,
        denominator,
    )
