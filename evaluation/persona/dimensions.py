"""Five dimensions of a persona: what each asks a judge, and the figures it gives the judge to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from evaluation.judging.propositions import (
    Dimension,
    Proposition,
    Target,
    fill_known,
    windowed,
)
from evaluation.judging.protocol import JudgementStatus, OfflineInput
from evaluation.judging.questions import (
    Options,
    PropositionQuestion,
    Supplement,
    ask,
    variables_for,
)
from evaluation.persona.subjects import Portrayal
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
    "No persona of {name} is known to check its messages against. Import an agent file, write the persona on the "
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


SCORERS: Mapping[Dimension, Scorer] = {
    Dimension.ADHERENCE: adherence_questions,
    Dimension.CONSISTENCY: consistency_questions,
    Dimension.FLUENCY: fluency_questions,
    Dimension.CONVERGENCE: convergence_questions,
    Dimension.IDEAS_QUANTITY: ideas_questions,
}
"""One scorer per dimension that comes with Dramaturg."""
