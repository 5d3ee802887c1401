"""Evaluate agents, store each result at once, hold the results against baselines, and make answers for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.errors import DramaturgError, InputError, JudgeError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.files.bundled import parse_yaml, shipped
from evaluation.harness.regression import (
    MAX_DROP,
    Baseline,
    BaselineComparison,
    Conditions,
    Source,
    baseline_of,
    compare,
    read_baselines,
    write_baseline,
)
from evaluation.judging.judge_config import JudgeConfig, build_client, build_estimate, build_judge
from evaluation.judging.judges_without_model import OFFLINE_MODEL, read_recordings
from evaluation.judging.live_judge import NOTHING_ASKED
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.calls import CallPurpose
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import Judge, JudgeRequest, Report
from evaluation.judging.questions import Options
from evaluation.persona.agents import SYNTHETIC_FORMAT, Agent, Cast, SpeakerMap, find_agent, persona_text, shipped_cast
from evaluation.persona.evaluation import EvaluationPlan, PersonaEvaluation, applicable, evaluate_agent, questions_about
from evaluation.persona.subjects import Sources, Subject, subject_of
from evaluation.store import Store
from evaluation.transcript import Transcript, build_transcript
from evaluation.workflows.agents import KnownAgents, find_subjects

JudgeFor = Callable[[str], Judge]
"""Makes the judge for a run, given the run's id, under which its calls are logged."""

Rated = tuple[str, PersonaEvaluation]
"""An evaluation with the id of its run."""

Wrap = Callable[[Judge], Judge]
"""Puts something around a judge, such as a recorder."""

Baselines = Mapping[tuple[str, Source], Baseline]


BROKEN_OFF = "The run was broken off."


@dataclass(frozen=True, slots=True)
class PersonaRunRequest:
    """The agents to evaluate, and who judges them.

    Attributes:
        config: Of the judge.
        plan: Dimensions, sample, options.
        library: The propositions.
        agents: Ids and names; empty for everybody who has a persona or propositions.
        mode: How the runs come about, for people: "live", "offline", "mock".
        source: Whether agents are judged on transcripts, or on answers to scenario prompts that they give first.
        with_simulated: Whether the conversations of experiments count too.
        wrap: Puts something around the judge of every agent, such as a recorder; ``None`` for nothing.
    """

    config: JudgeConfig
    plan: EvaluationPlan
    library: PropositionLibrary
    agents: Sequence[str] = ()
    mode: str = ""
    source: Source = "transcripts"
    with_simulated: bool = False
    wrap: Wrap | None = None

    def subjects(self, store: Store) -> list[Subject]:
        """The agents that are evaluated on transcripts, with all they said.

        Raises:
            NotFoundError: Nobody of that name speaks anywhere.
        """
        dimensions, period = self.plan.dimensions, self.plan.period
        return find_subjects(store, self.agents, dimensions, self.library, period, with_simulated=self.with_simulated)

    @property
    def conditions(self) -> Conditions:
        """The source and judge that shape the scores beside the plan."""
        judge = OFFLINE_MODEL if self.config.mode == "offline" else self.config.model
        return Conditions(self.source, judge, self.with_simulated)

    @property
    def is_about_everybody(self) -> bool:
        """Whether nobody was left out, so that whoever is missing is missing."""
        return not self.agents and self.plan.period.since is None and self.plan.period.until is None


