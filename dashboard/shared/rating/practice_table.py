"""Table of everybody's practice ratings beside the references."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.status_table import status_table
from evaluation.rating_desk.practice import practice_games, practice_results
from evaluation.store import Store


def practice_table(store: Store) -> None:
    """Practice results of all raters beside the references, for leads."""
    st.subheader("Practice", anchor=False)
    found = practice_results(store.practice.list())
    if not found:
        st.caption("Nobody has practised yet.")
        return
    st.caption("First attempts beside the references. Practice never counts as a rating.")
    total = len(practice_games())
    frame = pd.DataFrame(
        [
            {
                "Rater": one.rater,
                "Games": f"{one.games} of {total}",
                "Same score": f"{one.equal} of {one.games}",
                "At most 1 apart": f"{one.near} of {one.games}",
                "Above the reference": f"\u2009{one.bias:+.2f}",
                "Same answers": f"{one.same_answers} of {one.answered}",
                "Last": f"{one.latest:%Y-%m-%d %H:%M}",
            }
            for one in found
        ]
    )
    status_table(frame, "Practice of all raters")
