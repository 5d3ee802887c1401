"""A table whose status cells carry symbol and colour."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from dashboard.shared.formatting import status_color
from evaluation.escaping import spreadsheet_safe


def status_table(frame: pd.DataFrame, alt: str, **options: Any) -> Any:
    """``frame`` as a data frame, cells that begin with a status symbol in that status's colour while there are few.

    Args:
        frame: What to show; untrusted text is fine.
        alt: What the table holds, in our own words.
        options: Passed on to ``st.dataframe``.

    Returns:
        What ``st.dataframe`` returns: the selection, when ``on_select`` is given.
    """
    # The table has a button that downloads it; no cell may become a formula there.
    safe = frame.map(spreadsheet_safe)
    shown = safe if safe.size > _MOST_COLOURED else _coloured(safe)
    # Whole: rows that are fetched later would also be given to somebody who may not see them any more.
    options.setdefault("height", "content" if len(frame) <= _MOST_WHOLE else "auto")
    return st.dataframe(shown, hide_index=True, alt=alt, lazy=False, **options)


_MOST_WHOLE = 25
"""Tables of so many rows stand on the page whole; longer ones scroll by themselves."""


# Colours cost 15 microseconds a cell at every run; in larger tables the symbols must do.
_MOST_COLOURED = 2_000


def _coloured(frame: pd.DataFrame) -> Styler:
    is_dark = st.context.theme.type == "dark"
    styled = frame.style.map(lambda cell: f"color: {color}" if (color := status_color(cell, dark=is_dark)) else "")
    return styled.format(_plain_number, subset=list(frame.select_dtypes("float").columns), na_rep="")


def _plain_number(value: object) -> str:
    """At most four places, and no zeros behind the last that says something: a styled table shows six otherwise."""
    return f"{float(str(value)):.4f}".rstrip("0").rstrip(".")
