"""Requests to judges, their judgements and how these are built from answers, and the protocol of all judges."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from evaluation.judging.answers import FORMAT_VERSION, Answer, CheckAnswer, Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.model_client.calls import CallParameters, Usage

LARGEST_BATCH = 10
"""The most claims that are asked about in one call."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text that a model reads.

    Untrusted text stands between lines that hold ``fencing.FENCE``, for which every call puts a random delimiter; so
    the same prompt is the same text every time.

    Attributes:
        system: What the judge is and how it answers.
        user: The context; all requests of one batch share it.
        question: What is asked about the context; empty when ``user`` says it already. Needed for batches, where the
            requests of a group differ in their questions only.
    """

    system: str
    user: str
    question: str = ""

    @property
    def text(self) -> str:
        """The user's message when the question is asked alone."""
        return f"{self.user}\n\n{self.question}" if self.question else self.user


@dataclass(frozen=True, slots=True)
class OfflineInput:
    """The input of the offline judge, which reads no prompts.

    Attributes:
        dimension: ``fluency``, ``convergence`` or ``consistency``.
        groups: Texts of messages. Fluency: one group, the agent's messages in order. Convergence: one group per
            speaker. Consistency: the earlier messages, then the later ones.
        is_inverted: The claim names what is bad: a high score is the better the less it holds, so the number is turned
            round (9 - score) and whoever flips inverted claims comes out right.
    """

    dimension: str
    groups: tuple[tuple[str, ...], ...]
    is_inverted: bool = False


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question to a judge.

    How to write the answer down is added by the judge (``formats``): it differs between one question and a batch.

    Attributes:
        purpose: What it is for, as calls are logged and counted: "adherence", "coherence", ...
        subject: What is judged, for people: the proposition and its target.
        prompt: What the model reads.
        answer: The kind of answer wanted; a subclass of ``Answer``.
        prompt_version: Changes whenever the prompt's wording does.
        messages: The number N of every ``[MN]`` in the prompt, with the id of that message.
        claim: The proposition in words, for people.
        batch_group: Requests of the same group, prompt (but for the question) and kind of answer may be asked together,
            at most ten in a call. ``None`` is asked alone.
        double_check: Whether the judge is asked once more whether it is sure; the second answer counts.
        offline: What the offline judge needs; ``None`` when only a model can tell.
        parts: How many things the answer tells of. Its room and its expected length grow with them.
    """

    purpose: str
    subject: str
    prompt: Prompt
    answer: type[Answer]
    prompt_version: str
    messages: Mapping[int, str] = field(default_factory=dict)
    claim: str = ""
    batch_group: str | None = None
    double_check: bool = False
    offline: OfflineInput | None = None
    parts: int = 1
    _keys: dict[tuple[str, str], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def key(self, model: str, server: str = "") -> str:
        """The key of the answer: SHA-256 (hex) of everything that may change it, including the model.

        Whether the question may share a call with others is part of it; with which others is not, so that a new
        proposition does not make the answers to the old ones worthless.

        Args:
            model: The model's name.
            server: The address of a server of one's own: two of them may give one name to two models. Empty for the
                provider's own server, and for recordings, which must not depend on where they were made.
        """
        # Cache, judge and log ask for it in turn, and a prompt may hold a whole game.
        if (model, server) not in self._keys:
            self._keys[model, server] = self._digest(model, server)
        return self._keys[model, server]

    def _digest(self, model: str, server: str) -> str:
        parts: list[str | bool | int] = [
            model,
            self.prompt_version,
            FORMAT_VERSION,
            self.prompt.system,
            self.prompt.user,
            self.prompt.question,
            self.answer.__name__,
            self.batch_group is not None,
            self.double_check,
            # Stood for a count of judgements of one prompt; kept, so that recorded answers keep their keys.
            0,
        ]
        if server:
            parts.append(server)
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class JudgementStatus(StrEnum):
    """``not_scored``: this judge cannot tell. ``error``: no usable answer came. ``skipped``: was not asked."""

    SCORED = "scored"
    NOT_SCORED = "not_scored"
    ERROR = "error"
    SKIPPED = "skipped"


class JudgeKind(StrEnum):
    """The kind of judge: a live model, a recording of one, rules without a model, or a script for tests."""

    LIVE = "live"
    RECORDED = "recorded"
    OFFLINE = "offline"
    SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The response to one request.

    Attributes:
        key: The request's key under ``model``, and the server if it is one's own.
        status: Only ``scored`` holds an answer.
        judge: Which kind of judge answered.
        model: The model's name; that of the rules for the offline judge.
        reason: The judge's reason; untrusted text.
        score: 0 to 9, of a ``ScoreAnswer``.
        holds: Of a ``CheckAnswer``.
        ideas: Of an ``IdeasAnswer``, citations still as numbers.
        confidence: 0 to 1, the judge's own.
        citations: Ids of the cited messages, in the order cited, each once.
        is_data_missing: Whether a 9 stands for "nothing to judge".
        detail: Why it is not scored, what went wrong, or why it was skipped ("budget").
        answer: The answer that counts, whole.
        first_answer: The answer before the double check.
        asked: What was asked, shared with the request and not copied: a context may be long and its judgements many.
        raw: What the model wrote, word for word; every attempt of a failed one. Untrusted text.
        usage: What it cost; the share of a call that several judgements came from. Zero when it came from the cache.
        parameters: The parameters of the call that it came from; empty where no model was called.
        is_cached: Whether it was known already.
    """

    key: str
    status: JudgementStatus
    judge: JudgeKind
    model: str
    reason: str = ""
    score: int | None = None
    holds: bool | None = None
    ideas: tuple[Idea, ...] = ()
    confidence: float | None = None
    citations: tuple[str, ...] = ()
    is_data_missing: bool = False
    detail: str = ""
    answer: Answer | None = None
    first_answer: Answer | None = None
    asked: Prompt | None = None
    raw: str = ""
    usage: Usage = field(default_factory=Usage)
    parameters: CallParameters = field(default_factory=dict)
    is_cached: bool = False

    @property
    def prompt(self) -> str:
        """The full prompt with ``fencing.FENCE`` in it, for people."""
        return f"{self.asked.system}\n\n{self.asked.text}" if self.asked else ""

    @property
    def judged_by(self) -> str:
        """The model, and what of our parameters it did not take: marks of calls that differ so are not comparable."""
        is_own = bool(self.parameters) and "temperature" not in self.parameters
        return f"{self.model} (at its own temperature)" if is_own else self.model

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answer, with the first one before it where there was a double check; empty without an answer."""
        return tuple([answer for answer in (self.first_answer, self.answer) if answer is not None])

    @property
    def is_scored(self) -> bool:
        return self.status is JudgementStatus.SCORED


Report = Callable[[int, Judgement], None]
"""Told of every judgement as soon as it is final, with the position of its request: for progress and costs so far."""


class Judge(Protocol):
    """Answers questions about transcripts."""

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in the same order.

        A bad or missing answer is a judgement with status ``error``, never an exception and never a score.
        """
        ...


