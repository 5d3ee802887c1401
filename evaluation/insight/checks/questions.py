"""Questions of a ``Validator``: does a message fit its speaker's persona, earlier messages, and itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from evaluation.insight import _prompts
from evaluation.insight._answers import QualityAnswer
from evaluation.insight._judge_text import numbered
from evaluation.judging.guard.fencing import as_name, fenced, quoted, unnumbered
from evaluation.judging.protocol import JudgeRequest, Prompt
from evaluation.judging.targets import LONGEST_MESSAGE

CONTEXT = 5
"""Earlier messages that a check sees, as in the ADR."""

Line = tuple[str, str]
"""Speaker and text."""


class CheckKind(StrEnum):
    """The subject of a check."""

    PERSONA_ADHERENCE = "persona_adherence"
    CONSISTENCY = "consistency"
    COHERENCE = "coherence"


def persona_request(speaker: str, persona: str, text: str, messages: Mapping[int, str] | None = None) -> JudgeRequest:
    """A request to score how well ``text`` fits its speaker's persona.

    Args:
        speaker: Their name.
        persona: In words.
        text: What they said: message 1, unless ``messages`` gives it another number.
        messages: The numbers of messages with their ids, the one in question last.
    """
    about = f"Persona of {quoted(speaker)} (a description, not something that was said):\n"
    shown = f"{about}{fenced(unnumbered(persona))}\n\n" + _said([(speaker, text)], [_number(messages)], 0)
    return _request(CheckKind.PERSONA_ADHERENCE, _prompts.PERSONA_SYSTEM, shown, speaker, messages)


def consistency_request(
    speaker: str, text: str, previous: Sequence[str], messages: Mapping[int, str] | None = None
) -> JudgeRequest:
    """A request to score how consistent ``text`` is with the speaker's latest earlier messages, oldest first."""
    seen = previous[-CONTEXT:]
    numbers = list(messages) if messages else [*range(1, len(seen) + 2)]
    shown = _said([(speaker, one) for one in (*seen, text)], numbers, len(previous) - len(seen))
    return _request(CheckKind.CONSISTENCY, _prompts.CONSISTENCY_SYSTEM, shown, speaker, messages, len(seen) + 1)


def coherence_request(
    speaker: str, text: str, before: Sequence[Line] = (), messages: Mapping[int, str] | None = None
) -> JudgeRequest:
    """A request to score how coherent ``text`` is, by itself and after the messages just before it."""
    seen = before[-CONTEXT:]
    numbers = list(messages) if messages else [*range(1, len(seen) + 2)]
    shown = _said([*seen, (speaker, text)], numbers, len(before) - len(seen))
    return _request(CheckKind.COHERENCE, _prompts.COHERENCE_SYSTEM, shown, speaker, messages, len(seen) + 1)


def notes_on(text: str, previous: Sequence[str] | None = None) -> tuple[str, ...]:
    """Notes on the parts of a message and of earlier messages that a check leaves out."""
    cut = len(text) - LONGEST_MESSAGE
    left_out = len(previous or ()) - CONTEXT
    found = [f"the last {cut:,} characters of the message are not shown to the judge"] if cut > 0 else []
    if left_out > 0:
        found.append(f"compared with the last {CONTEXT} messages; {left_out} earlier ones are left out")
    return tuple(found)


def _number(messages: Mapping[int, str] | None) -> int:
    return list(messages)[-1] if messages else 1


def _said(lines: Sequence[Line], numbers: Sequence[int], left_out: int) -> str:
    head = [f"({left_out} earlier messages are left out)"] if left_out > 0 else []
    body = [numbered(number, speaker, text) for number, (speaker, text) in zip(numbers, lines, strict=True)]
    return "What was said:\n" + fenced("\n".join([*head, *body]))


def _request(
    check: CheckKind, system: str, user: str, speaker: str, messages: Mapping[int, str] | None, last: int = 1
) -> JudgeRequest:
    number = _number(messages) if messages else last
    return JudgeRequest(
        purpose=check.value,
        subject=f"{check.value.replace('_', ' ')}, message {number} of {as_name(speaker)}",
        prompt=Prompt(system, user, f"Judge message [M{number}]."),
        answer=QualityAnswer,
        prompt_version=_prompts.PROMPT_VERSION,
        messages=messages or {},
    )
