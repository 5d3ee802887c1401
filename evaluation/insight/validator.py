"""Checks of single messages by a judge (persona, consistency, coherence), a sample of them, and their settings."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from evaluation.insight import _questions
from evaluation.insight._questions import QualityAnswer, numbered, spoken
from evaluation.judging.fencing import as_name, fenced, quoted, unnumbered
from evaluation.judging.judge_config import DEFAULT_MODEL
from evaluation.judging.propositions import LONGEST_MESSAGE
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, JudgeRequest, Prompt
from evaluation.text.display import json_data
from evaluation.transcript import Message, Transcript

Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ValidationConfig:
    """The part of the settings that a ``Validator`` needs.

    Attributes:
        persona_adherence_threshold: What a score must reach, 0 to 1.
        consistency_threshold: The same for consistency.
        coherence_threshold: The same for coherence.
        max_validations_per_run: Checks that may be asked until ``reset_budget``; the rest is skipped.
        sampling_rate: The share of messages that is checked, 0 to 1.
        seed: Chooses them.
        use_separate_model: Whether ``evaluation_model`` judges, and not the model that wrote the messages.
        evaluation_model: The model that judges.
    """

    persona_adherence_threshold: float = 0.7
    consistency_threshold: float = 0.6
    coherence_threshold: float = 0.5
    max_validations_per_run: int = 100
    sampling_rate: float = 0.3
    seed: int = 0
    use_separate_model: bool = True
    evaluation_model: str = DEFAULT_MODEL


class EvaluationConfig(BaseModel):
    """Configuration of checks, extraction and A/B tests.

    Attributes:
        use_separate_evaluation_model: Whether ``evaluation_model`` judges; otherwise the model in force does.
        evaluation_model: As litellm names it.
        max_validation_calls: Checks in a run, at most.
        max_extraction_calls: Questions for opinions, themes and quotes in a run, at most.
        validation_sampling_rate: The share of messages that is checked, 0 to 1.
        persona_adherence_threshold: What a score must reach to pass, 0 to 1.
        consistency_threshold: The same for consistency.
        coherence_threshold: The same for coherence.
        default_runs_per_variant: Runs of every variant of an A/B test that names no number.
        significance_threshold: The relative difference from which on it is called practical, 0 to 1. It says nothing
            about significance, whatever its name in the ADR.
        seed: Chooses the messages that are checked.
        max_usd: What judging may cost, in US dollars; no limit when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    use_separate_evaluation_model: StrictBool = True
    evaluation_model: str = Field(default=DEFAULT_MODEL, min_length=1, max_length=200)
    max_validation_calls: Count = 100
    max_extraction_calls: Count = 50
    validation_sampling_rate: Share = 0.3
    persona_adherence_threshold: Share = 0.7
    consistency_threshold: Share = 0.6
    coherence_threshold: Share = 0.5
    default_runs_per_variant: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 3
    significance_threshold: Share = 0.1
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    max_usd: Annotated[float, Field(strict=True, ge=0.0, allow_inf_nan=False)] | None = None

    def validation(self) -> ValidationConfig:
        """The part that a ``Validator`` needs."""
        return ValidationConfig(
            persona_adherence_threshold=self.persona_adherence_threshold,
            consistency_threshold=self.consistency_threshold,
            coherence_threshold=self.coherence_threshold,
            max_validations_per_run=self.max_validation_calls,
            sampling_rate=self.validation_sampling_rate,
            seed=self.seed,
            use_separate_model=self.use_separate_evaluation_model,
            evaluation_model=self.evaluation_model,
        )

    @property
    def judge_model(self) -> str | None:
        """The model that has to judge; ``None`` for the one in force, also where a file names no model at all."""
        is_named = bool({"evaluation_model", "use_separate_evaluation_model"} & self.model_fields_set)
        return self.evaluation_model if self.use_separate_evaluation_model and is_named else None


CONTEXT = 5
"""Earlier messages that a check sees, as in the ADR."""

Line = tuple[str, str]
"""Speaker and text."""


class CheckKind(StrEnum):
    """The subject of a check."""

    PERSONA_ADHERENCE = "persona_adherence"
    CONSISTENCY = "consistency"
    COHERENCE = "coherence"


