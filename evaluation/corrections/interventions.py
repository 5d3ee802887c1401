"""Interventions: preconditions and effects, asked once a step before agents act, and the two built-in ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol, Self

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.repetition import RECENT_MESSAGES, convergence_similarity
from evaluation.files.bundled import parse_yaml
from evaluation.judging.proposition_scores import settle
from evaluation.judging.propositions import (
    EVALUATION_WINDOW,
    Dimension,
    Proposition,
    Target,
    TargetType,
    TrajectoryEvent,
)
from evaluation.judging.protocol import Judge
from evaluation.judging.questions import Options, ask, check_request


class Steered(Protocol):
    """An agent of a running simulation."""

    @property
    def agent_id(self) -> str:
        """The id by which its nudges are chosen."""
        ...

    @property
    def target(self) -> Target:
        """The agent as a judge looks at it: everything it said and heard, and its persona."""
        ...

    def nudge(self, thought: str) -> None:
        """Puts a thought into the agent's next prompt, and only there: it enters no memory."""
        ...


def joint_target(targets: Sequence[Steered]) -> Target:
    """The target of questions about ``targets``: the one agent, or all of them as one channel.

    Every message counts once, although each listener lived through it. They stand in the order in which whoever heard
    most heard them; what was said out of that agent's hearing follows.
    """
    if len(targets) == 1:
        return targets[0].target
    views = sorted((each.target for each in targets), key=lambda view: -len(view.trajectory))
    events: dict[str, TrajectoryEvent] = {}
    for view in views:
        for event in view.trajectory:
            events.setdefault(event.reference, replace(event, is_action=True))
    channels = {event.channel_name for event in events.values() if event.channel_name}
    name = channels.pop() if len(channels) == 1 else "the conversation"
    personas = {speaker: text for view in views for speaker, text in view.personas.items()}
    return Target(TargetType.ENVIRONMENT, name, tuple(events.values()), personas)


