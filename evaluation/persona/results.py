"""Results of an evaluation of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.judging.model_client.calls import total
from evaluation.judging.propositions.proposition import Dimension
from evaluation.judging.propositions.weighted_scores import Mark, PropositionScore, weighted_mean
from evaluation.judging.protocol import JudgeKind, JudgementStatus, Usage
from evaluation.persona.agents import Agent
from evaluation.persona.subjects import Period

LABELS: Mapping[Dimension, str] = {
    Dimension.ADHERENCE: "Adherence",
    Dimension.CONSISTENCY: "Consistency",
    Dimension.FLUENCY: "Fluency",
    Dimension.CONVERGENCE: "Voice distinctness",
    Dimension.IDEAS_QUANTITY: "Ideas",
}

DIMENSIONS: tuple[Dimension, ...] = tuple(LABELS)
"""The five dimensions of the specification, in its order."""


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """One dimension's score with everything behind it.

    Attributes:
        score: 0 to 9, the weighted mean over propositions of the means over messages, marked nines included; the mean
            number of ideas for ideas quantity. ``None`` when nothing was scored, or when every score is a marked 9.
        score_without_marked: The same without the nines for missing data and preconditions.
        items: Every proposition, once per message or trajectory that it was put to.
        reason: Why there is no score; empty when there is one.
    """

    dimension: Dimension
    score: float | None
    score_without_marked: float | None
    items: tuple[PropositionScore, ...]
    reason: str = ""

    @classmethod
    def of(cls, dimension: Dimension, items: Sequence[PropositionScore]) -> DimensionScore:
        """The score that ``items`` amount to."""
        earned = weighted_mean(items, with_marked=False)
        score = None if earned is None else weighted_mean(items)
        return cls(dimension, score, earned, tuple(items), "" if score is not None else _why_not(items))

    @property
    def marked(self) -> int:
        """Number of scores that are nines without information about the agent."""
        return sum(item.mark is not Mark.NONE for item in self.items)

    @property
    def unscored(self) -> list[PropositionScore]:
        """The items that have no score."""
        return [item for item in self.items if item.score is None]


def _why_not(items: Sequence[PropositionScore]) -> str:
    if not items:
        return "there is nothing to judge"
    details = dict.fromkeys(item.detail for item in items if item.score is None and item.detail)
    if details:
        first, *others = details
        return f"{first} (and {len(others)} other reasons)" if others else first
    if all(item.proposition.weight == 0 for item in items):
        return "no proposition has a weight"
    return "every score is a 9 for missing data or a precondition that does not hold"


@dataclass(frozen=True, slots=True)
class PersonaEvaluation:
    """An agent's or a channel's scores.

    Attributes:
        dimensions: Those that were asked for and apply, in the specification's order.
        sample_size: How many messages were judged one by one; of a channel, how many conversations.
        seed: Chose the sample.
        judges: Which kinds of judges answered, with the models' names.
    """

    agent: Agent
    dimensions: Mapping[Dimension, DimensionScore]
    period: Period
    sample_size: int
    seed: int
    judges: tuple[tuple[JudgeKind, str], ...] = ()

    @property
    def overall_score(self) -> float | None:
        """The mean of the scored dimensions that are marked 0 to 9; ideas are counted and stay out."""
        scores = [each.score for each in self.dimensions.values() if each.dimension is not Dimension.IDEAS_QUANTITY]
        return fmean(found) if (found := [score for score in scores if score is not None]) else None

    @property
    def items(self) -> list[PropositionScore]:
        """All propositions of all dimensions."""
        return [item for each in self.dimensions.values() for item in each.items]

    @property
    def usage(self) -> Usage:
        """Tokens and money that this evaluation used; what came from the cache used nothing."""
        return total(item.judgement.usage for item in self.items if item.judgement)

    @property
    def has_failed(self) -> bool:
        """Whether no dimension has a score and at least one question was answered by an error."""
        has_score = any(each.score is not None for each in self.dimensions.values())
        return not has_score and any(item.status is JudgementStatus.ERROR for item in self.items)


def judges_of(items: Iterable[PropositionScore]) -> tuple[tuple[JudgeKind, str], ...]:
    """Kinds and models of the judges that scored the items, each once."""
    answered = [item.judgement for item in items if item.judgement and item.judgement.is_scored]
    return tuple(dict.fromkeys((judgement.judge, judgement.judged_by) for judgement in answered))
