"""Results of the gate for one message: checks, attempts and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluation.errors import DramaturgError


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
