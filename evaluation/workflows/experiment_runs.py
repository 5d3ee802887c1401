"""Run experiments with a treatment and a control, and make populations of agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.corrections.action_gate import GateResult
from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.conversation import evaluate, report_rows, simulate
from evaluation.experiments.plan import ExperimentPlan, scenarios
from evaluation.experiments.results import Activity, RunResult, Side, StudyResult, joined
from evaluation.experiments.study import Study, StudyStatus
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import (
    ChosenJudge,
    JudgeConfig,
    build_client,
    build_judge,
    judge_config,
)
from evaluation.judging.model_client.budget import Budget, BudgetSpentError, tallied_calls
from evaluation.judging.model_client.calls import Provider
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.progress import ProgressCallback, no_progress
from evaluation.simulation.model_texts import RaisingJudge, Writer
from evaluation.simulation.population import AgentFactory, profiles
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import Store
from evaluation.store.answer_journal import AnswerJournal, JournalEntry, JournalledAnswers, JournalledTexts
from evaluation.store.transactions import retry_while_busy
from evaluation.transcript import Transcript


@dataclass(slots=True)
class _Run:
    """A run with everything that its conversations share."""

    store: Store
    plan: ExperimentPlan
    config: JudgeConfig
    budget: Budget
    provider: Provider | None
    library: PropositionLibrary
    report: ProgressCallback
    done: int = 0
    total: int = 0
    population: Sequence[Mapping[str, Any]] = field(default_factory=list)
    known: Mapping[tuple[str, int], RunResult] = field(default_factory=dict)
    # Every thread that works with much memory keeps some of it, so one does all of that.
    heavy: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="experiment-heavy"))

    def advance(self, count: int = 1) -> None:
        self.done += count
        self.report(self.done, self.total)

    async def keep(self, work: Callable[[], None]) -> None:
        """Does ``work`` in the store, one conversation at a time: they would only wait for each other there."""
        await asyncio.get_running_loop().run_in_executor(self.heavy, retry_while_busy, work)

    async def add(self, part: RunResult) -> None:
        await self.keep(partial(self.store.experiments.add_run, self.plan.id, part))


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
    run = _Run(
        store,
        plan,
        config,
        budget or Budget(usd=config.max_usd, calls=config.max_calls),
        provider,
        PropositionLibrary.load(),
        report,
        total=plan.people + 2 * plan.people * plan.step_count + 2 * len(plan.rooms),
    )
    store.experiments.begin(plan)
    status, result = StudyStatus.FAILED, StudyResult()
    try:
        if stopped := asyncio.run(_run(run)):
            status, result = StudyStatus.PENDING, StudyResult(stopped=stopped)
        else:
            runs = joined(store.experiments.runs(plan.id))
            activity = {
                str(side): sum((one.activity for one in runs if one.variant == side), Activity()) for side in Side
            }
            status = StudyStatus.COMPLETED
            result = StudyResult(comparisons=tuple(report_rows(runs)), activity=activity)
    except DramaturgError as error:
        result = StudyResult(error=str(error))
        raise
    finally:
        run.heavy.shutdown()
        store.experiments.end(plan.id, status, result)
    return store.experiments.get(plan.id)


async def _run(run: _Run) -> str:
    """All conversations at once, as far as the connection lets them; why it stopped, or nothing."""
    keep, has_call = partial(_keep, run.store), run.store.llm_calls.have
    async with AnswerJournal(keep, has_call, run.heavy, _journal_place(run)) as journal:
        # The report needs it, and it takes seconds to load: meanwhile the models are asked.
        run.heavy.submit(import_module, "scipy.stats")
        writer, chosen = _writer(run, journal), _judge(run, journal)
        judge = RaisingJudge(chosen)
        run.known = {(one.variant, one.run_index): one for one in joined(run.store.experiments.runs(run.plan.id))}
        async with writer.session(), chosen.session():
            try:
                factory = AgentFactory(writer, profiles()[run.plan.scenario.population], seed=run.plan.seed)
                run.population = await factory.make(run.plan.people, report=lambda *_: run.advance())
                conversations = [
                    _conversation(run, side, number, writer, judge)
                    for number in range(len(run.plan.rooms))
                    for side in Side
                ]
                return _first_reason(await asyncio.gather(*conversations, return_exceptions=True))
            except BudgetSpentError as spent:
                return spent.reason


def _writer(run: _Run, journal: AnswerJournal) -> Writer:
    calls = CallBuffer()
    return Writer(
        build_client(run.config, budget=run.budget, log=calls.add, provider=run.provider),
        scope=run.plan.id,
        cache=JournalledTexts(journal, run.store.generations),
        calls=calls,
        temperature=run.plan.temperature,
        salt=run.plan.seed,
    )


def _judge(run: _Run, journal: AnswerJournal) -> ChosenJudge:
    judgements = run.store.judgements
    known = judgements.keys(run.config.model)
    cache = JournalledAnswers(journal, judgements, known)
    # The script listens elsewhere every time, and answers by what is planted: so keys name the experiment.
    server = f"script of {run.plan.id}" if run.plan.is_scripted else None
    return build_judge(
        run.config,
        cache=cache,
        budget=run.budget,
        provider=run.provider,
        server=server,
        is_cache_quick=True,
    )


def _journal_place(run: _Run) -> Path | None:
    """Beside the database, by its name and the experiment's: whoever goes on finds it there."""
    path = run.store.path
    return None if path is None else path.with_name(f".{path.name}.{run.plan.id}")


