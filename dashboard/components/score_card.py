"""One metric as a card: score, status, the numbers behind it and the threshold."""

from __future__ import annotations

import streamlit as st

from dashboard.formatting import look, score_text, threshold_text
from evaluation.score import MetricDefinition


def score_card(definition: MetricDefinition, score: float | None, status: str, threshold: float, detail: str) -> None:
    """Draws the card.

    Args:
        definition: The metric.
        score: On its scale; ``None`` when there is none.
        status: ``passed``, ``failed``, ``pending`` or ``not_applicable``.
        threshold: The threshold it was judged by.
        detail: The numbers behind the score, in our own words ("17 of 20 references").
    """
    appearance = look(status)
    with st.container(border=True, height="stretch", gap="xxsmall"):
        st.markdown(f"**{definition.label}**")
        st.markdown(f"## {score_text(score, definition.scale, threshold)}" if score is not None else "## –")
        st.badge(appearance.label, color=appearance.color)
        st.caption(
            f"{detail}  \n{threshold_text(threshold, definition.scale)}"
            if detail
            else threshold_text(threshold, definition.scale)
        )
