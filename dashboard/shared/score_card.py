"""Cards of equal height: one for a verdict, one for each metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.shared.formatting import look, score_text, threshold_text
from dashboard.shared.notices import plain
from evaluation.score import MetricDefinition


def score_card(
    definition: MetricDefinition,
    score: float | None,
    status: str,
    threshold: float,
    detail: str,
    on_open: Callable[[], None] | None = None,
) -> None:
    """Draws a metric's score, its status, the numbers behind it and the threshold.

    Args:
        definition: The metric.
        score: On its scale; ``None`` when there is none.
        status: ``passed``, ``failed``, ``pending`` or ``not_applicable``.
        threshold: The threshold it was judged by.
        detail: The numbers behind the score, in our own words ("17 of 20 references").
        on_open: What a click on "See the rows" does; no such button without it.
    """
    value = score_text(score, definition.scale, threshold) if score is not None else "–"
    with st.container(border=True, height="stretch", gap="xsmall"):
        _head(definition.label, value, status)
        st.caption(f"{threshold_text(threshold, definition.scale)}  \n{detail}")
        if on_open is not None:
            st.button("See the rows", key=f"rows_{definition.name}", type="tertiary", on_click=on_open)


def verdict_card(status: str, passed_count: int, detail: str, reasons: Sequence[str] = ()) -> None:
    """Draws a verdict like a metric: its word, how many metrics pass, a remark in our own words, and the reasons."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        _head("Verdict", f"{passed_count} of 7", status)
        st.caption(f"at least 5 with engagement  \n{detail}")
        if reasons:
            with st.popover("Why this verdict", type="tertiary"):
                plain("\n".join(reasons))


def _head(label: str, value: str, status: str) -> None:
    appearance = look(status)
    st.markdown(f"**{label}**")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"## {value}", width="content")
        st.badge(appearance.label, color=appearance.color)