def _keep(store: Store, entries: Sequence[JournalEntry]) -> None:
    """Store all texts and answers of a moment in one transaction."""
    with store.unit(write=True):
        store.generations.keep([one for entry in entries for one in entry.generations])
        store.judgements.keep(
            [one for entry in entries for one in entry.answers], [one for entry in entries for one in entry.calls]
        )


async def _conversation(run: _Run, side: Side, number: int, writer: Writer, judge: RaisingJudge) -> None:
    """Simulates and evaluates one conversation, or what of that is not stored yet."""
    calls = Activity()
    known = run.known.get((side, number), RunResult(side, number))
    try:
        with tallied_calls(calls):
            transcript = await _transcript(run, side, known, writer, judge)
            if not known.scores:
                scores = await evaluate(run.plan, transcript, judge, run.library)
                await run.add(RunResult(side, number, scores=scores))
        run.advance()
    except (DramaturgError, OSError) as error:
        # What is under way elsewhere is paid for and ends; nothing new begins.
        run.budget.stop(str(error))
        raise
    finally:
        if calls.calls:
            await run.add(RunResult(side, number, activity=calls))


async def _transcript(run: _Run, side: Side, known: RunResult, writer: Writer, judge: RaisingJudge) -> Transcript:
    if known.transcript_id:
        run.advance(len(run.plan.rooms[known.run_index]) * run.plan.step_count)
        return run.store.transcripts.get(known.transcript_id)
    checked: list[GateResult] = []
    done = Activity()

    async def log(result: GateResult) -> None:
        checked.append(result)
        done.note_check(result)

    transcript = await simulate(
        run.plan,
        side,
        known.run_index,
        run.population,
        writer,
        judge,
        run.library,
        gate_seconds=run.config.timeout_seconds,
        log=log,
        heard=run.advance,
        steering=done.note,
    )
    done.messages = len(transcript.discussion)
    made = RunResult(side, known.run_index, transcript.id, activity=done)
    await run.keep(partial(_store, run, made, transcript, checked))
    return transcript


def _store(run: _Run, made: RunResult, transcript: Transcript, checked: Sequence[GateResult]) -> None:
    """Keeps a conversation like every other transcript, with its metrics and what the gate did, in one transaction.

    What corrections did counts only in one that is stored: one that is broken off is held again from its beginning.
    """
    evaluation = evaluate_transcript(transcript)
    store, experiment = run.store, run.plan.id
    with store.unit(write=True):
        added = store.transcripts.add(transcript, source_name=f"{transcript.game_id}.json")
        if added.is_new:
            store.results.save([evaluation])
        store.experiments.add_run(experiment, made)
        if not run.plan.is_scripted:
            # What a script did is not a correction of anybody.
            for result in checked:
                store.corrections.add(result, experiment_id=experiment)


def _first_reason(results: Sequence[BaseException | None]) -> str:
    """Why the run stopped, or nothing; an error that is not a matter of budget is raised."""
    reasons = []
    for error in results:
        if isinstance(error, BudgetSpentError):
            reasons.append(error.reason)
        elif error is not None:
            raise error
    return reasons[0] if reasons else ""


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
