"""Background work of judges: evaluate agents, and decide rows of games; independent of Streamlit.

What was ordered is kept in the store, so that a job whose server has ended can go on. Answers are kept as they come:
nothing is paid for twice.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evaluation.files import bundled
from evaluation.judging.judge_config import SETTINGS_KEY, ChosenJudge, JudgeConfig, build_judge, judge_config
from evaluation.judging.model_client.budget import Budget, progress_words, spent_words
from evaluation.judging.model_client.event_loop import run_asking
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import Dimension
from evaluation.judging.protocol import Judgement, JudgementStatus
from evaluation.judging.questions import Options
from evaluation.persona.evaluation import DEFAULT_SAMPLE_SIZE, EvaluationPlan, applicable, questions_about
from evaluation.persona.results import DIMENSIONS
from evaluation.persona.subjects import Subject
from evaluation.progress import ProgressCallback
from evaluation.rubric_judge.judged_metrics import TASKS
from evaluation.rubric_judge.requests import requests_for
from evaluation.store import Store
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.judging import JudgingTally, judge_stored
from evaluation.workflows.persona_runs import evaluate_persona

PERSONAS = "personas"
ROWS = "judge_rows"
PROPOSITIONS_VARIABLE = "DRAMATURG_PROPOSITIONS"

_SECONDS_BETWEEN_REPORTS = 0.3


class JudgingRequest(BaseModel):
    """What both kinds of work have in common.

    Attributes:
        max_usd: What it may cost; ``None`` for the setting's own limit.
        max_calls: How many calls it may make.
        is_batched: Whether questions about the same thing may share a call.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    max_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_calls: int | None = Field(default=None, ge=0)
    is_batched: bool = True


class PersonaOrder(JudgingRequest):
    """Which agents to evaluate on what."""

    agents: list[str]
    dimensions: list[Dimension] = Field(default_factory=lambda: list(DIMENSIONS))
    sample_size: int = Field(default=DEFAULT_SAMPLE_SIZE, ge=1, le=10_000)
    seed: int = 0
    after_run: int | None = None
    """The position of the latest run when it was ordered; ``None`` in orders of older versions."""

    @property
    def plan(self) -> EvaluationPlan:
        return EvaluationPlan(self.dimensions, self.sample_size, self.seed, options=Options(is_batched=self.is_batched))


class RowsOrder(JudgingRequest):
    """Which rows of which games a judge shall decide; all games when no iteration is named."""

    iteration: str | None = None
    metrics: list[str] = Field(default_factory=lambda: list(TASKS))


def remember(store: Store, kind: str, order: JudgingRequest) -> None:
    """Keeps what was ordered last of a kind of work."""
    if isinstance(order, PersonaOrder):
        order = order.model_copy(update={"after_run": store.evaluations.newest()})
    store.settings.set(f"order:{kind}", order.model_dump(mode="json"))


def proposition_roots() -> list[Path]:
    """The folders that propositions come from: the shipped one, then the person's own."""
    own = own_propositions()
    return bundled.proposition_roots(own if own and own.is_dir() else None)


def own_propositions() -> Path | None:
    """The person's own folder of propositions; ``None`` where none is named in the environment."""
    named = os.environ.get(PROPOSITIONS_VARIABLE)
    return Path(named).expanduser() if named else None


def config_of(store: Store, order: JudgingRequest | None = None) -> JudgeConfig:
    """The judge's configuration with the order's limits."""
    limits = {"max_usd": order.max_usd, "max_calls": order.max_calls} if order else {}
    return judge_config(limits, store.settings.get(SETTINGS_KEY))


@dataclass(slots=True)
class Watch:
    """Writes how far a run is, a few times a second, and stops it when somebody asks."""

    store: Store
    job_id: str
    budget: Budget
    total: int
    done: int = 0
    started_at: float = field(default_factory=time.monotonic)
    written_at: float = -math.inf

    def __call__(self, _position: int, _judgement: Judgement) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.written_at >= _SECONDS_BETWEEN_REPORTS:
            self.written_at = now
            self.write()

    def write(self) -> None:
        """Writes progress and cost now; stops the run when that was asked for."""
        done = min(self.done, self.total)
        message = progress_words(self.budget, done, self.total, time.monotonic() - self.started_at)
        job = self.store.jobs.update(self.job_id, done=done, total=self.total, message=message)
        if job.is_cancel_requested:
            self.budget.stop()


def _judge(store: Store, order: JudgingRequest, run_id: str | None = None, budget: Budget | None = None) -> ChosenJudge:
    return build_judge(config_of(store, order), cache=store.judgements, run_id=run_id, budget=budget)


