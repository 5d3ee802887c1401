"""Have a judge decide rows of a corpus's games, in one process, in several or on a cluster, with one budget."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evaluation.engines.task_engines import EngineName, run_tasks
from evaluation.errors import InfrastructureError, NotFoundError
from evaluation.files.bundled import recording_root
from evaluation.files.locations import Location
from evaluation.judging.answer_formats import FORMAT_VERSION
from evaluation.judging.judge_config import (
    ChosenJudge,
    JudgeConfig,
    SharedCalls,
    build_estimate,
    build_judge,
    local_leases,
    own_prices,
)
from evaluation.judging.judges.estimating import NOTHING_ASKED
from evaluation.judging.judges.recording_file import recordings_version
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.leases import LeaseAddress, LeaseServer, RemoteLeases
from evaluation.judging.model_client.usage import Price
from evaluation.judging.protocol import Judge, JudgementStatus
from evaluation.rubric_judge.judge_rows import JudgedTranscript, judge_rows
from evaluation.rubric_judge.judged_metrics import TASKS
from evaluation.rubric_judge.requests import questions_version
from evaluation.text.display import counted
from evaluation.workflows.judging import JudgingTally

if TYPE_CHECKING:
    from evaluation.store.corpus.judged import JudgedGame
    from evaluation.store.corpus.partitions import Corpus, Partition
    from evaluation.transcript import Transcript

GAMES_PER_TASK = 16
"""How many games a worker judges at the same time, and how many are read again when it is killed."""


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """Games of one partition for a worker, with all that it needs to judge them; no key of a provider.

    Attributes:
        output: The corpus, as a path or URL that the worker reaches.
        partition: The partition.
        ids: Its games that are wanted.
        config: The judge.
        metrics: The metrics whose rows are asked about.
        is_batched: Whether neighbouring rows may share a call.
        scoring: The scoring key of the process that asks; a worker with other metrics refuses.
        leases: Where calls get leave from; ``None`` for a judge that makes none.
        prices: Of models, from the list of the process that asks.
        recordings: The hash of the recordings that are played; empty for another judge.
    """

    output: str
    partition: Partition
    ids: tuple[str, ...]
    config: JudgeConfig
    metrics: tuple[str, ...]
    is_batched: bool
    scoring: str
    leases: LeaseAddress | None
    prices: dict[str, Price]
    recordings: str = ""

    @property
    def judging(self) -> str:
        """The hash of all that decides what is asked, and whom."""
        config = self.config
        wording = [questions_version(), FORMAT_VERSION, self.is_batched, self.recordings]
        parts = [self.scoring, str(config.mode), config.name, config.base_url, *wording, *sorted(self.metrics)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def judge_corpus(
    place: str,
    config: JudgeConfig,
    budget: Budget,
    tally: JudgingTally,
    *,
    metrics: Collection[str] = (),
    is_batched: bool = True,
    iteration: str | None = None,
    engine: EngineName = EngineName.LOCAL,
    jobs: int = 1,
    scheduler: str | None = None,
    note: Callable[[str], None] = print,
) -> Iterator[int]:
    """Judges the games of a corpus, and writes answers and decisions beside its partitions.

    This process holds the budget, the limit of calls under way and what is known of the server. Workers get leave for
    each call from it, so that all limits hold for all of them together. Answers are written as they come: a worker
    that is killed asks again for what was under way and for answers of the moment before that were not in a file yet,
    and so does a run that is killed and begun again.

    Args:
        place: The folder or URL of the corpus.
        config: The judge.
        budget: Holds what may be spent, and what was.
        tally: Counts.
        metrics: Which metrics; all that a judge may decide when empty.
        is_batched: Whether neighbouring rows may share a call.
        iteration: Only the games of this iteration.
        engine: Where to judge.
        jobs: How many processes of this machine.
        scheduler: Of a Dask cluster; ``None`` starts one here.
        note: Called with each remark that a person should see.

    Yields:
        The number of games of each task, once their decisions are written.

    Raises:
        NotFoundError: There is no corpus.
        InputError: The judge cannot be used as it is configured.
        InfrastructureError: The cluster was lost. What was written is kept.
    """
    with ExitStack() as stack:
        server = None
        if config.mode == "live":
            server = stack.enter_context(LeaseServer(local_leases(config, budget), scheduler))
        address = None if server is None else server.address
        tasks = _tasks(place, config, metrics, is_batched, iteration, note, address)
        # Once no call is allowed any more, the games behind it need not be read.
        allowed = _until(tasks, lambda: budget.is_over)
        answers = run_tasks(
            judge_partition, allowed, split=_split, engine=engine, jobs=jobs, scheduler=scheduler, note=note
        )
        for task, answer in answers:
            if answer is None:
                tally.lost += len(task.ids)
                note(f"Judging {counted(len(task.ids), 'game')} ended the process each time: {', '.join(task.ids)}.")
                continue
            tally.merge(answer)
            yield answer.transcripts


def estimate_corpus(
    place: str,
    config: JudgeConfig,
    *,
    metrics: Collection[str] = (),
    is_batched: bool = True,
    iteration: str | None = None,
    note: Callable[[str], None] = print,
) -> str:
    """The calls that ``judge_corpus`` would make and what they would cost, in a sentence."""
    if config.mode != "live":
        return NOTHING_ASKED

    async def run() -> str:
        counting, corpus = await build_estimate(config), _corpus(place)
        for task in _tasks(place, config, metrics, is_batched, iteration, note, None):
            counting.cache = corpus.judged(task.partition)
            await _judged(task, corpus, counting)
        return counting.words

    return asyncio.run(run())


def judge_partition(task: JudgingTask) -> JudgingTally:
    """Judges the games of a task and writes what was decided; runs wherever the engine puts it.

    Repeating it asks nothing for which an answer was written.

    Raises:
        InfrastructureError: This process has other versions of the metrics than the one that asks, that one is gone, or
            the partition was moved by a collection meanwhile.
    """
    from evaluation.store.corpus.packing import scoring_key

    if scoring_key() != task.scoring:
        raise InfrastructureError(
            "A worker has other versions of the metrics.", remedy="Install the same Dramaturg on all machines."
        )
    corpus = _corpus(task.output)
    kept = corpus.judged(task.partition)

    async def run() -> list[JudgedTranscript]:
        async with AsyncExitStack() as stack:
            shared = None
            if task.leases is not None:
                leases = {one.model: RemoteLeases(task.leases, one.model) for one in task.config.members}
                for each in leases.values():
                    await stack.enter_async_context(each.connected())
                shared = SharedCalls(leases, task.prices)
            judge: ChosenJudge = build_judge(task.config, cache=kept, shared=shared)
            await stack.enter_async_context(judge.session())
            return await _judged(task, corpus, judge)

    tally, games = JudgingTally(), []
    for judged in asyncio.run(run()):
        tally.add(judged)
        games.append(_game(task, judged))
    if not corpus.holds(task.partition):
        # What was written beside the old partition is not found beside the new one.
        raise InfrastructureError(
            "The corpus was collected while it was judged; some answers are lost.",
            place=task.output,
            remedy="Run the same command again, and collect when it is done.",
        )
    kept.finish(games)
    return tally


async def _judged(task: JudgingTask, corpus: Corpus, judge: Judge) -> list[JudgedTranscript]:
    """All games of a task at the same time: the questions of one may be fewer than the calls that are allowed."""
    from evaluation.engines.scoring import evaluate_transcript

    async def one(transcript: Transcript) -> JudgedTranscript:
        # Scoring again gives the rows that the corpus holds, and takes a moment beside the judge.
        results = evaluate_transcript(transcript).metrics
        return await judge_rows(transcript, results, judge, metrics=task.metrics, is_batched=task.is_batched)

    return list(await asyncio.gather(*map(one, corpus.transcripts(task.partition, task.ids))))


def _game(task: JudgingTask, judged: JudgedTranscript) -> JudgedGame:
    from evaluation.store.corpus.judged import JudgedGame

    open_ends = {JudgementStatus.SKIPPED, JudgementStatus.ERROR}
    is_complete = not any(row.judgement.status in open_ends for row in judged.rows)
    return JudgedGame(judged.transcript.id, task.judging, is_complete, datetime.now(UTC), tuple(judged.decisions))


def _corpus(place: str) -> Corpus:
    from evaluation.store.corpus.partitions import Corpus

    return Corpus(Location.of(place))


def _tasks(
    place: str,
    config: JudgeConfig,
    metrics: Collection[str],
    is_batched: bool,
    iteration: str | None,
    note: Callable[[str], None],
    leases: LeaseAddress | None,
) -> Iterator[JudgingTask]:
    from evaluation.store.corpus.packing import scoring_key

    corpus, scoring = _corpus(place), scoring_key()
    partitions = [one for one in corpus.partitions() if corpus.is_of_iteration(one, iteration)]
    if not partitions:
        raise NotFoundError(
            "There is no scored game.", place=place, remedy="Make some with: dramaturg evaluate GAMES --output PLACE."
        )
    # A path is told to workers in full: they may run in another folder. The prices go along, not their file's name.
    where = corpus.location.path if corpus.location.is_local else corpus.location.url
    played = config.recordings and config.recordings.absolute()
    bare, prices = config.model_copy(update={"pricing": None, "recordings": played}), own_prices(config)
    # With more recordings, games that were judged before may get more answers.
    recorded = recordings_version(played or recording_root()) if config.mode == "recorded" else ""
    had = 0
    for partition in partitions:
        names = tuple(metrics) or tuple(TASKS)
        whole = JudgingTask(where, partition, (), bare, names, is_batched, scoring, leases, prices, recorded)
        complete = corpus.judged(partition).complete_ids(whole.judging)
        ids = corpus.current_ids(partition, scoring)
        had += len(complete.intersection(ids))
        rest = [one for one in ids if one not in complete]
        for start in range(0, len(rest), GAMES_PER_TASK):
            yield replace(whole, ids=tuple(rest[start : start + GAMES_PER_TASK]))
    if had:
        note(f"{counted(had, 'game')} had been judged already.")


def _until(tasks: Iterator[JudgingTask], is_over: Callable[[], bool]) -> Iterator[JudgingTask]:
    for task in tasks:
        if is_over():
            return
        yield task


def _split(task: JudgingTask) -> list[JudgingTask]:
    return [replace(task, ids=(one,)) for one in task.ids]
