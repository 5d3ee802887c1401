"""One conversation of an experiment: simulated, evaluated, and what its treatment did in it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.corrections.action_gate import ActionGate, GateOutcome, GateResult, Log
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.interventions import ANTI_CONVERGENCE, VARIETY
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.corrections.statistics import SIMILARITY
from evaluation.experiments.plan import AgentScore, ExperimentPlan, ExperimentRecord, Side
from evaluation.insight.collector import MetricsCollector, with_counts
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import TargetType
from evaluation.judging.protocol import Judge
from evaluation.persona.agents import Cast, SpeakerMap
from evaluation.persona.evaluation import evaluate_agent
from evaluation.persona.subjects import Sources, everybody, subject_of
from evaluation.simulation.environment import REPETITION, Environment, RoomPlan, Steering
from evaluation.simulation.model_texts import Writer
from evaluation.text.display import counted, json_data
from evaluation.transcript import Transcript

_CORRECTED = frozenset({GateOutcome.CORRECTED, GateOutcome.PASSED_AFTER_RETRY})


def parts_of(config: CorrectionConfig) -> tuple[str, ...]:
    """The names of everything that a configuration turns on."""
    return (
        *config.thresholds,
        *([SIMILARITY] if config.gate_similarity_enabled else []),
        *([ANTI_CONVERGENCE] if config.anti_convergence_enabled else []),
        *([VARIETY] if config.variety_intervention_enabled else []),
        *([REPETITION] if config.repetition_suppression_enabled else []),
    )


@dataclass(slots=True)
class Activity:
    """Counts of what corrections did on one side, or in one conversation.

    Attributes:
        messages: Messages by agents.
        checked: Those that the gate looked at.
        sent_back: Those whose first text did not pass.
        corrected: Those of which a rewritten text was sent.
        looked: By part, how often it was looked whether it should take effect.
        fired: By part, how often it did: a check that sent a text back, an intervention that was applied.
        calls: Calls to the model, failed ones included.
        cost_usd: What they cost, as far as it is known.
        unpriced_calls: Those whose price is not known.
    """

    messages: int = 0
    checked: int = 0
    sent_back: int = 0
    corrected: int = 0
    looked: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    def note_check(self, result: GateResult) -> None:
        """Counts a message that the gate looked at."""
        self.checked += 1
        self.sent_back += not result.attempts[0].is_passed
        self.corrected += result.outcome in _CORRECTED
        for attempt in result.attempts:
            for check in attempt.checks:
                self.note(check.dimension, not check.is_passed)
            if attempt.similarity is not None:
                self.note(SIMILARITY, attempt.is_similar)

    def note(self, part: str, has_fired: bool) -> None:
        """Counts a part of the treatment that might have taken effect, and whether it did."""
        self.looked[part] += 1
        self.fired[part] += has_fired

    def settle(self, cost_usd: float | None) -> None:
        """Counts a call that ended; ``None`` is one whose price is not known."""
        self.calls += 1
        self.cost_usd += cost_usd or 0.0
        self.unpriced_calls += cost_usd is None

    def add(self, other: Mapping[str, Any]) -> None:
        """Adds the counts of another, as data."""
        for name in ("messages", "checked", "sent_back", "corrected", "calls", "cost_usd", "unpriced_calls"):
            setattr(self, name, getattr(self, name) + other.get(name, 0))
        for name in ("looked", "fired"):
            getattr(self, name).update(other.get(name, {}))

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON-compatible data."""
        counts: dict[str, Any] = json_data(self)
        return counts | {"cost_usd": round(self.cost_usd, 6)}


def activity_of(rows: Iterable[tuple[Side, Mapping[str, Any]]]) -> dict[Side, Activity]:
    """The counts of each side, summed up over its conversations."""
    found = {side: Activity() for side in Side}
    for side, counts in rows:
        found[side].add(counts)
    return found


def stored_activity(record: ExperimentRecord) -> list[tuple[str, str, str]]:
    """Label, treatment and control of everything that a stored experiment says about activity and cost.

    A treatment without a gate has no rows about one; none at all before its end.
    """
    stored = record.activity
    if not stored:
        return []
    config = CorrectionConfig.model_validate(record.config["scenario"]["treatment"])
    sides = activity_of((side, stored.get(str(side), {})) for side in Side)
    treatment, control = sides[Side.TREATMENT], sides[Side.CONTROL]
    counts = [("Messages by agents", "messages")]
    if config.is_gate_on:
        counts += [("Checked by the gate", "checked"), ("Sent back at first", "sent_back"), ("Corrected", "corrected")]
    return [
        *((label, f"{getattr(treatment, name):,}", f"{getattr(control, name):,}") for label, name in counts),
        *((f"Stepped in: {part}", _fired(treatment, part), _fired(control, part)) for part in parts_of(config)),
        ("Calls to the model", f"{treatment.calls:,}", f"{control.calls:,}"),
        ("Cost in US dollars", _usd(treatment), _usd(control)),
    ]


