"""Scores of many transcripts at once, without reading their ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluation.escaping import well_formed
from evaluation.overrides import Override
from evaluation.precedence import apply_overrides
from evaluation.ratings import EngagementDecision
from evaluation.rubric.controls import WITHOUT_CHANCE
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.metrics.engagement import engagement_of
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict, Status, replace_rows, summarise
from evaluation.store.engine.bulk_rows import frame, numbers
from evaluation.store.results._result_rows import definition_of, rest_of
from evaluation.store.results.controls import read_all_controls
from evaluation.store.results.judge_decisions import decided_sums, decisions_on

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

SCORE_COLUMNS = (
    "transcript_id",
    "metric",
    "score",
    "numerator",
    "denominator",
    "status",
    "threshold",
    "method",
    "version",
    "reason",
)
_COVERED = tuple(name for name, definition in DEFINITIONS.items() if definition.coverage)

_NUMBERS = ("score", "numerator", "denominator", "threshold")

Row = tuple[Any, ...]


def score_table(
    cursor: DuckDBPyConnection,
    iteration: str | None,
    overrides: Sequence[Override],
    engagement_threshold: float,
    engagement_decisions: Mapping[str, EngagementDecision],
    only: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The table that ``Results.scores`` describes, or its rows on the transcripts ``only``.

    The stored scores come as they are. What ratings, leads' decisions on them (by transcript), judges' decisions and
    standing ``overrides`` change goes through ``summarise``, like every score, and takes the place of the stored row.
    """
    import pandas as pd

    chosen = {
        "iteration": None if iteration is None else well_formed(iteration),
        "only": None if only is None else list(only),
    }
    positions = dict(cursor.execute(_POSITIONS, chosen).fetchall())
    history = frame(cursor, _STORED, chosen | {"metrics": list(DEFINITIONS)})
    ratings = _latest_scores(cursor)
    rated = [
        _row(key, _engagement(given, engagement_threshold, engagement_decisions.get(key)))
        for key, given in ratings.items()
        if key in positions
    ]
    overrides = [one for one in overrides if one.transcript_id in positions]
    decided, added = _results_with_decisions(cursor, overrides)
    changed = [row for row in (*decided, *rated) if row[0] in positions]
    parts = (history, _changed(changed, positions), _unrated(ratings, positions, engagement_threshold))
    table = pd.concat([part for part in parts if len(part)] or [history], ignore_index=True)
    latest = table.sort_values(["place", "result_id"]).drop_duplicates("place", keep="last")
    # What was considered does not change with what is decided about it, but for rows that people added.
    considered = history.sort_values(["place", "result_id"]).drop_duplicates("place", keep="last")
    latest["considered"] = latest["place"].map(considered.set_index("place")["considered"])
    more = [added[key] for key in zip(latest["transcript_id"], latest["metric"], strict=True)]
    latest["considered"] += more
    controls = read_all_controls(cursor, iteration, only)
    keys = zip(latest["transcript_id"], latest["metric"], latest["version"], strict=True)
    found = [WITHOUT_CHANCE.get(key[1], controls.get(key)) for key in keys]
    latest["control"] = pd.Series(found, index=latest.index, dtype=object)
    return latest[[*SCORE_COLUMNS, "considered", "control"]].reset_index(drop=True)


def _changed(rows: Sequence[Row], positions: Mapping[str, int]) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(rows, columns=list(SCORE_COLUMNS)).astype(dict.fromkeys(_NUMBERS, float))
    table["place"] = [positions[row[0]] * _STEP + _RUBRIC_ORDER[row[1]] for row in rows]
    table["result_id"] = _NEWER_THAN_STORED
    return table


def _unrated(rated: Container[str], positions: Mapping[str, int], threshold: float) -> pd.DataFrame:
    import pandas as pd

    row = dict(zip(SCORE_COLUMNS, _row("", summarise(ENGAGEMENT, (), threshold=threshold)), strict=True))
    waiting = {key: position for key, position in positions.items() if key not in rated}
    own = {
        "transcript_id": list(waiting),
        "place": [position * _STEP + _RUBRIC_ORDER[ENGAGEMENT.name] for position in waiting.values()],
        "result_id": _NEWER_THAN_STORED,
    }
    return pd.DataFrame(row | own).astype({"score": float})


# A row's place is its transcript's position times the step, plus the place of its metric in the rubric, from 1. Of all
# rows with the same place the newest stands.
_STEP = 16
_NEWER_THAN_STORED = 2**62
_RUBRIC_ORDER = {metric: number for number, metric in enumerate(DEFINITIONS, start=1)}


def _row(transcript_id: str, result: MetricResult) -> Row:
    return (
        transcript_id,
        result.name,
        result.score,
        result.numerator,
        result.denominator,
        result.status.value,
        result.threshold,
        result.method.value,
        result.definition.version,
        result.reason,
    )


def _latest_scores(cursor: DuckDBPyConnection) -> dict[str, list[int]]:
    """Each rater's latest score, by transcript."""
    latest = {(key, rater): score for key, rater, score in cursor.execute(_RATINGS).fetchall()}
    given: dict[str, list[int]] = {}
    for (transcript_id, _), score in latest.items():
        given.setdefault(transcript_id, []).append(score)
    return given


