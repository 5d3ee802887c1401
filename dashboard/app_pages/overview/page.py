"""The Overview page: the iterations, the decision to keep or revert, and the first steps."""

import streamlit as st

from dashboard.app_pages.overview import sections as parts
from dashboard.app_pages.overview.cockpit import cockpit
from dashboard.app_pages.overview.cockpit_data import NextStep, next_step
from dashboard.app_pages.overview.edit_iteration import manage_games, manage_iteration
from dashboard.app_pages.overview.why_messages_fail import why_messages_fail
from dashboard.shared import queries, resources, state
from dashboard.shared.changes.actions import recently_deleted, show_outcome
from dashboard.shared.changes.keep_or_revert import keep_or_revert
from dashboard.shared.downloads import iteration_report
from dashboard.shared.first_run import first_run_guide, first_steps
from dashboard.shared.formatting import share_text, usd_text
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import add_games_link
from dashboard.shared.version_notes import versions_banner
from evaluation.iterations.board import Board, IterationSummary
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.text.display import counted


def show(store: Store) -> None:
    show_outcome(store)
    with st.spinner("Reading games and scores", show_time=True):
        seen = resources.share(queries.overview)
    if seen.board.iterations and seen.transcripts:
        iterations(store, seen)
        recently_deleted(store)
        return
    st.title("Overview", anchor=False)
    if not seen.transcripts:
        no_games()
    else:
        no_iteration(store, seen)
    recently_deleted(store)


def no_games() -> None:
    empty_state(
        "Did your agents get better?",
        "Upload the games of a prompt version and see how they score on seven metrics, and what to change next. "
        "Or look around with the sample games first.",
    )
    first_steps("overview")
    first_run_guide()


def no_iteration(store: Store, seen: queries.Overview) -> None:
    st.info(
        f"{counted(seen.transcripts, 'game')} stored, none in an iteration yet. Games of one prompt version make an "
        "iteration, three games make a test.",
        icon=":material/info:",
    )
    add_games_link("Create an iteration", ":material/add:")
    st.page_link("app_pages/games/page.py", label="Look at the games", icon=":material/forum:")
    versions_banner(store)
    parts.waiting_for_review(seen)
    manage_games(store, seen.board, None)


def iterations(store: Store, seen: queries.Overview) -> None:
    board = seen.board
    shown = parts.pick_iteration(board)
    cockpit(store, board, shown)
    versions_banner(store)
    keep_or_revert(store, board, shown, has_form=next_step(board, shown) is not NextStep.RECORD)

    left, right = st.columns(2, gap="medium")
    with left:
        parts.tests(shown)
        parts.advice(store, board, shown)
    with right:
        parts.success_checklist(store, board)

    the_chosen_one(store, board, shown)
    parts.waiting_for_review(seen)
    why = st.expander("Why messages fail", key=state.WHY_OPEN, on_change="rerun", bind="query-params")
    if why.open:
        with why:
            why_messages_fail()
    st.subheader("All iterations", anchor=False)
    parts.iteration_table(board)
    manage_games(store, board, shown.iteration.name)


def the_chosen_one(store: Store, board: Board, shown: IterationSummary) -> None:
    number = 1 + [one.iteration.name for one in board.iterations].index(shown.iteration.name)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(f"Iteration {number} of {len(board.iterations)}", anchor=False, width="content")
            st.badge(counted(len(shown.games), "game"), color="gray")
            if shown.iteration.is_baseline:
                st.badge("baseline", icon=":material/flag:", color="gray")
        plain(shown.iteration.name)
        if shown.iteration.change:
            plain(f"What was changed: {shown.iteration.change}")
        if shown.iteration.target_metric:
            st.caption(f"Target metric: {DEFINITIONS[shown.iteration.target_metric].label}")
        cost, cache = usd_text(shown.cost_usd.mean), share_text(shown.cache_hit_rate.mean)
        st.caption(f"Mean cost of a game {cost}, cache hits {cache}")
        for warning in shown.warnings:
            st.caption(f":material/warning: {warning}")
        iteration_report(shown.iteration.name)
    manage_iteration(store, shown, board)


show(resources.store())
