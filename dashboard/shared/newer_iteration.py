"""The line that says that an iteration is newer than the one on the page, and has too few games for a test yet."""

import streamlit as st

from dashboard.shared.page_links import add_games_link
from evaluation.iterations.board import Board
from evaluation.iterations.keep_or_revert import FEWEST_GAMES, LONGEST_NAME
from evaluation.text.display import shortened


def newer_note(board: Board, shown: str) -> None:
    """Draws the line with a link to adding games; nothing where the iteration called ``shown`` is the newest."""
    newer = board.newer_than(shown)
    if newer is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = shortened(newer.iteration.name, LONGEST_NAME)
            st.text(f"{name} is newer: {len(newer.games)} of {FEWEST_GAMES} games.", width="content")
            add_games_link("Add games")
