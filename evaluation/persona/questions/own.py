"""Questions of a plug-in's dimension: its propositions for a judge, or the mark of its function."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.judging.propositions.own_dimensions import OwnDimension
from evaluation.judging.propositions.proposition import TargetType
from evaluation.judging.propositions.templates import fill_known
from evaluation.judging.questions import PropositionQuestion, variables_for
from evaluation.persona.questions.common import DimensionTask, build_questions, unscorable

_CANNOT_TELL = "The function of the dimension {dimension} ({plugin}) cannot tell of {{name}}."


def own_questions(own: OwnDimension, task: DimensionTask) -> list[PropositionQuestion]:
    """The questions that a plug-in's dimension is scored by.

    Claims that name ``{{action}}`` are asked of every sampled message, all others once of the whole trajectory or
    channel. A function is called once for it, and nobody is asked.
    """
    target = task.portrayal.target
    if own.function is not None:
        return list(_computed(own, task))
    is_agent = own.target_type is TargetType.AGENT
    messages = [target.at(position) for position in task.sampled] if is_agent else ()
    return build_questions(task, target, messages)


def _computed(own: OwnDimension, task: DimensionTask) -> Iterator[PropositionQuestion]:
    target = task.portrayal.target
    for proposition in task.propositions.propositions:
        if (found := own.mark_of(target)) is None:
            reason = _CANNOT_TELL.format(dimension=own.dimension, plugin=own.plugin)
            yield unscorable(proposition, target, reason)
        else:
            claim = fill_known(proposition.claim, variables_for(target))
            yield PropositionQuestion(proposition, target, claim, computed=found)
