"""What an agent is told when its message did not pass the gate."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.corrections.attempts import Attempt, Check

_WHAT_IT_MEANS = {
    "adherence": "The message must fit the persona.",
    "consistency": "The message must fit what the agent said before.",
    "fluency": "The message must not fall back on formulas or repeat itself.",
    "suitability": "The message must suit the situation and move it on.",
}
ESCALATION = "With every attempt that fails, change the message more radically; a wholly new message is welcome."


def feedback_on(attempts: Sequence[Attempt], max_similarity: float) -> str:
    """What to say about the last of ``attempts``: every failed check with score, reason and advice, then escalation.

    Source: persona evaluation specification, "Action Correction Gate" (escalating feedback, recommendations).
    """
    last = attempts[-1]
    problems = [_dimension_problem(check) for check in last.checks if not check.is_passed]
    if last.is_similar and last.similarity is not None:
        problems.append(
            f"Similarity: {last.similarity:.0%} of the words are those of one of your last messages; "
            f"at most {max_similarity:.0%} are allowed. Say something else."
        )
    numbered = "\n".join(f"{number}. {problem}" for number, problem in enumerate(problems, start=1))
    return (
        f"This message was not sent and nobody has read it (attempt {len(attempts)}):\n{_indented(last.text)}\n"
        f"What was wrong with it:\n{numbered}\n{ESCALATION}"
    )


def _dimension_problem(check: Check) -> str:
    meaning = _WHAT_IT_MEANS.get(check.dimension, "")
    advice = "".join(f"\n   - {line}" for line in check.found.recommendations)
    return (
        f"{check.dimension.capitalize()}: scored {check.found.score:g} of 9, needed {check.threshold:g}. {meaning} "
        f"Reason: {check.found.reasoning}{advice}"
    )


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines()) or "   (empty)"
