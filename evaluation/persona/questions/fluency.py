"""Questions on fluency: whether an agent avoids repetitive and formulaic language."""

from __future__ import annotations

from dataclasses import replace

from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.protocol import OfflineInput
from evaluation.judging.questions import PropositionQuestion, Supplement
from evaluation.judging.targets import Target, windowed
from evaluation.persona.questions._wording_statistics import repetition_evidence
from evaluation.persona.questions.common import DimensionTask, build_questions


def fluency_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The agent's own messages, with what recurs in them as supplementary evidence.

    Source: persona specification, ``scoreFluency``.
    """
    whole = task.portrayal.target
    own = replace(whole, trajectory=tuple([event for event in whole.trajectory if event.is_action]))
    places = {position: number for number, position in enumerate(task.portrayal.positions)}
    return build_questions(task, own, [own.at(places[position]) for position in task.sampled], _supplement)


def _supplement(proposition: Proposition, target: Target) -> Supplement:
    texts = tuple([each.event.text for each in windowed(target.events, proposition.window)])
    # One message among others is not a repetition yet: only claims about the whole have an algorithmic stand-in.
    offline = None if target.action else OfflineInput(Dimension.FLUENCY, (texts,), proposition.is_inverted)
    return Supplement(evidence=repetition_evidence(texts), offline=offline)
