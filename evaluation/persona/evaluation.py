"""Evaluate agents and channels on the persona dimensions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import ENVIRONMENT_DIMENSIONS, Dimension, Proposition, TargetType
from evaluation.judging.propositions.weighted_scores import settle
from evaluation.judging.protocol import Judge, Report
from evaluation.judging.questions import Options, PropositionQuestion
from evaluation.persona.questions.adherence import adherence_questions
from evaluation.persona.questions.common import DimensionTask, Scorer
from evaluation.persona.questions.consistency import consistency_questions
from evaluation.persona.questions.convergence import convergence_questions
from evaluation.persona.questions.fluency import fluency_questions
from evaluation.persona.questions.ideas_quantity import ideas_questions
from evaluation.persona.results import DIMENSIONS, DimensionScore, PersonaEvaluation, judges_of
from evaluation.persona.subjects import ALWAYS, Period, Portrayal, Subject, sample

SCORERS: Mapping[Dimension, Scorer] = {
    Dimension.ADHERENCE: adherence_questions,
    Dimension.CONSISTENCY: consistency_questions,
    Dimension.FLUENCY: fluency_questions,
    Dimension.CONVERGENCE: convergence_questions,
    Dimension.IDEAS_QUANTITY: ideas_questions,
}
"""One scorer per dimension that comes with Dramaturg."""

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
        dimension: DimensionScore.of(
            dimension, [settle(each, next(answers) if each.request else None) for each in asked]
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
