"""Evaluations of one agent over the five dimensions, and the questions that each dimension puts to a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean

from evaluation.judging.model_client.calls import total
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.judging.propositions import (
    ENVIRONMENT_DIMENSIONS,
    Dimension,
    Proposition,
    Target,
    TargetType,
    fill_known,
    windowed,
)
from evaluation.judging.protocol import Judge, JudgeKind, JudgementStatus, OfflineInput, Report, Usage
from evaluation.judging.questions import (
    Mark,
    Options,
    PropositionQuestion,
    PropositionScore,
    Supplement,
    ask,
    settle,
    variables_for,
    weighted_mean,
)
from evaluation.persona.agents import Agent
from evaluation.persona.subjects import ALWAYS, Period, Portrayal, Subject, sample
from evaluation.text.tokens import STOP_WORDS, tokenize

Supply = Callable[[Proposition, Target], Supplement]
"""What a judge gets besides the trajectory, for a proposition and the target that it is put to."""


@dataclass(frozen=True, slots=True)
class DimensionTask:
    """The task of one scorer.

    Attributes:
        sampled: Positions in the trajectory of the agent's messages that are judged one by one.
        propositions: Those that apply, of the scorer's dimension.
    """

    portrayal: Portrayal
    sampled: tuple[int, ...]
    propositions: tuple[Proposition, ...]
    options: Options


Scorer = Callable[[DimensionTask], list[PropositionQuestion]]
"""A dimension's scorer: the questions that its score is the weighted mean of."""


def build_questions(
    task: DimensionTask, whole: Target, messages: Sequence[Target], supply: Supply | None = None
) -> list[PropositionQuestion]:
    """Every proposition once per sampled message if it is about a message, else once about the whole."""
    return [
        ask(proposition, target, supply(proposition, target) if supply else None, task.options)
        for proposition in task.propositions
        for target in (messages if proposition.is_asked_of_messages else (whole,))
    ]


def unscorable(proposition: Proposition, target: Target, reason: str) -> PropositionQuestion:
    """A proposition that cannot be asked of a target; no error; ``{name}`` in the reason is the target's."""
    claim = fill_known(proposition.claim, variables_for(target))
    fault = reason.format(name=target.name)
    return PropositionQuestion(proposition, target, claim, fault=fault, fault_status=JudgementStatus.NOT_SCORED)


_NO_PERSONA = (
    "No persona of {name} is known, so nothing can be held against it. Import an agent file, write the persona on the "
    "Agents page, or use transcripts that hold it."
)


def adherence_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """Questions that compare an agent's messages with its persona.

    A claim that names ``{{action}}`` is asked of every sampled message with what came before it, any other once of the
    whole trajectory. Without a persona a judge could only answer "data missing: 9"; such a 9 would say that an unknown
    character is held perfectly, so it is not scored at all.

    Source: persona specification, ``scoreAdherence``.
    """
    target = task.portrayal.target
    if not target.personas:
        return [unscorable(each, target, _NO_PERSONA) for each in task.propositions]
    return build_questions(task, target, [target.at(position) for position in task.sampled])


_NOTHING_EARLIER = "{name} said nothing before the messages that are judged, so there is nothing to compare them with."


def consistency_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """Each sampled message paired with a window of the agent's earlier ones; what others said is left out.

    Every proposition is asked of every pair, whether or not it names ``{{action}}``. An agent's first message makes no
    pair: a trivial 9 for it would only flatter the score.

    Source: persona specification, ``scoreConsistency`` ("current and historical message pairs").
    """
    target = task.portrayal.target
    pairs = [pair for position in task.sampled if (pair := _pair(target, position)).trajectory]
    if task.sampled and not pairs:
        return [unscorable(each, target, _NOTHING_EARLIER) for each in task.propositions]
    return [
        ask(proposition, pair, _both_styles(proposition, pair), task.options)
        for proposition in task.propositions
        for pair in pairs
    ]


def _pair(target: Target, position: int) -> Target:
    moment = target.at(position)
    return replace(moment, trajectory=tuple([event for event in moment.trajectory if event.is_action]))


def _both_styles(proposition: Proposition, pair: Target) -> Supplement:
    # What a model would see, so that both judge the same, and the time does not grow with the agent's whole history.
    earlier = tuple([each.event.text for each in windowed(pair.trajectory, proposition.window)])
    later = (pair.action.text,) if pair.action else ()
    offline = OfflineInput(Dimension.CONSISTENCY, (earlier, later), proposition.is_inverted)
    return Supplement(offline=offline)


