"""Turn results and their ledgers into columns that leave the process that computed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.rubric.controls import without_control
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import MetricResult
from evaluation.store.results._result_rows import LEDGER_COLUMNS, digest, ledger_values, result_values

LEDGER_NAMES = ("position", *LEDGER_COLUMNS)
"""The columns of a ledger row beside those that say which result it belongs to."""


def result_rows(
    metrics: Mapping[str, MetricResult],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of ``metric_results`` and ``ledger`` for one game, without result ids.

    Engagement is left out, as the store leaves it out: it follows from ratings.

    Returns:
        One row per metric, with the ``digest`` by which the store recognises an equal result; one row per ledger row,
        with its ``metric`` and ``position``.
    """
    results: list[dict[str, Any]] = []
    ledger: list[dict[str, Any]] = []
    for result in metrics.values():
        if result.name == ENGAGEMENT.name:
            continue
        bare = without_control(result)
        own, rows = result_values(bare), [ledger_values(row) for row in bare.ledger]
        results.append(own | {"digest": digest(own, rows)})
        ledger += [
            {"metric": result.name, **dict(zip(LEDGER_NAMES, (position, *values), strict=True))}
            for position, values in enumerate(rows)
        ]
    return results, ledger