Targets = Sequence[Steered]
FunctionalPrecondition = Callable[[Targets], bool]
Effect = Callable[[Targets], None]


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of an intervention in one step.

    Attributes:
        name: The intervention.
        is_applied: Whether all preconditions held and the effect took place.
        reasons: Why each precondition that was looked at held or not, in that order. A judge's words are untrusted.
    """

    name: str
    is_applied: bool
    reasons: tuple[str, ...]


class Intervention:
    """Steers agents when its preconditions hold; one that was not set holds.

    Args:
        targets: Who is looked at and steered.
        first_n: How many of the first messages a judge sees.
        last_n: How many of the last.
        name: For people.
    """

    def __init__(
        self,
        targets: Steered | Targets,
        *,
        first_n: int = EVALUATION_WINDOW.first_n,
        last_n: int = EVALUATION_WINDOW.last_n,
        name: str = "intervention",
    ) -> None:
        self.targets: Targets = tuple(targets) if isinstance(targets, Sequence) else (targets,)
        self.name = name
        self._window = (first_n, last_n)
        self._text = ""
        self._function: FunctionalPrecondition | None = None
        self._proposition: Proposition | None = None
        self._threshold: float | None = None
        self._effect: Effect | None = None

    def set_textual_precondition(self, text: str) -> Self:
        """A claim in plain words that a judge must say holds of the conversation."""
        self._text = text
        return self

    def set_functional_precondition(self, function: FunctionalPrecondition) -> Self:
        """A function of the targets that must be true; it is asked before any judge."""
        self._function = function
        return self

    def set_propositional_precondition(self, proposition: Proposition, threshold: float | None = None) -> Self:
        """A proposition that must score below ``threshold`` (0 to 9); without one, a judge must say that it holds.

        With a threshold a high score means that all is well already, so that nothing needs to be done.
        """
        self._proposition, self._threshold = proposition, threshold
        return self

    def set_effect(self, effect: Effect) -> Self:
        """Sets the effect on the targets."""
        self._effect = effect
        return self

    async def execute(self, judge: Judge) -> Execution:
        """Looks at the preconditions, and applies the effect when all hold."""
        reasons: list[str] = []
        holds = self._check_function(reasons)
        holds = holds and await self._check_proposition(judge, reasons)
        holds = holds and await self._check_text(judge, reasons)
        if holds and self._effect is not None:
            self._effect(self.targets)
        return Execution(self.name, holds and self._effect is not None, tuple(reasons))

    def _check_function(self, reasons: list[str]) -> bool:
        if self._function is None:
            return True
        holds = self._function(self.targets)
        reasons.append(f"the function says {'yes' if holds else 'no'}")
        return holds

    async def _check_text(self, judge: Judge, reasons: list[str]) -> bool:
        if not self._text:
            return True
        first_n, last_n = self._window
        proposition = Proposition(
            self.name, self._text, Dimension.CONVERGENCE, includes_personas=False, first_n=first_n, last_n=last_n
        )
        return await self._holds(judge, proposition, reasons)

    async def _check_proposition(self, judge: Judge, reasons: list[str]) -> bool:
        if self._proposition is None:
            return True
        if self._threshold is None:
            return await self._holds(judge, self._proposition, reasons)
        asked = ask(self._proposition, joint_target(self.targets), options=Options())
        judgement = (await judge.judge([asked.request]))[0] if asked.request else None
        found = settle(asked, judgement)
        if found.score is None:
            reasons.append(f"no score: {found.detail}")
            return False
        reasons.append(f"scored {found.score:g} of 9, acts below {self._threshold:g}: {found.reason}")
        return found.score < self._threshold

    async def _holds(self, judge: Judge, proposition: Proposition, reasons: list[str]) -> bool:
        request = check_request(proposition, joint_target(self.targets), purpose="intervention")
        (judgement,) = await judge.judge([request])
        if judgement.holds is None:
            reasons.append(f"no answer: {judgement.detail}")
            return False
        reasons.append(f"the judge says {'yes' if judgement.holds else 'no'}: {judgement.reason}")
        return judgement.holds


class InterventionBatch:
    """The same intervention for each of several agents, by itself."""

    def __init__(self, interventions: Iterable[Intervention]) -> None:
        self._interventions = tuple(interventions)

    @classmethod
    def create_for_each(
        cls,
        targets: Targets,
        *,
        first_n: int = EVALUATION_WINDOW.first_n,
        last_n: int = EVALUATION_WINDOW.last_n,
        name: str = "intervention",
    ) -> Self:
        """One intervention per target; the arguments are those of ``Intervention``."""
        return cls(Intervention(each, first_n=first_n, last_n=last_n, name=name) for each in targets)

    def __iter__(self) -> Iterator[Intervention]:
        return iter(self._interventions)

    def set_textual_precondition(self, text: str) -> Self:
        """Set the precondition of every intervention; see ``Intervention``."""
        for each in self._interventions:
            each.set_textual_precondition(text)
        return self

    def set_functional_precondition(self, function: FunctionalPrecondition) -> Self:
        """Set the precondition of every intervention; see ``Intervention``."""
        for each in self._interventions:
            each.set_functional_precondition(function)
        return self

    def set_propositional_precondition(self, proposition: Proposition, threshold: float | None = None) -> Self:
        """Set the precondition of every intervention; see ``Intervention``."""
        for each in self._interventions:
            each.set_propositional_precondition(proposition, threshold)
        return self

    def set_effect(self, effect: Effect) -> Self:
        """Set the effect of every intervention; see ``Intervention``."""
        for each in self._interventions:
            each.set_effect(effect)
        return self


async def run_interventions(interventions: Iterable[Intervention], judge: Judge) -> list[Execution]:
    """Executes each intervention once, in order, never two at a time: at the beginning of a step, before agents act."""
    return [await intervention.execute(judge) for intervention in interventions]


_DEFAULT = "_default"
_NUDGES = Path(__file__).with_name("nudges.yaml")
ANTI_CONVERGENCE = "anti-convergence"
VARIETY = "variety"
AGREEMENT_CLAIM = (
    "In the last messages the speakers mostly agree with each other and talk alike: the same opinions, in much the "
    "same tone and words."
)
STAGNATION_CLAIM = "In the last messages nobody has put forward an idea that had not been mentioned before."
LAST_MESSAGES = 10


@cache
def nudges() -> Mapping[str, Mapping[str, str]]:
    """By agent id: what it is told to sound ``different`` and to bring in something ``new``."""
    found: Mapping[str, Mapping[str, str]] = parse_yaml(_NUDGES.read_text(encoding="utf-8"))
    return found


def nudge_for(agent_id: str, kind: str) -> str:
    """The nudge for an agent: its own, else the one for everybody."""
    return nudges().get(agent_id, nudges()[_DEFAULT])[kind]


def anti_convergence(targets: Targets, config: CorrectionConfig) -> Intervention:
    """Reminds every agent of its own voice when the conversation grows uniform.

    A judge is asked only when the last five messages are so alike that ``convergence_similarity`` reaches
    ``convergence_threshold``.

    Args:
        targets: The agents of one conversation.
        config: Gives the threshold.
    """

    def is_uniform(agents: Targets) -> bool:
        recent = joint_target(agents).trajectory[-RECENT_MESSAGES:]
        similarity = convergence_similarity([(event.speaker, event.text) for event in recent])
        return similarity is not None and similarity >= config.convergence_threshold

    return (
        Intervention(targets, first_n=0, last_n=LAST_MESSAGES, name=ANTI_CONVERGENCE)
        .set_functional_precondition(is_uniform)
        .set_textual_precondition(AGREEMENT_CLAIM)
        .set_effect(_nudging("different"))
    )


def variety(targets: Targets, config: CorrectionConfig) -> InterventionBatch:
    """Asks each agent for something new once it has acted often enough and a judge sees no new idea.

    Args:
        targets: The agents; each is looked at by itself.
        config: Gives ``variety_message_threshold``, how often an agent must have acted.
    """

    def has_said_enough(agents: Targets) -> bool:
        actions = [sum(event.is_action for event in agent.target.trajectory) for agent in agents]
        return min(actions) >= config.variety_message_threshold

    return (
        InterventionBatch.create_for_each(targets, first_n=0, last_n=LAST_MESSAGES, name=VARIETY)
        .set_functional_precondition(has_said_enough)
        .set_textual_precondition(STAGNATION_CLAIM)
        .set_effect(_nudging("new"))
    )


def configured(targets: Targets, configs: Mapping[str, CorrectionConfig]) -> list[Intervention]:
    """The built-in interventions that the agents' configurations turn on, in the order in which they run.

    Each agent keeps its own thresholds. Voices are compared among the agents that have anti-convergence turned on.

    Args:
        targets: The agents of one conversation.
        configs: By agent id; an agent without one has everything off.
    """
    made: list[Intervention] = []
    by_threshold: dict[float, list[Steered]] = {}
    for agent in targets:
        config = configs.get(agent.agent_id, CorrectionConfig())
        if config.anti_convergence_enabled:
            by_threshold.setdefault(config.convergence_threshold, []).append(agent)
        if config.variety_intervention_enabled:
            made += variety([agent], config)
    shared = [
        anti_convergence(agents, CorrectionConfig(convergence_threshold=threshold))
        for threshold, agents in by_threshold.items()
    ]
    return [*shared, *made]


def _nudging(kind: str) -> Effect:
    def nudge(agents: Targets) -> None:
        for agent in agents:
            agent.nudge(nudge_for(agent.agent_id, kind))

    return nudge
