"""Repetition suppression: tell an agent before it speaks which of its phrases to avoid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.text.display import shortened
from evaluation.text.tokens import tokenize

RECENT_MESSAGES = 5
PHRASE_WORDS = 3
_LISTED_PHRASES = 10
_QUOTED_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Repetition:
    """The extent to which an agent repeats itself.

    Attributes:
        overlap: The share of three-word phrases in the recent messages that had been used before in them, 0 to 1.
        phrases: The repeated phrases, the most frequent first, ties in order of first use.
        messages: The recent messages, oldest first.
    """

    overlap: float
    phrases: tuple[str, ...]
    messages: tuple[str, ...]


def repetition_of(messages: Sequence[str]) -> Repetition:
    """Looks at the last five of an agent's own messages.

    The overlap is (phrases - different phrases) / phrases, as in the rubric's anti-repetition, and 0 without a phrase.
    """
    recent = tuple(messages[-RECENT_MESSAGES:])
    counts: Counter[str] = Counter()
    for message in recent:
        words = [token.text for token in tokenize(message)]
        counts.update(" ".join(words[at : at + PHRASE_WORDS]) for at in range(len(words) - PHRASE_WORDS + 1))
    total = counts.total()
    repeated = tuple(phrase for phrase, count in counts.most_common() if count > 1)
    return Repetition((total - len(counts)) / total if total else 0.0, repeated, recent)


def suppression_prompt(messages: Sequence[str], threshold: float) -> str | None:
    """An addition to an agent's prompt, or ``None`` while the overlap is not above ``threshold`` (0 to 1).

    Source: persona evaluation specification, "Repetition Suppression".
    """
    found = repetition_of(messages)
    if found.overlap <= threshold:
        return None
    phrases = "\n".join(f'- "{phrase}"' for phrase in found.phrases[:_LISTED_PHRASES])
    said = "\n".join(f"- {shortened(message, _QUOTED_CHARACTERS)}" for message in found.messages)
    return (
        f"You repeat yourself: {found.overlap:.0%} of the phrases in your last messages had been used before.\n"
        f"Your last messages:\n{said}\n"
        f"Do not use these phrases again; say something that has not been said yet, in other words:\n{phrases}"
    )
