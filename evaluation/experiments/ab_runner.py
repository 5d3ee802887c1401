"""A/B tests: variants of one configuration, their runs from stored games or simulations, and their comparison."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.experiment import AB_TEST, patient_gate
from evaluation.experiments.results import Better, RunResult, StudyResult, passed_share, study_result
from evaluation.files.yaml_files import did_you_mean
from evaluation.insight.collector import LLMCallEvent, MetricsCollector, transcript_metrics, with_counts
from evaluation.insight.metrics import SimulationMetrics
from evaluation.insight.validator import BUDGET, LARGEST_SEED, EvaluationConfig, ValidationResult, Validator
from evaluation.judging.answers import describe
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.model_client.budget import Budget, BudgetSpentError, counted_calls
from evaluation.judging.model_client.calls import ANSWERED, CallLog, CallRecord
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.protocol import Judge, JudgementStatus
from evaluation.persona.agents import persona_text
from evaluation.progress import ProgressCallback, no_progress
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.simulation.environment import FACILITATOR, Environment, RoomPlan, TurnOrder
from evaluation.simulation.model_texts import RaisingJudge, Writer
from evaluation.text.agent_names import agent_name, require_distinct_agents
from evaluation.text.display import listed
from evaluation.transcript import Cost, Transcript

PASS_RATE = "validation_pass_rate"
COST = "estimated_cost_usd"


Source = Literal["transcripts", "simulation"]
Name = Annotated[str, Field(min_length=1, max_length=200)]

ADR_MEASURES: dict[str, Better] = {
    PASS_RATE: "higher",
    "total_messages": "neither",
    "avg_response_length": "neither",
    "total_reflections": "neither",
    COST: "lower",
}
"""What is compared unless the file says otherwise (ADR-010)."""


class ABConfig(BaseModel):
    """An A/B test.

    Attributes:
        name: What it is called.
        source: Where runs come from. ``transcripts``: stored games. ``simulation``: each run is simulated.
        base: The configuration that all variants share.
        variants: What each variant changes in it, by keys with dots: ``agents.temperature: 0.2``.
        runs_per_variant: How many runs; those of ``evaluation`` when left out, or all stored ones.
        seed: Of the first run of every variant; the next runs count on. Runs with the same seed are pairs.
        measures: What is compared, and which direction is better.
        primary: The measure that decides; by default the share of checks that pass, without that coherence.
        checks: Whether a judge checks a sample of every run's messages, which gives ``validation_pass_rate``. When left
            out: of what is run, not of what is stored.
        max_usd: What the runs of one call may cost together, in US dollars; the others wait for the next.
        evaluation: Thresholds, sample and the relative difference that is called practical.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    source: Source
    base: dict[str, Any] = Field(default_factory=dict)
    variants: dict[Name, dict[str, Any]] = Field(min_length=2, max_length=20)
    runs_per_variant: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    measures: dict[Name, Better] = Field(default_factory=lambda: dict(ADR_MEASURES), min_length=1, max_length=50)
    primary: Name = PASS_RATE
    checks: bool | None = None
    max_usd: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)

    @property
    def decides(self) -> str:
        """The words before the measure that decides: whether the file chose it."""
        is_chosen = "primary" in self.model_fields_set
        return "decides" if is_chosen else "no measure was chosen to decide, so it is the usual one"

    @property
    def is_checked(self) -> bool:
        """Whether a judge checks messages of this test's runs."""
        return self.source == "simulation" if self.checks is None else self.checks

    @property
    def kind(self) -> str:
        """``AB_TEST``."""
        return AB_TEST

    @property
    def id(self) -> str:
        """A UUID made of what the file says, as which measures it chose decides what is checked."""
        written = self.model_dump(mode="json", exclude_unset=True)
        return str(uuid.uuid5(_NAMESPACE, json.dumps(written, sort_keys=True)))

    @model_validator(mode="after")
    def _primary_decides(self) -> Self:
        if "primary" not in self.model_fields_set and self.primary not in self.measures:
            object.__setattr__(self, "primary", COHERENCE.name)  # still not chosen, see ``decides``
        if self.measures.get(self.primary, "neither") == "neither":
            raise ValueError(f"{self.primary!r}, the primary measure, must be among measures, as higher or lower")
        return self


_NAMESPACE = uuid.UUID("0f4c8b52-33f5-4c0f-8a43-0a1d7d6a9c11")


def variant_config(config: ABConfig, variant: str) -> dict[str, Any]:
    """The configuration of a variant: a deep copy, so that no variant can change another's.

    Raises:
        InputError: A change names a setting that the base does not have.
    """
    own = deepcopy(config.base)
    for key, value in config.variants[variant].items():
        _override(own, key, deepcopy(value), f"variants.{variant}", is_free=not config.base)
    return own