_SYSTEMS = {
    CheckKind.PERSONA_ADHERENCE: _questions.PERSONA_SYSTEM,
    CheckKind.CONSISTENCY: _questions.CONSISTENCY_SYSTEM,
    CheckKind.COHERENCE: _questions.COHERENCE_SYSTEM,
}
_RANGE = 2**64


def place_of(key: str, seed: int) -> float:
    """The place of ``key`` between 0 and 1: the same for the same seed, evenly spread over keys."""
    digest = hashlib.sha256(f"{seed}:{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / _RANGE


def drawn_sample(keys: Sequence[str], rate: float, seed: int) -> list[str]:
    """A share of ``keys``, rounded up, in the order in which the seed draws them: every key is as likely as any other.

    A larger rate with the same seed adds keys at the end and drops none, so the first of them are a smaller sample.

    Args:
        keys: All there are.
        rate: From 0 (none) to 1 (all).
        seed: Chooses.
    """
    # 0.3 * 10 is more than 3 in floating-point arithmetic.
    size = min(len(keys), math.ceil(rate * len(keys) - 1e-9))
    return sorted(keys, key=lambda key: (place_of(key, seed), key))[:size]


BUDGET = "budget"
NOT_IN_SAMPLE = "not in the sample"
NO_PERSONA = "no persona is known"
NOTHING_BEFORE = "nothing was said before that it could be compared with"
_EXCERPT = 100


@dataclass(frozen=True, slots=True)
class CheckedAgent:
    """The speaker of a message with persona; untrusted text."""

    id: str
    persona: str = ""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The result of one check.

    Attributes:
        check_type: Which check.
        status: Only ``scored`` has a score. ``skipped``: not asked (budget, sample). ``not_scored``: nobody can tell.
            ``error``: no usable answer came.
        score: 0 to 1.
        passed: Whether the score reaches the threshold; ``None`` without a score.
        threshold: What it must reach.
        explanation: The judge's reason, or why there is no score; untrusted text.
        agent_id: Who said it.
        response_excerpt: Its first 100 characters, with an ellipsis when there are more; untrusted text.
        message_id: The message in its transcript, where there is one.
        notes: What the judge did not see.
        is_asked: Whether the question came before the judge; one that was skipped then met the judge's own limit.
    """

    check_type: CheckKind
    status: JudgementStatus
    score: float | None
    passed: bool | None
    threshold: float
    explanation: str
    agent_id: str | None = None
    response_excerpt: str = ""
    message_id: str | None = None
    notes: tuple[str, ...] = ()
    is_asked: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON."""
        found: dict[str, Any] = json_data(self)
        return found


@dataclass(frozen=True, slots=True)
class CheckedSample:
    """The checks of a sample of a game's messages.

    Attributes:
        results: Three for each message that fitted into the budget, in the order of the transcript.
        messages: How many messages were said.
        drawn: How many of them the rate asks for.
    """

    results: tuple[ValidationResult, ...]
    messages: int
    drawn: int

    @property
    def checked(self) -> int:
        """Number of checked messages: those with at least one answered question."""
        return len(
            {one.message_id for one in self.results if one.is_asked and one.status is not JudgementStatus.SKIPPED}
        )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A check with its question, or with the reason why it is not asked."""

    check: CheckKind
    agent: CheckedAgent
    text: str
    request: JudgeRequest | None
    status: JudgementStatus = JudgementStatus.NOT_SCORED
    why_not: str = ""
    message_id: str | None = None
    notes: tuple[str, ...] = field(default=())


class Validator:
    """Checks messages until the budget is spent.

    Args:
        judge: Who scores; the offline judge scores none of these.
        config: Thresholds, budget and sample; those of ``EvaluationConfig`` when left out.
    """

    def __init__(self, judge: Judge, config: ValidationConfig | None = None) -> None:
        self._judge = judge
        self.config = config or EvaluationConfig().validation()
        self._asked = 0

    def reset_budget(self) -> None:
        """Allows as many checks again, for the next run."""
        self._asked = 0

    async def check_persona_adherence(self, agent: CheckedAgent, response: str) -> ValidationResult:
        """Check how well a response fits the agent's persona."""
        return (await self._results([self._sampled(_persona_check(agent, response))]))[0]

    async def check_consistency(
        self, agent: CheckedAgent, response: str, previous_responses: Sequence[str]
    ) -> ValidationResult:
        """Check how consistent a response is with the agent's earlier messages, oldest first."""
        return (await self._results([self._sampled(_consistency_check(agent, response, previous_responses))]))[0]

    async def check_coherence(self, response: str, agent: CheckedAgent | None = None) -> ValidationResult:
        """Check how coherent a response is."""
        return (await self._results([self._sampled(_coherence_check(agent or CheckedAgent(""), response))]))[0]

    async def validate_all(
        self, agent: CheckedAgent, response: str, previous_responses: Sequence[str] = ()
    ) -> list[ValidationResult]:
        """All three checks of one response, in the order of ``CheckKind``."""
        checks = [
            _persona_check(agent, response),
            _consistency_check(agent, response, previous_responses),
            _coherence_check(agent, response),
        ]
        return await self._results([self._sampled(one) for one in checks])

    async def validate_transcript(
        self, transcript: Transcript, personas: Mapping[str, str] | None = None
    ) -> CheckedSample:
        """All three checks of a sample of the messages that players said to others.

        The sample is drawn from the whole game, as many messages as the rate says, rounded up. Where its questions are
        more than the budget, those messages are kept that the seed drew first, so that what is checked is spread
        over the game however small the budget is.

        Args:
            transcript: The game.
            personas: Persona texts by player; who has none is not checked for adherence.
        """
        messages = spoken(transcript)
        drawn = drawn_sample([one.id for one in messages], self.config.sampling_rate, self.config.seed)
        chosen = self._affordable(drawn, messages, personas or {})
        checks: list[_Prepared] = []
        heard = _Heard()
        for message in messages:
            if message.id in chosen:
                checks += heard.checks(message, personas or {})
            heard.add(message)
        return CheckedSample(tuple(await self._results(checks)), len(messages), len(drawn))

    def _affordable(self, drawn: Sequence[str], messages: Sequence[Message], personas: Mapping[str, str]) -> set[str]:
        """The messages that were drawn first and whose questions fit into the budget together.

        Where not even the first one fits, it is kept: its first questions are asked.
        """
        questions: dict[str, int] = {}
        have_spoken: set[str] = set()
        for one in messages:
            questions[one.id] = 1 + (one.speaker in have_spoken) + bool(personas.get(one.speaker, "").strip())
            have_spoken.add(one.speaker)
        chosen: set[str] = set()
        room = self.config.max_validations_per_run - self._asked
        for message_id in drawn:
            if room <= 0 or (chosen and questions[message_id] > room):
                break
            chosen.add(message_id)
            room -= questions[message_id]
        return chosen

    def _sampled(self, check: _Prepared) -> _Prepared:
        if check.request is None or place_of(f"{check.agent.id}:{check.text}", self.config.seed) < (
            self.config.sampling_rate
        ):
            return check
        return _unasked(check, NOT_IN_SAMPLE)

    async def _results(self, checks: Sequence[_Prepared]) -> list[ValidationResult]:
        allowed = [self._allowed(check) for check in checks]
        requests = [check.request for check in allowed if check.request is not None]
        answers = iter(await self._judge.judge(requests) if requests else [])
        return [self._result(check, next(answers) if check.request is not None else None) for check in allowed]

    def _allowed(self, check: _Prepared) -> _Prepared:
        if check.request is None:
            return check
        if self._asked >= self.config.max_validations_per_run:
            return _unasked(check, BUDGET)
        self._asked += 1
        return check

    def _result(self, check: _Prepared, judgement: Judgement | None) -> ValidationResult:
        threshold = float(getattr(self.config, f"{check.check.value}_threshold"))
        answer = judgement.answer if judgement else None
        score = answer.score if isinstance(answer, QualityAnswer) else None
        status = judgement.status if judgement else check.status
        why_not = (judgement.detail or str(judgement.status)) if judgement else check.why_not
        return ValidationResult(
            check_type=check.check,
            status=status,
            score=score,
            passed=None if score is None else score >= threshold,
            threshold=threshold,
            explanation=judgement.reason if judgement and score is not None else why_not,
            agent_id=check.agent.id or None,
            response_excerpt=excerpt(check.text),
            message_id=check.message_id,
            notes=check.notes,
            is_asked=judgement is not None,
        )


def excerpt(text: str) -> str:
    """The first 100 characters; an ellipsis says that there are more."""
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}\u2026"


