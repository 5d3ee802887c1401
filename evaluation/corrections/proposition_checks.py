"""Check a message with propositions and a judge, as the gate does in production."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from evaluation.corrections.action_gate import (
    ActionContext,
    MessageScore,
    inner_quotation,
    one_line,
    quotation,
    without_quotes,
)
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.model_client.budget import current_limits
from evaluation.judging.model_client.server_limits import BREAKER_OPEN
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.proposition_scores import PropositionScore, settle, weighted_mean
from evaluation.judging.propositions import ACTION_WINDOW, Dimension, Proposition, Target, TrajectoryEvent
from evaluation.judging.protocol import LARGEST_BATCH, Judge
from evaluation.judging.questions import Options, PropositionQuestion, ask

_MOST_REASONS = 3


class PropositionChecker:
    """Asks the propositions of a dimension about one message, all of them in one call where the judge can.

    One call asks up to ten claims of a dimension, all of them with the largest window that one of them wants, with the
    persona if one of them wants it, and without a double check: a message must not wait for several calls. With a model
    behind it, prepare the client first and open its session around the simulation, so that no message waits for an
    import.

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
        found = self._library.propositions_for(Dimension(dimension), (context.agent,))
        target = _material(Dimension(dimension), context.target(text))
        asked = [ask(one, target, options=Options(is_batched=True)) for one in _for_one_call(found)]
        scores = await self._judged(asked)
        is_asked = any(one.request for one in asked)
        is_silent = is_asked and not any(one.judgement and one.judgement.is_scored for one in scores)
        score = None if is_silent else weighted_mean(scores)
        usage = [one.judgement.usage for one in scores if one.judgement]
        return MessageScore(
            score,
            _reasoning(scores, score, asked),
            _recommendations(scores),
            round(sum(one.input_tokens for one in usage)),
            round(sum(one.output_tokens for one in usage)),
            is_trivial=score is not None and not is_asked,
            is_breaker_open=is_silent and any(BREAKER_OPEN in one.detail for one in scores),
        )

    async def _judged(self, asked: Sequence[PropositionQuestion]) -> list[PropositionScore]:
        requests = [one.request for one in asked if one.request]
        limits = current_limits()
        if limits is not None:
            limits.first_calls = ceil(len(requests) / LARGEST_BATCH)
        answers = iter(await self._judge.judge(requests) if requests else [])
        return [settle(one, next(answers) if one.request else None) for one in asked]


def _material(dimension: Dimension, target: Target) -> Target:
    """The target with the messages that count in a dimension: in consistency and fluency the agent's own ones.

    Source: persona evaluation specification, "Scorers" (column "Input").
    """
    if dimension not in (Dimension.CONSISTENCY, Dimension.FLUENCY):
        return target
    return replace(target, trajectory=tuple([event for event in target.trajectory if event.is_action]))


def _for_one_call(propositions: Sequence[Proposition]) -> list[Proposition]:
    """The propositions with one window, the smaller one of the gate or the largest that a file sets, for one call."""
    first = max((_set(one.first_n, ACTION_WINDOW.first_n) for one in propositions), default=0)
    last = max((_set(one.last_n, ACTION_WINDOW.last_n) for one in propositions), default=0)
    personas = any(one.includes_personas for one in propositions)
    return [
        replace(one, first_n=first, last_n=last, includes_personas=personas, has_double_check=False)
        for one in propositions
    ]


def _set(own: int | None, default: int) -> int:
    return default if own is None else own


def _lowest_first(scores: Sequence[PropositionScore]) -> list[PropositionScore]:
    found = [one for one in scores if one.score is not None and one.score < HIGHEST_SCORE and one.proposition.weight]
    return sorted(found, key=lambda one: one.score or 0.0)


def _reasoning(scores: Sequence[PropositionScore], score: float | None, asked: Sequence[PropositionQuestion]) -> str:
    if score is None:
        details = dict.fromkeys(one.detail for one in scores if one.detail)
        return "; ".join(details) or "no proposition applies"
    events = asked[0].target.events if asked else ()
    shown = {number for one in asked if one.request for number in one.request.messages}
    quotes = {number: _in_words(number, events) for number in shown}
    reasons = [
        f"{_without_numbers(one.reason, quotes)} (The claim {quotation(one.claim, _LONGEST_CLAIM)} was marked "
        f"{one.mark_words}.)"
        for one in _lowest_first(scores)
    ]
    return " ".join(reasons[:_MOST_REASONS]) or "nothing to object to"


# Messages as the prompt names them: [M4], [M1, M2], "message M4". Other numbers (motorways) are plain words.
_CITATION = re.compile(
    r"(?:\b[Tt]he )?(?:\b[Mm]essages? (?:number |no\. |#)?)?"
    r"\[(M\d{1,6}(?:[,;&\s\u2013-]{1,4}(?:and )?M\d{1,6}){0,99})\]"
    r"|(?:\b[Tt]he )?\b[Mm]essages? (M\d{1,6})\b"
)
_NUMBER = re.compile(r"M(\d{1,6})")
_ITEM = re.compile(r"\[P\d{1,3}\]")
_LONGEST_QUOTE = 60
_LONGEST_REASON = 300
_LONGEST_CLAIM = 200


def _in_words(number: int, events: Sequence[TrajectoryEvent]) -> str:
    """A message by its words; the last one is the message that is judged."""
    if number == len(events):
        return "this message"
    return f"the message {inner_quotation(events[number - 1].text, _LONGEST_QUOTE)}"


def _without_numbers(reason: str, quotes: Mapping[int, str]) -> str:
    """A judge's reason, quoted, without the numbers of messages and claims, which only the judge saw.

    It quotes the messages in their place. A number that stands for none in words of another form stays.
    """

    def quoted(found: re.Match[str]) -> str:
        return quotes.get(int(found[1]), "a message")

    def named(found: re.Match[str]) -> str:
        if found[2] and int(found[2][1:]) not in quotes:
            return found[0]
        return _NUMBER.sub(quoted, found[1] or found[2])

    words = _CITATION.sub(named, _ITEM.sub("this claim", without_quotes(reason)))
    return f'"{one_line(words, _LONGEST_REASON)}"'


def _recommendations(scores: Sequence[PropositionScore]) -> tuple[str, ...]:
    advice = [one.proposition.recommendations_for_improvement for one in _lowest_first(scores)]
    return tuple(dict.fromkeys(line for line in advice if line))[:_MOST_REASONS]
