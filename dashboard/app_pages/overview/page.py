"""The Overview page: an iteration against its reference, the decision to keep or revert it, and all iterations."""

import streamlit as st

from dashboard.app_pages.overview import sections as parts
from dashboard.app_pages.overview.cockpit import cockpit, pair_of, pick_pair, rows_of
from dashboard.app_pages.overview.edit_iteration import FORMS, MANAGED, manage_games, managed, more_menu
from dashboard.app_pages.overview.opened_metric import opened_metric
from dashboard.app_pages.overview.panel import panel
from dashboard.shared import queries, resources, state
from dashboard.shared.changes import recently_deleted, show_outcome
from dashboard.shared.clicked_marks import open_clicked_mark
from dashboard.shared.identity.visible_games import games_of, is_engagement_hidden
from dashboard.shared.page_links import add_games_link, no_games_yet
from dashboard.shared.version_notes import versions_banner
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.store import Store
from evaluation.text.display import counted

DECISION, ALL_ITERATIONS = "Decision", "All iterations"


def show(store: Store) -> None:
    show_outcome(store)
    open_clicked_mark(store, on_overview=True)
    # A place of its own: what is drawn where it stood would hold its words until the page is whole.
    empty = st.empty()
    with st.spinner("Reading games and scores", show_time=True):
        seen = resources.share(queries.overview)
    if seen.board.iterations and seen.transcripts:
        if state.choose_view([DECISION, ALL_ITERATIONS], key="overview") == DECISION:
            decision(store, seen)
        else:
            all_iterations(store, seen)
    elif seen.transcripts:
        no_iteration(store, seen)
    else:
        with empty.container():
            no_games_yet(
                "overview",
                "Did your agents get better?",
                "Upload the games of a prompt version and see how they score, or look at sample games first.",
            )
    recently_deleted(store)


def no_iteration(store: Store, seen: queries.Overview) -> None:
    st.info(
        f"{counted(seen.transcripts, 'game')} stored, none in an iteration yet. Games of one prompt version make an "
        "iteration, three games make a test.",
        icon=":material/info:",
    )
    add_games_link("Create an iteration")
    st.page_link("app_pages/games/page.py", label="Look at the games")
    versions_banner(store)
    parts.waiting_for_review(seen)
    manage_games(store, seen.board, None)


def decision(store: Store, seen: queries.Overview) -> None:
    form = state.chosen(MANAGED, FORMS)
    with state.head():
        shown, reference = pick_pair(seen.board)
        if form is None:
            more_menu(shown, seen.board)
    if form is not None:
        managed(store, shown, seen.board, form)
        return
    sides = [shown, *([reference] if reference else [])]
    is_hidden = is_engagement_hidden(store, [game.transcript_id for side in sides for game in side.games])
    metric = state.chosen(state.OPENED_METRIC, DEFINITIONS)
    if metric and not (is_hidden and metric == ENGAGEMENT.name):
        rows = rows_of(seen.board, shown, reference)
        row = rows[list(DEFINITIONS).index(metric)]
        opened_metric(metric, shown, reference, pair_of(seen.board, shown, reference), row)
        return
    pair = cockpit(store, seen.board, shown, reference, is_hidden=is_hidden)
    versions_banner(store)
    panel(store, seen.board, shown, reference, pair, is_hidden=is_hidden)


def all_iterations(store: Store, seen: queries.Overview) -> None:
    board = seen.board
    is_hidden = is_engagement_hidden(store, games_of(board))
    if not is_hidden:
        parts.checklist_answer(board)
    parts.iteration_table(board, is_hidden=is_hidden)
    if is_hidden:
        st.caption("The checklist rests on ratings of all iterations, and is hidden from you as well.")
    else:
        parts.success_checklist(store, board)
    parts.waiting_for_review(seen)


show(resources.store())
