"""Tables of raters, and of raters by games, for leads."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared import state
from dashboard.shared.status_table import status_table
from evaluation.text.display import counted, shortened
from evaluation.workflows.rating_teams import GridGame, RatingGrid

_TABLE = "team_grid"
_GAME = "team_game"
_RATER = "team_rater"
_LONGEST_NAME = 40


def rater_table(grid: RatingGrid) -> None:
    """Progress of each rater."""
    st.subheader("Raters", anchor=False)
    rows = [
        {
            "Rater": shortened(one.rater, _LONGEST_NAME),
            "Rated": one.rated,
            "Assigned": one.assigned,
            "To do": one.waiting,
        }
        for one in grid.raters
    ]
    status_table(pd.DataFrame(rows), "Raters, and how far they are")


def grid_table(grid: RatingGrid) -> None:
    """A row for each game and a column for each rater; a click or Enter on a cell opens the rating."""
    st.subheader("Raters by games", anchor=False)
    st.caption(
        "✓ and a score: done. … under way. ○ assigned. ✗ cannot be rated. – not assigned. Select a cell to open it."
    )
    rows: list[dict[str, object]] = []
    for game in grid.games:
        row: dict[str, object] = {"Game": shortened(game.name, _LONGEST_NAME), "Engagement": engagement_words(game)}
        for number, one in enumerate(grid.raters):
            cell = game.cells.get(one.rater)
            row[f"rater_{number}"] = "–" if cell is None else cell.words
        rows.append(row)
    labels = {
        f"rater_{number}": st.column_config.Column(shortened(one.rater, _LONGEST_NAME))
        for number, one in enumerate(grid.raters)
    }
    status_table(
        pd.DataFrame(rows),
        "Raters by games",
        column_config={"Game": st.column_config.Column("Game", pinned=True), **labels},
        on_select=lambda: _follow(grid),
        selection_mode="single-cell",
        key=_TABLE,
    )


def engagement_words(game: GridGame) -> str:
    """The score that counts, and whether it is disputed or decided."""
    words = "not rated" if game.score is None else f"{game.score:.2f}"
    if game.decision is not None:
        words += ", decided"
    elif game.is_disputed:
        words += f", {counted(game.spread, 'point')} apart"
    return words


def _follow(grid: RatingGrid) -> None:
    """Chooses the game and the rater of the selected cell."""
    held: Any = st.session_state.get(_TABLE)
    cells = held["selection"]["cells"] if held else []
    if not cells:
        return
    row, column = cells[0]
    if isinstance(row, int) and 0 <= row < len(grid.games):
        st.session_state[_GAME] = grid.games[row].transcript_id
    number = str(column).removeprefix("rater_")
    if number.isdecimal() and int(number) < len(grid.raters):
        st.session_state[_RATER] = grid.raters[int(number)].rater


def choose_cell(grid: RatingGrid) -> tuple[GridGame, str] | None:
    """The game and the rater that are chosen, by a cell or by the two lists; ``None`` before that."""
    games = {one.transcript_id: one for one in grid.games}
    raters = [one.rater for one in grid.raters]
    for key, known in ((_GAME, games), (_RATER, raters)):
        if st.session_state.get(key, state.chosen(key)) not in known:
            st.session_state[key] = None
        elif key not in st.session_state:
            st.session_state[key] = state.chosen(key)
    with st.container(horizontal=True):
        game = st.selectbox(
            "Game",
            list(games),
            index=None,
            format_func=lambda key: games[key].name,
            key=_GAME,
            placeholder="Select a cell, or a game",
        )
        rater = st.selectbox("Rater", raters, index=None, key=_RATER, placeholder="and a rater")
    state.choose(team_game=game, team_rater=rater)
    return (games[game], rater) if game is not None and rater is not None else None
