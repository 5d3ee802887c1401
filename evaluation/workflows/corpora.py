"""Score games to Parquet files, in this process, in several or on a cluster, and collect them into a database."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from evaluation.engines.task_engines import map_tasks, run_on_cluster
from evaluation.errors import InfrastructureError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.files.locations import Location
from evaluation.text.display import counted
from evaluation.workflows.scoring import Tally, read_transcripts, store_games

if TYPE_CHECKING:
    from evaluation.readers import Answers, ChooseColumns
    from evaluation.store import Store
    from evaluation.transcript import Transcript

BATCH_SIZE = 16
"""How many games become one file: enough that handing over costs little, few enough that a kill loses little."""

MOST_FILES = 10_000_000
"""How many files a folder of games may have; the person who scores one has put them there."""


@dataclass(frozen=True, slots=True)
class PartitionTask:
    """Games for a worker, with all that it needs to score and write them.

    Attributes:
        documents: The games as canonical JSON (zlib), which other versions of Python and of pydantic read too.
        sources: The names of the files that they come from.
        output: The corpus, as a path or URL that the worker reaches.
        iteration: The iteration that the games belong to.
        scoring: The scoring key of the process that asks; a worker with other metrics refuses.
    """

    documents: tuple[bytes, ...]
    sources: tuple[str, ...]
    output: str
    iteration: str | None
    scoring: str


@dataclass(slots=True)
class CorpusTally:
    """Counts of games by outcome so far.

    Attributes:
        files: What became of the files that were read.
        scored: Games scored and written now.
        had: Games that were there already, with the same metrics.
        elsewhere: How many of these are in another iteration than the one that was asked for.
        lost: Games whose scoring ended its process each time.
    """

    files: Tally
    scored: int = 0
    had: int = 0
    elsewhere: int = 0
    lost: int = 0


def score_to_corpus(
    places: Sequence[str],
    output: str,
    tally: CorpusTally,
    *,
    iteration: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    batch_size: int = BATCH_SIZE,
    choose_columns: ChooseColumns | None = None,
    answers: Answers | None = None,
) -> Iterator[int]:
    """Scores the games at paths and URLs by the rubric's thresholds, and writes them in files below ``output``.

    Batches are cut from the games in the order of their paths, and what is there already is left out of each. So the
    same inputs make the same files again, and a run that was killed repeats the batches that were under way.

    Args:
        places: Paths and URLs of files, zips and folders.
        output: The folder or URL of the corpus.
        tally: Counts, and is told what a person should see.
        iteration: The iteration that the games belong to.
        jobs: How many processes of this machine.
        scheduler: Of the Dask cluster that scores; ``None`` for this machine.
        batch_size: How many games become one file.
        choose_columns: Which column of a table holds what.
        answers: To what files leave open about who speaks, to whom and when.

    Yields:
        The number of games of each file, as soon as it is written.

    Raises:
        InputError: ``iteration`` cannot name an iteration.
        InfrastructureError: The cluster was lost, or the output cannot be written. What was written is kept.
    """
    from evaluation.iterations.iteration import Iteration, new_iteration_name
    from evaluation.store.corpus import Corpus, scoring_key

    location = Location.of(output)
    if iteration is not None:
        # Refuses here what a database would refuse once all is scored.
        iteration = new_iteration_name(Iteration(well_formed(iteration)).name)
    # A path is told to workers in full: they may run in another folder.
    where = location.path if location.is_local else location.url
    empty = PartitionTask((), (), where, iteration, scoring_key())
    games = _games(places, tally.files, choose_columns, answers)
    tasks = _tasks(games, batch_size, Corpus(location).scored_ids(), tally, empty)
    done: Iterator[tuple[PartitionTask, list[tuple[str, str]] | None]]
    if scheduler is not None:
        done = run_on_cluster(score_partition, tasks, split=_split, scheduler=scheduler)
    else:
        done = map_tasks(score_partition, tasks, jobs=jobs)
    for task, failures in done:
        if failures is None:
            tally.lost += len(task.documents)
            for name in task.sources:
                tally.files.note(f"error: {name}: scoring it ended the process each time; it was left out.")
            continue
        tally.scored += len(task.documents)
        tally.files.incomplete += len({name for name, _ in failures})
        for name, what in failures:
            tally.files.note(f"{name}: {what}")
        yield len(task.documents)
    if tally.elsewhere:
        tally.files.note(
            f"Left in another iteration, or in none: {counted(tally.elsewhere, 'game')} that had been scored already."
            " Use another --output to score for this one."
        )


def score_partition(task: PartitionTask) -> list[tuple[str, str]]:
    """Scores the games of a task and writes their file; runs wherever the engine puts it.

    Repeating it is harmless: the file's name follows from its games, and its rows are the same.

    Returns:
        What failed, as file name and sentence.

    Raises:
        InfrastructureError: This process has other versions of the metrics than the one that asks.
    """
    from evaluation.engines.scoring import evaluate_transcript
    from evaluation.store.corpus import Corpus, scoring_key
    from evaluation.transcript import Transcript

    if scoring_key() != task.scoring:
        raise InfrastructureError(
            "A worker has other versions of the metrics.", remedy="Install the same Dramaturg on all machines."
        )
    evaluations = [evaluate_transcript(Transcript.from_json(zlib.decompress(one))) for one in task.documents]
    pairs = list(zip(evaluations, task.sources, strict=True))
    Corpus(Location.of(task.output)).write(pairs, task.iteration)
    return [(source, f"{failure.what} {failure.why}") for one, source in pairs for failure in one.failures]


def _games(
    places: Sequence[str], tally: Tally, choose_columns: ChooseColumns | None, answers: Answers | None
) -> Iterator[tuple[str, Transcript]]:
    from evaluation.readers import Answers, Limits, iter_paths

    read = iter_paths(places, replace(Limits(), files=MOST_FILES), choose_columns, answers or Answers())
    for place, transcript in read_transcripts(read, tally):
        yield tally.lines[place].name, transcript
        # Nobody asks for them, and there may be millions.
        tally.lines.clear()


def _tasks(
    games: Iterator[tuple[str, Transcript]],
    size: int,
    had: dict[str, str | None],
    tally: CorpusTally,
    empty: PartitionTask,
) -> Iterator[PartitionTask]:
    while batch := list(islice(games, size)):
        rest = [(name, transcript) for name, transcript in batch if transcript.id not in had]
        known = [had[transcript.id] for _, transcript in batch if transcript.id in had]
        tally.had += len(known)
        tally.elsewhere += len([one for one in known if one != empty.iteration])
        if rest:
            documents = tuple(zlib.compress(transcript.to_json().encode(), level=1) for _, transcript in rest)
            yield replace(empty, documents=documents, sources=tuple(name for name, _ in rest))


def _split(task: PartitionTask) -> list[PartitionTask]:
    pairs = zip(task.documents, task.sources, strict=True)
    return [replace(task, documents=(document,), sources=(source,)) for document, source in pairs]


def import_corpus(place: str, store: Store) -> Iterator[Counter[str]]:
    """Imports the games of a corpus that a store does not have. Running it again adds what is new.

    Args:
        place: The folder or URL of the corpus.
        store: Where to.

    Yields:
        The games of each file once they are stored: "new", "known" (they keep their results), "deleted" (they stay so).

    Raises:
        NotFoundError: There is no corpus, or other versions of the metrics have scored it.
        InfrastructureError: A file is damaged.
    """
    from evaluation.store.corpus import Corpus
    from evaluation.store.transcripts import deleted_ones, iterations_of

    corpus = Corpus(Location.of(place))
    files = corpus.files()
    if not files:
        raise NotFoundError(
            "There is no game that this version has scored.",
            place=place,
            remedy="Make some with: dramaturg evaluate GAMES --output PLACE.",
        )
    for file in files:
        games = {one[0].transcript_id: one for one in corpus.read(file)}
        with store.unit(write=True) as cursor:
            known, deleted = iterations_of(cursor, list(games)), deleted_ones(cursor, list(games))
            fresh = [one for key, one in games.items() if key not in known and key not in deleted]
            for iteration, group in groupby(fresh, key=lambda one: one[2]):
                store_games(store, [(game, name) for game, name, _ in group], iteration=iteration, updates_known=True)
        yield Counter(new=len(fresh), known=len(known), deleted=len(deleted))
