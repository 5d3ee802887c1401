"""Games that raters cannot rate, for leads."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.status_table import status_table
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.store import Store
from evaluation.text.display import shortened

_LONGEST_NAME = 60


def discards(store: Store, lead: str) -> None:
    """Discards of all raters; a lead can give a game back to its rater."""
    st.subheader("Cannot be rated", anchor=False)
    found = store.discards.list()
    if not found:
        st.caption("Nobody has put a game aside for good.")
        return
    st.caption("Out of one rater's queue each. Select a row to give the game back to that rater.")
    names = store.transcripts.game_names()
    frame = pd.DataFrame(
        [
            {
                "Game": shortened(names.get(one.transcript_id, one.transcript_id), _LONGEST_NAME),
                "Rater": one.rater,
                "Reason": one.reason.words,
                "Note": one.note,
                "When": f"{one.created_at:%Y-%m-%d %H:%M}",
                "Taken back by": one.undone_by or "",
            }
            for one in found
        ]
    )
    event = status_table(
        frame, "Games that cannot be rated", on_select="rerun", selection_mode="single-row", key="discards"
    )
    if event.selection.rows:
        chosen = found[event.selection.rows[0]]
        st.button(
            "Give it back to the rater",
            icon=":material/undo:",
            key="give_back",
            disabled=chosen.undone_by is not None,
            on_click=_give_back,
            args=(store, chosen.id, lead),
        )


def _give_back(store: Store, discard_id: int, who: str) -> None:
    try:
        identity.require(Action.EDIT)
        store.discards.undo(discard_id, who=who)
    except DramaturgError as error:
        st.toast(str(error))
