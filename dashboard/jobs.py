"""Work that goes on when the person leaves the page: a thread of the server that reports to a row in the store.

A thread sees no session and cannot draw. It gets plain arguments, stores every item as soon as it is done, and stops
after the current one when somebody asks. Pages read the row. A job whose server has ended shows as interrupted.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence

from dashboard.formatting import counted
from evaluation.errors import DramaturgError
from evaluation.samples import AddedGame, add_evaluated, load_samples
from evaluation.store import Job, JobState, Store
from evaluation.transcript import Transcript

SAMPLES = "samples"
EVALUATE = "evaluate"
SAMPLES_VARIABLE = "DRAMATURG_LOAD_SAMPLES"

Report = Callable[[int, int], None]
"""Called with the number of items done and their total; raises ``Cancelled`` when the job shall stop."""

_first_start_lock = threading.Lock()


class Cancelled(Exception):
    """Somebody asked the job to stop."""


def start(store: Store, kind: str, label: str, total: int, work: Callable[[Report], str]) -> Job:
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
    threading.Thread(target=_run, args=(store, job.id, work), name=f"job-{kind}", daemon=True).start()
    return job


def _run(store: Store, job_id: str, work: Callable[[Report], str]) -> None:
    def report(done: int, total: int) -> None:
        if store.jobs.update(job_id, done=done, total=total).is_cancel_requested and done < total:
            raise Cancelled

    try:
        message = work(report)
    except Cancelled:
        store.jobs.update(job_id, state=JobState.CANCELLED, message="What was done until then is stored.")
    except DramaturgError as error:
        store.jobs.update(job_id, state=JobState.FAILED, message=str(error))
    except Exception as error:
        # Nobody else would tell the person who waits.
        logging.getLogger(__name__).exception("The job %s failed", job_id)
        store.jobs.update(job_id, state=JobState.FAILED, message=f"{type(error).__name__}: {error}")
    else:
        store.jobs.update(job_id, state=JobState.DONE, message=message)


def start_evaluation(store: Store, games: Sequence[tuple[Transcript, str]], iteration: str | None) -> Job:
    """Scores and stores games with their source names, into an iteration that exists or into none."""

    def work(report: Report) -> str:
        added: list[AddedGame] = []
        for done, (transcript, source_name) in enumerate(games, start=1):
            added.append(add_evaluated(store, transcript, source_name=source_name, iteration=iteration))
            report(done, len(games))
        new = sum(game.is_new for game in added)
        same = f", {len(games) - new} stored before and left as they were" if new < len(games) else ""
        return f"{new} stored{same}{_incomplete_words(sum(bool(game.failures) for game in added))}"

    return start(store, EVALUATE, "Scoring uploaded games", len(games), work)


def _incomplete_words(count: int) -> str:
    return f". In {counted(count, 'game')} a metric could not be computed" if count else ""


def start_samples(store: Store) -> Job:
    """Loads the games that come with Dramaturg."""

    def work(report: Report) -> str:
        loaded = load_samples(store, report)
        words = f"{loaded.new_games} of {loaded.games} sample games are new, with {loaded.new_ratings} ratings"
        return words + _incomplete_words(loaded.incomplete)

    return start(store, SAMPLES, "Loading the sample games", 0, work)


def start_samples_on_first_start(store: Store) -> None:
    """Loads the samples when the server was asked to and the store has never held anything."""
    if os.environ.get(SAMPLES_VARIABLE) != "1":
        return
    with _first_start_lock:
        if os.environ.get(SAMPLES_VARIABLE) == "1" and store.transcripts.summaries().empty and not store.jobs.list(1):
            start_samples(store)
        os.environ.pop(SAMPLES_VARIABLE, None)


def running(store: Store, kind: str) -> Job | None:
    """The job of that kind that runs now."""
    return next((job for job in store.jobs.running() if job.kind == kind), None)


def latest(store: Store) -> Job | None:
    """The job that was started last."""
    return next(iter(store.jobs.list(1)), None)
