"""Search results: messages of all games, each with a link to its game."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import queries, resources, state
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.errors import InputError
from evaluation.store.message_search import FoundMessages
from evaluation.text.display import counted
from evaluation.text.searching import excerpt

_EXCERPT = 160


def found_messages(query: str, within: tuple[str, ...] | None) -> None:
    """The messages that hold every word of ``query``, as a table; a selected one opens in its game.

    Args:
        query: As the person typed it.
        within: Only in these transcripts; ``None`` for all.
    """
    try:
        found = resources.read(queries.found_messages, query, within)
    except InputError as error:
        st.warning("That cannot be searched for.", icon=":material/search_off:")
        plain(str(error))
        return
    st.caption(found_words(found))
    if not found.total:
        return
    event = status_table(
        _table(found),
        "Messages found, with game, speaker and text",
        on_select="rerun",
        selection_mode="single-row",
        key="found_table",
        height=min(38 + 35 * len(found.table), 600),
        column_config={"Message": st.column_config.TextColumn(width="large")},
    )
    if event.selection.rows:
        chosen = found.table.iloc[event.selection.rows[0]]
        state.choose(transcript=str(chosen["transcript_id"]), message=str(chosen["message_id"]), metric=None)
        st.rerun()


def found_words(found: FoundMessages) -> str:
    """Number of messages that match, and of those that are shown."""
    if not found.total:
        return "No message holds all of that. Fewer words find more; words outside quotes may stand anywhere."
    words = f"{counted(found.total, 'message')} in {counted(found.games, 'game')}."
    if len(found.table) < found.total:
        words += f" The first {len(found.table)} are shown: add words, or filter the games."
    return f"{words} Select a row to open it."


def _table(found: FoundMessages) -> pd.DataFrame:
    table = found.table
    return pd.DataFrame(
        {
            "Game": table["game_id"],
            "#": table["number"],
            "Speaker": table["speaker"],
            "Message": [excerpt(text, found.phrases, _EXCERPT) for text in table["text"]],
            "Iteration": table["iteration"].fillna(""),
        }
    )
