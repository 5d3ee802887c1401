"""The gate: a message is judged before it is sent, and written again while it fails."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import floor, isfinite
from typing import Protocol, Self

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.repetition import highest_similarity, most_similar
from evaluation.errors import DramaturgError
from evaluation.escaping import safe
from evaluation.judging.model_client.budget import CheckLimits, Reasks, counted_calls
from evaluation.judging.propositions import Target, TargetType, TrajectoryEvent

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
        channel: Name of the channel in which the message will stand.
        recipient: Who will get it, in a private conversation.
    """

    agent: str
    own_messages: Sequence[str] = ()
    trajectory: Sequence[TrajectoryEvent] = ()
    name: str = ""
    persona: str = ""
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
        name: The agent's display name; empty where only the id is known.
    """

    agent: str
    committed: Attempt | None
    outcome: GateOutcome | None
    attempts: tuple[Attempt, ...]
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
        return (type(self), (self.message, self.result), self.__dict__)


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A checked message with its outcome and time.

    Attributes:
        id: Of the group that its attempts are logged under.
        at: When it was logged, in UTC.
        result: Its attempts with their checks; whether a check was trivial is not kept.
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


_QUOTES = re.compile('["\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02\u2033\u2036]')


def one_line(text: str, limit: int) -> str:
    """The text on one line without control characters; cut behind a word, with an ellipsis, to ``limit`` characters."""
    line = " ".join(safe(" ".join(text.split())).split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    # A word without an end is cut itself.
    return (kept.rpartition(" ")[0] or kept) + "…"


def without_quotes(text: str) -> str:
    """The text with apostrophes in place of double quotation marks of all kinds."""
    return _QUOTES.sub("'", text)


def quotation(text: str, limit: int) -> str:
    """The text as of :func:`one_line`, in quotation marks that stand nowhere inside of it."""
    return f'"{one_line(without_quotes(text), limit)}"'


def inner_quotation(text: str, limit: int) -> str:
    """The same for a quotation inside another one."""
    return f"\u201c{one_line(without_quotes(text), limit)}\u201d"


_WHAT_IT_MEANS = {
    "adherence": "The message must fit the persona.",
    "consistency": "The message must fit what the agent said before.",
    "fluency": "The message must not fall back on formulas or repeat itself.",
    "suitability": "The message must suit the situation and move it on.",
}
ESCALATIONS = (
    "Change what was wrong. With every attempt that fails, change the message more radically.",
    "Twice was not enough: be more radical now. Keep the point, and open, word and order it in another way.",
    "Be more radical still: drop this message and write a wholly new one, with another point.",
)
"""The end of the feedback on the first, the second, and every later attempt."""


def feedback_on(attempts: Sequence[Attempt], max_similarity: float, recent: Sequence[str] = ()) -> str:
    """Feedback on the last of ``attempts``: every failed check with score, reason and advice, then escalation.

    Words of agents and judges stand on one line each and are cut, so that none of them passes for a line of the gate
    and all of it has at most ``LONGEST_FEEDBACK`` characters.

    Args:
        attempts: All so far; the more there are, the more radical a change is asked for.
        max_similarity: The largest share of common words that is allowed.
        recent: The agent's messages that the attempt was compared with; the most similar one is quoted.

    Source: persona evaluation specification, "Action Correction Gate" (escalating feedback, recommendations).
    """
    last = attempts[-1]
    problems = [_dimension_problem(check) for check in last.checks if not check.is_passed]
    if last.is_similar and last.similarity is not None:
        twin = most_similar(last.text, recent)
        problems.append(
            f"Similarity: {last.similarity:.0%} of the words are those of "
            + (f"your message {quotation(twin, _LONGEST_QUOTE)}; " if twin else "one of your messages; ")
            + f"at most {max_similarity:.0%} are allowed. Say something else."
        )
    numbered = "\n".join(f"{number}. {problem}" for number, problem in enumerate(problems, start=1))
    return (
        f"This message was not sent and nobody has read it (attempt {len(attempts)}):\n"
        f"   {quotation(last.text, _LONGEST_DRAFT)}\n"
        f"What was wrong with it:\n{numbered}\n{ESCALATIONS[min(len(attempts), len(ESCALATIONS)) - 1]}"
    )


def _dimension_problem(check: DimensionCheck) -> str:
    meaning = _WHAT_IT_MEANS.get(check.dimension, "")
    # Rounded down, so that none looks as if it had reached its threshold.
    score = floor(10 * (check.found.score or 0.0)) / 10
    advice = [one_line(line, _LONGEST_ADVICE) for line in check.found.recommendations[:_MOST_ADVICE]]
    return (
        f"{check.dimension.capitalize()}: scored {score:g} of 9, "
        f"needed {check.threshold:g}. {meaning} Reason: {one_line(check.found.reasoning, _LONGEST_REASONING)}"
        + "".join(f"\n   - {line}" for line in advice)
    )


TIMEOUT_SECONDS = 5.0
LONGEST_FEEDBACK = 11_000
"""Characters of the feedback on one attempt, at most."""
_LONGEST_DRAFT = 600
_LONGEST_QUOTE = 200
_LONGEST_REASONING = 1_700
_LONGEST_ADVICE, _MOST_ADVICE = 150, 3

Generate = Callable[[str], Awaitable[str]]
"""Produces a message. It is given the feedback on the attempt before, and an empty text the first time."""
Log = Callable[[GateResult], Awaitable[None]]

_LOGGER = logging.getLogger(__name__)


class Checker(Protocol):
    """Judges one message in one dimension."""

    async def check(self, dimension: str, text: str, context: ActionContext) -> MessageScore:
        """The score, or a score of ``None`` with a reason."""
        ...


class ActionGate:
    """Wraps whatever produces an agent's messages.

    Args:
        checker: Judges messages.
        log: Keeps every result in which something was checked; it is awaited before the message is handed back.
        timeout_seconds: How long one judgement may take; the message passes after that. A model is asked once per
            dimension and attempt, and once more per dimension and message after a failure or an answer that cannot be
            used.
        is_strict: For experiments, which are repeated rather than continued otherwise than planned: raises what
            ``log`` and a later ``generate`` raise, and what the checker raises other than ``DramaturgError`` and
            ``OSError``, such as ``BudgetSpentError``. Everybody else wants the message to be sent, and finds what
            ``log`` and ``generate`` raised in Python's log.
    """

    def __init__(
        self,
        checker: Checker,
        *,
        log: Log | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        is_strict: bool = False,
    ) -> None:
        self._checker = checker
        self._log = log
        self._timeout_seconds = timeout_seconds
        self._is_strict = is_strict

    async def send(self, generate: Generate, context: ActionContext, config: CorrectionConfig) -> GateResult:
        """Lets ``generate`` write a message, and again with feedback until one passes or the retries are spent.

        The best attempt is committed: the largest sum of scores, the earlier one of equals. While the gate is off, or
        the agent has acted less often than the configuration wants, or says nothing, the message passes unlogged. When
        ``generate`` fails after the first message, no more are asked for. What it raises at first is raised.

        Raises:
            PoorQualityError: Nothing passed and ``continue_on_failure`` is off. It has been logged by then.
        """
        text = await generate("")
        is_asleep = not config.is_gate_on or len(context.own_messages) < config.minimum_required_qty_of_actions
        if is_asleep or not text.strip():
            only = Attempt(0, text)
            return GateResult(context.agent, only, None, (only,), name=context.name)
        reasks = {name: Reasks() for name in config.thresholds}
        attempts = [await self._attempt(0, text, context, config, reasks)]
        while not attempts[-1].is_passed and len(attempts) <= config.max_correction_attempts:
            feedback = feedback_on(attempts, config.max_action_similarity, context.own_messages)
            attempts[-1] = replace(attempts[-1], feedback=feedback)
            another = await self._written_anew(generate, feedback, context)
            if another is None:
                break
            attempts.append(await self._attempt(len(attempts), another, context, config, reasks))
        return await self._finish(attempts, context, config)

    async def _written_anew(self, generate: Generate, feedback: str, context: ActionContext) -> str | None:
        try:
            return await generate(feedback)
        except Exception:
            # What is written already must not be lost with what is not.
            if self._is_strict:
                raise
            _LOGGER.exception("The agent %r could not write its message again", context.agent)
            return None

    async def _attempt(
        self,
        number: int,
        text: str,
        context: ActionContext,
        config: CorrectionConfig,
        reasks: Mapping[str, Reasks],
    ) -> Attempt:
        similarity = highest_similarity(text, context.own_messages) if config.gate_similarity_enabled else None
        checks = await asyncio.gather(
            *(
                self._check(name, threshold, text, context, reasks[name])
                for name, threshold in config.thresholds.items()
            )
        )
        is_similar = similarity is not None and similarity > config.max_action_similarity
        return Attempt(number, text, tuple(checks), similarity, is_similar)

    async def _check(
        self, dimension: str, threshold: float, text: str, context: ActionContext, reasks: Reasks
    ) -> DimensionCheck:
        limits = CheckLimits(reasks=reasks, is_live=not self._is_strict)
        try:
            # A simulation waits for as long as the judge's own time limit lets it.
            async with asyncio.timeout(None if self._is_strict else self._timeout_seconds):
                with counted_calls(limits):
                    found = _usable(await self._checker.check(dimension, text, context))
        except TimeoutError:
            found = MessageScore(None, f"no answer within {self._timeout_seconds:g} s")
        except Exception as error:
            # A judge that cannot be reached or talks nonsense, however it fails, must never keep an agent from
            # speaking.
            if self._is_strict and not isinstance(error, DramaturgError | OSError):
                raise
            found = MessageScore(None, f"the judge failed: {str(error) or type(error).__name__}")
        found = replace(found, calls=limits.calls, cost_usd=limits.known_usd)
        return DimensionCheck(dimension, threshold, found)

    async def _finish(
        self, attempts: Sequence[Attempt], context: ActionContext, config: CorrectionConfig
    ) -> GateResult:
        best = attempts[-1] if attempts[-1].is_passed else max(attempts, key=lambda attempt: attempt.rank)
        is_committed = best.is_passed or config.continue_on_failure
        sent = best if is_committed else None
        result = GateResult(context.agent, sent, _outcome(best), tuple(attempts), context.name)
        await self._keep(result)
        if not is_committed:
            _LOGGER.warning("Nothing was sent for %r: continue_on_failure is off and no attempt passed", context.agent)
            raise PoorQualityError(
                f"None of {len(attempts)} attempts met the thresholds; the best is number {best.number}.",
                result,
                remedy="Lower a threshold, allow more attempts, or set continue_on_failure.",
            )
        return result

    async def _keep(self, result: GateResult) -> None:
        if self._log is None:
            return
        try:
            await self._log(result)
        except Exception:
            # A full disk must not keep an agent from speaking either.
            if self._is_strict:
                raise
            _LOGGER.exception("What the gate did to a message of %r could not be kept", result.agent)


def _usable(found: MessageScore) -> MessageScore:
    """``found``, without a score that is not a number: that is not an answer, and no reason to hold a message back."""
    if found.score is None or isfinite(found.score):
        return found
    return replace(found, score=None, reasoning=f"the judge gave no usable score: {found.score}")


def _outcome(best: Attempt) -> GateOutcome:
    """The outcome when ``best`` is the attempt to commit: the last one if it passed, else the one of highest rank."""
    if best.is_passed:
        if best.is_unanswered:
            return GateOutcome.TIMEOUT_PASS_THROUGH
        return GateOutcome.PASSED if best.number == 0 else GateOutcome.PASSED_AFTER_RETRY
    return GateOutcome.CORRECTED if best.number else GateOutcome.FORCED_THROUGH
