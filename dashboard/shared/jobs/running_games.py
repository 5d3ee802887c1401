"""Games that are being recorded in the watched folder, as they grow; they are stored and scored once they end."""

from __future__ import annotations

import streamlit as st

from dashboard import access_checks, inbox
from dashboard.shared.notices import plain
from evaluation.text.display import counted, shortened

_LOOK_SECONDS = 1.0
_LONGEST_TEXT = 300


def show_running_games() -> None:
    """Each running game with its latest messages, drawn again every second; nothing where no folder is watched."""
    if inbox.current is not None:
        _running(inbox.current)


@st.fragment(run_every=_LOOK_SECONDS)
@access_checks.fragment("running_games")
def _running(watched: inbox.Inbox) -> None:
    for game in watched.running():
        with st.container(border=True, gap="small"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge("running", icon=":material/play_circle:", color="blue")
                plain(f"{game.game_id}: {counted(game.messages, 'message')} so far")
            plain("\n".join(f"{speaker}: {shortened(text, _LONGEST_TEXT)}" for speaker, text in game.latest))
            st.caption("It counts in no score or decision until it has ended.")
