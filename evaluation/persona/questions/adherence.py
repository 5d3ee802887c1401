"""Questions on adherence: whether an agent behaves as its persona says."""

from __future__ import annotations

from evaluation.judging.questions import PropositionQuestion
from evaluation.persona.questions.common import DimensionTask, build_questions, unscorable

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
