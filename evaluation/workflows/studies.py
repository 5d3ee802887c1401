"""Run studies as jobs, and go on with those that stopped; experiments with all that is stored of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import count, repeat
from typing import Any

from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.ab_runner import ABConfig, check_test
from evaluation.experiments.experiment import (
    ExperimentPlan,
    Talk,
    Troupe,
    evaluate,
    experiment_result,
    scenarios,
    simulate,
)
from evaluation.experiments.results import Activity, RunResult, Side, StudyResult, joined
from evaluation.experiments.study import Study, StudyPlan, StudyStatus
from evaluation.experiments.tables import runs_by_status
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, build_client, build_judge, judge_config
from evaluation.judging.model_client.budget import Budget, BudgetSpentError, counted_calls, spent_words
from evaluation.judging.model_client.calls import Provider
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.progress import ProgressCallback, no_progress
from evaluation.simulation.model_texts import RaisingJudge, Writer
from evaluation.simulation.population import AgentFactory, profiles
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import Job, JobState, Store
from evaluation.store.answer_journal import AnswerJournal, JournalledAnswers, JournalledTexts
from evaluation.store.transactions import retry_while_busy
from evaluation.workflows.ab_tests import ab_judge_config, planned_runs, run_ab_test
from evaluation.workflows.jobs import JobProgress, begin_order, order_of


def begin_study(store: Store, plan: StudyPlan, options: Mapping[str, Any]) -> Job:
    """Records a study and the job of this process that runs it; one job of its kind runs at a time.

    A job of the same study whose process was killed is closed: this one goes on with it.

    Args:
        store: Where to.
        plan: What will be run.
        options: Kept, so that a page can go on with it: limits, concurrency, address. Never a key.

    Raises:
        ConflictError: Another study of the kind is running.
        InputError: The design is impossible, or the test can give no result.
    """
    if isinstance(plan, ABConfig):
        check_test(plan)
        label, total = "A/B test", planned_runs(store, plan)
    else:
        scripted = ", scripted" if plan.is_scripted else ""
        label = f"Experiment {plan.scenario.id}, seed {plan.seed}, scale {plan.scale:g}{scripted}"
        total = len(plan.rooms)
    with store.unit(write=True):
        job = begin_order(store, plan.kind, label, total, {"options": dict(options)}, plan.id)
        store.experiments.begin(plan)
    return job


def run_study(
    store: Store, job_id: str, report: ProgressCallback = no_progress, *, provider: Provider | None = None
) -> str:
    """Runs, or goes on with, the study of a job; returns what came of it and what it cost.

    Args:
        store: Where the job is recorded.
        job_id: Which one.
        report: Told of progress, as the job is.
        provider: Takes the place of litellm in an experiment, in tests.

    Raises:
        NotFoundError: The study is gone.
        InputError: There is no model now.
        DramaturgError: As ``run_experiment`` and ``run_ab_test``.
    """
    order = order_of(store, job_id)
    plan, options = store.experiments.get(order.get("subject", "")).plan, order["options"]
    if isinstance(plan, ABConfig):
        config = ab_judge_config(store, plan, options)
    else:
        config, script = connection(plan, options, store.settings.get(SETTINGS_KEY))
        provider = provider or script
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    with JobProgress(store, job_id, budget, store.jobs.get(job_id).total, report) as progress:
        if isinstance(plan, ABConfig):
            result = run_ab_test(store, plan, options, progress, budget=budget)
            return f"Runs: {runs_by_status(result.runs)}. {spent_words(budget)}."
        result = run_experiment(store, plan, config, budget=budget, provider=provider, report=progress).result
    stopped = f" Stopped before its end ({result.stopped}); start it again to go on." if result.stopped else ""
    return f"{spent_words(budget)}.{stopped}"


def run_as_job(
    store: Store,
    plan: StudyPlan,
    options: Mapping[str, Any],
    report: ProgressCallback = no_progress,
    *,
    provider: Provider | None = None,
) -> Study:
    """Runs a study, recorded as a job of this process.

    Raises:
        ConflictError: Another one of its kind is running.
        DramaturgError: As ``run_study``.
    """
    job = begin_study(store, plan, options)
    state, message = JobState.FAILED, "It was broken off."
    try:
        message = run_study(store, job.id, report, provider=provider)
        study = store.experiments.get(plan.id)
        state = JobState.CANCELLED if study.result.stopped else JobState.DONE
    except DramaturgError as error:
        message = str(error)
        raise
    finally:
        store.jobs.update(job.id, state=state, message=message)
    return study


def run_experiment(
    store: Store,
    plan: ExperimentPlan,
    config: JudgeConfig,
    *,
    budget: Budget | None = None,
    provider: Provider | None = None,
    report: ProgressCallback = no_progress,
) -> Study:
    """Runs an experiment to its end, or as far as it may; one that was begun goes on, one that is done says so.

    Args:
        store: Where everything goes.
        plan: What to run.
        config: A live judge's configuration: model, address, concurrency.
        budget: What may be spent; made of the configuration's limits when left out.
        provider: Takes the place of litellm, in simulations and tests.
        report: Told of progress.

    Raises:
        JudgeError: The model cannot be asked.
        InputError: The design is impossible, or a budget in US dollars cannot be kept.
    """
    steps = plan.people + 2 * plan.people * plan.step_count + 2 * len(plan.rooms)
    store.experiments.begin(plan)
    status, result = StudyStatus.FAILED, StudyResult()
    # Every thread that works with much memory keeps some of it, so one does all of that.
    with ThreadPoolExecutor(1, thread_name_prefix="experiment-heavy") as heavy:
        run = _Run(store, plan, config, budget or Budget(usd=config.max_usd, calls=config.max_calls), heavy)
        try:
            stopped = asyncio.run(run.to_the_end(provider, map(report, count(1), repeat(steps))))
            result = experiment_result(joined(store.experiments.runs(plan.id)), stopped)
            status = StudyStatus.PENDING if stopped else StudyStatus.COMPLETED
        except DramaturgError as error:
            result = StudyResult(error=str(error))
            raise
        finally:
            store.experiments.end(plan.id, status, result)
    return store.experiments.get(plan.id)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run with everything that its conversations share."""

    store: Store
    plan: ExperimentPlan
    config: JudgeConfig
    budget: Budget
    heavy: Executor

    async def to_the_end(self, provider: Provider | None, progress: Iterator[None]) -> str:
        """All conversations at once, as far as the connection lets them; why it stopped, or nothing.

        Args:
            provider: Takes the place of litellm.
            progress: Its next is taken for every step that is done.
        """
        plan, store = self.plan, self.store
        # Beside the database, by its name and the experiment's: whoever goes on finds it there.
        place = None if store.path is None else store.path.with_name(f".{store.path.name}.{plan.id}")
        async with AnswerJournal(store.judgements.keep_entries, store.llm_calls.have, self.heavy, place) as journal:
            # The report needs it, and it takes seconds to load: meanwhile the models are asked.
            self.heavy.submit(import_module, "scipy.stats")
            calls = CallBuffer()
            writer = Writer(
                build_client(self.config, budget=self.budget, log=calls.add, provider=provider),
                scope=plan.id,
                cache=JournalledTexts(journal, store.generations),
                calls=calls,
                salt=plan.seed,
            )
            judge = build_judge(
                self.config,
                cache=JournalledAnswers(journal, store.judgements, store.judgements.keys(self.config.model)),
                budget=self.budget,
                provider=provider,
                # The script listens elsewhere every time, and answers by what is planted: so keys name the experiment.
                server=f"script of {plan.id}" if plan.is_scripted else None,
                is_cache_quick=True,
            )
            known = {(one.variant, one.run_index): one for one in joined(store.experiments.runs(plan.id))}
            async with writer.session(), judge.session():
                try:
                    factory = AgentFactory(writer, profiles()[plan.scenario.population], seed=plan.seed)
                    people = await factory.make(plan.people, made=lambda: next(progress))
                    library, strict = PropositionLibrary.load(), RaisingJudge(judge)
                    troupe = Troupe(plan, people, writer, strict, library)
                    conversations = [
                        self._conversation(troupe, known.get((side, unit), RunResult(side, unit)), progress)
                        for unit in range(len(plan.rooms))
                        for side in Side
                    ]
                    ended = await asyncio.gather(*conversations, return_exceptions=True)
                    reasons = [one.reason for one in ended if isinstance(one, BudgetSpentError)]
                    for error in ended:
                        if error is not None and not isinstance(error, BudgetSpentError):
                            raise error
                    return next(iter(reasons), "")
                except BudgetSpentError as spent:
                    return spent.reason

    async def _conversation(self, troupe: Troupe, known: RunResult, progress: Iterator[None]) -> None:
        """Simulates and evaluates one conversation, or what of that is not stored yet."""
        calls = Activity()
        part = RunResult(known.variant, known.run_index)
        try:
            with counted_calls(calls):
                if known.transcript_id:
                    transcript = self.store.transcripts.get(known.transcript_id)
                    for _ in range(self.plan.scenario.per_room * self.plan.step_count):
                        next(progress)
                else:
                    talk = await simulate(troupe, Side(known.variant), known.run_index, lambda: next(progress))
                    transcript = talk.transcript
                    await self._keep(partial(self._store, part, talk))
                if not known.scores:
                    scores = await evaluate(troupe, transcript)
                    await self._keep_part(replace(part, scores=scores))
            next(progress)
        except (DramaturgError, OSError) as error:
            # What is under way elsewhere is paid for and ends; nothing new begins.
            self.budget.stop(str(error))
            raise
        finally:
            if calls.calls:
                await self._keep_part(replace(part, activity=calls))

    async def _keep_part(self, part: RunResult) -> None:
        await self._keep(partial(self.store.experiments.add_run, self.plan.id, part))

    async def _keep(self, work: Callable[[], None]) -> None:
        """Does ``work`` in the store, one conversation at a time: they would only wait for each other there."""
        await asyncio.get_running_loop().run_in_executor(self.heavy, retry_while_busy, work)

    def _store(self, part: RunResult, talk: Talk) -> None:
        """Keeps a conversation like every other transcript, with its metrics and what the gate did, in one transaction.

        What corrections did counts only in one that is stored: one that is broken off is held again from its beginning.
        """
        store, transcript = self.store, talk.transcript
        evaluation = evaluate_transcript(transcript)
        with store.unit(write=True):
            if store.transcripts.add(transcript, source_name=f"{transcript.game_id}.json").is_new:
                store.results.save([evaluation])
            store.experiments.add_run(self.plan.id, replace(part, transcript_id=transcript.id, activity=talk.activity))
            # What a script did is not a correction of anybody.
            for result in () if self.plan.is_scripted else talk.checked:
                store.corrections.add(result, experiment_id=self.plan.id)


