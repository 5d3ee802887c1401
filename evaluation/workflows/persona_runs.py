"""Evaluate agents one after the other and store each result at once, so that an interrupted run loses nothing."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager

from evaluation.errors import DramaturgError
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.protocol import Judge, Judgement, Report
from evaluation.persona.evaluation import EvaluationPlan, applicable, evaluate_agent
from evaluation.persona.results import PersonaEvaluation
from evaluation.persona.subjects import Subject
from evaluation.store import Store

JudgeFor = Callable[[str], Judge]
"""Makes the judge for a run, given the run's id, under which its calls are logged."""

SECONDS_BETWEEN_BEATS = 60.0
"""How often a run says that it is at work; after a quarter of an hour of silence other machines take it for dead."""

BROKEN_OFF = "The run was broken off."


async def evaluate_persona(
    store: Store,
    subjects: Iterable[Subject],
    judge_for: JudgeFor,
    library: PropositionLibrary,
    plan: EvaluationPlan,
    *,
    mode: str = "",
    report: Report | None = None,
) -> AsyncIterator[tuple[str, PersonaEvaluation]]:
    """Every agent's evaluation with the id of its run, stored before it is handed out.

    An agent or channel that none of the plan's dimensions applies to is passed over. A run that is broken off by an
    error is stored as failed, with the error; the error goes on.

    Args:
        store: Where to.
        subjects: From :func:`evaluation.workflows.agents.find_subjects`.
        judge_for: Makes the judge of a run.
        library: The propositions.
        plan: Dimensions, sample, options.
        mode: How the run came about, for people: "live", "offline", "mock".
        report: Told of every judgement.
    """
    for subject in subjects:
        if not applicable(subject, plan.dimensions):
            continue
        run_id = store.evaluations.begin(subject.agent, plan, mode=mode)
        with _ended_in(store, run_id):
            told = _Heart(store, run_id, report)
            evaluation = await evaluate_agent(subject, judge_for(run_id), library, plan, report=told)
            store.evaluations.finish(run_id, evaluation)
        yield run_id, evaluation


class _Heart:
    """Passes judgements on, and says now and then that the run is at work."""

    def __init__(self, store: Store, run_id: str, report: Report | None) -> None:
        self._store = store
        self._run_id = run_id
        self._report = report
        self._beaten_at = time.monotonic()

    def __call__(self, position: int, judgement: Judgement) -> None:
        if self._report is not None:
            self._report(position, judgement)
        if time.monotonic() - self._beaten_at >= SECONDS_BETWEEN_BEATS:
            self._beaten_at = time.monotonic()
            self._store.evaluations.beat(self._run_id)


@contextmanager
def _ended_in(store: Store, run_id: str) -> Iterator[None]:
    """Ends the run as failed if it does not come to its end."""
    is_done = False
    error = BROKEN_OFF
    try:
        yield
        is_done = True
    except DramaturgError as fault:
        error = f"{BROKEN_OFF} {fault}"
        raise
    finally:
        if not is_done:
            store.evaluations.fail(run_id, error)
