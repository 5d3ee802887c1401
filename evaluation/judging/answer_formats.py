"""Instructions to a judge on the format of its answer, on confidence, and on repairing a bad answer."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.judging.answers import Answer

FORMAT_VERSION = "format-2"
"""Part of every cache key: change it with any wording below."""

ANSWER = """Answer with one JSON object and nothing else:
{shape}"""

BATCH = """Answer every item on its own, with one JSON object and nothing else:
{{"answers": [{shape}, ...]}}"""

RECHECK = """Are you sure? Look at the evidence once more, be strict with your own first answer, and give your final
answer, the same or another, in the same form."""

CORRECTION = """Your answer could not be used: {problem}. Answer again, in the form that was asked for and with nothing
around it."""


def answer_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks one question."""
    return ANSWER.format(shape=_shape(answer))


def batch_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks several questions."""
    return BATCH.format(shape=_shape(answer, '"item": its number, '))


def batch_questions(questions: Sequence[str]) -> str:
    """The questions of a batch, numbered from ``[P1]``."""
    return "\n\n".join(f"[P{number}] {question}" for number, question in enumerate(questions, start=1))


def _shape(answer: type[Answer], before: str = "") -> str:
    fields = ", ".join(f'"{name}": {field.description or "..."}' for name, field in answer.model_fields.items())
    return f"{{{before}{fields}}}"
