"""Read, score and store transcripts one at a time, from paths, background jobs and samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.engines.scoring import Evaluation, ScoreFailure
    from evaluation.readers import ChooseColumns, ReadResult
    from evaluation.readers.import_report import ReportLine
    from evaluation.rubric.verdict import MetricScore
    from evaluation.store import Store
    from evaluation.transcript import Transcript


@dataclass(slots=True)
class Tally:
    """Counts of files by outcome so far.

    Attributes:
        note: Called with each remark that a person should see.
        refused: How many files could not be read.
        repeated: How many held a transcript that an earlier file had held.
        new: How many transcripts the store did not have.
        known: How many it had.
        incomplete: How many transcripts lack a score because a scorer failed.
        lines: What became of each file, for the report on an import.
    """

    note: Callable[[str], None]
    refused: int = 0
    repeated: int = 0
    new: int = 0
    known: int = 0
    incomplete: int = 0
    lines: list[ReportLine] = field(default_factory=list)
    _seen: dict[str, str] = field(default_factory=dict)

    def is_repeated(self, transcript_id: str, name: str) -> bool:
        """Whether an earlier file held the same; says so, and remembers this one if not."""
        if transcript_id not in self._seen:
            self._seen[transcript_id] = name
            return False
        self.repeated += 1
        self.note(f"{name}: the same content as {self._seen[transcript_id]}, counted once.")
        return True

    def refuse(self, line: ReportLine, error: Exception) -> None:
        """Says why a file could not be read."""
        self.refused += 1
        self.lines.append(line)
        self.note(f"error: {line.name}: {error}")


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """An evaluation with the file that it comes from.

    Attributes:
        is_new: Whether the store did not have it; ``None`` when nothing is stored.
        iteration: The iteration that it belongs to in the store.
        is_restored: Whether it had been deleted, and is back now.
    """

    source_name: str
    evaluation: Evaluation
    is_new: bool | None = None
    iteration: str | None = None
    is_restored: bool = False


def evaluate_paths(
    paths: Sequence[Path | str],
    tally: Tally,
    *,
    store: Store | None = None,
    iteration: str | None = None,
    jobs: int = 1,
    choose_columns: ChooseColumns | None = None,
) -> Iterator[ScoredFile]:
    """Each readable transcript below ``paths``, evaluated; with a store, as it stands there with ratings and overrides.

    Files that cannot be read are told to ``tally.note`` and counted; the others go on. With a store,
    its settings say how large a file may be.
    """
    from evaluation.engines.scoring import evaluate_many
    from evaluation.readers import Limits, iter_paths

    lines: deque[ReportLine] = deque()
    thresholds = store.settings.thresholds() if store is not None else None
    limits = store.settings.limits() if store is not None else Limits()
    results = iter_paths(paths, limits, choose_columns)
    transcripts = _remembering(read_transcripts(results, tally), lines)
    for evaluation in evaluate_many(transcripts, thresholds=thresholds, jobs=jobs):
        line = lines.popleft()
        if store is None:
            yield ScoredFile(line.name, evaluation)
        else:
            yield _stored(store, line, evaluation, iteration, tally)


def read_transcripts(results: Iterable[ReadResult], tally: Tally) -> Iterator[tuple[ReportLine, Transcript]]:
    """The transcripts among what was read, each once; the rest is told to ``tally``."""
    from evaluation.readers.import_report import ImportOutcome, ReportLine

    for result in results:
        if result.error is not None:
            tally.refuse(ReportLine.of(result), result.error)
        elif result.transcript is not None:
            if tally.is_repeated(result.transcript.id, result.name):
                tally.lines.append(ReportLine.of(result, ImportOutcome.REPEATED))
            else:
                yield ReportLine.of(result), result.transcript


def _remembering(read: Iterable[tuple[ReportLine, Transcript]], lines: deque[ReportLine]) -> Iterator[Transcript]:
    # The engine may read ahead; it answers in the order in which it was given.
    for line, transcript in read:
        lines.append(line)
        yield transcript


def _stored(store: Store, line: ReportLine, evaluation: Evaluation, iteration: str | None, tally: Tally) -> ScoredFile:
    from evaluation.readers.import_report import ImportOutcome

    name = line.name
    game = store_evaluation(store, evaluation, source_name=name, iteration=iteration, updates_known=True)
    outcome = ImportOutcome.STORED if game.is_new else ImportOutcome.KNOWN
    tally.lines.append(replace(line, outcome=outcome, message=" ".join(failure.what for failure in game.failures)))
    if game.is_new:
        tally.new += 1
        return ScoredFile(name, evaluation, True, game.iteration)
    tally.known += 1
    if game.is_restored:
        tally.note(f"{name}: had been deleted; it is back with its ratings and overrides.")
    if iteration is not None and game.iteration != iteration:
        tally.note(f"{name}: stays in the iteration {game.iteration}; move it with: dramaturg iterations assign.")
    current = current_evaluation(store, evaluation.transcript)
    return ScoredFile(name, current, False, game.iteration, game.is_restored)


@dataclass(frozen=True, slots=True)
class AddedGame:
    """Outcome of scoring and storing a game.

    Attributes:
        is_new: False when the same content was stored before.
        failures: The metrics of a new game that could not be computed.
        is_restored: It had been deleted, and is back with what was known of it.
        iteration: The iteration that it belongs to.
    """

    is_new: bool
    failures: tuple[ScoreFailure, ...] = ()
    is_restored: bool = False
    iteration: str | None = None


def add_evaluated(store: Store, transcript: Transcript, *, source_name: str, iteration: str | None = None) -> AddedGame:
    """Scores a transcript and stores both in one transaction; what is stored already is neither scored nor changed."""
    from evaluation.engines.scoring import evaluate_transcript
    from evaluation.store.games.transcripts import iterations_of

    with store.unit() as cursor:
        known = iterations_of(cursor, [transcript.id])
        thresholds = store.settings.thresholds()
    if known:
        return AddedGame(is_new=False, iteration=known[transcript.id])
    evaluation = evaluate_transcript(transcript, thresholds=thresholds)
    return store_evaluation(store, evaluation, source_name=source_name, iteration=iteration)


def store_evaluation(
    store: Store, evaluation: Evaluation, *, source_name: str, iteration: str | None = None, updates_known: bool = False
) -> AddedGame:
    """Stores a transcript and its results in one transaction. All ways of importing end here.

    Args:
        store: Where to.
        evaluation: The transcript with its results.
        source_name: The name of the file that it comes from.
        iteration: The iteration for a game that has none. A game stays in the iteration that it has.
        updates_known: Whether the iteration is created where it does not exist, and a game that was stored before gets
            these results and, if it has none, the iteration. Otherwise nothing of such a game changes, and an
            iteration that was deleted meanwhile does not come back.

    Raises:
        NotFoundError: There is no such iteration, and none is to be created.
    """
    from evaluation.store.games.transcripts import iterations_of

    transcript = evaluation.transcript
    with store.unit(write=True) as cursor:
        # A game stays in the iteration that it has, which is not a reason to create another one.
        stays = iterations_of(cursor, [transcript.id]).get(transcript.id) is not None
        if updates_known and iteration is not None and not stays:
            store.iterations.ensure(iteration)
        added = store.transcripts.add(transcript, source_name=source_name, iteration=None if stays else iteration)
        belongs_to = added.iteration
        if added.is_new or updates_known:
            store.results.save([evaluation])
        if updates_known and iteration is not None and belongs_to is None:
            store.iterations.assign(transcript.id, iteration)
            belongs_to = iteration
    return AddedGame(added.is_new, evaluation.failures if added.is_new else (), added.is_restored, belongs_to)


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
    """:func:`~evaluation.writers.tables.results_table` of all stored games, or of an iteration's.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    from evaluation.writers.tables import results_table

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
    from evaluation.iterations.from_tables import metrics_by_transcript
    from evaluation.rubric.verdict import apply_thresholds

    with store.unit():
        thresholds = store.settings.thresholds()
        found = metrics_by_transcript(store.results.scores(iteration))
    return {transcript_id: apply_thresholds(metrics, thresholds) for transcript_id, metrics in found.items()}
