"""Build judgements from answers, in the one place that does so."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluation.judging.answers import Answer, CheckAnswer, Idea, IdeasAnswer, LabelAnswer, ScoreAnswer
from evaluation.judging.model_client.calls import CallParameters
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import JudgeKind, Judgement, JudgementStatus, JudgeRequest


@dataclass(frozen=True, slots=True)
class Received:
    """A model's response to one request.

    Attributes:
        answers: The answer; with a double check the first and the second. The last one counts.
        raw: What it wrote, word for word.
        usage: What it cost.
        parameters: What it was asked with.
    """

    answers: tuple[Answer, ...]
    raw: str = ""
    usage: Usage = field(default_factory=Usage)
    parameters: CallParameters = field(default_factory=dict)


def judgement_from(
    request: JudgeRequest, received: Received, *, judge: JudgeKind, model: str, key: str = "", is_cached: bool = False
) -> Judgement:
    """The scored judgement for ``request``; citations become message ids, those of no message are set apart.

    Args:
        request: What was asked.
        received: What came back.
        judge: Which kind of judge answered.
        model: Whom it is filed under.
        key: Where it is filed; ``request.key(model)`` when left out.
        is_cached: Whether it was known already.
    """
    final = received.answers[-1]
    is_data_missing = isinstance(final, ScoreAnswer) and final.data_missing
    numbers = list(dict.fromkeys(_citations(final)))
    return Judgement(
        key=key or request.key(model),
        status=JudgementStatus.SCORED,
        judge=judge,
        model=model,
        reason=getattr(final, "reason", ""),
        score=final.score if isinstance(final, ScoreAnswer) else None,
        holds=final.holds if isinstance(final, CheckAnswer) else None,
        label=final.label if isinstance(final, LabelAnswer) else None,
        ideas=_ideas(final),
        confidence=getattr(final, "confidence", None),
        citations=tuple([request.messages[number] for number in numbers if number in request.messages]),
        refused_citations=tuple([number for number in numbers if number not in request.messages]),
        is_data_missing=is_data_missing,
        answer=final,
        first_answer=received.answers[0] if len(received.answers) > 1 else None,
        asked=request.prompt,
        raw=received.raw,
        usage=received.usage,
        parameters=received.parameters,
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
    usage: Usage | None = None,
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
        usage=usage or Usage(),
    )


def _citations(answer: Answer) -> list[int]:
    if isinstance(answer, IdeasAnswer):
        return [number for idea in answer.ideas for number in idea.citations]
    return list(getattr(answer, "citations", []))


def _ideas(answer: Answer) -> tuple[Idea, ...]:
    return tuple(answer.ideas) if isinstance(answer, IdeasAnswer) else ()
