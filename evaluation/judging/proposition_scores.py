"""From a judge's mark to a proposition's score from 0 to 9: inversion, weights, what its marks mean in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.judging.answers import HIGHEST_SCORE, Idea
from evaluation.judging.propositions import (
    Proposition,
    Target,
)
from evaluation.judging.protocol import Judgement, JudgementStatus
from evaluation.judging.questions import PropositionQuestion, snippet_of
from evaluation.text.display import picked_data
from evaluation.text.tokens import stem, tokenize

_BANDS = ((1, "plainly false"), (4, "mostly false"), (6, "undecided"), (9, "mostly true"))


_CERTAIN = "certainly true"


_UNEARNED = {
    "data_missing": "there was nothing to judge, so this 9 says nothing about the agent",
    "precondition": "the claim does not apply here, so this 9 says nothing about the agent",
}


def meaning_of(mark: float) -> str:
    """The band of the prompt that a mark from 0 to 9 stands for: "mostly true"."""
    return next((words for below, words in _BANDS if mark < below), _CERTAIN)


def mark_words(mark: int, *, is_inverted: bool, unearned: str = "") -> str:
    """The reading of a mark, the same in every output: "8 of 9, mostly true; the claim names a fault: score 1 of 9".

    Args:
        mark: What the judge gave, 0 to 9.
        is_inverted: Whether the claim describes something bad, so that the score is 9 less the mark.
        unearned: ``data_missing`` or ``precondition`` where the mark says nothing about the agent; else empty.
    """
    if unearned:
        return f"{mark} of 9: {_UNEARNED.get(unearned, 'this says nothing about the agent')}"
    words = f"{mark} of 9, {meaning_of(mark)}"
    return f"{words}; the claim names a fault: score {9 - mark} of 9" if is_inverted else f"{words}"


_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class ListedIdea:
    """One idea.

    Attributes:
        text: In the judge's words; untrusted.
        citations: References of the messages that voice it; those that do not exist are refused, so it may be empty.
    """

    text: str
    citations: tuple[str, ...] = ()


def distinct(ideas: Iterable[Idea], messages: Mapping[int, str]) -> tuple[ListedIdea, ...]:
    """The ideas with their citations resolved, those with the same words as an earlier one joined with it.

    Two ideas are the same when they consist of the same word stems in the same order, articles left out. Anything
    looser would join "ban cars" with "do not ban cars". An idea without a word is dropped.

    Args:
        ideas: From one answer.
        messages: The number of every message in the prompt, with its reference.
    """
    found: dict[tuple[str, ...], ListedIdea] = {}
    for idea in ideas:
        stems = tuple([stem(token.text) for token in tokenize(idea.text) if token.text not in _ARTICLES])
        if not stems:
            continue
        cited = [messages[number] for number in idea.citations if number in messages]
        earlier = found.get(stems)
        text = earlier.text if earlier else " ".join(idea.text.split())
        found[stems] = ListedIdea(text, tuple(dict.fromkeys([*(earlier.citations if earlier else ()), *cited])))
    return tuple(found.values())


_TRIVIAL = "The precondition {name!r} does not hold here, so the claim is trivially true and nobody was asked."


class Mark(StrEnum):
    """Why a 9 says nothing about the agent; empty when the score was earned."""

    NONE = ""
    DATA_MISSING = "data_missing"
    PRECONDITION = "precondition"


@dataclass(frozen=True, slots=True)
class PropositionScore:
    """One proposition judged once: of a message, or of a trajectory.

    Attributes:
        claim: Filled in, for people; untrusted, as are ``reason`` and ``snippet``.
        status: Only ``scored`` holds a score.
        raw: What the judge gave, 0 to 9; ``None`` for a list of ideas.
        score: 0 to 9, the higher the better: ``raw``, turned round for an inverted claim unless it is marked. For ideas
            their number.
        mark: Whether a 9 comes from missing data or from a precondition.
        reference: Transcript and id of the judged message; empty for a trajectory.
        detail: Why it has no score.
        citations: References of the cited messages.
        judgement: What the judge said; ``None`` when it was not asked.
    """

    proposition: Proposition
    claim: str
    status: JudgementStatus
    raw: int | None = None
    score: float | None = None
    mark: Mark = Mark.NONE
    reference: str = ""
    reason: str = ""
    detail: str = ""
    snippet: str = ""
    citations: tuple[str, ...] = ()
    ideas: tuple[ListedIdea, ...] = ()
    judgement: Judgement | None = None

    @property
    def mark_words(self) -> str:
        """The judge's mark, its meaning and the score, in words; empty without a mark."""
        if self.raw is None:
            return ""
        return mark_words(self.raw, is_inverted=self.proposition.is_inverted, unearned=self.mark)

    def as_dict(self) -> dict[str, Any]:
        """The score with everything behind it, as the JSON output shows it."""
        return {
            "proposition_id": self.proposition.id,
            "weight": self.proposition.weight,
            "inverted": self.proposition.is_inverted,
            **picked_data(self, "claim", "status", "raw", "score", "mark", "mark_words", "snippet", "citations"),
            "message": self.reference or next(iter(self.citations), None),
            "reason": self.reason or self.detail,
            "ideas": [{"text": idea.text, "citations": list(idea.citations)} for idea in self.ideas],
            "recommendation": self.proposition.recommendations_for_improvement,
        }

    @property
    def is_earned(self) -> bool:
        """Whether it has a score that says something about the agent."""
        return self.score is not None and self.mark is Mark.NONE


