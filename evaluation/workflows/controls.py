"""Compute missing controls of stored transcripts, and measure what the metrics notice of planted faults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evaluation.engines.scoring import Evaluation, add_controls
from evaluation.errors import NotFoundError
from evaluation.progress import ProgressCallback, no_progress
from evaluation.rubric.controls import CONTROLLED
from evaluation.rubric.link_strength import link_strengths
from evaluation.store import Store
from evaluation.validity import Break, Noticed, breaks, fault_table, noticed


def compute_missing(store: Store, transcript_ids: Sequence[str], progress: ProgressCallback = no_progress) -> int:
    """Computes and stores the controls of transcripts, each as soon as it is done; how many were.

    What is stopped half-way can be begun again: what was done is no longer missing.

    Args:
        store: Where they are.
        transcript_ids: Full ids; one that is deleted meanwhile is passed over.
        progress: Told how far it is.
    """
    done = 0
    for count, transcript_id in enumerate(transcript_ids, start=1):
        try:
            transcript = store.transcripts.get(transcript_id)
            results = add_controls(transcript, store.results.load(transcript_id))
            store.controls.save(transcript_id, results, link_strengths(transcript))
            done += 1
        except NotFoundError:
            pass
        progress(count, len(transcript_ids))
    return done


def completed(store: Store | None, evaluation: Evaluation) -> Evaluation:
    """The evaluation with its controls, computed and, with a store, kept there where they are missing."""
    if all(name not in evaluation.metrics or evaluation.metrics[name].control is not None for name in CONTROLLED):
        return evaluation
    results = add_controls(evaluation.transcript, evaluation.metrics)
    if store is not None:
        store.controls.save(evaluation.transcript.id, results, link_strengths(evaluation.transcript))
    return evaluation.with_metrics(results)


VALIDITY_DRAWS = 3
"""Copies of each stored game with each fault: the games make up for few copies."""
MOST_MEASURED = 40
"""Games into which faults are planted unless more are asked for: enough for an interval, half a minute of work."""
_GROWN = 1.25


def is_validity_due(store: Store) -> bool:
    """Whether validity was never measured on the stored games, or their number has grown by a quarter since."""
    report = store.controls.report()
    return report is None or store.transcripts.count() >= _GROWN * report.get("stored", 0)


def measure_validity(
    store: Store, progress: ProgressCallback = no_progress, *, most: int | None = MOST_MEASURED
) -> dict[str, Any]:
    """Plants faults into stored games, and stores what the metrics noticed.

    Args:
        store: Where the games are.
        progress: Told how far it is.
        most: So many games, evenly spaced in the order of adding; ``None``: all.

    Returns:
        The report as it is stored: ``games`` (of enough messages), ``stored`` (games at that time), ``draws``,
        ``faults`` (rows as
        :func:`~evaluation.validity.fault_table` gives them; a source is an iteration) and ``breaks`` (scores that a
        meaningless change moved).
    """
    found: list[Noticed] = []
    moved: list[Break] = []
    summaries = store.transcripts.summaries()
    stored = len(summaries)
    chosen = summaries.iloc[:: max(1, math.ceil(stored / most))] if most else summaries
    iterations = chosen["iteration"].fillna("no iteration")
    for count, (transcript_id, source) in enumerate(zip(chosen["transcript_id"], iterations, strict=True), start=1):
        try:
            transcript = store.transcripts.get(str(transcript_id))
        except NotFoundError:
            continue
        found.extend(noticed(str(source), transcript, draws=VALIDITY_DRAWS))
        moved.extend(breaks(transcript))
        progress(count, len(chosen))
    report = {
        "games": len({(one.source, one.game) for one in found}),
        "stored": stored,
        "draws": VALIDITY_DRAWS,
        "faults": fault_table(found),
        "breaks": [one._asdict() for one in moved],
    }
    store.controls.save_report(report)
    return report
