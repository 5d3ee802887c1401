"""Attach controls to the results that they qualify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.rubric.controls._link_strength import Link
from evaluation.rubric.definitions import COHERENCE
from evaluation.score import LedgerRow, MetricResult

_LINK_KEYS = ("link_strength", "link_words")


def attach_controls(
    results: Mapping[str, MetricResult], controls: Mapping[str, Mapping[str, Any]], links: Sequence[Link]
) -> dict[str, MetricResult]:
    """The results with their controls, and coherence's rows with link strengths.

    Args:
        results: By metric.
        controls: By metric; a result without one is left as it is.
        links: The link strength of every public message, for coherence.
    """
    attached = {
        name: replace(result, control=controls[name]) if name in controls else result
        for name, result in results.items()
    }
    if COHERENCE.name in controls:
        of_message = {link.message_id: link for link in links}
        coherence = attached[COHERENCE.name]
        rows = [_linked(row, of_message.get(row.message_id or "")) for row in coherence.ledger]
        attached[COHERENCE.name] = replace(coherence, ledger=tuple(rows))
    return attached


def without_control(result: MetricResult) -> MetricResult:
    """The result as its metric gave it."""
    if result.control is None:
        return result
    return replace(result, control=None, ledger=tuple(_unlinked(row) for row in result.ledger))


def _unlinked(row: LedgerRow) -> LedgerRow:
    if "link_strength" not in row.details:
        return row
    return replace(row, details={key: value for key, value in row.details.items() if key not in _LINK_KEYS})


def _linked(row: LedgerRow, link: Link | None) -> LedgerRow:
    if link is None or link.strength is None:
        return row
    return replace(row, details={**row.details, "link_strength": link.strength, "link_words": list(link.words)})
