"""Shared steps of the ``dramaturg persona`` commands: choose the judge, evaluate, and store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.cli.persona.options import Mode
from evaluation.cli.shared.terminal import TerminalProgress, note

if TYPE_CHECKING:
    from evaluation.cli.persona.rendering import Rated
    from evaluation.harness.baselines import Baseline, Source
    from evaluation.harness.regression import BaselineComparison
    from evaluation.judging.judge_config import JudgeConfig
    from evaluation.judging.model_client.budget import Budget
    from evaluation.judging.propositions.loading import PropositionLibrary
    from evaluation.judging.propositions.proposition import Dimension
    from evaluation.judging.protocol import Judge, JudgeRequest
    from evaluation.persona.agents import Agent
    from evaluation.persona.evaluation import EvaluationPlan
    from evaluation.persona.subjects import Subject
    from evaluation.store import Store

    Baselines = dict[tuple[str, Source], Baseline]

Wrap = Callable[["Judge", "Agent"], "Judge"]
"""Puts something around the judge of an agent: a recorder, or another judge."""


@dataclass(frozen=True, slots=True)
class PersonaRunOptions:
    """What was asked for on the command line.

    Attributes:
        agents: Ids and names; empty for everybody who has a persona or propositions.
        wrap: Applied to every judge; ``None`` for nothing.
    """

    store: Store
    mode: Mode
    config: JudgeConfig
    plan: EvaluationPlan
    library: PropositionLibrary
    agents: list[str] = field(default_factory=list)
    wrap: Wrap | None = None

    @property
    def source(self) -> Source:
        """What is judged."""
        return "synthetic" if self.mode is Mode.SYNTHETIC else "transcripts"

    @property
    def is_about_everybody(self) -> bool:
        """Whether nobody was left out, so that whoever is missing is missing."""
        return not self.agents and self.plan.period.since is None and self.plan.period.until is None


def names(listed: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in map(str.strip, listed.split(",")) if name]


def dimensions(listed: str) -> tuple[Dimension, ...]:
    """The dimensions in a list with commas, in the specification's order; all for an empty one.

    Raises:
        InputError: One of them is none.
    """
    from evaluation.errors import InputError
    from evaluation.persona.results import DIMENSIONS

    chosen = names(listed)
    for name in chosen:
        if name not in DIMENSIONS:
            raise InputError(f"{name!r} is no dimension.", remedy=f"Choose from {', '.join(DIMENSIONS)}.")
    return tuple([each for each in DIMENSIONS if not chosen or each in chosen])


def library(folder: Path | None) -> PropositionLibrary:
    """The shipped propositions, with those of the person's own folder."""
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.propositions.loading import PropositionLibrary

    return PropositionLibrary.load(proposition_roots(folder))


_JUDGES = {Mode.MOCK: "recorded", Mode.LIVE: "live", Mode.SYNTHETIC: "live", Mode.OFFLINE: "offline"}


def judge_config(store: Store, mode: Mode, **options: Any) -> JudgeConfig:
    """The judge's configuration. Without ``model``, recordings are played of the model that made them.

    Raises:
        InputError: A value is not usable, or the recordings are of several models.
        JudgeError: A live judge cannot be reached.
    """
    from evaluation.judging.judge_config import SETTINGS_KEY
    from evaluation.judging.judge_config import judge_config as build

    config = build({"mode": _JUDGES[mode], **options}, stored=store.settings.get(SETTINGS_KEY))
    if mode is Mode.MOCK and not options.get("model"):
        config = config.model_copy(update={"model": _recorded_model(config)})
    _say_who_judges(config)
    if config.mode == "live":
        from evaluation.judging.model_client.reachability import probe

        probe(config)
    return config


def _recorded_model(config: JudgeConfig) -> str:
    from evaluation.errors import InputError
    from evaluation.files.bundled import recording_root
    from evaluation.judging.judges.recording_file import read_recordings

    place = config.recordings or recording_root()
    models = sorted({recording.model for recording in read_recordings(place).values()})
    if len(models) > 1:
        raise InputError(
            "The recordings are of several models.",
            place=str(place),
            remedy=f"Choose with --model: {', '.join(models)}.",
        )
    return models[0] if models else config.model


