"""Plotly figures on pages, with words in the colour of the page's text."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.charts.metric_charts import legible


def draw_chart(figure: go.Figure, *, key: str, alt: str, **options: Any) -> None:
    """Draws a figure.

    Args:
        figure: Its words get the colour of the page's text, light and dark.
        key: Tells it from the page's other figures.
        alt: The figure in words, for people who do not see it.
        options: Passed on to ``st.plotly_chart``.
    """
    st.plotly_chart(legible(figure), key=key, alt=alt, **options)
