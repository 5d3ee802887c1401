"""The answer of a page: a headline in the colour of its verdict, a sentence, facts, and the main action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.shared import state
from dashboard.shared.formatting import Color
from dashboard.shared.notices import plain
from dashboard.shared.page_links import guide_link


@dataclass(frozen=True, slots=True)
class Fact:
    """A short fact below the answer: its words, its colour, and why, which stands on hover."""

    text: str
    color: Color = "gray"
    why: str = ""


def answer(
    headline: str, sentence: str = "", facts: Sequence[Fact] = (), *, color: Color = "gray", edge: Color = "gray"
) -> DeltaGenerator:
    """Draws the answer of a page; the container that it returns stands beside the headline, for the one main action.

    Args:
        headline: The answer in at most twelve words; untrusted text is fine, as in ``sentence``.
        sentence: What it rests on.
        facts: At most three.
        color: Of the verdict.
        edge: Of the line beside it: what was decided, where that is not shown by the figures.
    """
    with st.container(key=f"verdict_band_{color}_{edge}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="answer_title"):
            plain(headline)
            action = st.container(horizontal=True, width="content", vertical_alignment="center", key="main_action")
        if sentence:
            plain(sentence)
        if facts:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                for fact in facts:
                    st.badge(fact.text, color=fact.color, help=fact.why or None)
                if any(fact.why for fact in facts):
                    guide_link("Can you trust it?", state.METRICS_TRUST)
    return action