def _unasked(check: _Prepared, why: str) -> _Prepared:
    return replace(check, request=None, status=JudgementStatus.SKIPPED, why_not=why)


def _persona_check(agent: CheckedAgent, text: str, messages: Mapping[int, str] | None = None) -> _Prepared:
    about = f"Persona of {quoted(agent.id)} (a description, not something that was said):\n"
    about += f"{fenced(unnumbered(agent.persona))}\n\n"
    why_not = "" if agent.persona.strip() else NO_PERSONA
    return _prepared(CheckKind.PERSONA_ADHERENCE, agent, text, messages, about=about, why_not=why_not)


def _consistency_check(
    agent: CheckedAgent, text: str, previous: Sequence[str], messages: Mapping[int, str] | None = None
) -> _Prepared:
    before = [(agent.id, one) for one in previous]
    why_not = "" if previous else NOTHING_BEFORE
    return _prepared(CheckKind.CONSISTENCY, agent, text, messages, before, why_not=why_not)


def _coherence_check(
    agent: CheckedAgent, text: str, before: Sequence[Line] = (), messages: Mapping[int, str] | None = None
) -> _Prepared:
    return _prepared(CheckKind.COHERENCE, agent, text, messages, before)


def _prepared(
    check: CheckKind,
    agent: CheckedAgent,
    text: str,
    messages: Mapping[int, str] | None,
    before: Sequence[Line] = (),
    *,
    about: str = "",
    why_not: str = "",
) -> _Prepared:
    """A check of a message after the latest of those before it.

    Args:
        check: Which check.
        agent: Who said it.
        text: The message.
        messages: The numbers of the messages shown with their ids, the one in question last; counted from 1 without.
        before: Earlier messages, oldest first.
        about: What stands above them.
        why_not: Why it is not asked; empty when it is.
    """
    speaker, seen = agent.id or "Somebody", before[-CONTEXT:]
    left_out, cut = len(before) - len(seen), len(text) - LONGEST_MESSAGE
    numbers = list(messages or range(1, len(seen) + 2))
    said = [f"({left_out} earlier messages are left out)"] if left_out else []
    said += [numbered(number, *line) for number, line in zip(numbers, [*seen, (speaker, text)], strict=True)]
    notes = [f"the last {cut:,} characters of the message are not shown to the judge"] if cut > 0 else []
    if left_out:
        notes.append(f"compared with the last {CONTEXT} messages; {left_out} earlier ones are left out")
    request = JudgeRequest(
        purpose=check.value,
        subject=f"{check.value.replace('_', ' ')}, message {numbers[-1]} of {as_name(speaker)}",
        prompt=Prompt(
            _SYSTEMS[check],
            f"{about}What was said:\n" + fenced("\n".join(said)),
            f"Judge message [M{numbers[-1]}].",
        ),
        answer=QualityAnswer,
        prompt_version=_questions.PROMPT_VERSION,
        messages=messages or {},
    )
    message_id = list(messages.values())[-1] if messages else None
    asked = None if why_not else request
    return _Prepared(check, agent, text, asked, why_not=why_not, message_id=message_id, notes=tuple(notes))


class _Heard:
    """Messages before the current one: those of its speaker, and those heard in the same channel."""

    def __init__(self) -> None:
        self._own: defaultdict[str, list[Message]] = defaultdict(list)
        self._near: defaultdict[str, deque[Message]] = defaultdict(lambda: deque(maxlen=CONTEXT))

    def add(self, message: Message) -> None:
        """The message was said."""
        self._own[message.speaker].append(message)
        self._near[message.channel].append(message)

    def checks(self, message: Message, personas: Mapping[str, str]) -> list[_Prepared]:
        """The three checks of a message."""
        agent = CheckedAgent(message.speaker, personas.get(message.speaker, ""))
        # A private word is not a context of a public one.
        own, near = self._own[message.speaker], [*self._near[message.channel]]
        return [
            _persona_check(agent, message.text, _numbers([message])),
            _consistency_check(agent, message.text, [one.text for one in own], _numbers([*own[-CONTEXT:], message])),
            _coherence_check(
                agent, message.text, [(one.speaker, one.text) for one in near], _numbers([*near, message])
            ),
        ]


def _numbers(messages: Sequence[Message]) -> dict[int, str]:
    return {one.index + 1: one.id for one in messages}