def settle(asked: PropositionQuestion, judgement: Judgement | None) -> PropositionScore:
    """The score of a proposition that was asked.

    Args:
        asked: What was asked.
        judgement: The answer; ``None`` exactly when ``asked`` holds no request.
    """
    proposition = asked.proposition
    reference = "" if asked.target.action is None else asked.target.action.reference
    snippet = snippet_of(asked.target.action)
    if asked.holds_trivially:
        return PropositionScore(
            proposition,
            asked.claim,
            JudgementStatus.SCORED,
            raw=HIGHEST_SCORE,
            score=float(HIGHEST_SCORE),
            mark=Mark.PRECONDITION,
            reference=reference,
            reason=_TRIVIAL.format(name=proposition.precondition),
            snippet=snippet,
        )
    if judgement is None:
        return PropositionScore(
            proposition, asked.claim, asked.fault_status, reference=reference, detail=asked.fault, snippet=snippet
        )
    mark = Mark.DATA_MISSING if judgement.is_data_missing else Mark.NONE
    ideas = distinct(judgement.ideas, asked.request.messages if asked.request else {})
    return PropositionScore(
        proposition,
        asked.claim,
        judgement.status,
        raw=judgement.score,
        score=_score(proposition, judgement, mark, ideas),
        mark=mark,
        reference=reference,
        reason=judgement.reason,
        detail=judgement.detail,
        snippet=snippet or _cited(asked.target, judgement.citations),
        citations=judgement.citations,
        ideas=ideas,
        judgement=judgement,
    )


def _score(proposition: Proposition, judgement: Judgement, mark: Mark, ideas: Sequence[ListedIdea]) -> float | None:
    if not judgement.is_scored:
        return None
    if judgement.score is None:
        return float(len(ideas))
    return float(proposition.score_of(judgement.score, is_marked=mark is not Mark.NONE))


def _cited(target: Target, citations: Sequence[str]) -> str:
    """The beginning of the first cited message: what a reader of the score sees of a whole trajectory."""
    by_reference = {event.reference: event for event in target.events}
    return next((snippet_of(by_reference[each]) for each in citations if each in by_reference), "")


def weighted_mean(scores: Iterable[PropositionScore], *, with_marked: bool = True) -> float | None:
    """The weighted mean over propositions of the means over what each was asked of.

    Args:
        scores: Of one dimension; those without a score are left out, and so is a proposition that has none.
        with_marked: Whether marked nines count.

    Returns:
        0 to 9 (a mean count for ideas); ``None`` when no weight is left.
    """
    counted = [each for each in scores if each.score is not None and (with_marked or each.is_earned)]
    by_proposition: dict[str, list[PropositionScore]] = {}
    for each in counted:
        by_proposition.setdefault(each.proposition.id, []).append(each)
    total = 0.0
    weight = 0.0
    for group in by_proposition.values():
        own = group[0].proposition.weight
        total += own * sum(each.score or 0.0 for each in group) / len(group)
        weight += own
    return total / weight if weight > 0 else None
