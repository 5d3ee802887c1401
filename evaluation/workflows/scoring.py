"""Score transcripts and store them: one at a time, in batches, and file by file with a tally of what became of each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import OpenQuestionError

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.engines.scoring import Evaluation, ScoreFailure
    from evaluation.readers import Answers, ChooseColumns, ReadResult
    from evaluation.readers.import_report import ReportLine
    from evaluation.rubric.verdict import Verdict
    from evaluation.store import Added, Store
    from evaluation.store.result_rows import ScoredGame
    from evaluation.transcript import Transcript


def score_games(transcripts: Sequence[Transcript], *, thresholds: Mapping[str, float]) -> list[ScoredGame]:
    """Scores a batch of games and packs each into the rows that the store takes.

    Any process may do it: it touches no store. The same games and thresholds always give the same rows.

    Args:
        transcripts: The games of the batch.
        thresholds: By metric; the rubric's where one is left out.

    Returns:
        One packed game per transcript, in their order.
    """
    from evaluation.engines.scoring import evaluate_transcript
    from evaluation.store.result_rows import ScoredGame
    from evaluation.store.transcript_rows import TranscriptRows

    games = []
    for transcript in transcripts:
        found = evaluate_transcript(transcript, thresholds=thresholds)
        scored = ScoredGame.of(transcript.id, found.metrics, found.failures)
        games.append(replace(scored, transcript=TranscriptRows.of(transcript), verdict=found.verdict))
    return games


def add_evaluated(store: Store, transcript: Transcript, *, source_name: str, iteration: str | None = None) -> Added:
    """Scores a transcript and stores both in one transaction; what is stored already is neither scored nor changed."""
    from evaluation.store.transcripts import Added, iterations_of

    with store.unit() as cursor:
        known = iterations_of(cursor, [transcript.id])
        thresholds = store.settings.thresholds()
    if known:
        return Added(transcript.id, False, known[transcript.id])
    [packed] = score_games([transcript], thresholds=thresholds)
    return store_games(store, [(packed, source_name)], iteration=iteration)[0]


def store_games(
    store: Store,
    games: Sequence[tuple[ScoredGame, str]],
    *,
    iteration: str | None = None,
    updates_known: bool = False,
) -> list[Added]:
    """Stores transcripts and their results in one transaction: all or none. All ways of importing end here.

    Args:
        store: Where to.
        games: Each with the name of the file that it comes from; no two with the same content.
        iteration: The iteration for games that have none. A game stays in the iteration that it has.
        updates_known: Whether the iteration is created where it does not exist, and a game that was stored before gets
            these results and, if it has none, the iteration. Otherwise nothing of such a game changes, and an
            iteration that was deleted meanwhile does not come back.

    Raises:
        NotFoundError: There is no such iteration, and none is to be created.
    """
    from evaluation.store.transcripts import deleted_ones, iterations_of

    with store.unit(write=True, join=True) as cursor:
        ids = [game.transcript_id for game, _ in games]
        known, deleted = iterations_of(cursor, ids), deleted_ones(cursor, ids)
        # A game stays in the iteration that it has, which is not a reason to create another one.
        if updates_known and iteration is not None and any(known.get(each) is None for each in ids):
            store.iterations.ensure(iteration)
        added: list[Added] = []
        # The games of an iteration stand in the order in which they came, be they new, moved there or back.
        for is_new, group in groupby(games, key=lambda one: one[0].transcript_id not in known.keys() | deleted):
            items = [(game.transcript, name) for game, name in group if game.transcript]
            for part in [items] if is_new else [[item] for item in items]:
                stays = known.get(part[0][0].id) is not None
                added += store.transcripts.add_many(part, iteration=None if stays else iteration)
                if updates_known and iteration is not None and added[-1].iteration is None:
                    store.iterations.move([added[-1].transcript_id], iteration)
                    added[-1] = replace(added[-1], iteration=iteration)
        pairs = [(game, one) for (game, _), one in zip(games, added, strict=True)]
        store.results.save_rows([game for game, one in pairs if one.is_new or updates_known])
    return [replace(one, failures=game.failures if one.is_new else ()) for game, one in pairs]


def current_evaluation(store: Store, transcript: Transcript) -> Evaluation:
    """A stored transcript's results as they stand, its verdict by today's thresholds, and what failed."""
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import compute_verdict

    with store.unit():
        results = store.results.load(transcript.id)
        failures = tuple(store.results.failures(transcript.id))
        thresholds = store.settings.thresholds()
    return Evaluation(transcript, results, compute_verdict(results, transcript.cost), failures, thresholds)


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


_MOST_ASKED = 3


@dataclass(slots=True)
class Tally:
    """Counts of files by outcome so far.

    Attributes:
        note: Called with each remark that a person should see.
        refused: How many files could not be read.
        incomplete: How many transcripts lack a score because a scorer failed.
        unheard: How many were taken in with an open question about who could hear.
        lines: What became of each file, for the report on an import.
    """

    note: Callable[[str], None]
    refused: int = 0
    incomplete: int = 0
    unheard: int = 0
    lines: list[ReportLine] = field(default_factory=list)
    _seen: dict[str, str] = field(default_factory=dict)
    _asked: Counter[tuple[str, frozenset[tuple[str, str]]]] = field(default_factory=Counter)

    def is_repeated(self, transcript_id: str, name: str) -> bool:
        """Whether an earlier file held the same; says so, and remembers this one if not."""
        if transcript_id not in self._seen:
            self._seen[transcript_id] = name
            return False
        self.note(f"{name}: the same content as {self._seen[transcript_id]}, counted once.")
        return True

    def ask(self, result: ReadResult) -> None:
        """Says what is open about a game that was read, with the options that answer it."""
        from evaluation.readers import NOT_READ, Topic

        for remark in result.remarks:
            if NOT_READ in remark:
                self.note(f"{result.name}: {remark}")
        for question in result.questions:
            self.note(f"question: {result.name}: {question.words} To change it: {question.option}")
        self.unheard += any(question.topic is Topic.CHANNEL for question in result.questions)

    def refuse(self, line: ReportLine, error: Exception) -> None:
        """Says why a file could not be read."""
        self.lines.append(line)
        self.refused += 1
        place, kind, more = line.name.rpartition("/")[0], "error", ""
        if isinstance(error, OpenQuestionError):
            kind = "question"
            self._asked[place, error.asked] += bool(place)
            asked = self._asked[place, error.asked]
            if asked > _MOST_ASKED:
                return
            more = f" Further games of {place} that ask this are not listed." if asked == _MOST_ASKED else ""
        self.note(f"{kind}: {line.name}: {error}{more}")


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """A scored transcript with the file that it comes from.

    Attributes:
        verdict: On its results; with the ratings and overrides of a game that the store had.
        failures: The metrics that could not be computed.
        evaluation: Returns all its results; of a stored game as they stand in the store.
        is_new: Whether the store did not have it; ``None`` when nothing is stored.
        iteration: The iteration that it belongs to in the store.
        is_restored: Whether it had been deleted, and is back now.
    """

    source_name: str
    transcript: Transcript
    verdict: Verdict
    failures: tuple[ScoreFailure, ...]
    evaluation: Callable[[], Evaluation]
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
    from evaluation.engines.scoring import BATCH_SIZE, evaluate_many
    from evaluation.engines.task_engines import map_tasks
    from evaluation.readers import Answers, Limits, iter_paths

    places: deque[int] = deque()
    limits = store.settings.limits() if store is not None else Limits()
    read = read_transcripts(iter_paths(paths, limits, choose_columns, answers or Answers()), tally)
    transcripts = _remembering(read, places)
    if store is None:
        for found in evaluate_many(transcripts, jobs=jobs):
            name = tally.lines[places.popleft()].name
            yield ScoredFile(name, found.transcript, found.verdict, found.failures, partial(replace, found))
        return
    score = partial(score_games, thresholds=store.settings.thresholds())
    with store.written_in_bulk():
        for batch, packed in map_tasks(score, iter(lambda: list(islice(transcripts, BATCH_SIZE)), []), jobs=jobs):
            placed = [(places.popleft(), *pair) for pair in zip(batch, packed, strict=True)]
            yield from _stored(store, placed, iteration, tally)


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
                tally.ask(result)
                yield len(tally.lines) - 1, result.transcript


def _remembering(read: Iterable[tuple[int, Transcript]], places: deque[int]) -> Iterator[Transcript]:
    # The engine may read ahead; it answers in the order in which it was given.
    for place, transcript in read:
        places.append(place)
        yield transcript


def _stored(
    store: Store, batch: Sequence[tuple[int, Transcript, ScoredGame]], iteration: str | None, tally: Tally
) -> Iterator[ScoredFile]:
    from evaluation.readers.import_report import ImportOutcome

    games = [(packed, tally.lines[place].name) for place, _, packed in batch]
    added = store_games(store, games, iteration=iteration, updates_known=True)
    for (place, transcript, packed), game in zip(batch, added, strict=True):
        name, evaluation = tally.lines[place].name, partial(current_evaluation, store, transcript)
        message = " ".join((*(failure.what for failure in game.failures), tally.lines[place].message)).strip()
        outcome = ImportOutcome.STORED if game.is_new else ImportOutcome.KNOWN
        tally.lines[place] = replace(tally.lines[place], outcome=outcome, message=message)
        if game.is_restored:
            tally.note(f"{name}: had been deleted; it is back with its ratings and overrides.")
        if not game.is_new and iteration is not None and game.iteration != iteration:
            tally.note(f"{name}: stays in the iteration {game.iteration}; move it on the page Games.")
        verdict, failures = packed.verdict, game.failures
        if verdict is None or not game.is_new:
            current = evaluation()
            verdict, failures = current.verdict, current.failures
        yield ScoredFile(name, transcript, verdict, failures, evaluation, game.is_new, game.iteration, game.is_restored)
