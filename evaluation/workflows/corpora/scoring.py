"""Score games to Parquet partitions, in this process, in several or on a cluster; begun work goes on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from evaluation.engines.task_engines import EngineName, run_tasks
from evaluation.errors import InfrastructureError, InputError
from evaluation.escaping import well_formed
from evaluation.files.locations import Location
from evaluation.text.display import counted
from evaluation.workflows.scoring import Tally, read_edited, read_transcripts

if TYPE_CHECKING:
    from evaluation.readers import ChooseColumns
    from evaluation.readers.edits import TranscriptEdits
    from evaluation.readers.import_report import ReportLine
    from evaluation.transcript import Transcript

BATCH_SIZE = 16
"""How many games become one partition: enough that handing over costs little, few enough that a kill loses little."""

MOST_FILES = 10_000_000
"""How many files a folder of a corpus may have; the person who scores one has put them there."""


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


@dataclass(frozen=True, slots=True)
class PartitionScored:
    """Answer of a worker: how many games it scored, and what failed, as file name and sentence."""

    games: int
    failures: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class CorpusTally:
    """Counts of games by outcome so far.

    Attributes:
        files: What became of the files that were read.
        scored: Games scored and written now.
        had: Games that were there already, with the same metrics and thresholds.
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
    engine: EngineName = EngineName.LOCAL,
    jobs: int = 1,
    scheduler: str | None = None,
    batch_size: int = BATCH_SIZE,
    choose_columns: ChooseColumns | None = None,
    edits: TranscriptEdits | None = None,
) -> Iterator[int]:
    """Scores the games at paths and URLs by the rubric's thresholds, and writes them as partitions below ``output``.

    Batches are cut from the games in the order of their paths, and what is there already is left out of each. So the
    same inputs make the same partitions again, and a run that was killed repeats the batches that were under way.

    Args:
        places: Paths and URLs of files, zips and folders.
        output: The folder or URL of the corpus.
        tally: Counts, and is told what a person should see.
        iteration: The iteration that the games belong to.
        engine: Where to score.
        jobs: How many processes of this machine.
        scheduler: Of a Dask cluster; ``None`` starts one here.
        batch_size: How many games become one partition.
        choose_columns: Which column of a table holds what.
        edits: Changes to the transcripts as they are read.

    Yields:
        The number of games of each partition, as soon as it is written.

    Raises:
        InputError: ``output`` is a place that the workers cannot see, or ``iteration`` cannot name an iteration.
        InfrastructureError: The cluster was lost, or the output cannot be written. What was written is kept.
    """
    from evaluation.iterations import Iteration
    from evaluation.store.corpus.packing import scoring_key
    from evaluation.store.corpus.partitions import Corpus

    location = Location.of(output)
    if location.is_of_process and (engine is not EngineName.LOCAL or jobs > 1):
        raise InputError(
            "Other processes cannot see what is in the memory of this one.", place=output, remedy="Name a folder."
        )
    if iteration is not None:
        # Refuses here what a database would refuse once all is scored.
        iteration = Iteration(well_formed(iteration)).name
    scoring = scoring_key()
    had = Corpus(location).scored_ids(scoring)
    # A path is told to workers in full: they may run in another folder.
    where = location.path if location.is_local else location.url
    batches = _batches(_games(places, tally, choose_columns, edits), batch_size)
    tasks = _tasks(batches, had, tally, PartitionTask((), (), where, iteration, scoring))
    note = tally.files.note
    answers = run_tasks(score_partition, tasks, split=_split, engine=engine, jobs=jobs, scheduler=scheduler, note=note)
    for task, answer in answers:
        if answer is None:
            tally.lost += len(task.documents)
            for name in task.sources:
                tally.files.note(f"error: {name}: scoring it ended the process each time; it was left out.")
            continue
        tally.scored += answer.games
        tally.files.incomplete += len({name for name, _ in answer.failures})
        for name, what in answer.failures:
            tally.files.note(f"{name}: {what}")
        yield answer.games
    if tally.elsewhere:
        tally.files.note(
            f"Left in another iteration, or in none: {counted(tally.elsewhere, 'game')} that had been scored already."
            " Use another --output to score for this one."
        )


def score_partition(task: PartitionTask) -> PartitionScored:
    """Scores the games of a task and writes their partition; runs wherever the engine puts it.

    Repeating it is harmless: the partition's name follows from its games, and its rows are the same.

    Raises:
        InfrastructureError: This process has other versions of the metrics than the one that asks.
    """
    from evaluation.engines.scoring import evaluate_transcript
    from evaluation.store.corpus.packing import pack, partition_name, scoring_key
    from evaluation.store.corpus.partitions import Corpus
    from evaluation.transcript import Transcript

    if scoring_key() != task.scoring:
        raise InfrastructureError(
            "A worker has other versions of the metrics.", remedy="Install the same Dramaturg on all machines."
        )
    evaluations = [evaluate_transcript(Transcript.from_json(zlib.decompress(one))) for one in task.documents]
    name = partition_name(task.scoring, [one.transcript.id for one in evaluations])
    pairs = list(zip(evaluations, task.sources, strict=True))
    Corpus(Location.of(task.output)).write(
        name, task.iteration, pack(pairs, iteration=task.iteration, scoring=task.scoring)
    )
    failures = [(source, f"{failure.what} {failure.why}") for one, source in pairs for failure in one.failures]
    return PartitionScored(len(evaluations), tuple(failures))


def _games(
    places: Sequence[str], tally: CorpusTally, choose_columns: ChooseColumns | None, edits: TranscriptEdits | None
) -> Iterator[tuple[ReportLine, Transcript]]:
    from evaluation.readers import Limits

    limits = replace(Limits(), files=MOST_FILES)
    read = read_edited(places, limits, choose_columns, edits, tally.files.note)
    for place, transcript in read_transcripts(read, tally.files):
        yield tally.files.lines[place], transcript
        # Nobody asks for them, and there may be millions.
        tally.files.lines.clear()


_Batch = list[tuple["ReportLine", "Transcript"]]


def _batches(games: Iterator[tuple[ReportLine, Transcript]], size: int) -> Iterator[_Batch]:
    while batch := list(islice(games, size)):
        yield batch


def _tasks(
    batches: Iterator[_Batch], had: dict[str, str | None], tally: CorpusTally, empty: PartitionTask
) -> Iterator[PartitionTask]:
    for batch in batches:
        rest = [(line.name, transcript) for line, transcript in batch if transcript.id not in had]
        tally.had += len(batch) - len(rest)
        known = [had[transcript.id] for _, transcript in batch if transcript.id in had]
        tally.elsewhere += len([one for one in known if one != empty.iteration])
        if rest:
            documents = tuple(zlib.compress(transcript.to_json().encode(), level=1) for _, transcript in rest)
            yield replace(empty, documents=documents, sources=tuple(name for name, _ in rest))


def _split(task: PartitionTask) -> list[PartitionTask]:
    pairs = zip(task.documents, task.sources, strict=True)
    return [replace(task, documents=(document,), sources=(source,)) for document, source in pairs]
