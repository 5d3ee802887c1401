"""Evaluations of one agent over the five dimensions, and the questions that each dimension puts to a judge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from evaluation.judging.model_client.calls import Usage, total
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.proposition_scores import Mark, PropositionScore, settle, weighted_mean
from evaluation.judging.propositions import (
    ENVIRONMENT_DIMENSIONS,
    Dimension,
    Proposition,
    TargetType,
)
from evaluation.judging.protocol import Judge, JudgeKind, JudgementStatus, Report
from evaluation.judging.questions import Options, PropositionQuestion
from evaluation.persona.agents import Agent
from evaluation.persona.dimensions import DIMENSIONS, SCORERS, DimensionTask
from evaluation.persona.subjects import ALWAYS, Period, Portrayal, Subject, sample


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """One dimension's score with everything behind it.

    Attributes:
        items: Every proposition, once per message or trajectory that it was put to.
    """

    dimension: Dimension
    items: tuple[PropositionScore, ...]

    @property
    def score(self) -> float | None:
        """0 to 9, the weighted mean over propositions of the means over messages, marked nines included.

        For ideas quantity the mean number of ideas. ``None`` when nothing was scored, or every score is a marked 9.
        """
        return None if self.score_without_marked is None else weighted_mean(self.items)

    @property
    def score_without_marked(self) -> float | None:
        """The same without the nines for missing data and preconditions."""
        return weighted_mean(self.items, with_marked=False)

    @property
    def reason(self) -> str:
        """Why there is no score; empty when there is one."""
        return "" if self.score is not None else _why_not(self.items)

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


DEFAULT_SAMPLE_SIZE = 20


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """The settings for the evaluation of agents.

    Attributes:
        dimensions: Which ones; those that do not apply to an agent (or to a channel) are left out.
        sample_size: At most how many messages of an agent, or conversations of a channel, are judged.
        seed: Chooses the sample.
        period: Told to people; the messages were chosen by it already.
        options: How propositions are asked.
        first: Only so many of the sample, for a trial: other messages and portrayals are left out. ``None`` for all.
    """

    dimensions: Collection[Dimension] = DIMENSIONS
    sample_size: int = DEFAULT_SAMPLE_SIZE
    seed: int = 0
    period: Period = ALWAYS
    options: Options = field(default_factory=Options)
    first: int | None = None


def applicable(subject: Subject, dimensions: Collection[Dimension]) -> list[Dimension]:
    """The dimensions that an agent, or a channel, can be scored on, in the specification's order."""
    is_channel = subject.agent.kind is TargetType.ENVIRONMENT
    return [each for each in DIMENSIONS if each in dimensions and (each in ENVIRONMENT_DIMENSIONS) is is_channel]


def questions_about(
    subject: Subject, library: PropositionLibrary, plan: EvaluationPlan
) -> dict[Dimension, list[PropositionQuestion]]:
    """All questions about a subject, by dimension, before any judge is asked."""
    sampled = _sampled(subject, plan)
    return {
        dimension: [
            asked
            for portrayal, positions in sampled
            for asked in SCORERS[dimension](
                DimensionTask(portrayal, positions, _propositions(library, dimension, subject, portrayal), plan.options)
            )
        ]
        for dimension in applicable(subject, plan.dimensions)
    }


async def evaluate_agent(
    subject: Subject,
    judge: Judge,
    library: PropositionLibrary,
    plan: EvaluationPlan | None = None,
    *,
    report: Report | None = None,
) -> PersonaEvaluation:
    """An agent's, or a channel's, scores with the reason behind every one of them.

    All questions go to the judge at once, so that it can ask as many at a time as it may. What it cannot or must not
    answer has no score and says why; nothing is made up for it.

    Args:
        subject: From :func:`evaluation.persona.subjects.subject_of`.
        judge: Whoever answers.
        library: The propositions.
        plan: Which dimensions, which sample, how they are asked.
        report: Told of every judgement.
    """
    settings = plan or EvaluationPlan()
    questions = questions_about(subject, library, settings)
    requests = [asked.request for each in questions.values() for asked in each if asked.request]
    answers = iter(await judge.judge(requests, report=report) if requests else ())
    dimensions = {
        dimension: DimensionScore(
            dimension, tuple([settle(each, next(answers) if each.request else None) for each in asked])
        )
        for dimension, asked in questions.items()
    }
    return PersonaEvaluation(
        agent=subject.agent,
        dimensions=dimensions,
        period=settings.period,
        sample_size=_size(subject, _sampled(subject, settings)),
        seed=settings.seed,
        judges=judges_of(item for each in dimensions.values() for item in each.items),
    )


def _sampled(subject: Subject, plan: EvaluationPlan) -> list[tuple[Portrayal, tuple[int, ...]]]:
    """The portrayals that are judged, each with the positions of its sampled messages."""
    if subject.agent.kind is TargetType.ENVIRONMENT:
        chosen = sample(subject.portrayals, plan.sample_size, plan.seed, subject.agent.id)[: plan.first]
        return [(portrayal, ()) for portrayal in chosen]
    own = [(number, place) for number, each in enumerate(subject.portrayals) for place in each.positions]
    picked = sample(own, plan.sample_size, plan.seed, subject.agent.id)[: plan.first]
    sampled = [
        (portrayal, tuple([place for owner, place in picked if owner == number]))
        for number, portrayal in enumerate(subject.portrayals)
    ]
    return sampled if plan.first is None else [each for each in sampled if each[1]]


def _size(subject: Subject, sampled: Sequence[tuple[Portrayal, tuple[int, ...]]]) -> int:
    if subject.agent.kind is TargetType.ENVIRONMENT:
        return len(sampled)
    return sum(len(positions) for _, positions in sampled)


def _propositions(
    library: PropositionLibrary, dimension: Dimension, subject: Subject, portrayal: Portrayal
) -> tuple[Proposition, ...]:
    personality = () if portrayal.personality is None else (portrayal.personality,)
    return library.propositions_for(dimension, (*personality, subject.agent.id))
