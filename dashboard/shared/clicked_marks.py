"""Targets of the marks of pictures, and the check of what the browser says was clicked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import streamlit as st

from dashboard.shared import state
from dashboard.shared.state import LEDGER, NO_ITERATION_CHOICE
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.workflows.iterations import first_losses


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

    A game opens at its first message that loses points of the metric; where none does, at the metric's ledger. The
    games of no iteration, or of another figure, open as their list.
    """
    iteration = target.iteration or NO_ITERATION_CHOICE
    if target.metric not in DEFINITIONS:
        message = {"message": target.message_id} if target.message_id else {}
        return {"transcript": target.transcript_id, **message} if target.transcript_id else {"of_iteration": iteration}
    if target.transcript_id is None:
        return games_by_metric(iteration, target.metric)
    message_id = target.message_id or first_losing_message(store, target.transcript_id, target.metric)
    if message_id is None:
        return {"transcript": target.transcript_id, "show": LEDGER, "metric": target.metric}
    return {"transcript": target.transcript_id, "message": message_id, "metric": target.metric}


def games_by_metric(iteration: str, metric: str) -> dict[str, str]:
    """The query of the Games page that lists an iteration's games, the lowest score of the metric first."""
    # The list's choices stand in its address by their labels.
    return {"of_iteration": iteration, "order": f"Lowest {DEFINITIONS[metric].label.lower()}"}


def first_losing_message(store: Store, transcript_id: str, metric: str) -> str | None:
    """The id of the first message of a game that loses points of a metric; ``None`` when none does."""
    loss = first_losses(store, [transcript_id], metric).get(transcript_id)
    return loss.message_id if loss else None


_CHOSEN = "chosen_mark"
_Held = TypeVar("_Held")


def remember_click(key: str, targets: Sequence[MarkTargets]) -> Callable[[], None]:
    """A callback that keeps what was clicked in a picture for :func:`open_clicked_mark`.

    Args:
        key: The key of the component, whose event is called ``open``.
        targets: What the marks of each row open, in the order of the rows.
    """

    def react() -> None:
        found = read_mark(state.sent(key, "open"), targets)
        if found is not None:
            remember_target(found)

    return react


def remember_point(key: str, targets: MarkTargets, kinds: Sequence[str]) -> Callable[[], None]:
    """A callback like that of :func:`remember_click`, for a Plotly chart that reports its selected points.

    Args:
        key: The key of the chart.
        targets: What its points open.
        kinds: The kind of mark of each trace, in the order of the traces.
    """

    def react() -> None:
        held = st.session_state.get(key)
        points = held.get("selection", {}).get("points") if isinstance(held, Mapping) else None
        point = points[0] if isinstance(points, Sequence) and points else None
        if isinstance(point, Mapping):
            kind = _at(kinds, point.get("curve_number"))
            found = read_mark({"row": 0, "kind": kind, "index": point.get("point_index")}, [targets])
            if found is not None:
                remember_target(found)

    return react


def remember_target(target: MarkTarget | RunTarget) -> None:
    """Keep what :func:`open_clicked_mark` should open in the run after this callback."""
    st.session_state[_CHOSEN] = target


def open_clicked_mark(store: Store, *, on_overview: bool = False) -> None:
    """Open the page with what is behind the mark that was clicked just before this run, if one was.

    The mean of a metric opens on the Overview: the games of both sides.

    Args:
        store: Where to look for the message that loses points.
        on_overview: Whether this is that page, which keeps what it compares.
    """
    target = take_clicked_mark()
    if isinstance(target, MarkTarget):
        if target.transcript_id is not None or not target.iteration or target.metric not in DEFINITIONS:
            st.switch_page("app_pages/games/page.py", query_params=address(store, target))
        elif on_overview:
            state.choose(**{state.OPENED_METRIC: target.metric})
        else:
            place = {state.ITERATION: target.iteration, state.OPENED_METRIC: target.metric}
            st.switch_page("app_pages/overview/page.py", query_params=place)
    elif isinstance(target, RunTarget):
        query = {name: value for name, value in target.query.items() if value}
        st.switch_page("app_pages/agents/page.py", query_params=query)


def take_clicked_mark() -> MarkTarget | RunTarget | None:
    """The target of the mark that was clicked just before this run; ``None`` for no click. Told once."""
    target = st.session_state.pop(_CHOSEN, None)
    return target if isinstance(target, MarkTarget | RunTarget) else None


def read_mark(value: object, targets: Sequence[MarkTargets]) -> MarkTarget | RunTarget | None:
    """The target that a message of the browser names by row, kind and index; ``None`` for anything that is none."""
    if not isinstance(value, Mapping):
        return None
    row, kind = _at(targets, value.get("row")), value.get("kind")
    return _at(row.get(kind, ()), value.get("index")) if row is not None and isinstance(kind, str) else None


def _at(held: Sequence[_Held], place: object) -> _Held | None:
    """The item at ``place``; ``None`` where that is not an index of it."""
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(held):
        return None
    return held[place]
