"""Build the questions of the five dimensions: propositions, each with the messages to judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.judging.propositions.proposition import Proposition, fill_known
from evaluation.judging.protocol import JudgementStatus
from evaluation.judging.questions import Options, PropositionQuestion, Supplement, ask, variables_for
from evaluation.judging.targets import Target
from evaluation.persona.subjects import Portrayal

Supply = Callable[[Proposition, Target], Supplement]
"""What a judge gets besides the trajectory, for a proposition and the target that it is put to."""


@dataclass(frozen=True, slots=True)
class DimensionTask:
    """The task of one scorer.

    Attributes:
        sampled: Positions in the trajectory of the agent's messages that are judged one by one.
        propositions: Those that apply, of the scorer's dimension.
    """

    portrayal: Portrayal
    sampled: tuple[int, ...]
    propositions: tuple[Proposition, ...]
    options: Options


Scorer = Callable[[DimensionTask], list[PropositionQuestion]]
"""A dimension's scorer: the questions that its score is the weighted mean of."""


def build_questions(
    task: DimensionTask, whole: Target, messages: Sequence[Target], supply: Supply | None = None
) -> list[PropositionQuestion]:
    """Every proposition once per sampled message if it is about a message, else once about the whole."""
    return [
        ask(proposition, target, supply(proposition, target) if supply else None, task.options)
        for proposition in task.propositions
        for target in (messages if proposition.is_asked_of_messages else (whole,))
    ]


def unscorable(proposition: Proposition, target: Target, reason: str) -> PropositionQuestion:
    """A proposition that cannot be asked of a target; no error; ``{name}`` in the reason is the target's."""
    claim = fill_known(proposition.claim, variables_for(target))
    fault = reason.format(name=target.name)
    return PropositionQuestion(proposition, target, claim, fault=fault, fault_status=JudgementStatus.NOT_SCORED)
