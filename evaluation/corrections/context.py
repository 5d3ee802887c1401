"""The information that is known before an agent speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from evaluation.judging.propositions.proposition import TargetType
from evaluation.judging.targets import Target, TrajectoryEvent

_RUNNING = "running"
_DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The situation in which a message is judged before it is sent.

    Attributes:
        agent: The agent's id: its configuration and its propositions are found by it.
        own_messages: What the agent has said so far, oldest first. Its length is how often the agent has acted.
        trajectory: What the agent said and heard so far, in order.
        name: Its display name; the id when left out.
        persona: Text of the persona; empty when none is known.
        types: Further ids whose propositions apply, in rising authority, such as a personality type.
        channel: Name of the channel in which the message will stand.
        recipient: Who will get it, in a private conversation.
    """

    agent: str
    own_messages: Sequence[str] = ()
    trajectory: Sequence[TrajectoryEvent] = ()
    name: str = ""
    persona: str = ""
    types: Sequence[str] = ()
    channel: str | None = None
    recipient: str = ""

    @classmethod
    def of(cls, agent: str, trajectory: Sequence[TrajectoryEvent], *, name: str = "", persona: str = "") -> Self:
        """The context of an agent whose messages are the actions of ``trajectory``, all under its one name."""
        called = name or agent
        trajectory = [replace(event, speaker=called) if event.is_action else event for event in trajectory]
        own = [event.text for event in trajectory if event.is_action]
        channel = trajectory[-1].channel_name if trajectory else None
        return cls(agent, own, tuple(trajectory), name, persona, channel=channel)

    def target(self, text: str) -> Target:
        """The agent as a judge looks at it, with ``text`` as the next message of the conversation that is under way."""
        name = self.name or self.agent
        action = TrajectoryEvent(
            transcript_id=self.trajectory[-1].transcript_id if self.trajectory else _RUNNING,
            message_id=_DRAFT,
            speaker=name,
            text=text,
            is_action=True,
            channel_name=self.channel,
            recipients=(self.recipient,) if self.recipient else (),
            is_private=bool(self.recipient),
        )
        personas = {name: self.persona} if self.persona else {}
        return Target(TargetType.AGENT, name, tuple(self.trajectory), personas, action)
