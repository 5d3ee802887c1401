"""The cockpit: the decision, seven metrics before and after, what blocks, and the next action."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.overview.cockpit_data import Cockpit, NextStep, blockers, cockpit_of, next_step
from dashboard.shared import page_links, resources, state
from dashboard.shared.changes.keep_or_revert import record_popover
from dashboard.shared.example_row import transcript_link
from dashboard.shared.formatting import look
from dashboard.shared.marks.pictures import define_picture, open_clicked_mark, remember_click
from dashboard.shared.notices import plain
from dashboard.shared.page_links import hand_over, team_link
from evaluation.iterations.board import Board, IterationSummary
from evaluation.store import Store
from evaluation.text.display import counted, shortened

_KEY = "cockpit"
_LONGEST_NAME = 60
_MOST_BLOCKERS = 3
_rows = define_picture("dramaturg_cockpit_rows", Path(__file__).parent, "cockpit_rows")


def cockpit(store: Store, board: Board, shown: IterationSummary) -> None:
    """Draw the cockpit of an iteration; a mark that was clicked opens what is behind it."""
    open_clicked_mark(store)
    found = resources.once(cockpit_of, (shown.iteration.name,), board, shown.iteration.name)
    left, right = st.columns([13, 8], gap="medium")
    with left:
        _decision(board, shown, found)
    with right:
        _what_blocks(store, board, shown)
    on_open = access_checks.event("cockpit_open", remember_click(_KEY, found.targets))
    _rows(key=_KEY, data=dict(found.data), on_open_change=on_open)
    with st.expander("The same in words", icon=":material/notes:"):
        plain("\n".join(found.words))


def headline(shown: IterationSummary) -> str:
    """The decision in a word or two: a person's, else the rule's."""
    if shown.iteration.recorded is not None:
        return look(shown.iteration.recorded.fate).word.capitalize()
    if shown.decision is not None:
        return look(shown.decision.choice).word.capitalize()
    return "Baseline" if shown.iteration.is_baseline else "Nothing to compare with"


def _decision(board: Board, shown: IterationSummary, found: Cockpit) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(headline(shown), anchor=False, width="content")
        for status, count in found.counts.items():
            appearance = look(status)
            st.badge(f"{appearance.symbol} {count} {appearance.word}", color=appearance.color)
    plain(_sides(board, shown))
    decision = shown.decision
    if decision is None:
        return
    recorded = [f"The rule says {decision.choice.words}."] if shown.iteration.recorded else []
    plain(" ".join([*recorded, *decision.explanation[: 1 if decision.is_target_named else 2]]))


def _sides(board: Board, shown: IterationSummary) -> str:
    """The iteration and its named reference: "Prompt v4 against Prompt v2 (kept), 3 games each"."""
    name = shortened(shown.iteration.name, _LONGEST_NAME)
    if shown.decision is None:
        return f"{name}, {counted(len(shown.games), 'game')}. Later iterations are compared with it."
    reference = board[shown.decision.reference]
    marks = [word for word, holds in _marks(reference) if holds]
    beside = f" ({', '.join(marks)})" if marks else ""
    here, there = len(shown.games), len(reference.games)
    games = f"{counted(here, 'game')} each" if here == there else f"{counted(here, 'game')} against {there}"
    return f"{name} against {shortened(reference.iteration.name, _LONGEST_NAME)}{beside}, {games}"


def _marks(reference: IterationSummary) -> tuple[tuple[str, bool], ...]:
    return ("the baseline", reference.iteration.is_baseline), ("kept", reference.iteration.is_kept)


def _what_blocks(store: Store, board: Board, shown: IterationSummary) -> None:
    st.markdown("**Still missing**")
    plain("\n".join(blockers(shown)[:_MOST_BLOCKERS]) or "✓ Nothing blocks the decision.")
    critical = [failure for test in shown.tests for failure in test.failures if failure.is_critical]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        step = next_step(board, shown)
        _take_step(store, shown, step)
        if critical:
            transcript_link("Open the first that failed", transcript=critical[0].transcript_id)
        if step is NextStep.RATE:
            team_link()


def _take_step(store: Store, shown: IterationSummary, step: NextStep) -> None:
    if step is NextStep.RATE:
        hand_over(shown.iteration.name)
    elif step is NextStep.RECORD and shown.decision is not None:
        record_popover(store, shown.iteration, shown.decision)
    elif step is NextStep.READ:
        if st.button(str(step), key="next_step", type="primary", icon=":material/forum:"):
            of = {"of_iteration": shown.iteration.name}
            st.switch_page("app_pages/games/page.py", query_params=of)
    elif st.button(str(step), key="next_step", type="primary", icon=":material/add:"):
        st.switch_page(page_links.GAMES_PAGE, query_params={state.GAMES_PART: state.ADD_GAMES})
