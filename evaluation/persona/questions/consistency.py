"""Questions on consistency: whether an agent's earlier and later messages fit one character."""

from __future__ import annotations

from dataclasses import replace

from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.protocol import OfflineInput
from evaluation.judging.questions import PropositionQuestion, Supplement, ask
from evaluation.judging.targets import Target, windowed
from evaluation.persona.questions.common import DimensionTask, unscorable

_NOTHING_EARLIER = "{name} said nothing before the messages that are judged, so there is nothing to compare them with."


def consistency_questions(task: DimensionTask) -> list[PropositionQuestion]:
    """Each sampled message paired with a window of the agent's earlier ones; what others said is left out.

    Every proposition is asked of every pair, whether or not it names ``{{action}}``. An agent's first message makes no
    pair: a trivial 9 for it would only flatter the score.

    Source: persona specification, ``scoreConsistency`` ("current and historical message pairs").
    """
    target = task.portrayal.target
    pairs = [pair for position in task.sampled if (pair := _pair(target, position)).trajectory]
    if task.sampled and not pairs:
        return [unscorable(each, target, _NOTHING_EARLIER) for each in task.propositions]
    return [
        ask(proposition, pair, _supplement(proposition, pair), task.options)
        for proposition in task.propositions
        for pair in pairs
    ]


def _pair(target: Target, position: int) -> Target:
    moment = target.at(position)
    return replace(moment, trajectory=tuple([event for event in moment.trajectory if event.is_action]))


def _supplement(proposition: Proposition, pair: Target) -> Supplement:
    # What a model would see, so that both judge the same, and the time does not grow with the agent's whole history.
    earlier = tuple([each.event.text for each in windowed(pair.trajectory, proposition.window)])
    later = (pair.action.text,) if pair.action else ()
    offline = OfflineInput(Dimension.CONSISTENCY, (earlier, later), proposition.is_inverted)
    return Supplement(offline=offline)
