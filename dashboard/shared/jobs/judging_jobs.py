"""Background work of judges: evaluate agents, decide rows of games, check messages; independent of Streamlit.

What was ordered is kept in the store, so that a job whose server has ended can go on. Answers are kept as they come:
nothing is paid for twice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import DramaturgError
from evaluation.files.bundled import proposition_roots
from evaluation.insight.evaluation_report import Wanted
from evaluation.insight.validator import LARGEST_SEED, EvaluationConfig
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, build_judge, judge_config
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.judging.protocol import JudgementStatus
from evaluation.judging.questions import Options
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.persona.evaluation import DEFAULT_SAMPLE_SIZE, EvaluationPlan, applicable, questions_about
from evaluation.persona.subjects import Subject
from evaluation.progress import ProgressCallback
from evaluation.store import Job, Store
from evaluation.text.display import counted
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.jobs import JobProgress, order_of
from evaluation.workflows.judging import ask_about_games, count_windows, estimate_insights, judge_stored, reads_imports
from evaluation.workflows.persona_runs import PersonaRunRequest, run_personas

PERSONAS = "personas"
ROWS = "judge_rows"
CHECKS = "insight_checks"
PROPOSITIONS_VARIABLE = "DRAMATURG_PROPOSITIONS"


class JudgingRequest(BaseModel):
    """The common part of both kinds of work.

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

    agents: list[str] = Field(default_factory=list)
    dimensions: list[Dimension] = Field(default_factory=lambda: list(DIMENSIONS))
    sample_size: int = Field(default=DEFAULT_SAMPLE_SIZE, ge=1, le=10_000)
    seed: int = 0
    with_simulated: bool = False
    after_run: int = 0
    """The position of the latest run when it was ordered."""

    @property
    def plan(self) -> EvaluationPlan:
        return EvaluationPlan(self.dimensions, self.sample_size, self.seed, options=Options(is_batched=self.is_batched))


class RowsOrder(JudgingRequest):
    """Which games a model should read."""

    transcripts: list[str] = Field(default_factory=list)

    def ids(self, store: Store) -> list[str]:
        """The stored games among them."""
        return [one for one in store.transcripts.ids() if one in set(self.transcripts)]


class ChecksOrder(JudgingRequest):
    """Questions about games: checks of messages, opinions, themes and quotes."""

    transcripts: list[str] = Field(default_factory=list)
    checks: bool = True
    topic: str | None = None
    themes: bool = False
    criteria: str | None = None
    share: float = Field(default=EvaluationConfig().validation_sampling_rate, ge=0, le=1)
    checks_per_game: int = Field(default=EvaluationConfig().max_validation_calls, ge=0, le=1_000_000)
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.checks, self.topic, self.themes, self.criteria)

    @property
    def settings(self) -> EvaluationConfig:
        return EvaluationConfig(
            validation_sampling_rate=self.share, max_validation_calls=self.checks_per_game, seed=self.seed
        )


def proposition_library() -> PropositionLibrary:
    """The shipped propositions with those of the person's own folder, where the environment names one that is there."""
    named = os.environ.get(PROPOSITIONS_VARIABLE)
    folder = Path(named).expanduser() if named else None
    return PropositionLibrary.load(proposition_roots(folder if folder and folder.is_dir() else None))


def config_of(store: Store, order: JudgingRequest | None = None) -> JudgeConfig:
    """The judge's configuration with the order's limits."""
    limits = {"max_usd": order.max_usd, "max_calls": order.max_calls} if order else {}
    return judge_config(limits, store.settings.get(SETTINGS_KEY))


def evaluate_agents(store: Store, job_id: str, report: ProgressCallback) -> str:
    """Evaluates the agents of a job's order that it has not evaluated yet; returns what came of it."""
    order = PersonaOrder.model_validate(order_of(store, job_id))
    library, config = proposition_library(), config_of(store, order)
    found = find_subjects(store, order.agents, order.dimensions, library, with_simulated=order.with_simulated)
    done_before = _evaluated_since(store, order.after_run)
    subjects = [each for each in found if each.agent.id not in done_before and applicable(each, order.dimensions)]
    request = PersonaRunRequest(config, order.plan, library, mode=config.mode or "")
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    with JobProgress(store, job_id, budget, _questions(subjects, library, order.plan)) as progress:
        rated = run_personas(store, request, subjects, budget=budget, report=progress.count_judgement)
    skipped = sum(item.status is JudgementStatus.SKIPPED for _, each in rated for item in each.items)
    report(progress.total - skipped, progress.total)
    rest = f" {skipped} questions were not asked ({budget_reason(budget)})." if skipped else ""
    return f"{len(subjects)} evaluated. {spent_words(budget)}.{rest}"


