"""Controls of stored transcripts, computed where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.engine import Evaluation, add_controls
from evaluation.errors import NotFoundError
from evaluation.rubric.controls import CONTROLLED, link_strengths
from evaluation.store import Store

Progress = Callable[[int, int], None]
"""Called with the number of games done and their total, after each. An exception that it raises stops the work."""


def compute_missing(store: Store, transcript_ids: Sequence[str], progress: Progress | None = None) -> int:
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
        if progress is not None:
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
