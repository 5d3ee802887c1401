"""A table whose status cells carry symbol and colour."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.formatting import spreadsheet_safe, status_color


def status_table(frame: pd.DataFrame, alt: str, **options: Any) -> Any:
    """``frame`` as a data frame, cells that begin with a status symbol in that status's colour.

    Args:
        frame: What to show; text of strangers is fine.
        alt: What the table holds, in our own words.
        options: Passed on to ``st.dataframe``.

    Returns:
        What ``st.dataframe`` returns: the selection, when ``on_select`` is given.
    """
    is_dark = st.context.theme.type == "dark"
    # The table has a button that downloads it; no cell may become a formula there.
    styled = frame.map(spreadsheet_safe).style.map(
        lambda cell: f"color: {color}" if (color := status_color(cell, dark=is_dark)) else ""
    )
    return st.dataframe(styled, hide_index=True, alt=alt, **options)
