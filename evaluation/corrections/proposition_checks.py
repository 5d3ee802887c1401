"""Check a message with propositions and a judge, as the gate does in production."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation.corrections.attempts import MessageScore
from evaluation.corrections.context import ActionContext
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import ACTION_WINDOW, HIGHEST_SCORE, Dimension, Proposition
from evaluation.judging.propositions.weighted_scores import PropositionScore, settle, weighted_mean
from evaluation.judging.protocol import Judge
from evaluation.judging.questions import Options, PropositionQuestion, ask

_MOST_REASONS = 3


class PropositionChecker:
    """Asks the propositions of a dimension about one message, all of them in one call where the judge can.

    The judge should neither retry nor queue: the gate limits time and concurrency itself. With a model behind it,
    prepare the client first and open its session around the simulation, so that no message waits for an import.

    Args:
        judge: Whoever answers.
        library: The propositions; those of the agent and of its types count besides the defaults.
    """

    def __init__(self, judge: Judge, library: PropositionLibrary) -> None:
        self._judge = judge
        self._library = library

    async def check(self, dimension: str, text: str, context: ActionContext) -> MessageScore:
        """The weighted mean over the propositions, 0 to 9, with the reasons of those that hold it down.

        The score is ``None`` when the judge was asked and gave no usable answer: claims that hold trivially, because
        their precondition does not, must not speak for a judge that is silent.
        """
        found = self._library.propositions_for(Dimension(dimension), (*context.types, context.agent))
        target = context.target(text)
        asked = [ask(_narrowed(one), target, options=Options(is_batched=True)) for one in found.propositions]
        scores = await self._judged(asked)
        is_asked = any(one.request for one in asked)
        is_silent = is_asked and not any(_is_answered(one) for one in scores)
        score = None if is_silent else weighted_mean(scores)
        usage = [one.judgement.usage for one in scores if one.judgement]
        return MessageScore(
            score,
            _reasoning(scores, score),
            _recommendations(scores),
            round(sum(one.input_tokens for one in usage)),
            round(sum(one.output_tokens for one in usage)),
            is_trivial=score is not None and not is_asked,
        )

    async def _judged(self, asked: Sequence[PropositionQuestion]) -> list[PropositionScore]:
        requests = [one.request for one in asked if one.request]
        answers = iter(await self._judge.judge(requests) if requests else [])
        return [settle(one, next(answers) if one.request else None) for one in asked]


def _narrowed(proposition: Proposition) -> Proposition:
    """The proposition with the smaller window of the gate, unless its file sets another."""
    first = ACTION_WINDOW.first_n if proposition.first_n is None else proposition.first_n
    last = ACTION_WINDOW.last_n if proposition.last_n is None else proposition.last_n
    return replace(proposition, first_n=first, last_n=last)


def _is_answered(score: PropositionScore) -> bool:
    return score.judgement is not None and score.judgement.is_scored


def _lowest_first(scores: Sequence[PropositionScore]) -> list[PropositionScore]:
    found = [one for one in scores if one.score is not None and one.score < HIGHEST_SCORE and one.proposition.weight]
    return sorted(found, key=lambda one: one.score or 0.0)


def _reasoning(scores: Sequence[PropositionScore], score: float | None) -> str:
    if score is None:
        details = dict.fromkeys(one.detail for one in scores if one.detail)
        return "; ".join(details) or "no proposition applies"
    reasons = [f"{one.reason} ({one.score:g} of 9 for: {one.claim})" for one in _lowest_first(scores)]
    return " ".join(reasons[:_MOST_REASONS]) or "nothing to object to"


def _recommendations(scores: Sequence[PropositionScore]) -> tuple[str, ...]:
    advice = [one.proposition.recommendations_for_improvement for one in _lowest_first(scores)]
    return tuple(dict.fromkeys(line for line in advice if line))[:_MOST_REASONS]
