"""The two interventions that ship with Dramaturg: against similar voices, and against repeated topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.interventions import Effect, Intervention, InterventionBatch, Steered, Targets, joint_target
from evaluation.corrections.repetition import RECENT_MESSAGES, convergence_similarity
from evaluation.files.bundled import parse_yaml

_DEFAULT = "_default"
_NUDGES = Path(__file__).with_name("nudges.yaml")
ANTI_CONVERGENCE = "anti-convergence"
VARIETY = "variety"
AGREEMENT_CLAIM = (
    "In the last messages the speakers mostly agree with each other and talk alike: the same opinions, in much the "
    "same tone and words."
)
STAGNATION_CLAIM = "In the last messages nobody has put forward an idea that had not been mentioned before."
LAST_MESSAGES = 10


@cache
def nudges() -> Mapping[str, Mapping[str, str]]:
    """By agent id or personality type: what it is told to sound ``different`` and to bring in something ``new``."""
    found: Mapping[str, Mapping[str, str]] = parse_yaml(_NUDGES.read_text(encoding="utf-8"))
    return found


def nudge_for(agent_id: str, kind: str, types: Sequence[str] = ()) -> str:
    """The nudge for an agent: its own, else that of one of its types, else the one for everybody."""
    known = nudges()
    return next(known[name][kind] for name in (agent_id, *types, _DEFAULT) if name in known)


def anti_convergence(
    targets: Targets, config: CorrectionConfig, *, types: Mapping[str, Sequence[str]] | None = None
) -> Intervention:
    """Reminds every agent of its own voice when the conversation grows uniform.

    A judge is asked only when the last five messages are so alike that ``convergence_similarity`` reaches
    ``convergence_threshold``.

    Args:
        targets: The agents of one conversation.
        config: Gives the threshold.
        types: Personality types by agent id, for agents without a nudge of their own.
    """

    def is_uniform(agents: Targets) -> bool:
        recent = joint_target(agents).trajectory[-RECENT_MESSAGES:]
        similarity = convergence_similarity([(event.speaker, event.text) for event in recent])
        return similarity is not None and similarity >= config.convergence_threshold

    return (
        Intervention(targets, first_n=0, last_n=LAST_MESSAGES, name=ANTI_CONVERGENCE)
        .set_functional_precondition(is_uniform)
        .set_textual_precondition(AGREEMENT_CLAIM)
        .set_effect(_nudging("different", types or {}))
    )


def variety(
    targets: Targets, config: CorrectionConfig, *, types: Mapping[str, Sequence[str]] | None = None
) -> InterventionBatch:
    """Asks each agent for something new once it has acted often enough and a judge sees no new idea.

    Args:
        targets: The agents; each is looked at by itself.
        config: Gives ``variety_message_threshold``, how often an agent must have acted.
        types: Personality types by agent id, for agents without a nudge of their own.
    """

    def has_said_enough(agents: Targets) -> bool:
        return all(_actions(agent) >= config.variety_message_threshold for agent in agents)

    return (
        InterventionBatch.create_for_each(targets, first_n=0, last_n=LAST_MESSAGES, name=VARIETY)
        .set_functional_precondition(has_said_enough)
        .set_textual_precondition(STAGNATION_CLAIM)
        .set_effect(_nudging("new", types or {}))
    )


def configured(
    targets: Targets,
    configs: Mapping[str, CorrectionConfig],
    *,
    types: Mapping[str, Sequence[str]] | None = None,
) -> list[Intervention]:
    """The built-in interventions that the agents' configurations turn on, in the order in which they run.

    Each agent keeps its own thresholds. Voices are compared among the agents that have anti-convergence turned on.

    Args:
        targets: The agents of one conversation.
        configs: By agent id; an agent without one has everything off.
        types: Personality types by agent id.
    """
    made: list[Intervention] = []
    by_threshold: dict[float, list[Steered]] = {}
    for agent in targets:
        config = configs.get(agent.agent_id, CorrectionConfig())
        if config.anti_convergence_enabled:
            by_threshold.setdefault(config.convergence_threshold, []).append(agent)
        if config.variety_intervention_enabled:
            made += variety([agent], config, types=types)
    shared = [
        anti_convergence(agents, CorrectionConfig(convergence_threshold=threshold), types=types)
        for threshold, agents in by_threshold.items()
    ]
    return [*shared, *made]


def _nudging(kind: str, types: Mapping[str, Sequence[str]]) -> Effect:
    def nudge(agents: Targets) -> None:
        for agent in agents:
            agent.nudge(nudge_for(agent.agent_id, kind, types.get(agent.agent_id, ())))

    return nudge


def _actions(agent: Steered) -> int:
    return sum(event.is_action for event in agent.target.trajectory)
