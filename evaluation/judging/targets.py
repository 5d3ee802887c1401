"""The target of a proposition: an agent or a channel with its messages, and these messages as text for a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from evaluation.judging.fencing import as_message, as_name
from evaluation.judging.propositions.proposition import TargetType, Window


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


LONGEST_MESSAGE = 4_000
"""Characters of one message that a judge sees; how many are left out is said."""

_QUOTE = "| "
_EVERYBODY = "everybody"
_NAMELESS = "somebody"


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with the number by which it is cited: its place in the whole trajectory, from 1."""

    number: int
    event: TrajectoryEvent


def windowed(events: Sequence[TrajectoryEvent], window: Window) -> tuple[Numbered, ...]:
    """The first and the last events of ``window``, in order, each once even where the two overlap."""
    first_of_last = max(len(events) - window.last_n, window.first_n, 0)
    positions = [*range(min(window.first_n, len(events))), *range(first_of_last, len(events))]
    return tuple([Numbered(position + 1, events[position]) for position in positions])


def trajectory_text(target: Target, shown: Sequence[Numbered], total: int) -> str:
    """The events as the judge reads them, without fences.

    Args:
        target: Whose trajectory it is.
        shown: From :func:`windowed`.
        total: How many events there are in all, so that what is left out at the end is said too.
    """
    return "\n".join(_lines(target, shown, total)) or "(nothing was said)"


def _lines(target: Target, shown: Sequence[Numbered], total: int) -> Iterator[str]:
    last = 0
    transcript_id = shown[0].event.transcript_id if shown else ""
    for each in shown:
        yield from _omitted(each.number - last - 1)
        if each.event.transcript_id != transcript_id:
            transcript_id = each.event.transcript_id
            yield "(another conversation begins)"
        yield event_text(target, each)
        last = each.number
    yield from _omitted(total - last)


def _omitted(count: int) -> Iterator[str]:
    if count > 0:
        yield f"({count} message{'' if count == 1 else 's'} left out)"


def event_text(target: Target, numbered: Numbered) -> str:
    """One event in a line: its number, who did what to whom, and the words; further lines of them are quoted.

    A name has no colon here, so that the words begin behind the first one.
    """
    event = numbered.event
    speaker = _label(event.speaker)
    if event.is_action:
        head = f"{speaker} acts"
    else:
        listener = _label(target.name) if target.kind is TargetType.AGENT else _EVERYBODY
        head = f"{speaker} --> {listener}"
    return f"[M{numbered.number}] {head}: {_words(event.text)}"


def _label(name: str) -> str:
    # A quotation mark before a colon looks like the key of a JSON object and would be neutralised.
    return as_name(name).replace(":", " ").replace("-->", " ").rstrip("\"' ") or _NAMELESS


def _words(text: str) -> str:
    words = as_message(text[:LONGEST_MESSAGE])
    cut = len(text) - LONGEST_MESSAGE
    quoted = words.removeprefix(_QUOTE)
    return f"{quoted}\n{_QUOTE}(cut: {cut:,} more characters)" if cut > 0 else quoted
