"""Questions on ideas quantity: the number of distinct ideas in a conversation."""

from __future__ import annotations

from evaluation.judging.questions import PropositionQuestion
from evaluation.persona.questions.common import DimensionTask, build_questions


def ideas_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The whole conversation; the judge lists the ideas, and their number is counted here, not by the judge.

    Source: persona specification, ``scoreIdeasQuantity``.
    """
    return build_questions(task, task.portrayal.target, ())
