"""Propositions: claims about how an agent talks, which a judge marks from 0 to 9."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from evaluation.judging.propositions.templates import variables_of

DEFAULT_AGENT = "_default"
"""The ``agent_id`` of the propositions that apply to every agent."""

HIGHEST_SCORE = 9


class Dimension(StrEnum):
    """The subject of a set of propositions. ``suitability`` is asked by the action gate only."""

    ADHERENCE = "adherence"
    CONSISTENCY = "consistency"
    FLUENCY = "fluency"
    CONVERGENCE = "convergence"
    IDEAS_QUANTITY = "ideas_quantity"
    SUITABILITY = "suitability"


class TargetType(StrEnum):
    """Whether propositions are about one agent, or about everybody in a channel."""

    AGENT = "agent"
    ENVIRONMENT = "environment"


ENVIRONMENT_DIMENSIONS = frozenset((Dimension.CONVERGENCE, Dimension.IDEAS_QUANTITY))
"""The dimensions of a whole channel; all others are about one agent."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a trajectory that a judge sees: the first and the last messages, each at most once."""

    first_n: int
    last_n: int


EVALUATION_WINDOW = Window(10, 100)
"""The specification's default for a claim about a whole trajectory."""

ACTION_WINDOW = Window(5, 10)
"""The specification's default for a claim about one action."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """One claim, as its file states it.

    Attributes:
        id: Unique within its dimension; an agent's file overrides a default by it.
        claim: With template variables such as ``{{agent_name}}``.
        weight: Importance from 0 to 1.
        is_inverted: Whether a high mark is bad: the score is then 9 less the mark.
        recommendations_for_improvement: What to tell an agent that scores low; empty for nothing.
        has_double_check: Whether the judge is asked to reconsider.
        precondition: Name of a registered function; ``None`` when the claim always applies.
        first_n: As in the file; ``None`` takes the default of its kind.
        last_n: The same for the end of the trajectory.
        source: The file and line that it stands in, for people.
    """

    id: str
    claim: str
    dimension: Dimension
    agent_id: str = DEFAULT_AGENT
    weight: float = 1.0
    is_inverted: bool = False
    includes_personas: bool = True
    target_type: TargetType = TargetType.AGENT
    first_n: int | None = None
    last_n: int | None = None
    recommendations_for_improvement: str = ""
    has_double_check: bool = False
    precondition: str | None = None
    source: str = field(default="", compare=False)

    @property
    def is_about_an_action(self) -> bool:
        """Whether the claim is asked of each message (it names ``{{action}}``) instead of a whole trajectory."""
        return "action" in variables_of(self.claim)

    @property
    def is_asked_of_messages(self) -> bool:
        """Whether any variable of the claim belongs to a single message: the action, or who was addressed."""
        return not {"action", "recipient_name"}.isdisjoint(variables_of(self.claim))

    @property
    def window(self) -> Window:
        """The judge's window: the file's numbers, else 5 and 10 for one action, 10 and 100 for a trajectory."""
        default = ACTION_WINDOW if self.is_about_an_action else EVALUATION_WINDOW
        return Window(
            default.first_n if self.first_n is None else self.first_n,
            default.last_n if self.last_n is None else self.last_n,
        )

    def score_of(self, mark: int, *, is_marked: bool = False) -> int:
        """The score that a judge's mark amounts to, 0 to 9.

        Args:
            mark: From 0 to 9.
            is_marked: Whether the mark is a 9 for missing data or a precondition that does not hold; such a 9 says
                nothing about the agent and is never turned round.
        """
        return HIGHEST_SCORE - mark if self.is_inverted and not is_marked else mark


@dataclass(frozen=True, slots=True)
class PropositionSet:
    """The propositions of one dimension for one agent, defaults first."""

    dimension: Dimension
    propositions: tuple[Proposition, ...]

    @property
    def weight(self) -> float:
        """The sum of all weights; 0 means that nothing can be scored."""
        return sum(proposition.weight for proposition in self.propositions)
