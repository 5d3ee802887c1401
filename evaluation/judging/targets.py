"""The target of a proposition: an agent or a channel, with its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from evaluation.judging.propositions.proposition import TargetType


@dataclass(frozen=True, slots=True)
class TrajectoryEvent:
    """One message as the target lived through it.

    Attributes:
        transcript_id: The transcript that holds the message; ``message_id`` is unique within it.
        speaker: As named in the transcript; untrusted, as is ``text``.
        is_action: Whether the target said it (in a channel: any of its speakers); otherwise it is a stimulus.
        channel_name: ``None`` where the transcript names no channel.
        recipients: Who it was addressed to; empty for everybody.
        is_private: Whether only its recipients could read it.
    """

    transcript_id: str
    message_id: str
    speaker: str
    text: str
    is_action: bool
    channel_name: str | None = None
    recipients: tuple[str, ...] = ()
    is_private: bool = False
    sent_at: datetime | None = None

    @property
    def reference(self) -> str:
        """Unique over all transcripts: what citations of persona judgements resolve to."""
        return f"{self.transcript_id}:{self.message_id}"

    @property
    def is_direct(self) -> bool:
        """Whether it is a direct message: private, and to one person."""
        return self.is_private and len(self.recipients) == 1


@dataclass(frozen=True, slots=True)
class Target:
    """The subject that a judge examines.

    Attributes:
        name: Display name of the agent, or of the channel; untrusted.
        trajectory: What was said, in order, each message once. With an ``action``, only what came before it.
        personas: Persona texts by display name: the agent's own, or those of a channel's speakers; untrusted.
        action: The message that is judged; ``None`` when the whole trajectory is.
    """

    kind: TargetType
    name: str
    trajectory: tuple[TrajectoryEvent, ...]
    personas: Mapping[str, str] = field(default_factory=dict)
    action: TrajectoryEvent | None = None

    @property
    def events(self) -> tuple[TrajectoryEvent, ...]:
        """The trajectory with the judged action at its end."""
        return self.trajectory if self.action is None else (*self.trajectory, self.action)

    def at(self, position: int) -> Target:
        """The same target when the message at ``position`` of the trajectory had just been said."""
        return replace(self, trajectory=self.trajectory[:position], action=self.trajectory[position])


def message_reference(reference: str) -> tuple[str, str]:
    """Transcript id and message id of an ``Event.reference``."""
    transcript_id, _, message_id = reference.partition(":")
    return transcript_id, message_id