def _engagement(scores: Sequence[int], threshold: float, decision: EngagementDecision | None) -> MetricResult:
    rows = [
        LedgerRow("", "rating", RowVerdict.COUNTS, "", numerator=float(score), denominator=1.0, method=Method.HUMAN)
        for score in scores
    ]
    return engagement_of(rows, threshold=threshold, decision=decision)


def _results_with_decisions(
    cursor: DuckDBPyConnection, overrides: Sequence[Override]
) -> tuple[list[Row], Counter[tuple[str, str]]]:
    """The results that decisions change, and by transcript and metric how many rows people added to them."""
    wanted = {(override.transcript_id, override.metric, override.row_id): override for override in overrides}
    judged = decided_sums(cursor, wanted.keys())
    decisions = decisions_on(cursor, wanted.keys())
    concerned = {key[:2] for key in wanted} | judged.keys()
    if not concerned:
        return [], Counter()
    transcript_ids, row_ids = sorted({key[0] for key in concerned}), sorted({key[2] for key in wanted})
    # Read in the order in which they were stored, so that the current result is the one that stays.
    current = {row[1:3]: row for row in cursor.execute(_HISTORY, [transcript_ids]).fetchall() if row[1:3] in concerned}
    results = {row[0]: row[1:] for row in current.values()}
    overruled: dict[int, list[_Overruled]] = {}
    for result_id, *row in cursor.execute(_ROWS.format(numbers(results)), [row_ids]).fetchall() if row_ids else ():
        key = (*results[result_id][:2], row[0])
        if override := wanted.get(key):
            overruled.setdefault(result_id, []).append((_bare_row(*row), decisions.get(key), override))
    seen = {(*results[key][:2], row.id) for key, rows in overruled.items() for row, _, _ in rows}
    added: dict[tuple[str, str], list[Override]] = {}
    for place, override in wanted.items():
        if override.added_words is not None and place not in seen:
            added.setdefault(place[:2], []).append(override)
    rows = [
        _row(
            stored[0], _as_it_stands(stored, overruled.get(key, ()), judged.get(stored[:2]), added.get(stored[:2], ()))
        )
        for key, stored in results.items()
        if key in overruled or stored[:2] in judged or stored[:2] in added
    ]
    return rows, Counter({place: len(made) for place, made in added.items()})


_Overruled = tuple[LedgerRow, RowDecision | None, Override]
"""A row by the rule, a judge's decision on it, and a person's."""


def _as_it_stands(
    stored: Sequence[Any],
    overruled: Sequence[_Overruled],
    judged: tuple[float, float] | None,
    added: Sequence[Override],
) -> MetricResult:
    """The stored result with decisions and overrides applied; one row stands for all that were not overridden."""
    _, metric, score, numerator, denominator, status, threshold, _, version, reason = stored
    rest = rest_of(numerator, denominator, [row for row, _, _ in overruled])
    result = MetricResult(
        definition_of(metric, version),
        Status(status),
        score,
        numerator,
        denominator,
        threshold,
        ledger=(rest, *[row for row, _, _ in overruled]),
        reason=reason,
    )
    by_judges = {row.id: decision.applied_to(row) for row, decision, _ in overruled if decision is not None}
    if judged is not None:
        by_judges[rest.id] = replace(
            rest,
            numerator=rest.numerator + judged[0],
            denominator=rest.denominator + judged[1],
            method=Method.JUDGE,
        )
    overrides = [*[one for _, _, one in overruled], *added]
    return apply_overrides({metric: replace_rows(result, by_judges)}, overrides)[metric]


def _bare_row(row_id: str, verdict: str, numerator: float, denominator: float) -> LedgerRow:
    return LedgerRow(row_id, "", RowVerdict(verdict), "", numerator=numerator, denominator=denominator)


_POSITIONS = """
SELECT transcript_id, position FROM transcripts
WHERE ($iteration::text IS NULL OR iteration = $iteration)
    AND ($only::text[] IS NULL OR transcript_id IN (SELECT unnest($only::text[])))
ORDER BY position
"""

_STORED = f"""
SELECT result_id, t.position * {_STEP} + list_position($metrics, metric) AS place, {", ".join(SCORE_COLUMNS)},
       CASE WHEN metric IN {_COVERED} THEN TRY_CAST(details->>'considered' AS double) END AS considered
FROM metric_results JOIN transcripts t USING (transcript_id)
WHERE method = 'rule' AND ($iteration::text IS NULL OR t.iteration = $iteration) AND list_contains($metrics, metric)
    AND ($only::text[] IS NULL OR transcript_id IN (SELECT unnest($only::text[])))
"""

_HISTORY = f"""
SELECT result_id, {", ".join(SCORE_COLUMNS)} FROM metric_results
WHERE method = 'rule' AND list_contains(?::text[], transcript_id) ORDER BY result_id
"""

_ROWS = """
SELECT result_id, row_id, verdict, numerator, denominator FROM ledger
WHERE result_id IN ({}) AND list_contains(?::text[], row_id)
"""

# In the order in which they stand, so that of one rater's ratings the last one read is the latest.
_RATINGS = "SELECT transcript_id, rater, score FROM ratings ORDER BY coalesce(is_past, false) DESC, rating_id"
