"""The first screen of the Overview: the answer, seven metrics before and after, what is missing, and the decision."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.overview.cockpit_data import (
    NextStep,
    blockers,
    cockpit_of,
    evidence_sentence,
    next_step,
    sentence,
    sides,
    waiting_games,
    without_ratings,
)
from dashboard.shared import page_links, resources, state
from dashboard.shared.changes.keep_or_revert import decision_form
from dashboard.shared.example_row import transcript_link
from dashboard.shared.identity.visible_games import hidden_note, is_engagement_hidden
from dashboard.shared.marks.pictures import define_picture, open_clicked_mark, remember_click
from dashboard.shared.newer_iteration import newer_note
from dashboard.shared.notices import plain
from dashboard.shared.page_links import hand_over, team_link
from dashboard.shared.version_notes import comparison_note, trust_note
from evaluation.comparison.iterations import compare_iterations
from evaluation.escaping import cut
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.keep_or_revert import LONGEST_NAME
from evaluation.rubric.control_words import above_chance_change
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import Status
from evaluation.store import Store
from evaluation.text.display import counted

PICKED = "iteration"
"""The key, and query parameter, of the iteration that is shown."""

_KEY = "cockpit"
_LAST_SHOWN = "iteration_shown_last"
_MOST_LINES = 3
_rows = define_picture("dramaturg_cockpit_rows", Path(__file__).parent, "cockpit_rows")


def cockpit(store: Store, board: Board) -> IterationSummary:
    """Draw the first screen and return the iteration that it shows; a mark that was clicked opens what is behind it."""
    open_clicked_mark(store)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = _pick_iteration(board)
        st.title(shown.answer, anchor=False, width="stretch")
    _earlier_that_waits(board, shown)
    newer_note(board, shown.iteration.name)
    games = [one.transcript_id for side in sides(board, shown) for one in side.games]
    is_hidden = is_engagement_hidden(store, games)
    hidden = (ENGAGEMENT.name,) if is_hidden else ()
    with st.container(gap=None):
        plain(sentence(board, shown, hidden))
        _evidence(board, shown, hidden)
    comparison_note(shown.iteration.name)
    found = resources.once(cockpit_of, (shown.iteration.name,), board, shown.iteration.name)
    found = without_ratings(found) if is_hidden else found
    on_open = access_checks.event("cockpit_open", remember_click(_KEY, found.targets))
    _rows(key=_KEY, data=dict(found.data), on_open_change=on_open)
    step = next_step(board, shown)
    left, right = st.columns([2, 3], gap="medium")
    with left, st.container(gap="small"):
        _still_missing(board, shown, step, is_hidden=is_hidden)
        if is_hidden:
            hidden_note(store)
    with right, st.container(gap="small"):
        decision_form(store, shown, is_main=step is NextStep.RECORD)
    with st.expander("Show the numbers", icon=":material/table:"):
        words = () if is_hidden else board.decision_words(shown.iteration.name)
        plain("\n".join((*found.words, "", *words)))
    return shown


def _evidence(board: Board, shown: IterationSummary, hidden: Collection[str]) -> None:
    """The outcome of the tests, in the words of the Compare page, and which metrics say little by themselves."""
    found = None
    if shown.decision is not None:
        pair = (shown.decision.reference, shown.iteration.name)
        found = resources.once(compare_iterations, pair, board, *pair)
        found = found.without(ENGAGEMENT.name) if hidden else found
    if evidence := evidence_sentence(found):
        plain(evidence)
    scored = [metric for metric, mean in shown.means.items() if mean.score is not None]
    target = shown.decision.target if shown.decision else None
    both = [side.means[target].control for side in reversed(sides(board, shown))] if target else []
    trust_note(scored, target, "The rule", above_chance_change(*both) if len(both) == 2 else "")


def _pick_iteration(board: Board) -> IterationSummary:
    """The iteration that is chosen; the choice stands in the URL.

    At first the current one, as on every page; a line below names an earlier one that waits.
    What a session has once shown stays, also where newer games come in, until the person chooses another.
    """
    by_name = {one.iteration.name: one for one in board.iterations}
    names = list(by_name)
    at_first = board.current.iteration.name if board.current else names[-1]
    state.tell_unknown(names, PICKED)
    last = st.session_state.get(_LAST_SHOWN)
    name = st.selectbox(
        "Iteration",
        names,
        index=names.index(last if last in by_name else at_first),
        key=PICKED,
        bind="query-params",
        filter_mode="contains",
        label_visibility="collapsed",
        width=260,
    )
    st.session_state[_LAST_SHOWN] = name
    return by_name[name]


def _earlier_that_waits(board: Board, shown: IterationSummary) -> None:
    """A line beside the current iteration about an earlier one that is not decided, and a button that shows it."""
    earlier = board.waiting_before
    if earlier is None or shown is not board.current:
        return
    unrated = sum(one.metrics[ENGAGEMENT.name].status is Status.PENDING for one in earlier.games)
    waits = f"the rating of {counted(unrated, 'game')}" if unrated else "a decision"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{cut(earlier.iteration.name, LONGEST_NAME)} waits for {waits}.", width="content")
        st.button("Show it", key="show_waiting", type="tertiary", on_click=_pick, args=(earlier.iteration.name,))


def _pick(name: str) -> None:
    st.session_state[PICKED] = name


def _still_missing(board: Board, shown: IterationSummary, step: NextStep, *, is_hidden: bool) -> None:
    lines = blockers(shown)[:_MOST_LINES]
    with st.container(gap=None):
        if lines:
            st.markdown("**Still missing**" if step in (NextStep.RATE, NextStep.ADD_GAMES) else "**What decides it**")
            plain(
                "\n".join(
                    filter(None, (*lines[:-1], f"{lines[-1]} {shown.decision.outlook if shown.decision else ''}"))
                )
            )
        elif shown.decision is not None and not is_hidden:
            # The reasons count and name ratings.
            st.markdown("**What the rule says**")
            plain("\n".join(shown.decision.explanation[: 1 if shown.decision.is_target_named else 2]))
    critical = [failure for test in shown.tests for failure in test.failures if failure.is_critical]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if step is NextStep.RATE:
            hand_over(shown.iteration.name, waiting_games(board, shown))
            team_link()
        elif step is not NextStep.RECORD and st.button(str(step), key="next_step", type="primary"):
            _go(shown, step)
        if critical:
            transcript_link("Open the first that failed", transcript=critical[0].transcript_id)


def _go(shown: IterationSummary, step: NextStep) -> None:
    if step is NextStep.READ:
        st.switch_page(page_links.GAMES_PAGE, query_params={"of_iteration": shown.iteration.name})
    st.switch_page(page_links.GAMES_PAGE, query_params={state.GAMES_PART: state.ADD_GAMES})