def fluency_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The agent's own messages, with what recurs in them as supplementary evidence.

    Source: persona specification, ``scoreFluency``.
    """
    whole = task.portrayal.target
    own = replace(whole, trajectory=tuple([event for event in whole.trajectory if event.is_action]))
    places = {position: number for number, position in enumerate(task.portrayal.positions)}
    return build_questions(task, own, [own.at(places[position]) for position in task.sampled], _repetition)


def _repetition(proposition: Proposition, target: Target) -> Supplement:
    texts = tuple([each.event.text for each in windowed(target.events, proposition.window)])
    # One message among others is not a repetition yet: only claims about the whole have an algorithmic stand-in.
    offline = None if target.action else OfflineInput(Dimension.FLUENCY, (texts,), proposition.is_inverted)
    return Supplement(evidence=repetition_evidence(texts), offline=offline)


def convergence_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The whole conversation, with the speakers' vocabularies as supplementary evidence. Higher is more distinct.

    Source: persona specification, ``scoreConvergence``.
    """
    return build_questions(task, task.portrayal.target, (), _vocabularies)


def _vocabularies(proposition: Proposition, target: Target) -> Supplement:
    said: dict[str, list[str]] = {}
    for each in windowed(target.trajectory, proposition.window):
        said.setdefault(each.event.speaker, []).append(each.event.text)
    groups = tuple([tuple(texts) for texts in said.values()])
    offline = OfflineInput(Dimension.CONVERGENCE, groups, proposition.is_inverted)
    return Supplement(evidence=vocabulary_evidence(said), offline=offline)


def ideas_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The whole conversation; the judge lists the ideas, and their number is counted here, not by the judge.

    Source: persona specification, ``scoreIdeasQuantity``.
    """
    return build_questions(task, task.portrayal.target, ())


PHRASE_LENGTH = 3
"""Words of a phrase (n-gram) that is looked for again."""

_MOST_MESSAGES = 200
_MOST_WORDS = 1_000
_MOST_SHOWN = 5
_OPENING = 3


def _words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)[:_MOST_WORDS]]


def _phrases(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[offset:] for offset in range(PHRASE_LENGTH)), strict=False))


def phrase_overlap(texts: Sequence[str]) -> float | None:
    """The share of three-word phrases that an earlier one of ``texts`` already holds.

    Args:
        texts: Messages in order; the last 200 count, the first 1,000 words of each.

    Returns:
        From 0 (nothing recurs) to 1; ``None`` when no message after the first has three words.
    """
    seen: set[tuple[str, ...]] = set()
    again = total = 0
    for position, text in enumerate(texts[-_MOST_MESSAGES:]):
        phrases = _phrases(_words(text))
        if position:
            total += len(phrases)
            again += sum(phrase in seen for phrase in phrases)
        seen.update(phrases)
    return again / total if total else None


def repetition_evidence(texts: Sequence[str]) -> str:
    """Repetition in one agent's messages, in words for a judge; empty when there is nothing to compare."""
    overlap = phrase_overlap(texts)
    if overlap is None:
        return ""
    recent = texts[-_MOST_MESSAGES:]
    lines = [
        f"{len(recent)} messages. Of the three-word phrases after the first, {overlap:.0%} stand in an earlier one."
    ]
    phrases = Counter(phrase for text in recent for phrase in set(_phrases(_words(text))))
    lines += _most_common("In several messages", {" ".join(phrase): count for phrase, count in phrases.items()})
    openings = Counter(" ".join(_words(text)[:_OPENING]) for text in recent)
    lines += _most_common("Openings that recur", openings)
    return "\n".join(lines)


def _most_common(label: str, counts: Mapping[str, int]) -> list[str]:
    # By count, then by the alphabet: the same messages must give the same prompt.
    again = sorted((-count, text) for text, count in counts.items() if count > 1 and text)
    shown = ", ".join(f"{text!r} ({-count})" for count, text in again[:_MOST_SHOWN])
    return [f"{label}: {shown}."] if shown else []


def vocabulary_evidence(said: Mapping[str, Sequence[str]]) -> str:
    """Similarity of the speakers' vocabularies, in words for a judge; empty for fewer than two speakers.

    Similarity is shared words over all words of two speakers (Jaccard), function words left out.

    Args:
        said: The messages of each speaker.
    """
    words = {
        speaker: Counter(word for text in texts for word in _words(text) if word not in STOP_WORDS)
        for speaker, texts in said.items()
    }
    if len(words) < 2:
        return ""
    pairs = {(one, other): _shared(words[one], words[other]) for one, other in combinations(words, 2)}
    closest = max(pairs, key=lambda pair: pairs[pair])
    lines = [
        f"{len(words)} speakers. Two of them share {fmean(pairs.values()):.0%} of their words on average, "
        f"{closest[0]} and {closest[1]} most ({pairs[closest]:.0%})."
    ]
    users = Counter(word for counted in words.values() for word in counted)
    for speaker, counted in words.items():
        own = sorted((word for word in counted if users[word] == 1), key=lambda word: (-counted[word], word))
        shown = ", ".join(own[:_MOST_SHOWN]) or "none"
        lines.append(f"{speaker}: {counted.total()} words, {len(counted)} different; only they say: {shown}.")
    return "\n".join(lines)


def _shared(one: Counter[str], other: Counter[str]) -> float:
    union = len(one.keys() | other.keys())
    return len(one.keys() & other.keys()) / union if union else 0.0


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
