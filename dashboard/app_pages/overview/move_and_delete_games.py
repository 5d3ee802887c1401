"""Moving and deleting several games at once."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.shared import resources
from dashboard.shared.changes import data
from dashboard.shared.changes.actions import attempt, delete
from dashboard.shared.status_table import status_table
from evaluation.iterations.board import Board
from evaluation.store import Store
from evaluation.text.display import counted

_THESE, _LOOSE, _ALL = "This iteration", "No iteration", "All"


def manage_games(store: Store, board: Board, shown: str | None) -> None:
    """An expander with a table in which several games can be chosen, and what can be done with them.

    Args:
        store: Where they are.
        board: The iterations that games can be moved into.
        shown: The iteration that the page shows; ``None`` for none.
    """
    with st.expander("Move or delete games", icon=":material/checklist:", key="manage_games"):
        games = resources.share(data.stored_games)
        places = [_THESE, _LOOSE, _ALL] if shown is not None else [_LOOSE, _ALL]
        place = st.segmented_control("Games of", places, default=places[0], required=True, key="games_of")
        listed = _listed(games, place, shown)
        if listed.empty:
            st.caption("No games here.")
            return
        chosen = _chosen(listed)
        names = [one.iteration.name for one in board.iterations]
        with st.container(horizontal=True, vertical_alignment="bottom"):
            target = st.selectbox(
                "Move into", [None, *names], key="move_into", format_func=lambda name: name or "no iteration"
            )
            count = counted(len(chosen), "game")
            st.button(
                f"Move {count}",
                key="move_games",
                icon=":material/drive_file_move:",
                disabled=not chosen,
                on_click=_move,
                args=(store, chosen, target),
            )
            st.button(
                f"Delete {count}",
                key="delete_games",
                icon=":material/delete:",
                disabled=not chosen,
                on_click=_delete,
                args=(store, chosen),
            )
        st.caption("Choose rows in the table's first column. Moved games come after those that are there.")


def _listed(games: pd.DataFrame, place: str | None, shown: str | None) -> pd.DataFrame:
    if place == _ALL:
        return games
    return games[games["Iteration"] == (shown if place == _THESE else "")]


def _chosen(listed: pd.DataFrame) -> list[str]:
    event = status_table(
        listed.drop(columns="transcript_id"),
        "Games to move or delete",
        on_select="rerun",
        selection_mode="multi-row",
        # A selection is by row numbers, so it must not outlive the rows that it was made on.
        key=f"games_table_{hash(tuple(listed['transcript_id']))}",
        height=min(38 + 35 * len(listed), 400),
    )
    return [str(listed["transcript_id"].iloc[row]) for row in event.selection.rows if row < len(listed)]


def _move(store: Store, chosen: list[str], target: str | None) -> None:
    attempt(partial(store.iterations.move, chosen, target), f"Moved {counted(len(chosen), 'game')}.")


def _delete(store: Store, chosen: list[str]) -> None:
    delete(lambda who: store.deletions.delete(chosen, who=who), f"Deleted {counted(len(chosen), 'game')}.")