def _override(config: dict[str, Any], key: str, value: Any, place: str, *, is_free: bool) -> None:
    """Sets one value by its key with dots. A base without any settings takes every key."""
    target: Any = config
    *path, last = key.split(".")
    for part in path:
        if is_free and isinstance(target, dict):
            target.setdefault(part, {})
        target = target.get(part) if isinstance(target, Mapping) else None
    if not isinstance(target, dict) or not (is_free or last in target):
        remedy = "Correct the key, or put its usual value into base."
        raise InputError(f"The base has no setting {key!r}.", place=place, remedy=remedy)
    target[last] = value


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of one run.

    Attributes:
        metrics: Figures by name; ``None`` where one is not known.
        transcript: What was said, where there is anything to check.
        personas: Persona texts by player.
        scored: As in ``RunResult``.
        original: As in ``RunResult``.
    """

    metrics: Mapping[str, float | None]
    transcript: Transcript | None = None
    personas: Mapping[str, str] | None = None
    scored: Mapping[str, MetricScore] = field(default_factory=dict)
    original: str = ""


Run = Callable[[dict[str, Any], int], Awaitable[RunOutcome]]
"""Runs a configuration with a seed. What it changes in the configuration, nobody else sees."""


PlannedRun = tuple[RunResult, dict[str, Any]]
"""A run to be made, with a configuration of its own."""


def plan(config: ABConfig) -> list[PlannedRun]:
    """All runs, variant by variant in turn, so that what a limit leaves is balanced.

    A variant of stored games is as long as its list ``runs`` (at most ``runs_per_variant``), and each run gets its own
    entry.

    Raises:
        InputError: A variant changes a setting that the base does not have.
    """
    variants = [_runs_of(config, name) for name in config.variants]
    return [run for row in zip_longest(*variants) for run in row if run is not None]


def _runs_of(config: ABConfig, variant: str) -> list[PlannedRun]:
    own, count = variant_config(config, variant), config.runs_per_variant
    if config.source == "simulation":
        configs = [own] * (count or config.evaluation.default_runs_per_variant)
    else:
        configs = [{"run": one} for one in own.get("runs", [])][:count]
    return [(RunResult(variant, index, seed=config.seed + index), one) for index, one in enumerate(configs)]


@dataclass(frozen=True)
class ExperimentRunner:
    """Makes the runs of one A/B test and compares them.

    Attributes:
        config: The test.
        run: Makes one run.
        judge: Checks messages; ``None`` checks nothing.
        budget: No run begins once it is stopped.
        known: The runs that earlier calls made, by key.
        keep: Told of every further one that is final.
        asked: Who judges and who speaks; runs that others answered are made again.
    """

    config: ABConfig
    run: Run
    judge: Judge | None = None
    budget: Budget | None = None
    known: Mapping[str, RunResult] = field(default_factory=dict)
    keep: Callable[[RunResult], None] | None = None
    asked: str = ""

    @cached_property
    def _validator(self) -> Validator | None:
        if self.judge is None or not self.config.is_checked:
            return None
        return Validator(self.judge, self.config.evaluation.validation())

    async def run_ab_test(self, report: ProgressCallback = no_progress) -> StudyResult:
        """The result over all runs, those of earlier calls included.

        A run that fails is listed with its reason, and the others go on.

        Raises:
            InputError: A variant is wrong, or the runs cannot be kept.
        """
        runs: list[RunResult] = []
        everything = plan(self.config)
        for run, config in everything:
            runs.append(await self._one(run, config))
            report(len(runs), len(everything))
        return study_result(
            {name: [run for run in runs if run.variant == name] for name in self.config.variants},
            self.config.measures,
            primary=self.config.primary,
            threshold=self.config.evaluation.significance_threshold,
            is_paired=self.config.source == "simulation",
        )

    async def _one(self, run: RunResult, config: dict[str, Any]) -> RunResult:
        try:
            if self.budget and self.budget.stopped:
                raise BudgetSpentError(self.budget.stopped)
            with counted_calls(run.activity):
                # What is stored is read again every time: that costs nothing, and its scores may have changed.
                stored = await self.run(deepcopy(config), run.seed) if self.config.source == "transcripts" else None
                checks = self.config.evaluation.model_dump_json() if self._validator else ""
                # A mended game, or another persona, is checked again.
                content = [stored.transcript and stored.transcript.id, stored.personas] if stored else []
                decisive = [self.config.source, checks, self.asked, content, run.variant, run.seed, config]
                key = hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode("utf-8")).hexdigest()
                if known := self.known.get(key):
                    known = replace(known, run_index=run.run_index, is_resumed=True)
                    return known if stored is None else _done(known, stored)
                outcome = stored or await self.run(deepcopy(config), run.seed)
                checked = await self._validated(outcome)
        except BudgetSpentError as error:
            return replace(run, status="skipped", detail=error.reason)
        except Exception as error:  # noqa: BLE001 - a run is somebody's function, and the others must go on
            return replace(run, status="failed", detail=_reason(error))
        made = _done(replace(run, validations=checked, key=key), outcome)
        if self.keep and self._is_final(made):
            self.keep(made)
        return made

    def _is_final(self, made: RunResult) -> bool:
        """Whether another call could learn no more: some check that was asked for has a score, or none was asked for.

        A simulated run costs money, so only one that nobody could judge is made again; a game is there already.
        """
        useless = {JudgementStatus.NOT_SCORED}
        if self.config.source == "transcripts":
            useless.add(JudgementStatus.ERROR)
        asked = [one for one in made.validations if one.is_asked]
        return not asked or any(one.status not in useless for one in asked)

    async def _validated(self, outcome: RunOutcome) -> tuple[ValidationResult, ...]:
        if self._validator is None or outcome.transcript is None:
            return ()
        self._validator.reset_budget()
        checked = (await self._validator.validate_transcript(outcome.transcript, outcome.personas)).results
        # Where the judge's money ran out in the middle, the run is made again when there is more. What the validator's
        # own limit left out was never asked, and is not a reason to make it again.
        if any(one.is_asked and one.status is JudgementStatus.SKIPPED for one in checked):
            raise BudgetSpentError(BUDGET)
        return checked


def _done(run: RunResult, outcome: RunOutcome) -> RunResult:
    """The run with what came of it, and the share of its checks that passed."""
    share = passed_share([run])
    return replace(
        run,
        metrics={**outcome.metrics} if share is None else {**outcome.metrics, PASS_RATE: share},
        scored=outcome.scored,
        original=outcome.original,
        transcript_id=outcome.transcript.id if outcome.transcript else "",
    )


def _reason(error: Exception) -> str:
    """Why a run failed; what we did not raise is named by its type too."""
    return str(error) if isinstance(error, DramaturgError) else f"{type(error).__name__}: {error}".rstrip(": ")


def flat_metrics(metrics: SimulationMetrics) -> dict[str, float | None]:
    """The figures of a game that are one number each, by their names in the ADR."""
    network = metrics.network
    own = {name: getattr(metrics, name) for name in _FIGURES}
    return own | {name: getattr(network, name, None) for name in _NETWORK_FIGURES}


_FIGURES = (
    "total_messages",
    "avg_response_length",
    "total_reflections",
    "avg_memory_importance",
    "retrieval_calls",
    "retrieval_hit_rate",
    "total_tokens",
    "api_calls",
    COST,
)
_NETWORK_FIGURES = ("density", "reciprocity", "clustering_coefficient", "avg_path_length", "diameter", "components")

FIGURES = (*_FIGURES, *_NETWORK_FIGURES)
"""The names of what ``flat_metrics`` gives."""


class SimulatedRun(BaseModel):
    """The settings under ``base`` of a simulated A/B test.

    Attributes:
        room: What the conversation is called.
        steps: How many times everybody may speak.
        order: Who acts when.
        model: Who speaks; the model in force when left out.
        temperature: Of what agents say.
        facilitator: What the facilitator says at the beginning of a step, by step from 1.
        corrections: What the gate and the interventions do, by the names of ``agent_evaluation_config``.
        personas: The agents; each needs a ``name`` of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    room: Annotated[str, Field(min_length=1, max_length=200)] = "Room"
    steps: Annotated[int, Field(strict=True, ge=1, le=100)] = 5
    order: TurnOrder = TurnOrder.PARALLEL
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 1.0
    facilitator: dict[Annotated[int, Field(ge=1)], str] = Field(default_factory=dict)
    corrections: CorrectionConfig = Field(default_factory=CorrectionConfig)
    personas: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]

    @property
    def names(self) -> list[str]:
        """The agents' names."""
        return [str(persona.get("name", "")) for persona in self.personas]