def _evaluated_since(store: Store, after_run: int) -> set[str]:
    runs = store.evaluations.runs()
    own = runs[(runs["status"] == "completed") & (runs["position"] > after_run)]
    return {
        str(row["agent_id"])
        for row in own.to_dict("records")
        if not (store.evaluations.failures(str(row["run_id"]))["status"] == JudgementStatus.SKIPPED).any()
    }


def _questions(subjects: Sequence[Subject], library: PropositionLibrary, plan: EvaluationPlan) -> int:
    questions = [each for subject in subjects for each in questions_about(subject, library, plan).values()]
    return sum(asked.request is not None for each in questions for asked in each)


def judge_games(store: Store, job_id: str, report: ProgressCallback) -> str:
    """Has a model read the games of a job's order; returns what came of it."""
    order = RowsOrder.model_validate(order_of(store, job_id))
    ids = order.ids(store)
    chosen = build_judge(config_of(store, order), cache=store.judgements)
    with JobProgress(store, job_id, chosen.budget, count_windows(store, ids)) as progress:
        tally = judge_stored(store, ids, chosen, report=progress.count_judgement)
    report(progress.total - min(tally.skipped, progress.total), progress.total)
    rest = f" The rest was not asked ({budget_reason(chosen.budget)})." if tally.skipped else ""
    why = next(iter(tally.unread), "")
    left = f" The others keep their rows: {why}." if why and not rest else ""
    return f"{tally.words}. {spent_words(chosen.budget)}.{rest}{left}"


def imports_to_read(store: Store, after: Job) -> RowsOrder | None:
    """The games that came since a job began and that no model has read, where settings say that one is to read them."""
    try:
        is_wanted = reads_imports(store)
    except DramaturgError:
        # The settings page and every form of the judge tell what is wrong with its settings.
        return None
    came = store.transcripts.added_since(after.created_at) if is_wanted else []
    order = RowsOrder(transcripts=[one for one in came if not store.decisions.current(one)])
    return order if order.transcripts else None


def check_games(store: Store, job_id: str, report: ProgressCallback) -> str:
    """Asks about the games of a job's order; what was answered before costs nothing. Returns what came of it."""
    order = ChecksOrder.model_validate(order_of(store, job_id))
    there = set(store.transcripts.ids())
    ids = [one for one in order.transcripts if one in there]
    config = config_of(store, order)
    chosen = build_judge(config, cache=store.judgements)
    questions = estimate_insights(store, ids, order.wanted, order.settings, config).questions
    with JobProgress(store, job_id, chosen.budget, questions) as progress:
        tally = ask_about_games(store, ids, chosen, order.wanted, order.settings, progress.count_judgement)
    if not tally.cut_short:
        report(progress.total, progress.total)
    passed = f" {tally.passed} of {counted(tally.scored, 'check')} passed." if tally.scored else ""
    rest = (
        f" {counted(tally.cut_short, 'game')} not finished ({budget_reason(chosen.budget)})." if tally.cut_short else ""
    )
    why = f" Some questions have no answer: {tally.why_not.rstrip('.')}." if tally.why_not else ""
    own = f" {tally.own_words}" if tally.own_words else ""
    return f"{counted(tally.games, 'game')} read.{passed} {spent_words(chosen.budget)}.{rest}{why}{own}"


def budget_reason(budget: Budget) -> str:
    """Why nothing more was asked."""
    limits = [f"${budget.usd:g}" if budget.usd is not None else "", f"{budget.calls} calls" if budget.calls else ""]
    named = " or ".join(filter(None, limits))
    return f"stopped, or the budget of {named} is spent" if named else "stopped"
