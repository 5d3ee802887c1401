"""The situation of a message in the gate, and its results: checks, attempts, the outcome, and what is logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from evaluation.errors import DramaturgError
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


class GateOutcome(StrEnum):
    """The outcome of a message in the gate.

    ``PASSED``: at once. ``PASSED_AFTER_RETRY``: a retry met every threshold. ``CORRECTED``: no retry did, and the best
    of them was better than the original. ``FORCED_THROUGH``: no retry did, and the original was still the best, or the
    only one because it could not be written again. ``TIMEOUT_PASS_THROUGH``: no enabled judge answered for the message
    that was committed.
    """

    PASSED = "passed"
    PASSED_AFTER_RETRY = "passed_after_retry"
    CORRECTED = "corrected"
    FORCED_THROUGH = "forced_through"
    TIMEOUT_PASS_THROUGH = "timeout_pass_through"


@dataclass(frozen=True, slots=True)
class MessageScore:
    """A judge's score of one message in one dimension.

    Attributes:
        score: From 0 to 9; ``None`` when no judge answered in time or with sense.
        reasoning: Why; or why there is no score.
        recommendations: What would make it better.
        input_tokens: Tokens sent to the judge, 0 when unknown or cached.
        output_tokens: Tokens received.
        is_trivial: Whether nobody had to be asked: no claim of the dimension applies here, so all of them hold.
        is_breaker_open: Whether nobody was asked because the judge had failed again and again.
        calls: Calls made to a model, failed ones included; ``None`` in logs of older versions.
        cost_usd: What they cost; ``None`` when it is not known.
    """

    score: float | None
    reasoning: str
    recommendations: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    is_trivial: bool = False
    is_breaker_open: bool = False
    calls: int | None = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class DimensionCheck:
    """A dimension's score beside its threshold."""

    dimension: str
    threshold: float
    found: MessageScore

    @property
    def is_answered(self) -> bool:
        """Whether a judge answered."""
        return self.found.score is not None

    @property
    def is_passed(self) -> bool:
        """At the threshold or above; without an answer it passes, so that a broken judge never blocks a message."""
        return self.found.score is None or self.found.score >= self.threshold

    @property
    def counted(self) -> float:
        """The part of the attempt's total: the score, or the threshold if there is no answer."""
        return self.threshold if self.found.score is None else self.found.score


@dataclass(frozen=True, slots=True)
class Attempt:
    """One text and what was found out about it.

    Attributes:
        number: 0 for the original, then the retries.
        similarity: The largest word overlap with the agent's recent messages, 0 to 1; ``None`` when it is not checked.
        is_similar: Whether that is more than is allowed.
        feedback: What the next attempt was told; empty when there was none.
    """

    number: int
    text: str
    checks: tuple[DimensionCheck, ...] = ()
    similarity: float | None = None
    is_similar: bool = False
    feedback: str = ""

    @property
    def total(self) -> float | None:
        """Sum over the enabled dimensions; similarity adds nothing. ``None`` when similarity alone is checked."""
        return sum(check.counted for check in self.checks) if self.checks else None

    @property
    def is_passed(self) -> bool:
        """Whether every threshold is met."""
        return not self.is_similar and all(check.is_passed for check in self.checks)

    @property
    def is_unanswered(self) -> bool:
        """Whether judges were asked and none answered."""
        asked = [check for check in self.checks if not check.found.is_trivial]
        return bool(asked) and not any(check.is_answered for check in asked)

    @property
    def rank(self) -> tuple[float, float]:
        """Larger is better: the total; with similarity alone, the less similar."""
        return (self.total, 0.0) if self.total is not None else (0.0, -(self.similarity or 0.0))


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of the gate for one message.

    Attributes:
        agent: The id of who speaks.
        committed: The attempt that is sent; ``None`` when nothing is (the configuration forbids to go on).
        outcome: How it came through; ``None`` when the gate was asleep or off and nothing was checked.
        attempts: The original and the retries, in order; only the original when nothing was checked.
        recent: The messages of the agent that similarity was measured against.
        name: The agent's display name; empty where only the id is known.
    """

    agent: str
    committed: Attempt | None
    outcome: GateOutcome | None
    attempts: tuple[Attempt, ...]
    recent: tuple[str, ...] = ()
    name: str = ""

    @property
    def original(self) -> str:
        """The text that came first."""
        return self.attempts[0].text

    @property
    def text(self) -> str:
        """The text to send; empty when nothing is committed."""
        return self.committed.text if self.committed else ""


class PoorQualityError(DramaturgError):
    """No attempt met the thresholds, and the agent's configuration says not to go on then.

    Attributes:
        result: All attempts with their scores.
    """

    def __init__(self, message: str, result: GateResult, *, remedy: str = "") -> None:
        super().__init__(message, place=f"agent {result.agent!r}", remedy=remedy)
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.result))


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A checked message with its outcome and time.

    Attributes:
        id: Of the group that its attempts are logged under.
        at: When it was logged, in UTC.
        result: Its attempts with their checks. The messages it was compared with are not kept, and neither is whether a
            check was trivial.
        run: Id of the run or experiment that it was checked in; empty when none was named.
    """

    id: str
    at: datetime
    result: GateResult
    run: str = ""

    @property
    def was_sent(self) -> bool:
        """Whether a text was sent; without ``continue_on_failure`` none is when no attempt passed."""
        return self.result.committed is not None

    @property
    def outcome(self) -> GateOutcome:
        """The outcome of the message; messages that were not checked are not logged."""
        assert self.result.outcome is not None
        return self.result.outcome
