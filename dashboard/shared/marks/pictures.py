"""Pictures as inline components, and the check of what the browser says was clicked in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared import state
from dashboard.shared.component_script import component_script
from dashboard.shared.marks.targets import MarkTarget, MarkTargets, RunTarget, address
from evaluation.store import Store

_FOLDER = Path(__file__).parent
_CHOSEN = "chosen_mark"
_Held = TypeVar("_Held")


def define_picture(name: str, folder: Path, stem: str) -> Callable[..., Any]:
    """Define a component from ``<stem>.js`` and ``<stem>.css`` in ``folder``, with the parts that pictures share.

    Args:
        name: The component's name; each is defined once.
        folder: Where the two files lie.
        stem: Their name without the ending.
    """

    css = "\n".join(path.read_text("utf-8") for path in (_FOLDER / "marks.css", folder / f"{stem}.css"))
    js = component_script(_FOLDER / "marks.js", folder / f"{stem}.js")
    return st.components.v2.component(name, css=css, js=js)


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


def open_clicked_mark(store: Store) -> None:
    """Open the page with what is behind the mark that was clicked just before this run, if one was."""
    target = take_clicked_mark()
    if isinstance(target, MarkTarget):
        st.switch_page("app_pages/games/page.py", query_params=address(store, target))
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
