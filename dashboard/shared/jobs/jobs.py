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
from functools import partial
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
    remember,
)
from evaluation.errors import ConflictError, DramaturgError
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.plan import ExperimentPlan
from evaluation.progress import ProgressCallback
from evaluation.store import Added, Job, JobState, Store
from evaluation.store.imports import Outcome, WaitingGame
from evaluation.text.display import counted
from evaluation.transcript import Transcript
from evaluation.workflows.ab_tests import KIND as AB_TEST
from evaluation.workflows.ab_tests import begin_ab_job, run_ordered_ab
from evaluation.workflows.experiment_runs import KIND as EXPERIMENT
from evaluation.workflows.experiment_runs import begin_job, run_ordered
from evaluation.workflows.reevaluation import compute_missing, outdated, reevaluate
from evaluation.workflows.samples import load_examples, load_samples
from evaluation.workflows.scoring import add_evaluated

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


def start(store: Store, kind: str, label: str, total: int, work: Callable[[ProgressCallback], str]) -> Job:
    """Begins ``work`` in the background.

    Args:
        store: Where the job is recorded.
        kind: What sort of work; one job of a kind runs at a time.
        label: What it is called on screen, in our own words.
        total: How many items there are.
        work: Does them, reporting after each; what it returns stands beside the finished job.

    Raises:
        ConflictError: A job of the kind is running.
    """
    job = store.jobs.create(kind, label, total, is_exclusive=True)
    _begin(store, job, work)
    return job


def _begin(store: Store, job: Job, work: Callable[[ProgressCallback], str]) -> None:
    threading.Thread(target=_run, args=(store.unguarded(), job.id, work), name=f"job-{job.kind}", daemon=True).start()


def _run(store: Store, job_id: str, work: Callable[[ProgressCallback], str]) -> None:
    def report(done: int, total: int) -> None:
        if store.jobs.update(job_id, done=done, total=total).is_cancel_requested and done < total:
            raise Cancelled

    try:
        message = work(report)
    except Cancelled:
        end(store, job_id)
    except DramaturgError as error:
        store.jobs.update(job_id, state=JobState.FAILED, message=str(error))
    except Exception as error:
        # Nobody else would tell the person who waits.
        logging.getLogger(__name__).exception("The job %s failed", job_id)
        store.jobs.update(job_id, state=JobState.FAILED, message=f"{type(error).__name__}: {error}")
    else:
        done = store.jobs.update(job_id, state=JobState.DONE, message=message)
        store.import_queue.clear(job_id)
        if done.kind == SAMPLES:
            start_examples(store)
        if done.kind in (EVALUATE, EXAMPLES, REEVALUATE):
            start_controls(store)
        if done.kind in (EVALUATE, ROWS):
            start_reading_imports(store, done)


def start_evaluation(store: Store, games: Sequence[tuple[Transcript, str]], iteration: str | None) -> Job:
    """Scores and stores games with their source names, into an iteration that exists or into none.

    The games are kept in the store until they are scored, all of them before this returns.

    Raises:
        ConflictError: Games are being scored already.
    """
    with store.unit(write=True):
        job = store.jobs.create(EVALUATE, "Scoring uploaded games", len(games), is_exclusive=True)
        for earlier in store.jobs.list():
            if earlier.state is JobState.FAILED:
                # Whoever starts anew has had the choice to go on with it.
                store.import_queue.clear(earlier.id)
        store.import_queue.put(job.id, games, iteration)
    _begin(store, job, partial(_score_waiting, store.unguarded(), job.id))
    return job


def _score_waiting(store: Store, job_id: str, report: ProgressCallback) -> str:
    total = store.jobs.get(job_id).total
    waiting = store.import_queue.waiting(job_id)
    for done, position in enumerate(waiting, start=total - len(waiting) + 1):
        outcome = _score(store, store.import_queue.get(job_id, position))
        store.import_queue.settle(job_id, position, outcome)
        report(done, total)
    store.imports.settle()
    return _outcome_words(store.import_queue.outcomes(job_id))


def _score(store: Store, game: WaitingGame) -> Outcome:
    # The iteration may have gone since the job began, or have got another name; the game must not go with it.
    known = {iteration.name for iteration in store.iterations.list()}
    iteration = game.iteration if game.iteration in known else None
    added = add_evaluated(store, game.transcript, source_name=game.source_name, iteration=iteration)
    return _outcome(added)


def _outcome(added: Added) -> Outcome:
    # One that had been deleted is back because of this upload: for the person it is stored now.
    if added.is_restored:
        return "new"
    if not added.is_new:
        return "known"
    return "incomplete" if added.failures else "new"


def _outcome_words(outcomes: Mapping[str, int]) -> str:
    incomplete, known = outcomes.get("incomplete", 0), outcomes.get("known", 0)
    same = f", {known} stored before and left as they were" if known else ""
    return f"{outcomes.get('new', 0) + incomplete} stored{same}{_incomplete_words(incomplete)}"


def _incomplete_words(count: int) -> str:
    return f". In {counted(count, 'game')} a metric could not be computed" if count else ""


