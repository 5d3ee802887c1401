"""Background jobs: threads of the server that continue when a person leaves the page, and report to the store.

A thread sees no session and cannot draw. It gets plain arguments, stores every item as soon as it is done, and stops
after the current one when somebody asks. Pages read the row. A job whose server has ended shows as interrupted, and
goes on from where it was when somebody wishes: what it has still to do is in the store too.

A job works on the store without the guard, which asks whose session it is. That somebody may begin the job is checked
when it is recorded, through the guarded store of their page.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dashboard.shared.jobs.judging_jobs import (
    CHECKS,
    PERSONAS,
    ROWS,
    ChecksOrder,
    JudgingRequest,
    PersonaOrder,
    RowsOrder,
    check_games,
    evaluate_agents,
    imports_to_read,
    judge_games,
)
from evaluation.errors import ConflictError, DramaturgError
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT
from evaluation.experiments.study import StudyPlan
from evaluation.progress import ProgressCallback
from evaluation.readers.import_report import ImportReport
from evaluation.store import Job, JobState, Store
from evaluation.text.display import counted
from evaluation.transcript import Transcript
from evaluation.workflows.jobs import begin_order
from evaluation.workflows.reevaluation import compute_missing, outdated, reevaluate
from evaluation.workflows.samples import load_examples, load_samples
from evaluation.workflows.scoring import add_evaluated
from evaluation.workflows.studies import begin_study, run_study

SAMPLES = "samples"
EXAMPLES = "examples"
EVALUATE = "evaluate"
REEVALUATE = "reevaluate"
CONTROLS = "controls"
QUIET = frozenset({CONTROLS})
"""Work that follows other work by itself, and needs no place on the pages while it runs."""
SAMPLES_VARIABLE = "DRAMATURG_LOAD_SAMPLES"

_first_start_lock = threading.Lock()


class Cancelled(Exception):
    """A person requested that the job stop."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of work in the background; one job of it runs at a time.

    Attributes:
        label: What a job is called on screen, where its order gives it no name.
        run: Does what is left of the job with this id, reporting after each item; says what came of it. It finds out
            from the store what is left, so that it can go on after its server has ended.
        total: How many items there are, where that is known before.
    """

    label: str
    run: Callable[[Store, str, ProgressCallback], str]
    total: Callable[[Store], int] = lambda _: 0


def start(store: Store, kind: str, order: Mapping[str, Any] | None = None) -> Job:
    """Begins a job in the background.

    Args:
        store: Where the job is recorded.
        kind: One of ``KINDS``.
        order: What it is to do, as JSON values.

    Raises:
        ConflictError: A job of the kind is running.
    """
    return _begin(store, begin_order(store, kind, KINDS[kind].label, KINDS[kind].total(store), order))


def _begin(store: Store, job: Job) -> Job:
    threading.Thread(target=_run, args=(store.unguarded(), job), name=f"job-{job.kind}", daemon=True).start()
    return job


def _run(store: Store, job: Job) -> None:
    def report(done: int, total: int) -> None:
        if store.jobs.update(job.id, done=done, total=total).is_cancel_requested and done < total:
            raise Cancelled

    try:
        message = KINDS[job.kind].run(store, job.id, report)
    except Cancelled:
        end(store, job.id)
    except DramaturgError as error:
        store.jobs.update(job.id, state=JobState.FAILED, message=str(error))
    except Exception as error:
        # Nobody else would tell the person who waits.
        logging.getLogger(__name__).exception("The job %s failed", job.id)
        store.jobs.update(job.id, state=JobState.FAILED, message=f"{type(error).__name__}: {error}")
    else:
        store.jobs.update(job.id, state=JobState.DONE, message=message)
        store.import_queue.clear(job.id)
        if job.kind == SAMPLES:
            start(store, EXAMPLES)
        if job.kind in (EVALUATE, EXAMPLES, REEVALUATE):
            start_controls(store)
        if job.kind in (EVALUATE, ROWS):
            start_reading_imports(store, job)


def start_evaluation(store: Store, games: Sequence[tuple[Transcript, str]], report: ImportReport) -> Job:
    """Scores and stores games with their source names, into the iteration of the report, and keeps the report.

    The games are kept in the store until they are scored, all of them before this returns.

    Raises:
        ConflictError: Games are being scored already.
    """
    with store.unit(write=True):
        job = begin_order(store, EVALUATE, KINDS[EVALUATE].label, len(games))
        for earlier in store.jobs.list():
            if earlier.state is JobState.FAILED:
                # Whoever starts anew has had the choice to go on with it.
                store.import_queue.clear(earlier.id)
        store.import_queue.put(job.id, games, report.iteration)
        # Whatever an earlier import left open has ended by now.
        store.imports.settle()
        store.imports.save(report)
    return _begin(store, job)


def _score_waiting(store: Store, job_id: str, report: ProgressCallback) -> str:
    total = store.jobs.get(job_id).total
    waiting = store.import_queue.waiting(job_id)
    incomplete = 0
    for done, position in enumerate(waiting, start=total - len(waiting) + 1):
        transcript, source_name, wanted = store.import_queue.get(job_id, position)
        # The iteration may have gone since the job began, or have got another name; the game must not go with it.
        iteration = wanted if wanted in {one.name for one in store.iterations.list()} else None
        added = add_evaluated(store, transcript, source_name=source_name, iteration=iteration)
        incomplete += bool(added.failures)
        store.import_queue.remove(job_id, position)
        report(done, total)
    store.imports.settle()
    return f"{counted(total, 'game')} stored{_incomplete_words(incomplete)}"


def _incomplete_words(count: int) -> str:
    return f". In {counted(count, 'game')} a metric could not be computed" if count else ""


def _score_outdated(store: Store, _job_id: str, report: ProgressCallback) -> str:
    return reevaluate(store, outdated(store), report).words


def start_controls(store: Store) -> None:
    """Compares scores with chance where that was not done yet."""
    if store.controls.missing():
        # One that runs looks again for what is missing before it ends.
        with suppress(ConflictError):
            start(store, CONTROLS)


def _compare(store: Store, _job_id: str, report: ProgressCallback) -> str:
    done = 0
    tried: set[str] = set()
    while missing := [one for one in store.controls.missing() if one not in tried]:
        tried.update(missing)
        done += compute_missing(store, missing, report)
    return f"{counted(done, 'game')} compared"


def start_judging(store: Store, order: JudgingRequest) -> Job:
    """Has a judge evaluate agents, decide rows of games, or check messages: whatever is ordered.

    Raises:
        ConflictError: The same kind of work is under way.
    """
    if isinstance(order, PersonaOrder):
        order = order.model_copy(update={"after_run": store.evaluations.newest()})
    return start(store, _ORDERED[type(order)], order.model_dump(mode="json"))


def start_reading_imports(store: Store, after: Job) -> None:
    """Has a model read the games that came while a job ran, where settings say so."""
    if order := imports_to_read(store, after):
        # One that runs looks for what came meanwhile when it ends.
        with suppress(ConflictError):
            start_judging(store, order)


def start_study(store: Store, plan: StudyPlan, options: Mapping[str, Any]) -> Job:
    """Runs an experiment or an A/B test, or goes on with one that was begun.

    Args:
        store: Where to.
        plan: What to run.
        options: Limits and concurrency; none for the settings' own.

    Raises:
        ConflictError: Another one of its kind is under way.
        InputError: The design is impossible, or the test can give no result.
    """
    return _begin(store, begin_study(store, plan, options))


def _load_samples(store: Store, _job_id: str, report: ProgressCallback) -> str:
    loaded = load_samples(store, report)
    words = f"{loaded.new_games} of {loaded.games} sample games are new, with {loaded.new_ratings} ratings"
    return words + _incomplete_words(loaded.incomplete)


def _load_examples(store: Store, _job_id: str, report: ProgressCallback) -> str:
    load_examples(store)
    report(1, 1)
    return "Agents, an experiment, an A/B test and a game read by a recorded model are there as examples"


def start_samples_on_first_start(store: Store) -> None:
    """Loads the samples when the server was asked to and the store has never held anything."""
    if os.environ.get(SAMPLES_VARIABLE) != "1":
        return
    with _first_start_lock:
        if os.environ.get(SAMPLES_VARIABLE) == "1" and not store.transcripts.ids() and not store.jobs.list(1):
            start(store, SAMPLES)
        os.environ.pop(SAMPLES_VARIABLE, None)


_ORDERED: Mapping[type[JudgingRequest], str] = {PersonaOrder: PERSONAS, RowsOrder: ROWS, ChecksOrder: CHECKS}

KINDS: Mapping[str, JobKind] = {
    EVALUATE: JobKind("Scoring uploaded games", _score_waiting),
    REEVALUATE: JobKind("Scoring games again", _score_outdated, lambda store: len(outdated(store))),
    SAMPLES: JobKind("Loading the sample games", _load_samples),
    EXAMPLES: JobKind("Loading examples", _load_examples, lambda _: 1),
    CONTROLS: JobKind("Comparing scores with chance", _compare, lambda store: len(store.controls.missing())),
    PERSONAS: JobKind("Evaluating agents", evaluate_agents),
    ROWS: JobKind("Reading games with a model", judge_games),
    CHECKS: JobKind("Checking messages", check_games),
    EXPERIMENT: JobKind("Experiment", run_study),
    AB_TEST: JobKind("A/B test", run_study),
}
"""Every kind of work by its word in the store."""


def can_go_on(store: Store, job: Job) -> bool:
    """Whether a job that was interrupted or failed knows what is left to do."""
    if job.state not in (JobState.INTERRUPTED, JobState.FAILED) or job.kind not in KINDS:
        return False
    return job.kind != EVALUATE or bool(store.import_queue.waiting(job.id))


def go_on(store: Store, job_id: str) -> Job:
    """Goes on with a job that was interrupted or failed, from where it was. What is stored is not scored again.

    Raises:
        ConflictError: It runs already, in this tab or another.
    """
    return _begin(store, store.jobs.take_over(job_id))


def end(store: Store, job_id: str) -> None:
    """Ends a job that should not go on. What is done stays stored; what waits is forgotten."""
    with store.unit(write=True):
        job = store.jobs.update(job_id, state=JobState.CANCELLED, message="What was done until then is stored.")
        store.import_queue.clear(job_id)
        if job.kind == EVALUATE:
            store.imports.settle()


def running(store: Store, kind: str) -> Job | None:
    """The job of that kind that runs now."""
    return next((job for job in store.jobs.running() if job.kind == kind), None)