Connect = Callable[[str | None, CallLog], LLMClient]
"""Opens a connection to a model (that in force for ``None``) whose calls are told to the log."""

Keep = Callable[[Transcript, Sequence[CallRecord]], None]
"""Stores what was said, and the calls that were made for it."""


def simulated_games(
    connect: Connect,
    judge: Judge,
    library: PropositionLibrary,
    keep: Keep = lambda _transcript, _calls: None,
    judged: CallBuffer | None = None,
) -> Run:
    """Runs that let agents talk. Nothing but the model's own chance differs between two runs with the same seed.

    Args:
        connect: To the model that speaks.
        judge: Answers the gate and the interventions, where the configuration turns any on.
        library: The gate's propositions.
        keep: Told of every transcript.
        judged: Where the judge logs its calls: those of gate and interventions count among the run's.

    Raises:
        BudgetSpentError: (The run.) Nothing more may be spent.
    """
    strict, buffer = RaisingJudge(judge), judged or CallBuffer()

    async def run(config: dict[str, Any], seed: int) -> RunOutcome:
        settings = read_run(config)
        corrections = settings.corrections
        calls: list[CallRecord] = []
        client = connect(settings.model, calls.append)
        writer = Writer(client, temperature=settings.temperature, salt=seed)
        talk = {"seed": seed, "is_simulated": True}
        plan = RoomPlan(
            settings.room, settings.steps, settings.order, settings.facilitator, seed, corrections, metadata=talk
        )
        # What it was asked since the last run were checks, which are not part of this one.
        buffer.take()
        collector = MetricsCollector()
        gate = patient_gate(corrections, strict, library)
        room = Environment(plan, settings.personas, writer, judge=strict, gate=gate, note=collector.add)
        async with client.session():
            said = await room.run()
        asked = buffer.take()
        # Failed calls and those of corrections name no agent.
        for call in (*(one for one in calls if one.outcome != ANSWERED), *asked):
            collector.add(LLMCallEvent(call.input_tokens + call.output_tokens, call.cost_usd))
        priced = said.model_copy(update={"cost": _cost([*calls, *asked])})
        transcript = with_counts(priced, collector.get_metrics())
        keep(transcript, calls)
        personas = {name: persona_text(one) for name, one in zip(settings.names, settings.personas, strict=True)}
        return RunOutcome(flat_metrics(transcript_metrics(transcript)), transcript, personas)

    return run


