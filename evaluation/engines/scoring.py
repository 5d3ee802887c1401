"""Score transcripts on all seven metrics, one at a time or many, in this process or in several."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from evaluation.engines.task_engines import map_tasks
from evaluation.ratings import Rating
from evaluation.rubric.controls import PreparedControls, attach_controls, no_control
from evaluation.rubric.definitions import (
    ANTI_REPETITION,
    COHERENCE,
    DEFINITIONS,
    ENGAGEMENT,
    MEMORY_ACCURACY,
    PERSONALITY_DIVERSITY,
    ROLE_CONSISTENCY,
    STRATEGIC_DEPTH,
)
from evaluation.rubric.link_strength import link_strengths
from evaluation.rubric.metrics import (
    anti_repetition,
    coherence,
    engagement,
    memory_accuracy,
    personality_diversity,
    role_consistency,
    strategic_depth,
)
from evaluation.rubric.reader.decisions import decide
from evaluation.rubric.reader.model import SHIPPED, Reader
from evaluation.rubric.verdict import MetricScore, Verdict, apply_thresholds, compute_verdict
from evaluation.score import MetricResult, Status
from evaluation.text.display import picked_data
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    import pandas as pd

BATCH_SIZE = 16


class Scorer(Protocol):
    """An automatic metric: the transcript and nothing else decides the result."""

    def __call__(self, transcript: Transcript, *, threshold: float | None = None) -> MetricResult: ...


SCORERS: Mapping[str, Scorer] = {
    MEMORY_ACCURACY.name: memory_accuracy.measure,
    STRATEGIC_DEPTH.name: strategic_depth.measure,
    COHERENCE.name: coherence.measure,
    ROLE_CONSISTENCY.name: role_consistency.measure,
    PERSONALITY_DIVERSITY.name: personality_diversity.measure,
    ANTI_REPETITION.name: anti_repetition.measure,
}
"""The six metrics that need no rater, by name."""


@dataclass(frozen=True, slots=True)
class ScoreFailure:
    """A metric that could not be computed because its scorer failed.

    Attributes:
        what: What is missing, in words.
        why: The error's type and message.
        traceback: Where it happened, for developers; no part of the output for users.
    """

    metric: str
    what: str
    why: str
    traceback: str

    def as_dict(self) -> dict[str, str]:
        """The failure as the JSON output shows it."""
        return {"metric": self.metric, "what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A transcript with its results.

    Attributes:
        metrics: By name, in the rubric's order; one that could not be computed is among ``failures`` instead.
        thresholds: By metric, for those that have no result to hold theirs; the rubric's where one is left out.
    """

    transcript: Transcript
    metrics: Mapping[str, MetricResult]
    verdict: Verdict
    failures: tuple[ScoreFailure, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @property
    def outcomes(self) -> dict[str, MetricScore]:
        """The scores judged by ``thresholds``, which may be newer than the ones that the results were computed with."""
        return apply_thresholds(self.metrics, self.thresholds)

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as one object of the JSON output: all seven metrics, those without a result pending."""
        return {
            "transcript": _head(self.transcript),
            "metrics": {name: (self.metrics.get(name) or self._uncomputed(name)).as_dict() for name in DEFINITIONS},
            "verdict": self.verdict.as_dict(),
            "failures": [failure.as_dict() for failure in self.failures],
        }

    def with_metrics(self, metrics: Mapping[str, MetricResult]) -> Evaluation:
        """The same evaluation with other results of the same scores (as with controls)."""
        return replace(self, metrics=metrics)

    def _uncomputed(self, name: str) -> MetricResult:
        why = next((failure.why for failure in self.failures if failure.metric == name), "")
        reason = f"could not be computed: {why}" if why else "not computed yet"
        definition = DEFINITIONS[name]
        threshold = self.thresholds.get(name, definition.threshold)
        return MetricResult(definition, Status.PENDING, None, 0.0, 0.0, threshold, (), reason)


def add_controls(transcript: Transcript, results: Mapping[str, MetricResult]) -> dict[str, MetricResult]:
    """The results with their controls and link strengths, all computed again even if a result has a control.

    A control that fails says so in its ``reason``.
    """
    controls: dict[str, dict[str, Any]] = {}
    prepared = PreparedControls(transcript)
    for name, result in results.items():
        try:
            controls[name] = prepared.control(result)
        except Exception as error:  # noqa: BLE001
            controls[name] = no_control(f"could not be computed ({type(error).__name__})")
    return attach_controls(results, controls, link_strengths(transcript))


def _head(transcript: Transcript) -> dict[str, Any]:
    cost = transcript.cost
    return {
        **picked_data(transcript, "id", "game_id", "source_format", "language", "winner"),
        "started_at": transcript.started_at.isoformat() if transcript.started_at else None,
        "players": list(transcript.player_names),
        "messages": len(transcript.messages),
        "public_messages": len(transcript.discussion),
        "votes": len(transcript.votes),
        "eliminations": len(transcript.eliminations),
        "cost": cost.model_dump() if cost is not None and cost.is_known else None,
    }


def evaluate_transcript(
    transcript: Transcript | Sequence[Mapping[str, Any]] | pd.DataFrame,
    ratings: Sequence[Rating] = (),
    thresholds: Mapping[str, float] | None = None,
    *,
    scorers: Mapping[str, Scorer] = SCORERS,
    reader: Reader | None = SHIPPED,
) -> Evaluation:
    """The transcript's seven metrics and its verdict. The same transcript and ratings always give the same.

    Args:
        transcript: What to evaluate; also a list of messages or a DataFrame, as :func:`evaluation.transcript_of` takes.
        ratings: From which engagement follows; those of other transcripts are left alone.
        thresholds: By metric; the rubric's where one is left out.
        scorers: The automatic metrics by name. One that fails becomes a ``ScoreFailure``.
        reader: Decides the rows of the metrics that read, the one that ships unless another is passed;
            ``None``: the rubric to the letter, by rules alone.

    Raises:
        InputError: The messages cannot be read as one game.
    """
    limits = thresholds or {}
    if not isinstance(transcript, Transcript):
        from evaluation.readers.conversations import transcript_of

        transcript = transcript_of(transcript)
    return _assemble(transcript, _score(transcript, ratings, limits, scorers, reader), limits)


def evaluate_many(
    transcripts: Iterable[Transcript],
    *,
    thresholds: Mapping[str, float] | None = None,
    jobs: int = 1,
    batch_size: int = BATCH_SIZE,
    scorers: Mapping[str, Scorer] = SCORERS,
    reader: Reader | None = SHIPPED,
) -> Iterator[Evaluation]:
    """Evaluations in the order of ``transcripts``, each as soon as it is ready.

    ``transcripts`` is read as results are taken, and only a few batches are ever held: memory does not grow with their
    number.

    Args:
        transcripts: May be endless.
        thresholds: By metric; the rubric's where one is left out.
        jobs: How many processes compute; 1 computes in this one.
        batch_size: How many transcripts are handed to a process at a time.
        scorers: As for :func:`evaluate_transcript`; module-level functions where ``jobs`` is above 1.
        reader: As for :func:`evaluate_transcript`.

    Raises:
        InfrastructureError: A process ended before it had answered.
        ValueError: ``jobs`` or ``batch_size`` below 1.
    """
    if jobs < 1 or batch_size < 1:
        raise ValueError(f"jobs ({jobs}) and batch_size ({batch_size}) must be at least 1")
    score = partial(_score_batch, thresholds=dict(thresholds or {}), scorers=dict(scorers), reader=reader)
    games = iter(transcripts)
    batches = iter(lambda: list(islice(games, batch_size if jobs > 1 else 1)), [])
    for batch, outcomes in map_tasks(score, batches, jobs=jobs):
        for transcript, outcome in zip(batch, outcomes, strict=True):
            yield _assemble(transcript, outcome, thresholds or {})


_Outcome = tuple[dict[str, MetricResult], tuple[ScoreFailure, ...]]


def _score_batch(
    batch: list[Transcript], *, thresholds: Mapping[str, float], scorers: Mapping[str, Scorer], reader: Reader | None
) -> list[_Outcome]:
    return [_score(transcript, (), thresholds, scorers, reader) for transcript in batch]


def _score(
    transcript: Transcript,
    ratings: Sequence[Rating],
    thresholds: Mapping[str, float],
    scorers: Mapping[str, Scorer],
    reader: Reader | None,
) -> _Outcome:
    calls: dict[str, Callable[..., MetricResult]] = {
        name: partial(_measure, scorer, transcript, reader) for name, scorer in scorers.items()
    }
    calls[ENGAGEMENT.name] = partial(engagement.measure, transcript, ratings)
    outcomes = [_attempt(name, calls[name], thresholds.get(name)) for name in DEFINITIONS]
    metrics = {outcome.name: outcome for outcome in outcomes if isinstance(outcome, MetricResult)}
    return metrics, tuple(outcome for outcome in outcomes if isinstance(outcome, ScoreFailure))


def _measure(scorer: Scorer, transcript: Transcript, reader: Reader | None, *, threshold: float | None) -> MetricResult:
    result = scorer(transcript, threshold=threshold)
    return result if reader is None else decide(result, transcript, reader)


def _attempt(name: str, scorer: Callable[..., MetricResult], threshold: float | None) -> MetricResult | ScoreFailure:
    """The one place where a failing scorer becomes a row, so that the other metrics are still computed."""
    try:
        return scorer(threshold=threshold)
    except Exception as error:  # noqa: BLE001
        what = f"{DEFINITIONS[name].label} could not be computed."
        return ScoreFailure(name, what, f"{type(error).__name__}: {error}", traceback.format_exc())


def _assemble(transcript: Transcript, outcome: _Outcome, thresholds: Mapping[str, float]) -> Evaluation:
    metrics, failures = outcome
    return Evaluation(transcript, metrics, compute_verdict(metrics, transcript.cost), failures, dict(thresholds))