def _say_who_judges(config: JudgeConfig) -> None:
    from evaluation.judging.judges.scripted import NOTE, SCRIPTED_MODEL

    if config.mode == "offline":
        note(
            "No language model judges: fluency, consistency and voice distinctness are counted, adherence and ideas "
            "are not scored. For a model, set OPENAI_API_KEY or give --base-url, and --mode live."
        )
    elif config.mode == "recorded":
        note(f"Recorded answers of {config.model} are played back; no model is asked.")
        if config.model == SCRIPTED_MODEL:
            note(NOTE)
    else:
        note(f"{config.model} judges{f' at {config.base_url}' if config.base_url else ''}.")


def estimate(order: PersonaRunOptions) -> str:
    """The calls that an evaluation would make and what they would cost, in a sentence."""
    from evaluation.judging.judge_config import build_estimate
    from evaluation.judging.judges.estimating import NOTHING_ASKED
    from evaluation.judging.model_client.event_loop import run_asking

    store = order.store
    if order.config.mode != "live":
        return NOTHING_ASKED
    if order.mode is Mode.SYNTHETIC:
        from evaluation.harness.synthetic_answers import agents_with_personas, scenario_prompts

        calls = len(scenario_prompts()) * len(agents_with_personas(store.agents.all(), order.agents))
        return f"{calls:,} calls to {order.config.model} that write answers, and then those that judge them"

    async def counted_questions() -> str:
        counting = await build_estimate(order.config, store.judgements)
        for requests in _requests(order):
            await counting.judge(requests)
        return counting.words

    return run_asking(counted_questions())


def _requests(order: PersonaRunOptions) -> Iterator[list[JudgeRequest]]:
    """What a judge will be asked about everybody who is evaluated on transcripts, agent by agent."""
    from evaluation.persona.evaluation import questions_about
    from evaluation.workflows.agents import find_subjects

    plan = order.plan
    for subject in find_subjects(order.store, order.agents, plan.dimensions, order.library, plan.period):
        questions = questions_about(subject, order.library, plan).values()
        yield [asked.request for each in questions for asked in each if asked.request]


def evaluate(order: PersonaRunOptions) -> list[Rated]:
    """Everybody's evaluation with the id of its run, each stored as soon as it is done."""
    from evaluation.judging.judge_config import build_judge
    from evaluation.judging.model_client.budget import Budget, spent_words
    from evaluation.judging.model_client.event_loop import run_asking
    from evaluation.workflows.persona_runs import evaluate_persona

    config, store = order.config, order.store
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    # Of a run that takes no time nobody asks how much is left, and of answers yet to be written nobody knows.
    total = sum(map(len, _requests(order))) if order.mode is Mode.LIVE else 0
    progress = TerminalProgress("judgement", total=total, spent=lambda: spent_words(budget))

    async def collect() -> list[Rated]:
        found: list[Rated] = []
        async for subject in _subjects(order, budget):

            def judge_for(run_id: str, agent: Agent = subject.agent) -> Judge:
                judge: Judge = build_judge(config, cache=store.judgements, budget=budget, run_id=run_id)
                return order.wrap(judge, agent) if order.wrap else judge

            runs = evaluate_persona(
                store,
                [subject],
                judge_for,
                order.library,
                order.plan,
                mode=str(order.mode),
                report=lambda _, judgement: progress.advance(judgement.model),
            )
            found += [rated async for rated in runs]
        return found

    rated = run_asking(collect())
    progress.finish()
    return rated


async def _subjects(order: PersonaRunOptions, budget: Budget) -> AsyncIterator[Subject]:
    """Who is evaluated; in synthetic mode each after it has answered the prompts."""
    if order.mode is Mode.SYNTHETIC:
        async for subject in _synthetic(order, budget):
            yield subject
        return
    from evaluation.workflows.agents import find_subjects

    plan = order.plan
    for subject in find_subjects(order.store, order.agents, plan.dimensions, order.library, plan.period):
        yield subject


