"""Read the scores of stored games as they stand, judged by today's thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import MetricScore
    from evaluation.store import Store
    from evaluation.transcript import Transcript


def current_evaluation(store: Store, transcript: Transcript) -> Evaluation:
    """A stored transcript's results as they stand, its verdict by today's thresholds, and what failed."""
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import apply_thresholds, compute_verdict

    with store.unit():
        results = store.results.load(transcript.id)
        failures = tuple(store.results.failures(transcript.id))
        thresholds = store.settings.thresholds()
    verdict = compute_verdict(apply_thresholds(results, thresholds), transcript.cost)
    return Evaluation(transcript, results, verdict, failures, thresholds)


def stored_results_table(store: Store, iteration: str | None = None) -> pd.DataFrame:
    """:func:`~evaluation.writers.results_table` of all stored games, or of an iteration's.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    from evaluation.writers import results_table

    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        return results_table(store.transcripts.summaries(iteration), store.results.scores(iteration))


def current_outcomes(store: Store, iteration: str | None = None) -> dict[str, dict[str, MetricScore]]:
    """The scores of all stored games by today's thresholds: by transcript id, then by metric.

    Args:
        store: Where they are.
        iteration: Only its games; ``None`` for all.
    """
    from evaluation.rubric.verdict import apply_thresholds

    with store.unit():
        thresholds = store.settings.thresholds()
        found = store.results.metric_scores(iteration)
    for key, metrics in found.items():
        # Nearly all were judged by today's, and there may be a hundred thousand.
        if any(one.threshold != thresholds[name] for name, one in metrics.items()):
            found[key] = apply_thresholds(metrics, thresholds)
    return found
