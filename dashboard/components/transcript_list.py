"""The list of transcripts with its filters."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.components.status_table import status_table
from dashboard.conversation import SHORT_LABELS
from dashboard.formatting import counted, look

ANY = "any"
VERDICTS = ("passed", "failed", "pending", "inapplicable")


def draw(listed: pd.DataFrame) -> None:
    """The filters, the table, and the way into the selected transcript.

    Args:
        listed: As ``queries.transcript_list`` returns it.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Find a game", key="find", bind="query-params", placeholder="Part of its name")
        names = sorted(name for name in listed["iteration"].unique() if name)
        iteration = st.selectbox(
            "Iteration", [ANY, "none", *names], key="of_iteration", bind="query-params", filter_mode="contains"
        )
        verdict = st.selectbox(
            "Verdict",
            [ANY, *VERDICTS],
            key="verdict",
            bind="query-params",
            format_func=lambda name: name if name == ANY else look(name).label,
        )
    shown = filtered(listed, text or "", iteration or ANY, verdict or ANY)
    st.caption(f"{len(shown)} of {counted(len(listed), 'game')}. Select a row to open it.")
    if shown.empty:
        st.info("No game matches. Change the filters above.")
        return
    _table(shown)


def filtered(listed: pd.DataFrame, text: str, iteration: str, verdict: str) -> pd.DataFrame:
    """The rows that match all three: part of the game's name in any case, the iteration, the verdict."""
    shown = listed
    if text.strip():
        shown = shown[shown["game_id"].str.casefold().str.contains(text.strip().casefold(), regex=False)]
    if iteration != ANY:
        shown = shown[shown["iteration"] == ("" if iteration == "none" else iteration)]
    if verdict != ANY:
        shown = shown[shown["verdict"] == verdict]
    return shown


def _table(shown: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "Game": shown["game_id"],
            "Iteration": shown["iteration"],
            "Verdict": [look(status).label for status in shown["verdict"]],
            "Passed": [f"{count} of 7" for count in shown["passed"]],
            "Messages": shown["messages"],
            "Players": shown["players"],
            **{label: shown[name] for name, label in SHORT_LABELS.items()},
            "Format": shown["source_format"],
        }
    )
    event = status_table(
        frame,
        "Transcripts with verdict and scores",
        on_select="rerun",
        selection_mode="single-row",
        key="transcript_table",
        height=min(38 + 35 * len(frame), 600),
    )
    if event.selection.rows:
        state.choose(transcript=str(shown["transcript_id"].iloc[event.selection.rows[0]]))
        st.rerun()