class ImmediateJudge:
    """Base of judges that need not wait: each request is answered by itself, in order."""

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order."""
        judgements = []
        for position, request in enumerate(requests):
            judgements.append(self._answer(request))
            if report:
                report(position, judgements[-1])
        return judgements

    def _answer(self, request: JudgeRequest) -> Judgement:
        raise NotImplementedError


def judgement_from(
    request: JudgeRequest,
    answers: Sequence[Answer],
    *,
    judge: JudgeKind,
    model: str,
    key: str = "",
    raw: str = "",
    usage: Usage | None = None,
    parameters: CallParameters | None = None,
    is_cached: bool = False,
) -> Judgement:
    """The scored judgement for ``request``; citations become message ids, those of no message are set apart.

    Args:
        request: What was asked.
        answers: The answer; with a double check the first and the second. The last one counts.
        judge: Which kind of judge answered.
        model: Whom it is filed under.
        key: Where it is filed; ``request.key(model)`` when left out.
        raw: What the model wrote, word for word.
        usage: What it cost; nothing when left out.
        parameters: What it was asked with; unknown when left out.
        is_cached: Whether it was known already.
    """
    final = answers[-1]
    numbers = list(dict.fromkeys(_citations(final)))
    return Judgement(
        key=key or request.key(model),
        status=JudgementStatus.SCORED,
        judge=judge,
        model=model,
        reason=getattr(final, "reason", ""),
        score=final.score if isinstance(final, ScoreAnswer) else None,
        holds=final.holds if isinstance(final, CheckAnswer) else None,
        ideas=tuple(final.ideas) if isinstance(final, IdeasAnswer) else (),
        confidence=getattr(final, "confidence", None),
        citations=tuple([request.messages[number] for number in numbers if number in request.messages]),
        is_data_missing=isinstance(final, ScoreAnswer) and final.data_missing,
        answer=final,
        first_answer=answers[0] if len(answers) > 1 else None,
        asked=request.prompt,
        raw=raw,
        usage=usage or Usage(),
        parameters=parameters or {},
        is_cached=is_cached,
    )


def unscored(
    request: JudgeRequest,
    status: JudgementStatus,
    detail: str,
    *,
    judge: JudgeKind,
    model: str,
    key: str = "",
    raw: str = "",
) -> Judgement:
    """A judgement without an answer, with a reason."""
    return Judgement(
        key=key or request.key(model),
        status=status,
        judge=judge,
        model=model,
        detail=detail,
        asked=request.prompt,
        raw=raw,
    )


def _citations(answer: Answer) -> list[int]:
    if isinstance(answer, IdeasAnswer):
        return [number for idea in answer.ideas for number in idea.citations]
    return list(getattr(answer, "citations", []))
