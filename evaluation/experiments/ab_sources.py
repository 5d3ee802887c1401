"""Sources of an A/B test's runs: stored games and simulations; and the checks before one starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.experiments.ab_runner import (
    FIGURES,
    PASS_RATE,
    ABConfig,
    Run,
    RunOutcome,
    flat_metrics,
    variant_config,
)
from evaluation.experiments.conversation import patient_gate
from evaluation.files.yaml_files import did_you_mean
from evaluation.insight.collector import LLMCallEvent, MetricsCollector, transcript_metrics, with_counts
from evaluation.judging.answers import describe
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.model_client.calls import ANSWERED, CallLog, CallRecord
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.protocol import Judge
from evaluation.persona.agents import persona_text
from evaluation.rubric.control_words import lead_of
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import Scored, metric_control, metric_judges
from evaluation.simulation.environment import FACILITATOR, Environment, RoomPlan, TurnOrder
from evaluation.simulation.model_texts import RaisingJudge, Writer
from evaluation.text.agent_names import agent_name, require_distinct_agents
from evaluation.text.display import listed
from evaluation.transcript import Cost, Transcript


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


Load = Callable[[str], tuple[Transcript, Mapping[str, Scored], Mapping[str, str]]]
"""Gives a stored transcript by id, with its scores by metric and its players' personas."""


def stored_games(load: Load) -> Run:
    """Runs that read stored games: their figures and their scores on the rubric's metrics."""

    async def run(config: dict[str, Any], seed: int) -> RunOutcome:  # noqa: ARG001 - a stored game needs no seed
        transcript, scores, personas = load(str(config["run"]))
        metrics = flat_metrics(transcript_metrics(transcript)) | {name: one.score for name, one in scores.items()}
        judges = {name: found for name, one in scores.items() if (found := metric_judges(one))}
        leads = {name: lead for name, one in scores.items() if (lead := lead_of(metric_control(one))) is not None}
        return RunOutcome(metrics, transcript, personas, judges, leads)

    return run


_KEYS = ("iteration", "transcripts")


def check_test(config: ABConfig) -> None:
    """Checks the keys and measures of a test.

    Raises:
        InputError: A key is misspelt, a setting is wrong, or no run can have a measure; names the place in the file.
    """
    if config.source == "transcripts":
        _check_keys(config)
        _check_measures(config, {*FIGURES, *DEFINITIONS}, "Stored games")
        return
    for name in config.variants:
        try:
            read_run(variant_config(config, name))
        except InputError as error:
            place = f"variants.{name}" + ("" if error.place.startswith("variants.") else f" with {error.place}")
            raise InputError(error.message, place=place, remedy=error.remedy) from None
    _check_measures(config, FIGURES, "Simulated runs")


def _check_keys(config: ABConfig) -> None:
    for place, body in (("base", config.base), *((f"variants.{name}", one) for name, one in config.variants.items())):
        for key in body:
            if key not in _KEYS:
                remedy = f"Known are {listed(_KEYS)}.{did_you_mean(key, _KEYS)}"
                raise InputError("This key is not known.", place=f"{place}.{key}", remedy=remedy)


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
