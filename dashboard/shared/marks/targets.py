"""MarkTargets of marks: the messages or games that a mark opens, as addresses of the Games page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dashboard.shared.state import LEDGER, NO_ITERATION_CHOICE
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store


@dataclass(frozen=True, slots=True)
class MarkTarget:
    """Messages or games behind a mark.

    Attributes:
        metric: The metric whose rows are meant; for another figure, such as a cost, the game is meant as a whole.
        transcript_id: The game; ``None`` for all games of an iteration.
        message_id: The message; ``None`` for the first one that loses points of the metric.
        iteration: The iteration's name, where its games are meant; empty for the games of none.
    """

    metric: str
    transcript_id: str | None = None
    message_id: str | None = None
    iteration: str | None = None


@dataclass(frozen=True, slots=True)
class RunTarget:
    """The judgements of an agent's run behind a mark, on the Agents page.

    Attributes:
        claim: The id of the claim whose judgements are meant; ``None`` for the dimension's worst.
    """

    agent_id: str
    run_id: str
    dimension: str
    claim: str | None = None

    @property
    def query(self) -> dict[str, str | None]:
        """The query of the Agents page that shows the target."""
        return {"agent": self.agent_id, "run": self.run_id, "judged": self.dimension, "claim": self.claim}


MarkTargets: TypeAlias = Mapping[str, Sequence[MarkTarget | RunTarget]]
"""The targets of one row, by kind of mark, in the order in which the marks are drawn."""


def address(store: Store, target: MarkTarget) -> dict[str, str]:
    """The query of the Games page that shows the target.

    A game opens at its first message that loses points of the metric; where none does, at the metric's ledger. An
    iteration opens as the list of its games, the lowest score of the metric first.
    """
    iteration = target.iteration or NO_ITERATION_CHOICE
    if target.metric not in DEFINITIONS:
        message = {"message": target.message_id} if target.message_id else {}
        return {"transcript": target.transcript_id, **message} if target.transcript_id else {"of_iteration": iteration}
    if target.transcript_id is None:
        # The list's choices stand in its address by their labels.
        lowest_first = f"Lowest {DEFINITIONS[target.metric].label.lower()}"
        return {"of_iteration": iteration, "order": lowest_first}
    message_id = target.message_id or first_losing_message(store, target.transcript_id, target.metric)
    if message_id is None:
        return {"transcript": target.transcript_id, "show": LEDGER, "rows_of": DEFINITIONS[target.metric].label}
    return {"transcript": target.transcript_id, "message": message_id, "metric": target.metric}


def first_losing_message(store: Store, transcript_id: str, metric: str) -> str | None:
    """The id of the first message of a game that loses points of a metric; ``None`` when none does."""
    result = store.results.load(transcript_id).get(metric)
    rows = result.ledger if result is not None else ()
    return next((row.message_id for row in rows if row.message_id and row.numerator < row.denominator), None)
