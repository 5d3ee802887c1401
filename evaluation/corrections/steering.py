"""Steering of agents by thoughts that are used once and not remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from evaluation.judging.propositions.proposition import TargetType
from evaluation.judging.targets import Target, TrajectoryEvent


class Steered(Protocol):
    """An agent of a running simulation."""

    @property
    def agent_id(self) -> str:
        """The id by which its nudges are chosen."""
        ...

    @property
    def target(self) -> Target:
        """The agent as a judge looks at it: everything it said and heard, and its persona."""
        ...

    def nudge(self, thought: str) -> None:
        """Puts a thought into the agent's next prompt, and only there: it enters no memory."""
        ...


class NudgeBox:
    """Thoughts that wait for the next prompt of one agent."""

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def add(self, thought: str) -> None:
        """Keeps a thought until it is taken."""
        self._waiting.append(thought)

    def take(self) -> tuple[str, ...]:
        """All waiting thoughts, oldest first. They are gone afterwards: each is used once."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        return taken


def joint_target(targets: Sequence[Steered]) -> Target:
    """The target of questions about ``targets``: the one agent, or all of them as one channel.

    Every message counts once, although each listener lived through it. They stand in the order in which whoever heard
    most heard them; what was said out of that agent's hearing follows.
    """
    if len(targets) == 1:
        return targets[0].target
    views = sorted((each.target for each in targets), key=lambda view: -len(view.trajectory))
    events: dict[str, TrajectoryEvent] = {}
    for view in views:
        for event in view.trajectory:
            events.setdefault(event.reference, replace(event, is_action=True))
    channels = {event.channel_name for event in events.values() if event.channel_name}
    name = channels.pop() if len(channels) == 1 else "the conversation"
    personas = {speaker: text for view in views for speaker, text in view.personas.items()}
    return Target(TargetType.ENVIRONMENT, name, tuple(events.values()), personas)
