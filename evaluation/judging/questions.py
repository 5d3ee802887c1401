"""Questions to a judge, built from a proposition and a target, and the weighted scores of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluation.judging import prompts
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.fencing import quoted
from evaluation.judging.propositions import (
    Dimension,
    MissingVariableError,
    Numbered,
    Proposition,
    Target,
    TargetType,
    TrajectoryEvent,
    fill,
    fill_known,
    precondition_named,
    trajectory_text,
    windowed,
)
from evaluation.judging.protocol import (
    CheckAnswer,
    Idea,
    IdeasAnswer,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    OfflineInput,
    Prompt,
    ScoreAnswer,
)
from evaluation.text.tokens import stem, tokenize

_LONGEST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Options:
    """Options for asking propositions.

    Attributes:
        is_batched: Whether claims about the same thing may share a call, at most ten: cheaper, a little less exact.
        has_double_check: Whether every judge is asked to reconsider, whatever the files say. For experiments, not CI.
    """

    is_batched: bool = False
    has_double_check: bool = False


@dataclass(frozen=True, slots=True)
class Supplement:
    """Evidence for a judge beside the trajectory.

    Attributes:
        evidence: Statistics in words.
        additional_context: Anything else, for the judge and for preconditions.
        offline: What the offline judge computes from; ``None`` when only a model can tell.
    """

    evidence: str = ""
    additional_context: str = ""
    offline: OfflineInput | None = None


@dataclass(frozen=True, slots=True)
class PropositionQuestion:
    """A proposition put to a target.

    Attributes:
        claim: With its variables filled in, for people; untrusted where it quotes names and messages.
        request: For the judge; ``None`` when nobody needs to be asked.
        fault: Why it cannot be asked; empty otherwise.
        fault_status: What a fault counts as: an error in the proposition, or something that cannot be scored.
        holds_trivially: Whether its precondition does not hold, which makes it trivially true.
    """

    proposition: Proposition
    target: Target
    claim: str
    request: JudgeRequest | None = None
    fault: str = ""
    fault_status: JudgementStatus = JudgementStatus.ERROR
    holds_trivially: bool = False


def ask(
    proposition: Proposition,
    target: Target,
    supplement: Supplement | None = None,
    options: Options | None = None,
) -> PropositionQuestion:
    """The question whether ``proposition`` is true of ``target``.

    A precondition that does not hold is found out before a missing variable is, so that ``is_direct_message`` may guard
    ``{{recipient_name}}``.
    """
    extra = supplement or Supplement()
    readable = variables_for(target)
    if not _applies(proposition, target, extra.additional_context, readable):
        return PropositionQuestion(proposition, target, fill_known(proposition.claim, readable), holds_trivially=True)
    try:
        claim = fill(proposition.claim, readable, place=proposition.source or proposition.id)
    except MissingVariableError as error:
        return PropositionQuestion(proposition, target, fill_known(proposition.claim, readable), fault=str(error))
    request = _request(proposition, target, claim, extra, options or Options())
    return PropositionQuestion(proposition, target, claim, request)


def check_request(claim: str, target: Target, proposition: Proposition, *, purpose: str) -> JudgeRequest:
    """The yes/no question whether a claim holds, with the window of ``proposition`` and its choice of personas.

    Args:
        claim: With template variables.
        target: Who it is about.
        proposition: Gives window, personas, double check, and the id by which people know it.
        purpose: As calls are logged.

    Raises:
        MissingVariableError: A variable has no value for this target.
    """
    shown = _shown(proposition, target)
    prompt = Prompt(
        prompts.CHECK_SYSTEM,
        _context(proposition, target, shown, Supplement()),
        prompts.check_question(fill(claim, _prompt_variables(target), place=proposition.id)),
    )
    return JudgeRequest(
        purpose=purpose,
        subject=f"{proposition.id}: {target.name}",
        prompt=prompt,
        answer=CheckAnswer,
        prompt_version=prompts.PROMPT_VERSION,
        messages={each.number: each.event.reference for each in shown},
        claim=fill(claim, variables_for(target), place=proposition.id),
        double_check=proposition.has_double_check,
    )


def variables_for(target: Target) -> dict[str, str]:
    """The values of template variables for a target, as people read them; those that it does not have are missing."""
    values = _common_variables(target)
    if target.action is not None:
        text = " ".join(target.action.text.split())
        values["action"] = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}\u2026"
    return values


def _prompt_variables(target: Target) -> dict[str, str]:
    """The same for the prompt: names in quotes, and the action by its number.

    The claim is ours and stands outside the fences, so no words of a stranger but names (one line, neutralised, in
    quotes) may enter it. The action itself is among the messages above.
    """
    values = {name: quoted(value) for name, value in _common_variables(target).items()}
    if target.action is not None:
        values["action"] = f"[M{len(target.trajectory) + 1}]"
    return values


def _common_variables(target: Target) -> dict[str, str]:
    values: dict[str, str] = {}
    if target.kind is TargetType.AGENT:
        values["agent_name"] = target.name
    events = target.events if target.action is None else (target.action,)
    channels = {event.channel_name for event in events}
    if len(channels) == 1 and (channel := channels.pop()):
        values["channel_name"] = channel
    if target.action is not None and target.action.is_direct:
        values["recipient_name"] = target.action.recipients[0]
    return values


def _applies(
    proposition: Proposition, target: Target, additional_context: str, claim_variables: Mapping[str, str]
) -> bool:
    if proposition.precondition is None:
        return True
    condition = precondition_named(proposition.precondition)
    return condition(target=target, additional_context=additional_context, claim_variables=claim_variables)


def _request(
    proposition: Proposition, target: Target, claim: str, supplement: Supplement, options: Options
) -> JudgeRequest:
    is_count = proposition.dimension is Dimension.IDEAS_QUANTITY
    shown = _shown(proposition, target)
    asked = fill(proposition.claim, _prompt_variables(target), place=proposition.id)
    number = None if target.action is None else len(target.trajectory) + 1
    prompt = Prompt(
        prompts.IDEAS_SYSTEM if is_count else prompts.SCORE_SYSTEM,
        _context(proposition, target, shown, supplement),
        prompts.ideas_question(asked) if is_count else prompts.question(asked, number),
    )
    return JudgeRequest(
        purpose=proposition.dimension.value,
        subject=f"{proposition.id}: {subject_of(target)}",
        prompt=prompt,
        answer=IdeasAnswer if is_count else ScoreAnswer,
        prompt_version=prompts.PROMPT_VERSION,
        messages={each.number: each.event.reference for each in shown},
        claim=claim,
        batch_group=_group(proposition, target) if options.is_batched and not is_count else None,
        double_check=proposition.has_double_check or options.has_double_check,
        offline=supplement.offline,
    )


def proposition_id_of(subject: str) -> str:
    """The id of the proposition that the subject of a request begins with."""
    return subject.partition(":")[0]


def subject_of(target: Target) -> str:
    """Target and message in words, for errors and logs."""
    if target.action is None:
        return target.name
    return f"{target.name}, message {target.action.message_id} of {target.action.transcript_id}"


def _group(proposition: Proposition, target: Target) -> str:
    window = proposition.window
    personas = "with" if proposition.includes_personas else "without"
    place = target.action.reference if target.action else target.events[-1].reference if target.events else ""
    return f"{proposition.dimension}|{subject_of(target)}|{place}|{window.first_n}|{window.last_n}|{personas}"


def _shown(proposition: Proposition, target: Target) -> tuple[Numbered, ...]:
    """The part of the trajectory that the judge sees; the action stands behind it."""
    shown = windowed(target.trajectory, proposition.window)
    return shown if target.action is None else (*shown, Numbered(len(target.trajectory) + 1, target.action))


def _context(proposition: Proposition, target: Target, shown: tuple[Numbered, ...], supplement: Supplement) -> str:
    return prompts.context(
        trajectory_text(target, shown, len(target.events)),
        personas=target.personas if proposition.includes_personas else None,
        evidence=supplement.evidence,
        additional=supplement.additional_context,
    )


def snippet_of(event: TrajectoryEvent | None) -> str:
    """The beginning of a message, in one line; empty for none."""
    text = "" if event is None else " ".join(event.text.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}\u2026"


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