def connection(
    plan: ExperimentPlan, options: Mapping[str, Any], stored: Mapping[str, Any] | None, *, is_estimate: bool = False
) -> tuple[JudgeConfig, Provider | None]:
    """The configuration that leads to whoever speaks and judges, and for a scripted plan its script.

    Args:
        plan: Says whether it is scripted.
        options: Limits, concurrency, and of a real model the address.
        stored: The judge's settings.
        is_estimate: Whether nobody is going to be asked, so that no key is needed.

    Raises:
        InputError: There is no model.
    """
    if plan.effects is not None:
        limits = {name: options.get(name) for name in ("max_usd", "max_calls", "concurrency")}
        config = judge_config(limits | {"mode": "live", "model": plan.model}, environment={})
        return config, ScriptedProvider(ScriptedWorld(effects=plan.effects))
    config = judge_config({**options, "model": plan.model}, stored)
    if config.mode != "live" and not is_estimate:
        raise InputError(
            "There is no key and no address of a model, so nobody can speak.",
            remedy="Set OPENAI_API_KEY, give the address of a server (OPENAI_BASE_URL), or try it scripted.",
        )
    return config, None


def example_plan() -> ExperimentPlan:
    """The smallest experiment whose treatment takes effect, by the script."""
    scenario = scenarios()["brainstorming-difficult-variety"]
    return ExperimentPlan(scenario, SCRIPTED_MODEL, scale=0.01, steps=8, sample_size=1, is_batched=True, effects=True)
