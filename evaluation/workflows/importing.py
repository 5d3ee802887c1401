"""Read files, score their games, in several processes where wanted, and store them batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import InputError
from evaluation.workflows.scoring import AddedGame, GameRecord, score_games, store_games
from evaluation.workflows.stored_scores import current_evaluation

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.readers import Answers, ChooseColumns, ReadResult
    from evaluation.readers.import_report import ReportLine
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
        self.lines.append(line)
        self._refuse(line.name, error)

    def settle(self, place: int, line: ReportLine) -> None:
        """Puts the outcome of a game in its place among the lines, which are in the order of the files."""
        self.lines[place] = line

    def refuse_stored(self, place: int, error: InputError) -> None:
        """Says why a game that was read could not be stored."""
        from evaluation.readers.import_report import ImportOutcome

        line = self.lines[place]
        self.settle(place, replace(line, outcome=ImportOutcome.REFUSED, message=error.message, remedy=error.remedy))
        self._refuse(line.name, error)

    def _refuse(self, name: str, error: Exception) -> None:
        self.refused += 1
        self.note(f"error: {name}: {error}")


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
    answers: Answers | None = None,
) -> Iterator[ScoredFile]:
    """Each readable transcript below ``paths``, evaluated; with a store, as it stands there with ratings and overrides.

    Files that cannot be read are told to ``tally.note`` and counted; the others go on. With a store,
    its settings say how large a file may be. ``answers`` say who speaks, to whom and when where files leave it open.
    """
    from evaluation.engines.scoring import batches_of, evaluate_many, map_batches
    from evaluation.readers import Answers, Limits, iter_paths

    places: deque[int] = deque()
    limits = store.settings.limits() if store is not None else Limits()
    read = read_transcripts(iter_paths(paths, limits, choose_columns, answers or Answers()), tally)
    transcripts = _remembering(read, places)
    if store is None:
        for evaluation in evaluate_many(transcripts, jobs=jobs):
            yield ScoredFile(tally.lines[places.popleft()].name, evaluation)
        return
    thresholds = store.settings.thresholds()
    score = partial(score_games, thresholds=thresholds, reader=store.readers.chosen())
    with store.written_in_bulk():
        for batch, packed in map_batches(score, batches_of(transcripts), jobs=jobs):
            placed = [(places.popleft(), *pair) for pair in zip(batch, packed, strict=True)]
            yield from _stored(store, placed, iteration, thresholds, tally)


def read_transcripts(results: Iterable[ReadResult], tally: Tally) -> Iterator[tuple[int, Transcript]]:
    """The transcripts among what was read, each once, with the place of its line among the tally's."""
    from evaluation.readers.import_report import ImportOutcome, ReportLine

    for result in results:
        if result.error is not None:
            tally.refuse(ReportLine.of(result), result.error)
        elif result.transcript is not None:
            if tally.is_repeated(result.transcript.id, result.name):
                tally.lines.append(ReportLine.of(result, ImportOutcome.REPEATED))
            else:
                tally.lines.append(ReportLine.of(result))
                yield len(tally.lines) - 1, result.transcript


def _remembering(read: Iterable[tuple[int, Transcript]], places: deque[int]) -> Iterator[Transcript]:
    # The engine may read ahead; it answers in the order in which it was given.
    for place, transcript in read:
        places.append(place)
        yield transcript


def _stored(
    store: Store,
    batch: Sequence[tuple[int, Transcript, GameRecord]],
    iteration: str | None,
    thresholds: Mapping[str, float],
    tally: Tally,
) -> Iterator[ScoredFile]:
    from evaluation.readers.import_report import ImportOutcome

    games = [(packed, tally.lines[place].name) for place, _, packed in batch]
    for (place, transcript, packed), game in zip(batch, _store_each(store, games, iteration), strict=True):
        if isinstance(game, InputError):
            tally.refuse_stored(place, game)
            continue
        outcome = ImportOutcome.STORED if game.is_new else ImportOutcome.KNOWN
        message = " ".join(failure.what for failure in game.failures)
        line = tally.lines[place]
        tally.settle(place, replace(line, outcome=outcome, message=message))
        yield _as_scored(store, line.name, game, packed.evaluation(transcript, thresholds), iteration, tally)


def _as_scored(
    store: Store, name: str, game: AddedGame, evaluation: Evaluation, iteration: str | None, tally: Tally
) -> ScoredFile:
    if game.is_new:
        tally.new += 1
        return ScoredFile(name, evaluation, True, game.iteration)
    tally.known += 1
    if game.is_restored:
        tally.note(f"{name}: had been deleted; it is back with its ratings and overrides.")
    if iteration is not None and game.iteration != iteration:
        tally.note(f"{name}: stays in the iteration {game.iteration}; move it on the page Games.")
    current = current_evaluation(store, evaluation.transcript)
    return ScoredFile(name, current, False, game.iteration, game.is_restored)


def _store_each(
    store: Store, games: Sequence[tuple[GameRecord, str]], iteration: str | None
) -> Sequence[AddedGame | InputError]:
    """Stores the batch at once; when the store refuses it, game by game, so that only the one at fault stays out."""
    from evaluation.store.engine.duckdb_errors import row_faults

    faults = row_faults()
    try:
        return store_games(store, games, iteration=iteration, updates_known=True)
    except faults:
        outcomes: list[AddedGame | InputError] = []
        for game in games:
            try:
                outcomes += store_games(store, [game], iteration=iteration, updates_known=True)
            except faults as fault:
                why = str(fault).partition("\n")[0].removesuffix(".")
                outcomes.append(InputError(f"The game could not be stored: {why}.", remedy="Correct the file."))
        return outcomes
