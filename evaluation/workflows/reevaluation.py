"""Score stored games again, and compare their scores with chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from evaluation.engines.scoring import SCORERS, Evaluation, add_controls, evaluate_many
from evaluation.engines.task_engines import map_tasks
from evaluation.errors import NotFoundError
from evaluation.progress import ProgressCallback, no_progress
from evaluation.rubric.controls import CONTROLLED
from evaluation.rubric.definitions import DEFINITIONS, VERSIONS
from evaluation.rubric.link_strength import link_strengths
from evaluation.score import MetricResult
from evaluation.store import Store
from evaluation.store.result_rows import control_rows
from evaluation.text.display import counted
from evaluation.transcript import Transcript

_Scores = dict[tuple[str, str], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Reevaluated:
    """Outcomes of games that were evaluated again.

    Attributes:
        games: How many were.
        changed: In how many of them the score or the status differs from before, by metric; those without left out.
        incomplete: How many have a metric that could not be computed.
        gone: How many were deleted before their turn came.
    """

    games: int = 0
    changed: dict[str, int] = field(default_factory=dict)
    incomplete: int = 0
    gone: int = 0

    @property
    def words(self) -> str:
        """The outcome in a sentence or two."""
        changed = ", ".join(
            f"{DEFINITIONS[metric].label} in {counted(count, 'game')}" for metric, count in self.changed.items()
        )
        gone = f" {counted(self.gone, 'game')} had been deleted meanwhile." if self.gone else ""
        missing = f" In {counted(self.incomplete, 'game')} a metric could not be computed." if self.incomplete else ""
        return f"Scored {counted(self.games, 'game')} again; changed: {changed or 'nothing'}.{gone}{missing}"


def outdated(store: Store, iteration: str | None = None) -> list[str]:
    """The transcripts of which an automatic metric has no result by today's definition and the chosen reader.

    Args:
        store: Where they are.
        iteration: Only its transcripts; ``None`` for all.

    Returns:
        Their ids, in the order in which they were put into their iteration.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit():
        ids = store.transcripts.ids(iteration)
        scores = store.results.scores(iteration)
    today = scores["version"] == scores["metric"].map(VERSIONS)
    fresh = scores[today & scores["metric"].isin(list(SCORERS))].groupby("transcript_id").size().to_dict()
    return [each for each in ids if fresh.get(each, 0) < len(SCORERS)]


def reevaluate(
    store: Store, transcript_ids: Sequence[str], progress: ProgressCallback = no_progress, *, jobs: int = 1
) -> Reevaluated:
    """Evaluates stored transcripts by today's definitions and thresholds, and stores each as soon as it is done.

    The results that were there stay on record; ratings and overrides stand. What is stopped half-way can be begun
    again: what was done is no longer :func:`outdated`.

    Args:
        store: Where they are.
        transcript_ids: Full ids; one that is deleted meanwhile is passed over.
        progress: Told how far it is.
        jobs: How many processes compute.
    """
    before = _scores(store, transcript_ids)
    games = incomplete = 0
    thresholds = store.settings.thresholds()
    for evaluation in evaluate_many(_transcripts(store, transcript_ids), thresholds=thresholds, jobs=jobs):
        with suppress(NotFoundError):
            store.results.save([evaluation])
            games += 1
            incomplete += bool(evaluation.failures)
        progress(games, len(transcript_ids))
    changed = _changes(before, _scores(store, transcript_ids))
    return Reevaluated(games, changed, incomplete, len(transcript_ids) - games)


def _transcripts(store: Store, transcript_ids: Sequence[str]) -> Iterator[Transcript]:
    for transcript_id in transcript_ids:
        with suppress(NotFoundError):
            yield store.transcripts.get(transcript_id)


def _scores(store: Store, transcript_ids: Sequence[str]) -> _Scores:
    table = store.results.scores()
    chosen = table[table["transcript_id"].isin(list(transcript_ids)) & table["metric"].isin(list(SCORERS))]
    scores = chosen["score"].astype(object).where(chosen["score"].notna(), None)
    keys = zip(chosen["transcript_id"], chosen["metric"], strict=True)
    return dict(zip(keys, zip(chosen["status"], scores, strict=True), strict=True))


def _changes(before: _Scores, after: _Scores) -> dict[str, int]:
    counts = dict.fromkeys(SCORERS, 0)
    for key, outcome in after.items():
        counts[key[1]] += before.get(key) != outcome
    return {metric: count for metric, count in counts.items() if count}


def compute_missing(
    store: Store, transcript_ids: Sequence[str], progress: ProgressCallback = no_progress, *, jobs: int = 1
) -> int:
    """Computes and stores the controls of transcripts, each as soon as it is done; how many were.

    What is stopped half-way can be begun again: what was done is no longer missing.

    Args:
        store: Where they are.
        transcript_ids: Full ids; one that is deleted meanwhile is passed over.
        progress: Told how far it is.
        jobs: How many processes compute.
    """
    done = 0
    for count, ((transcript, _), results) in enumerate(
        map_tasks(_controlled, _with_results(store, transcript_ids), jobs=jobs), start=1
    ):
        with suppress(NotFoundError):
            store.controls.save(transcript.id, control_rows(results, link_strengths(transcript)))
            done += 1
        progress(count, len(transcript_ids))
    return done


_Results = Mapping[str, MetricResult]


def _controlled(game: tuple[Transcript, _Results]) -> _Results:
    return add_controls(*game)


def _with_results(store: Store, transcript_ids: Sequence[str]) -> Iterator[tuple[Transcript, _Results]]:
    for transcript_id in transcript_ids:
        with suppress(NotFoundError):
            yield store.transcripts.get(transcript_id), store.results.load(transcript_id)


def completed(store: Store | None, evaluations: Iterable[Evaluation], *, jobs: int = 1) -> Iterator[Evaluation]:
    """Each evaluation with its controls; with a store, those that were missing are kept there."""
    for evaluation, results in map_tasks(_completed, evaluations, jobs=jobs):
        if results is not None and store is not None:
            store.controls.save(evaluation.transcript.id, control_rows(results, link_strengths(evaluation.transcript)))
        yield evaluation if results is None else evaluation.with_metrics(results)


def _completed(evaluation: Evaluation) -> _Results | None:
    if all(name not in evaluation.metrics or evaluation.metrics[name].control is not None for name in CONTROLLED):
        return None
    return add_controls(evaluation.transcript, evaluation.metrics)