def start_reevaluation(store: Store) -> Job:
    """Scores games again of which a result is missing, or of another version than today's.

    Raises:
        ConflictError: Games are being scored again already.
    """
    total = len(outdated(store))
    return start(store, REEVALUATE, "Scoring games again", total, partial(_score_outdated, store.unguarded(), ""))


def _score_outdated(store: Store, _job_id: str, report: ProgressCallback) -> str:
    return reevaluate(store, outdated(store), report).words


def start_controls(store: Store) -> Job | None:
    """Compares scores with chance where that was not done yet; ``None`` when nothing is missing or it runs already."""
    missing = store.controls.missing()
    if not missing:
        return None
    try:
        return start(
            store, CONTROLS, "Comparing scores with chance", len(missing), partial(_compare, store.unguarded(), "")
        )
    except ConflictError:
        # The one that runs looks again for what is missing before it ends.
        return None


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
    kind, label = _ORDERED[type(order)]
    with store.unit(write=True):
        job = store.jobs.create(kind, label, 0, is_exclusive=True)
        remember(store, kind, order)
    _begin(store, job, partial(_GOING_ON[kind], store.unguarded(), job.id))
    return job


def start_reading_imports(store: Store, after: Job) -> Job | None:
    """Has a model read the games that came while a job ran, where settings say so; ``None`` where nothing begins."""
    order = imports_to_read(store, after)
    try:
        return None if order is None else start_judging(store, order)
    except ConflictError:
        # The one that runs looks for what came meanwhile when it ends.
        return None


def start_experiment(store: Store, plan: ExperimentPlan, options: Mapping[str, Any]) -> Job:
    """Runs an experiment, or goes on with one that was begun.

    Args:
        store: Where to.
        plan: What to run.
        options: Limits and concurrency; none for the settings' own.

    Raises:
        ConflictError: Another experiment is under way.
        InputError: The design is impossible.
    """
    job = begin_job(store, plan, options)
    _begin(store, job, partial(run_ordered, store.unguarded(), job.id))
    return job


def start_ab_test(store: Store, test: ABConfig, options: Mapping[str, Any]) -> str:
    """Runs an A/B test, or goes on with one that was begun; returns the id of the test.

    Args:
        store: Where to.
        test: What to compare.
        options: Limits; none for those of the test and the settings.

    Raises:
        ConflictError: Another A/B test is under way.
        InputError: The test can give no result.
    """
    job, test_id = begin_ab_job(store, test, options)
    _begin(store, job, partial(_run_ab_test, store.unguarded(), job.id))
    return test_id


def _run_ab_test(store: Store, job_id: str, _report: ProgressCallback) -> str:
    return run_ordered_ab(store, job_id)


def start_samples(store: Store) -> Job:
    """Loads the games that come with Dramaturg."""
    return start(store, SAMPLES, "Loading the sample games", 0, partial(_load_samples, store.unguarded(), ""))


def _load_samples(store: Store, _job_id: str, report: ProgressCallback) -> str:
    loaded = load_samples(store, report)
    words = f"{loaded.new_games} of {loaded.games} sample games are new, with {loaded.new_ratings} ratings"
    return words + _incomplete_words(loaded.incomplete)


def start_examples(store: Store) -> Job:
    """Loads an example of everything that is not a game, once the games are there to be looked at."""
    return start(store, EXAMPLES, "Loading examples", 1, partial(_load_examples, store.unguarded(), ""))


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
            start_samples(store)
        os.environ.pop(SAMPLES_VARIABLE, None)


_ORDERED: Mapping[type[JudgingRequest], tuple[str, str]] = {
    PersonaOrder: (PERSONAS, "Evaluating agents"),
    RowsOrder: (ROWS, "Reading games with a model"),
    ChecksOrder: (CHECKS, "Checking messages"),
}

# What can go on after its server has ended: it finds out from the store what is left to do.
_GOING_ON: Mapping[str, Callable[[Store, str, ProgressCallback], str]] = {
    EVALUATE: _score_waiting,
    REEVALUATE: _score_outdated,
    SAMPLES: _load_samples,
    EXAMPLES: _load_examples,
    CONTROLS: _compare,
    PERSONAS: evaluate_agents,
    ROWS: judge_games,
    CHECKS: check_games,
    EXPERIMENT: run_ordered,
    AB_TEST: _run_ab_test,
}


def can_go_on(store: Store, job: Job) -> bool:
    """Whether a job that was interrupted or failed knows what is left to do."""
    if job.state not in (JobState.INTERRUPTED, JobState.FAILED) or job.kind not in _GOING_ON:
        return False
    return job.kind != EVALUATE or bool(store.import_queue.waiting(job.id))


def go_on(store: Store, job_id: str) -> Job:
    """Goes on with a job that was interrupted or failed, from where it was. What is stored is not scored again.

    Raises:
        ConflictError: It runs already, in this tab or another.
    """
    job = store.jobs.take_over(job_id)
    _begin(store, job, partial(_GOING_ON[job.kind], store.unguarded(), job.id))
    return job


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


def latest(store: Store) -> Job | None:
    """The job that was started last."""
    return next(iter(store.jobs.list(1)), None)
