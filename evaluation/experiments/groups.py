"""Group sizes, and the assignment of agents to conversations."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from enum import StrEnum

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.experiments.scenario import Scenario

FEWEST_ENVIRONMENTS = 2
"""One conversation on each side could not be told from chance."""


class GroupLayout(StrEnum):
    """Grouping of agents: as specified (each in one conversation), or as in the original runs."""

    SPECIFICATION = "specification"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Design:
    """The size of an experiment and its seating.

    Attributes:
        personas: How many different agents there are.
        rooms: For each pair of conversations the numbers of its agents, the same on both sides.
        treatment: What is corrected on the treatment's side.
    """

    personas: int
    rooms: tuple[tuple[int, ...], ...]
    treatment: CorrectionConfig

    @property
    def agent_sessions(self) -> int:
        """Number of times that an agent takes part in a conversation, over all agents of one side."""
        return sum(len(room) for room in self.rooms)


def design_of(
    scenario: Scenario,
    scale: float,
    seed: int,
    layout: GroupLayout = GroupLayout.SPECIFICATION,
    *,
    imported: int | None = None,
) -> Design:
    """The design of a scenario at a scale, rounded up, with two conversations on each side at least.

    Args:
        scenario: Gives the full size.
        scale: Above 0, up to 1.
        seed: Draws who meets whom when personas meet more than once.
        layout: With ``PAPER`` the scenario's few personas meet in several sessions.
        imported: How many personas there are already; they meet again and again like those of the paper.

    Raises:
        InputError: The scale is out of range, the scenario has no layout of the paper, or there are too few personas.
    """
    if not 0 < scale <= 1:
        raise InputError(f"A scale of {scale:g} makes no sense.", place="scale", remedy="Give a number from 0.01 to 1.")
    if layout is GroupLayout.PAPER and scenario.paper is None:
        raise InputError(f"{scenario.id} is not an experiment of the paper.", remedy="Leave --paper-layout out.")
    # A scale of 0.1 of 30 is 3.0000000000000004.
    environments = max(FEWEST_ENVIRONMENTS, math.ceil(round(scenario.environments * scale, 9)))
    full = environments * scenario.per_room
    paper = scenario.paper if layout is GroupLayout.PAPER else None
    personas = min(full, paper.personas if paper else full) if imported is None else imported
    if personas < scenario.per_room:
        raise InputError(
            f"{personas} personas cannot fill a conversation of {scenario.per_room}.",
            remedy="Name a folder with more agents.",
        )
    return Design(
        personas,
        seated(personas, environments, scenario.per_room, seed),
        paper.treatment if paper else scenario.treatment,
    )


def seated(personas: int, environments: int, per_room: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Which personas sit in which room: session by session, everybody at most once in a session.

    With as many personas as seats there is one session, in the order of the population. Otherwise every session is
    drawn again; whoever finds no full room in a session sits it out.
    """
    if personas == environments * per_room:
        return tuple(tuple(range(start, start + per_room)) for start in range(0, personas, per_room))
    rooms: list[tuple[int, ...]] = []
    session = 0
    while len(rooms) < environments:
        people = list(range(personas))
        random.Random(f"{seed}:seats:{session}").shuffle(people)
        rooms += [
            tuple(sorted(people[start : start + per_room])) for start in range(0, personas - per_room + 1, per_room)
        ]
        session += 1
    return tuple(rooms[:environments])
