"""Ideas quantity: how many distinct ideas emerge in a conversation?"""

from __future__ import annotations

from evaluation.judging.asking import Asked
from evaluation.persona.questions import Task, put


def ideas_questions(task: Task) -> list[Asked]:
    """The whole conversation; the judge lists the ideas, and their number is counted here, not by the judge.

    Source: persona specification, ``scoreIdeasQuantity``.
    """
    return put(task, task.portrayal.target, ())