def run_personas(
    store: Store,
    request: PersonaRunRequest,
    subjects: Sequence[Subject] | None = None,
    *,
    budget: Budget | None = None,
    report: Report | None = None,
    announce: Callable[[str], None] | None = None,
) -> list[Rated]:
    """Evaluates the agents of a request, each stored as soon as it is done.

    Args:
        store: Where to.
        request: What is asked for.
        subjects: Who is evaluated, where that is known already; else whom the request names.
        budget: What may be spent; made of the configuration's limits when left out.
        report: Told of every judgement.
        announce: Told in a sentence when an agent begins to answer scenario prompts.

    Raises:
        DramaturgError: Nobody is called that, or the judge or the store cannot be used.
    """
    config = request.config
    budget = budget or Budget(usd=config.max_usd, calls=config.max_calls)

    def judge_for(run_id: str) -> Judge:
        judge = build_judge(config, cache=store.judgements, budget=budget, run_id=run_id)
        return request.wrap(judge) if request.wrap else judge

    async def collect() -> list[Rated]:
        return [
            rated
            async for subject in _subjects(store, request, subjects, budget, announce)
            async for rated in evaluate_persona(
                store,
                [subject],
                judge_for,
                request.library,
                request.plan,
                mode=request.mode,
                report=report,
            )
        ]

    return asyncio.run(collect())


def requests_of(store: Store, request: PersonaRunRequest) -> Iterator[list[JudgeRequest]]:
    """The requests to a judge about all agents that are evaluated on transcripts, agent by agent."""
    plan = request.plan
    for subject in request.subjects(store):
        questions = questions_about(subject, request.library, plan).values()
        yield [asked.request for each in questions for asked in each if asked.request]


def told_of_names(store: Store, request: PersonaRunRequest) -> list[str]:
    """Sentences on what only names decide: who has a shipped persona, and which players of a game are one agent."""
    if request.source == "synthetic":
        return []
    known = KnownAgents.of(store, with_simulated=request.with_simulated)
    agents = known.chosen(request.agents, request.library)
    is_held_to_persona = Dimension.ADHERENCE in request.plan.dimensions
    told = [known.told_of_merged_players(agents), is_held_to_persona and known.told_of_shipped_personas(agents)]
    return [sentence for sentence in told if sentence]


def estimate_personas(store: Store, request: PersonaRunRequest) -> str:
    """The calls that ``run_personas`` would make and what they would cost, in a sentence."""
    if request.config.mode != "live":
        return NOTHING_ASKED
    if request.source == "synthetic":
        calls = len(scenario_prompts()) * len(agents_with_personas(store.agents.all(), request.agents))
        return f"{calls:,} calls to {request.config.model} that write answers, and then those that judge them"

    async def run() -> str:
        counting = build_estimate(request.config, store.judgements)
        for requests in requests_of(store, request):
            await counting.judge(requests)
        return counting.words

    return asyncio.run(run())


async def _subjects(
    store: Store,
    request: PersonaRunRequest,
    subjects: Sequence[Subject] | None,
    budget: Budget,
    announce: Callable[[str], None] | None,
) -> AsyncIterator[Subject]:
    """The subjects of the evaluation; in synthetic mode each after it has answered the prompts."""
    if request.source != "synthetic":
        for subject in request.subjects(store) if subjects is None else subjects:
            yield subject
        return
    prompts = scenario_prompts()
    client = build_client(request.config, budget=budget, log=lambda call: store.llm_calls.add([call]))
    for agent in agents_with_personas(store.agents.all(), request.agents):
        if announce is not None:
            announce(f"{agent.display_name} answers {len(prompts)} scenario prompts.")
        transcript = await answers_of(agent, prompts, client)
        store.transcripts.add(transcript, source_name=f"synthetic: {agent.display_name}")
        yield synthetic_subject(agent, transcript)


async def evaluate_persona(
    store: Store,
    subjects: Iterable[Subject],
    judge_for: JudgeFor,
    library: PropositionLibrary,
    plan: EvaluationPlan,
    *,
    mode: str = "",
    report: Report | None = None,
) -> AsyncIterator[Rated]:
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
            evaluation = await evaluate_agent(subject, judge_for(run_id), library, plan, report=report)
            store.evaluations.finish(run_id, evaluation)
        yield run_id, evaluation


EXAMPLE_AGENTS = ("michael", "dwight", "jim")
"""Shipped agents that the recordings hold answers about."""