def _fired(activity: Activity, part: str) -> str:
    return f"{activity.fired[part]:,} of {counted(activity.looked[part], 'check')}"


def _usd(activity: Activity) -> str:
    return "not known" if activity.unpriced_calls else f"{round(activity.cost_usd, 6):.4f}"


NOBODY = ""
"""In the place of an agent: the score is the conversation's."""

_NO_CAST = Cast({}, {})
_CODE_DIGITS = 8


def room_plan(plan: ExperimentPlan, side: Side, environment: int) -> RoomPlan:
    """The plan of a conversation. Its name tells neither agents nor raters which side it is on."""
    topics = plan.scenario.topics
    code = hashlib.sha256(f"{plan.record.id}:{side}:{environment}".encode("ascii")).hexdigest()[:_CODE_DIGITS]
    return RoomPlan(
        room=f"{plan.scenario.id} {code}",
        steps=plan.step_count,
        order=plan.scenario.order,
        facilitator=plan.scenario.said_by_facilitator(topics[environment % len(topics)]),
        seed=plan.seed,
        config=plan.scenario.treatment if side is Side.TREATMENT else CorrectionConfig(),
        metadata={
            "experiment": plan.record.id,
            "scenario": plan.scenario.id,
            "side": str(side),
            "environment": environment,
            "seed": plan.seed,
            "is_simulated": True,
            "is_scripted": plan.effects is not None,
        },
    )


def patient_gate(
    config: CorrectionConfig, judge: Judge, library: PropositionLibrary, seconds: float, log: Log | None = None
) -> ActionGate | None:
    """The gate of a simulated conversation; ``None`` where its settings turn none on.

    Nobody waits for a simulated message, so it gives a judge as long as every other call gets, and not the five seconds
    of a live one: a slow model must not turn the treatment off.
    """
    if not config.is_gate_on:
        return None
    return ActionGate(PropositionChecker(judge, library), timeout_seconds=seconds, log=log, is_strict=True)


async def simulate(
    plan: ExperimentPlan,
    side: Side,
    environment: int,
    population: Sequence[Mapping[str, Any]],
    writer: Writer,
    judge: Judge,
    library: PropositionLibrary,
    *,
    gate_seconds: float,
    log: Log | None = None,
    heard: Callable[[], None] | None = None,
    steering: Steering | None = None,
) -> Transcript:
    """The transcript of one conversation, with the memory, searches, calls and tokens of each agent.

    What judges were asked meanwhile is not among the calls.

    Raises:
        JudgeError: The model cannot be asked.
        BudgetSpentError: Nothing more may be spent.
    """
    room = room_plan(plan, side, environment)
    gate = patient_gate(room.config, judge, library, gate_seconds, log)
    personas = [population[number] for number in plan.rooms[environment]]
    collector = MetricsCollector()
    said = await Environment(
        room, personas, writer, judge=judge, gate=gate, heard=heard, note=collector.add, steering=steering
    ).run()
    return with_counts(said, collector.get_metrics())


async def evaluate(
    plan: ExperimentPlan,
    side: Side,
    environment: int,
    transcript: Transcript,
    judge: Judge,
    library: PropositionLibrary,
) -> list[AgentScore]:
    """Every agent's scores in one conversation, and the conversation's own, by name.

    Raises:
        BudgetSpentError: Nothing more may be spent.
    """
    sources = Sources([transcript], SpeakerMap(), _NO_CAST, {})
    agents = everybody(sources)
    evaluations = await asyncio.gather(
        *(evaluate_agent(subject_of(agent, sources), judge, library, plan.evaluation_plan) for agent in agents)
    )
    names = [NOBODY if agent.kind is TargetType.ENVIRONMENT else agent.display_name for agent in agents]
    return [
        AgentScore(side, environment, name, str(dimension), each.score)
        for name, evaluation in zip(names, evaluations, strict=True)
        for dimension, each in evaluation.dimensions.items()
    ]
