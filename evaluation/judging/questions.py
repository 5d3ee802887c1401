"""Questions to a judge, built from a proposition and a target, and the weighted scores of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluation.judging import prompts
from evaluation.judging.answers import CheckAnswer, IdeasAnswer, ScoreAnswer
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
from evaluation.judging.protocol import JudgementStatus, JudgeRequest, OfflineInput, Prompt

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


def check_request(proposition: Proposition, target: Target, *, purpose: str) -> JudgeRequest:
    """The yes/no question whether a claim holds, in the window of ``proposition`` and with its choice of personas.

    Args:
        proposition: The claim, with template variables.
        target: Who it is about.
        purpose: As calls are logged.

    Raises:
        MissingVariableError: A variable has no value for this target.
    """
    claim = fill(proposition.claim, variables_for(target), place=proposition.id)
    request = _request(proposition, target, claim, Supplement(), Options())
    # Also of a proposition about ideas, which are counted elsewhere, the claim is asked.
    asked = prompts.question(fill(proposition.claim, _prompt_variables(target), place=proposition.id))
    prompt = replace(request.prompt, system=prompts.CHECK_SYSTEM, question=asked)
    return replace(request, purpose=purpose, prompt=prompt, answer=CheckAnswer)


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


_PUBLIC, _PRIVATE = "public", "private"
"""Names of channels in transcripts that name none."""


def _common_variables(target: Target) -> dict[str, str]:
    values: dict[str, str] = {}
    if target.kind is TargetType.AGENT:
        values["agent_name"] = target.name
    events = target.events if target.action is None else (target.action,)
    channels = {event.channel_name or (_PRIVATE if event.is_private else _PUBLIC) for event in events}
    if len(channels) == 1:
        values["channel_name"] = channels.pop()
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
