"""A tour of a minute: from a first game to a decision, step by step; it can be left and resumed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard.shared import tour_progress
from dashboard.shared.first_run import first_steps
from dashboard.shared.resources import store


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step: what to do, what one sees there, and the page."""

    title: str
    text: str
    sees: str
    page: str
    label: str


STEPS = (
    TourStep(
        "Bring a game",
        "Drop the transcripts of one prompt version on the Upload page, or load the sample games. The games of one "
        "prompt version are an iteration.",
        "Every file is recognised or refused with the line and what to do about it.",
        "app_pages/upload/page.py",
        "Open Upload",
    ),
    TourStep(
        "See which metrics pass",
        "The Overview shows seven metrics of the current iteration, before and after the change.",
        "The line across a row is the threshold: what lies on its shaded side fails. Every dot is a game.",
        "app_pages/overview/page.py",
        "Open the Overview",
    ),
    TourStep(
        "Find out why",
        "Click a dot. The game opens at its first message that loses points.",
        "The reason, the words that it rests on, and a strip of all messages by metric. You may override a verdict.",
        "app_pages/transcripts/page.py",
        "Open Transcripts",
    ),
    TourStep(
        "Rate it blind",
        "Six metrics are computed. The seventh, engagement, is a person's rating from 1 to 5.",
        "The game without its scores, so that they do not sway you, and the rubric's own text for each point.",
        "app_pages/review/page.py",
        "Open Review",
    ),
    TourStep(
        "Compare the change",
        "Compare sets two iterations side by side.",
        "Each metric with the difference and its interval, and the messages that moved it.",
        "app_pages/compare/page.py",
        "Open Compare",
    ),
    TourStep(
        "Keep or revert",
        "The Overview says what the rule decides and why. You record what you decide.",
        "The decision stands at the top, with the reference it was compared with, and what still blocks it.",
        "app_pages/overview/page.py",
        "Open the Overview",
    ),
)


def tour() -> None:
    """The step that the reader has reached, with the way on, back and out."""
    reached = tour_progress.reached(len(STEPS))
    if reached is None:
        st.markdown("Six steps, a minute: from a first game to the decision to keep or revert a change.")
        st.button(
            "Begin the tour", type="primary", icon=":material/tour:", key="tour_begin", on_click=tour_progress.go_to,
            args=(1,),
        )  # fmt: skip
        return
    step = STEPS[reached - 1]
    st.progress(reached / len(STEPS), text=f"Step {reached} of {len(STEPS)}")
    with st.container(border=True):
        st.subheader(step.title, anchor=False)
        st.markdown(step.text)
        st.markdown(f"**What you see there:** {step.sees}")
        st.page_link(step.page, label=step.label, icon=":material/arrow_forward:")
        if reached == 1 and not store().transcripts.ids():
            first_steps("tour")
    with st.container(horizontal=True):
        if reached > 1:
            st.button("Back", key="tour_back", on_click=tour_progress.go_to, args=(reached - 1,))
        if reached < len(STEPS):
            st.button("Next step", type="primary", key="tour_next", on_click=tour_progress.go_to, args=(reached + 1,))
        label = "Leave the tour" if reached < len(STEPS) else "End the tour"
        st.button(label, key="tour_leave", on_click=tour_progress.go_to, args=(None,))
    st.caption("While the tour is under way, the menu at the side leads back to it from every page.")
