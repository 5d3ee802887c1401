"""Questions on convergence, shown as voice distinctness: whether speakers keep voices of their own."""

from __future__ import annotations

from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.protocol import OfflineInput
from evaluation.judging.questions import PropositionQuestion, Supplement
from evaluation.judging.targets import Target, windowed
from evaluation.persona.questions._wording_statistics import vocabulary_evidence
from evaluation.persona.questions.common import DimensionTask, build_questions


def convergence_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """The whole conversation, with the speakers' vocabularies as supplementary evidence. Higher is more distinct.

    Source: persona specification, ``scoreConvergence``.
    """
    return build_questions(task, task.portrayal.target, (), _supplement)


def _supplement(proposition: Proposition, target: Target) -> Supplement:
    said: dict[str, list[str]] = {}
    for each in windowed(target.trajectory, proposition.window):
        said.setdefault(each.event.speaker, []).append(each.event.text)
    groups = tuple([tuple(texts) for texts in said.values()])
    offline = OfflineInput(Dimension.CONVERGENCE, groups, proposition.is_inverted)
    return Supplement(evidence=vocabulary_evidence(said), offline=offline)
