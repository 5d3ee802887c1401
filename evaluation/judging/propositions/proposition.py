"""Propositions: claims with variables about how an agent talks, which a judge marks from 0 to 9."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from evaluation.errors import InputError
from evaluation.judging.answers import HIGHEST_SCORE

VARIABLES: Mapping[str, str] = {
    "agent_name": "the agent's display name",
    "action": "the message that is judged",
    "channel_name": "the channel that the message was sent in",
    "recipient_name": "who a direct message went to",
}
"""What a claim may name, and what stands in its place."""

_REMEDIES: Mapping[str, str] = {
    "agent_name": "A claim about a channel cannot name one agent: write the names, or 'the speakers'.",
    "action": "A claim about a whole channel cannot speak of one action: leave {{action}} out.",
    "channel_name": "Its messages stand in several channels, or in one without a name: leave {{channel_name}} out.",
    "recipient_name": "Only direct messages have a recipient: add 'precondition: is_direct_message'.",
}
_VARIABLE = re.compile(r"\{\{[ \t]{0,10}([A-Za-z_][A-Za-z0-9_]{0,60})[ \t]{0,10}\}\}")


class MissingVariableError(InputError):
    """A claim names a variable that has no value for what is judged."""


@lru_cache(maxsize=1024)
def variables_of(claim: str) -> frozenset[str]:
    """The names between double braces in a claim, known or not."""
    return frozenset(_VARIABLE.findall(claim))


def has_stray_braces(claim: str) -> bool:
    """Whether double braces are left that enclose no name."""
    rest = _VARIABLE.sub("", claim)
    return "{{" in rest or "}}" in rest


def fill(claim: str, values: Mapping[str, str], *, place: str = "") -> str:
    """The claim with its variables replaced, once: braces inside a value stay as they are.

    Args:
        claim: The claim as its file states it.
        values: By variable. Untrusted text must have been made safe for the place where the claim will stand.
        place: The proposition's id or file and line, for the error.

    Raises:
        MissingVariableError: A variable has no value.
    """
    missing = sorted(name for name in variables_of(claim) if name not in values)
    if missing:
        name = missing[0]
        remedy = _REMEDIES.get(name, f"Known are {', '.join(VARIABLES)}.")
        raise MissingVariableError(f"There is no value for {{{{{name}}}}}.", place=place, remedy=remedy)
    return _VARIABLE.sub(lambda found: values[found[1]], claim)


def fill_known(claim: str, values: Mapping[str, str]) -> str:
    """The claim with those of its variables replaced that have a value; for people, where no judge is asked."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), claim)


DEFAULT_AGENT = "_default"
"""The ``agent_id`` of the propositions that apply to every agent."""


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