def evaluate_example(store: Store) -> list[Rated]:
    """Evaluates three shipped agents twice by recorded answers, without a key, with half of the sample at first.

    Raises:
        DramaturgError: The recordings or the store cannot be used.
    """
    played = JudgeConfig(mode="recorded")
    config = played.model_copy(update={"model": recorded_model(played)})
    plan = EvaluationPlan(options=Options(is_batched=True))
    library = PropositionLibrary.load()
    plans = (replace(plan, first=plan.sample_size // 2), plan)
    requests = [PersonaRunRequest(config, each, library, EXAMPLE_AGENTS, "mock") for each in plans]
    return [rated for request in requests for rated in run_personas(store, request)]


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


def recorded_model(config: JudgeConfig) -> str:
    """The model that made the recordings; the configuration's own where there are none.

    Raises:
        InputError: They are of several models.
    """
    place = config.recordings or shipped("data/recordings")
    models = sorted({recording.model for recording in read_recordings(place).values()})
    if len(models) > 1:
        raise InputError(
            "The recordings are of several models.",
            place=str(place),
            remedy=f"Choose with --model: {', '.join(models)}.",
        )
    return models[0] if models else config.model


def known_baselines(folder: Path | None) -> Baselines:
    """The baselines in ``folder``, the shipped ones when left out; read before a judge is asked and paid.

    Raises:
        InputError: There is no such folder, against which nothing could ever fall; or a file is not a baseline.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(
            "There is no such folder with baselines.",
            place=str(folder),
            remedy="Correct --baselines or DRAMATURG_BASELINES, or make them there with `dramaturg persona baseline`.",
        )
    return read_baselines(folder or shipped("data/baselines"))


def compare_with_baselines(
    request: PersonaRunRequest,
    rated: Sequence[Rated],
    baselines: Baselines,
    max_drop: float = MAX_DROP,
    *,
    requires_baseline: bool = False,
) -> BaselineComparison:
    """The evaluations that a request led to, beside the baselines; arguments as for ``compare``."""
    return compare(
        [evaluation for _, evaluation in rated],
        baselines,
        request.plan,
        request.conditions,
        expects_all=request.is_about_everybody,
        max_drop=max_drop,
        requires_baseline=requires_baseline,
    )


def write_baselines(store: Store, request: PersonaRunRequest, rated: Sequence[Rated], folder: Path) -> list[Path]:
    """Writes the evaluations as baselines; dimensions that were not asked for stay as they were."""
    before = read_baselines(folder)
    paths = []
    for run_id, evaluation in rated:
        made = baseline_of(evaluation, request.plan, request.conditions)
        made = made.with_others_of(before.get(made.key), request.plan.dimensions)
        if made.dimensions:
            paths.append(write_baseline(folder, made))
            store.evaluations.mark_baseline(run_id)
    return paths


CHANNEL = "synthetic"
NARRATOR = "Scenario"
PURPOSE = "synthetic"

SYSTEM = """\
You are {name}. Below stands who you are. Answer as this person would, in your own words, with what you would say aloud
and nothing else: no stage directions, no explanations, no mention that you are a program. Two to five sentences.

{persona}"""

_FILE = "scenario_prompts.yaml"
_LONGEST_NAME = 200
_MAX_TOKENS = 400
_TEMPERATURE = 0.0


def scenario_prompts() -> dict[str, str]:
    """The shipped situations that an agent is put into, by id, in their order.

    Raises:
        InfrastructureError: The folder of shipped personas is missing.
    """
    body = parse_yaml((shipped("data/personas") / _FILE).read_text(encoding="utf-8"))
    return {entry["id"]: entry["text"] for entry in body["prompts"]}


def agents_with_personas(stored: Mapping[str, Agent], references: Sequence[str]) -> list[Agent]:
    """The agents that can answer in character.

    Args:
        stored: Agents by id, which count before shipped ones of the same id.
        references: Ids or names; nothing, or ``all``, for every agent that has a persona.

    Raises:
        NotFoundError: Nobody is called that.
        InputError: That agent has no persona.
    """
    cast = shipped_cast()
    known = {key: member.agent for key, member in cast.members.items()}
    for key, agent in stored.items():
        if agent.kind is TargetType.AGENT:
            bundled = known[key].persona if key in known else None
            known[key] = replace(agent, persona=bundled if agent.persona is None else agent.persona)
    if not references or "all" in references:
        return [agent for agent in known.values() if agent.persona is not None]
    return [_named(reference, known, cast) for reference in dict.fromkeys(references)]


def _named(reference: str, known: dict[str, Agent], cast: Cast) -> Agent:
    names = [(key, agent.display_name) for key, agent in known.items()]
    names += [(key, name) for key, member in cast.members.items() for name in member.speakers]
    agent = known.get(find_agent(reference, names) or "")
    if agent is None:
        raise NotFoundError(
            f"No agent called {reference!r} is known.",
            remedy=f"Choose from: {', '.join(known)}. Import one with: dramaturg agents import.",
        )
    if agent.persona is None:
        raise InputError(
            f"{agent.display_name} has no persona to answer from.",
            place=agent.id,
            remedy="Give it one with: dramaturg agents import FILE.",
        )
    return agent


async def answers_of(agent: Agent, prompts: Mapping[str, str], client: LLMClient) -> Transcript:
    """The agent's answers to the prompts, each asked on its own, as a transcript marked synthetic.

    Args:
        agent: Must have a persona.
        prompts: By id, in this order.
        client: The model that plays the agent.

    Raises:
        JudgeError: The model does not answer, or the budget does not allow it.
        InputError: The model answered nothing at all.
    """
    async with client.session():
        answers = await asyncio.gather(*[_answer(agent, text, client) for text in prompts.values()])
    messages: list[dict[str, Any]] = []
    for (key, text), answer in zip(prompts.items(), answers, strict=True):
        if answer:
            messages.append({"id": f"{key}-prompt", "channel": "system", "speaker": NARRATOR, "text": text})
            messages.append({"id": key, "channel_name": CHANNEL, "speaker": _name(agent), "text": answer})
    if not messages:
        raise InputError(f"{client.model} answered nothing as {agent.display_name}.", remedy="Take another model.")
    return build_transcript(
        Transcript,
        {
            "game_id": f"synthetic-{agent.id}"[:_LONGEST_NAME],
            "source_format": SYNTHETIC_FORMAT,
            "players": ({"name": _name(agent), "persona": agent.persona, "model": client.model},),
            "messages": tuple([{"index": index, **each} for index, each in enumerate(messages)]),
            "metadata": {"synthetic": True, "model": client.model},
        },
    )


async def _answer(agent: Agent, prompt: str, client: LLMClient) -> str:
    conversation = [
        {"role": "system", "content": SYSTEM.format(name=_name(agent), persona=persona_text(agent.persona))},
        {"role": "user", "content": prompt},
    ]
    try:
        response = await client.complete(conversation, _TEMPERATURE, _MAX_TOKENS, purpose=CallPurpose(PURPOSE))
    except BudgetSpentError as spent:
        raise JudgeError(
            f"{agent.display_name} could not answer: {spent.reason}.",
            place=client.model,
            remedy="Allow a larger budget.",
        ) from None
    # A model may write half of a pair of characters, which no file can hold.
    return well_formed(response.content.strip())


def _name(agent: Agent) -> str:
    return agent.display_name[:_LONGEST_NAME]


def synthetic_subject(agent: Agent, transcript: Transcript) -> Subject:
    """The agent with nothing but what it said in that transcript."""
    speakers = SpeakerMap({_name(agent): agent.id})
    return subject_of(agent, Sources([transcript], speakers, shipped_cast(), {agent.id: agent}))
