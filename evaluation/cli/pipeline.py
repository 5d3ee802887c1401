"""From paths to evaluations: reads, evaluates and, where wanted, stores one transcript at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.terminal import note

if TYPE_CHECKING:
    from evaluation.engine import Evaluation
    from evaluation.store import Store
    from evaluation.transcript import Transcript


@dataclass(slots=True)
class Tally:
    """What became of the files so far.

    Attributes:
        refused: How many files could not be read.
        repeated: How many held a transcript that an earlier file had held.
        new: How many transcripts the store did not have.
        known: How many it had.
        incomplete: How many transcripts lack a score because a scorer failed.
    """

    refused: int = 0
    repeated: int = 0
    new: int = 0
    known: int = 0
    incomplete: int = 0
    _seen: dict[str, str] = field(default_factory=dict)

    def is_repeated(self, transcript_id: str, name: str) -> bool:
        """Whether an earlier file held the same; says so, and remembers this one if not."""
        if transcript_id not in self._seen:
            self._seen[transcript_id] = name
            return False
        self.repeated += 1
        note(f"{name}: the same content as {self._seen[transcript_id]}, counted once.")
        return True

    def refuse(self, name: str, error: Exception) -> None:
        """Says why a file could not be read."""
        self.refused += 1
        note(f"error: {name}: {error}")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with the file that it comes from.

    Attributes:
        is_new: Whether the store did not have it; ``None`` when nothing is stored.
        iteration: The iteration that it belongs to in the store.
    """

    source_name: str
    evaluation: Evaluation
    is_new: bool | None = None
    iteration: str | None = None


def evaluate_paths(
    paths: Sequence[Path],
    tally: Tally,
    *,
    store: Store | None = None,
    iteration: str | None = None,
    jobs: int = 1,
) -> Iterator[Evaluated]:
    """Each readable transcript below ``paths``, evaluated; with a store, as it stands there with ratings and overrides.

    Files that cannot be read are reported on standard error and counted in ``tally``; the others go on.
    """
    from evaluation.engine import evaluate_many

    names: deque[str] = deque()
    thresholds = store.settings.thresholds() if store is not None else None
    transcripts = _remembering(_read(paths, tally), names)
    for evaluation in evaluate_many(transcripts, thresholds=thresholds, jobs=jobs):
        name = names.popleft()
        if store is None:
            yield Evaluated(name, evaluation)
        else:
            yield _stored(store, name, evaluation, iteration, tally)


def _read(paths: Sequence[Path], tally: Tally) -> Iterator[tuple[str, Transcript]]:
    from evaluation.readers import iter_paths

    for result in iter_paths(paths):
        if result.error is not None:
            tally.refuse(result.name, result.error)
        elif result.transcript is not None and not tally.is_repeated(result.transcript.id, result.name):
            yield result.name, result.transcript


def _remembering(named: Iterable[tuple[str, Transcript]], names: deque[str]) -> Iterator[Transcript]:
    # The engine may read ahead; it answers in the order in which it was given.
    for name, transcript in named:
        names.append(name)
        yield transcript


def _stored(store: Store, name: str, evaluation: Evaluation, iteration: str | None, tally: Tally) -> Evaluated:
    transcript = evaluation.transcript
    with store.unit(write=True):
        if iteration is not None:
            store.iterations.ensure(iteration)
        added = store.transcripts.add(transcript, source_name=name, iteration=iteration)
        store.results.save([evaluation])
        belongs_to = added.iteration
        if iteration is not None and belongs_to is None:
            store.iterations.assign(transcript.id, iteration)
            belongs_to = iteration
    if added.is_new:
        tally.new += 1
        return Evaluated(name, evaluation, True, belongs_to)
    tally.known += 1
    if iteration is not None and belongs_to != iteration:
        note(f"{name}: stays in the iteration {belongs_to}; move it with: dramaturg iterations assign.")
    return Evaluated(name, current_evaluation(store, transcript), False, belongs_to)


def current_evaluation(store: Store, transcript: Transcript) -> Evaluation:
    """A stored transcript's results as they stand, its verdict by today's thresholds, and what failed."""
    from evaluation.engine import Evaluation
    from evaluation.rubric.verdict import judge_verdict, rejudge

    with store.unit():
        results = store.results.load(transcript.id)
        failures = tuple(store.results.failures(transcript.id))
        thresholds = store.settings.thresholds()
    verdict = judge_verdict(rejudge(results, thresholds), transcript.cost)
    return Evaluation(transcript, results, verdict, failures, thresholds)