def evaluate_agents(store: Store, job_id: str, report: ProgressCallback) -> str:
    """Evaluates the agents of the last order that this job has not evaluated yet; returns what came of it."""
    order = PersonaOrder.model_validate(store.settings.get(f"order:{PERSONAS}", {"agents": []}))
    library = PropositionLibrary.load(proposition_roots())
    found = find_subjects(store, order.agents, order.dimensions, library)
    done_before = _evaluated_since(store, job_id, order.after_run)
    subjects = [each for each in found if each.agent.id not in done_before and applicable(each, order.dimensions)]
    budget = _judge(store, order).budget
    watch = Watch(store, job_id, budget, _questions(subjects, library, order.plan))
    watch.write()
    skipped = run_asking(_evaluate(store, subjects, library, order, watch))
    report(watch.total - skipped, watch.total)
    rest = f" {skipped} questions were not asked ({budget_reason(budget)})." if skipped else ""
    return f"{len(subjects)} evaluated. {spent_words(budget)}.{rest}"


def _evaluated_since(store: Store, job_id: str, after_run: int | None) -> set[str]:
    runs = store.evaluations.runs()
    is_later = (
        runs["created_at"] >= store.jobs.get(job_id).created_at if after_run is None else runs["position"] > after_run
    )
    own = runs[(runs["status"] == "completed") & is_later]
    return {
        str(row["agent_id"])
        for row in own.to_dict("records")
        if not (store.evaluations.failures(str(row["run_id"]))["status"] == JudgementStatus.SKIPPED).any()
    }


def _questions(subjects: Sequence[Subject], library: PropositionLibrary, plan: EvaluationPlan) -> int:
    questions = [each for subject in subjects for each in questions_about(subject, library, plan).values()]
    return sum(asked.request is not None for each in questions for asked in each)


async def _evaluate(
    store: Store, subjects: Sequence[Subject], library: PropositionLibrary, order: PersonaOrder, watch: Watch
) -> int:
    def judge_for(run_id: str) -> ChosenJudge:
        return _judge(store, order, run_id, watch.budget)

    mode = config_of(store, order).mode or ""
    skipped = 0
    runs = evaluate_persona(store, subjects, judge_for, library, order.plan, mode=mode, report=watch)
    async for _, evaluation in runs:
        skipped += sum(item.status is JudgementStatus.SKIPPED for item in evaluation.items)
        watch.write()
    return skipped


def judge_games(store: Store, job_id: str, report: ProgressCallback) -> str:
    """Has a judge decide the rows of the last order; returns what came of it."""
    order = RowsOrder.model_validate(store.settings.get(f"order:{ROWS}", {}))
    ids = [str(each) for each in store.transcripts.summaries(order.iteration)["transcript_id"]]
    chosen = _judge(store, order)
    watch = Watch(store, job_id, chosen.budget, sum(_rows(store, each, order) for each in ids))
    watch.write()
    tally = run_asking(_decide(store, ids, chosen, order, watch))
    report(watch.total - tally.skipped, watch.total)
    rest = f" {tally.skipped} were not asked ({budget_reason(chosen.budget)})." if tally.skipped else ""
    why = next(iter(tally.why_not), "")
    left = f" {tally.asked - tally.decided} stay as the rule has them: {why}." if why and not rest else ""
    return (
        f"{tally.decided} of {tally.asked} rows decided, {tally.changed} otherwise than the rule. "
        f"{spent_words(chosen.budget)}.{rest}{left}"
    )


def _rows(store: Store, transcript_id: str, order: RowsOrder) -> int:
    with store.unit():
        transcript, results = store.transcripts.get(transcript_id), store.results.load(transcript_id)
    return sum(len(requests_for(transcript, results[name])) for name in order.metrics if name in results)


async def _decide(
    store: Store, ids: Sequence[str], chosen: ChosenJudge, order: RowsOrder, watch: Watch
) -> JudgingTally:
    tally = JudgingTally()
    options: dict[str, Any] = {"metrics": order.metrics, "is_batched": order.is_batched, "report": watch}
    async with chosen.session():
        async for judged in judge_stored(store, ids, chosen, **options):
            if judged is not None:
                tally.add(judged)
            watch.write()
    return tally


def budget_reason(budget: Budget) -> str:
    """Why nothing more was asked."""
    limits = [f"${budget.usd:g}" if budget.usd is not None else "", f"{budget.calls} calls" if budget.calls else ""]
    named = " or ".join(filter(None, limits))
    return f"stopped, or the budget of {named} is spent" if named else "stopped"