async def _synthetic(order: PersonaRunOptions, budget: Budget) -> AsyncIterator[Subject]:
    from evaluation.harness.synthetic_answers import (
        agents_with_personas,
        answers_of,
        scenario_prompts,
        synthetic_subject,
    )
    from evaluation.judging.judge_config import build_client

    prompts = scenario_prompts()
    client = build_client(order.config, budget=budget, log=lambda call: order.store.llm_calls.add([call]))
    for agent in agents_with_personas(order.store.agents.all(), order.agents):
        note(f"{agent.display_name} answers {len(prompts)} scenario prompts.")
        transcript = await answers_of(agent, prompts, client)
        order.store.transcripts.add(transcript, source_name=f"synthetic: {agent.display_name}")
        yield synthetic_subject(agent, transcript)


def plan(listed: str, sample_size: int, seed: int, individual: bool) -> EvaluationPlan:
    """The plan that the options make."""
    from evaluation.judging.questions import Options
    from evaluation.persona.evaluation import EvaluationPlan

    return EvaluationPlan(dimensions(listed), sample_size, seed, options=Options(is_batched=not individual))


def known_baselines(folder: Path | None) -> Baselines:
    """The baselines in ``folder``, the shipped ones when left out; read before a judge is asked and paid.

    Raises:
        InputError: There is no such folder, against which nothing could ever fall; or a file is no baseline.
    """
    from evaluation.errors import InputError
    from evaluation.files.bundled import baseline_root
    from evaluation.harness.baselines import read_baselines

    if folder is not None and not folder.is_dir():
        raise InputError(
            "There is no such folder with baselines.",
            place=str(folder),
            remedy="Correct --baselines or DRAMATURG_BASELINES, or make them there with `dramaturg persona baseline`.",
        )
    return read_baselines(folder or baseline_root())


def compared(order: PersonaRunOptions, rated: list[Rated], baselines: Baselines, max_drop: float) -> BaselineComparison:
    """The evaluations beside the baselines."""
    from evaluation.harness.regression import compare
    from evaluation.judging.judges.offline import OFFLINE_MODEL

    return compare(
        [evaluation for _, evaluation in rated],
        baselines,
        order.plan.dimensions,
        source=order.source,
        expects_all=order.is_about_everybody,
        max_drop=max_drop,
        judge=OFFLINE_MODEL if order.mode is Mode.OFFLINE else order.config.model,
    )


def baseline_folder(folder: Path | None) -> Path:
    """Where baselines are written to.

    Raises:
        InputError: None was named, and Dramaturg is installed and not a checkout.
    """
    from evaluation.errors import InputError
    from evaluation.files.bundled import baseline_root, checkout_root

    if folder is None and checkout_root() is None:
        raise InputError("Baselines of your own need a place.", remedy="Name a folder with --baselines.")
    return folder or baseline_root()


def write_baselines(order: PersonaRunOptions, rated: list[Rated], folder: Path) -> list[Path]:
    """Writes the evaluations as baselines; dimensions that were not asked for stay as they were."""
    from evaluation.harness.baselines import baseline_of, read_baselines, write_baseline
    from evaluation.judging.judges.scripted import NOTE, SCRIPTED_MODEL

    before = read_baselines(folder)
    paths = []
    for run_id, evaluation in rated:
        models = {model for _, model in evaluation.judges}
        note_for_people = NOTE if SCRIPTED_MODEL in models else ""
        made = baseline_of(
            evaluation, sample_size=order.plan.sample_size, source=order.source, note=note_for_people
        ).with_others_of(before.get((evaluation.agent.id, order.source)), order.plan.dimensions)
        if made.dimensions:
            paths.append(write_baseline(folder, made))
            order.store.evaluations.mark_baseline(run_id)
    return paths


def failures(rated: list[Rated]) -> list[str]:
    """Why judgements failed, one text for each that did."""
    return [item.detail for _, each in rated for item in each.items if item.status == "error"]