def read_run(config: dict[str, Any]) -> SimulatedRun:
    """The settings of a simulated run.

    Raises:
        InputError: They are wrong, or two names would be one agent or the facilitator.
    """
    try:
        settings = SimulatedRun.model_validate(config)
    except ValidationError as error:
        raise InputError(f"{describe(error)}.", place="base", remedy="See --print-config.") from None
    names = settings.names
    if "" in names:
        raise InputError("Every agent needs a name of its own.", place="base.personas", remedy="Give each a name.")
    require_distinct_agents([FACILITATOR, *map(agent_name, names)], "base.personas")
    return settings


def _cost(calls: Sequence[CallRecord]) -> Cost:
    """The cost of a conversation, gate and interventions included; no sum where some prices are not known."""
    prices = [call.cost_usd for call in calls if call.outcome == ANSWERED]
    known = [price for price in prices if price is not None]
    return Cost(
        total_usd=sum(known) if len(known) == len(prices) else None,
        input_tokens=sum(call.input_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
    )


Load = Callable[[str], tuple[Transcript, Mapping[str, MetricScore], Mapping[str, str], str]]
"""Gives a stored transcript by id, with its scores by metric, its players' personas, and the game it repeats."""


def stored_games(load: Load) -> Run:
    """Runs that read stored games: their figures and their scores on the rubric's metrics."""

    async def run(config: dict[str, Any], seed: int) -> RunOutcome:  # noqa: ARG001 - a stored game needs no seed
        transcript, scores, personas, original = load(str(config["run"]))
        metrics = flat_metrics(transcript_metrics(transcript)) | {name: one.score for name, one in scores.items()}
        return RunOutcome(metrics, transcript, personas, scores, original)

    return run


def check_test(config: ABConfig) -> None:
    """Checks the keys and measures of a test.

    Raises:
        InputError: A key is misspelt, a setting is wrong, or no run can have a measure; names the place in the file.
    """
    if config.source == "transcripts":
        if config.base:
            raise InputError("Stored games have no settings.", place="base", remedy="Leave it out.")
        _check_measures(config, {*FIGURES, *DEFINITIONS}, "Stored games")
        return
    for name in config.variants:
        try:
            read_run(variant_config(config, name))
        except InputError as error:
            place = f"variants.{name}" + ("" if error.place.startswith("variants.") else f" with {error.place}")
            raise InputError(error.message, place=place, remedy=error.remedy) from None
    _check_measures(config, FIGURES, "Simulated runs")


def _check_measures(config: ABConfig, possible: Iterable[str], runs: str) -> None:
    """Measures that the file does not choose are the usual ones, of which runs may lack some; the primary decides."""
    known = {*possible, *([PASS_RATE] if config.is_checked else [])}
    wanted = list(config.measures) if "measures" in config.model_fields_set else [config.primary]
    for name in wanted:
        if name in known:
            continue
        others = f"They have {listed(sorted(known))}.{did_you_mean(name, known)}"
        remedy = "Set checks: true." if name == PASS_RATE else others
        place = f"measures.{name}" if name in config.measures and "measures" in config.model_fields_set else "primary"
        raise InputError(f"{runs} cannot have the measure {name!r}.", place=place, remedy=remedy)
