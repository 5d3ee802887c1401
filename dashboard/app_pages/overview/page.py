"""The Overview page: the iterations, the decision to keep or revert, and the first steps."""

import streamlit as st

from dashboard.app_pages.overview import sections as parts
from dashboard.app_pages.overview.cockpit import cockpit
from dashboard.app_pages.overview.cockpit_data import sides
from dashboard.app_pages.overview.edit_iteration import manage_games, manage_iteration
from dashboard.app_pages.overview.why_messages_fail import why_messages_fail
from dashboard.shared import queries, resources, state
from dashboard.shared.changes.actions import recently_deleted, show_outcome
from dashboard.shared.first_run import first_run_guide, no_games_yet
from dashboard.shared.identity.visible_games import hidden_note, is_engagement_hidden
from dashboard.shared.page_links import add_games_link
from dashboard.shared.version_notes import versions_banner
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
    no_games_yet(
        "overview",
        "Did your agents get better?",
        "Upload the games of a prompt version and see how they score on seven metrics, and what to change next. "
        "Or look around with the sample games first.",
    )
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
    shown = cockpit(store, board)
    versions_banner(store)
    games = [game.transcript_id for one in board.iterations for game in one.games]
    is_hidden = is_engagement_hidden(store, games)
    if is_hidden:
        st.caption("Tests, advice and checklist rest on ratings of all iterations, and are hidden from you as well.")
        if not is_engagement_hidden(store, [game.transcript_id for side in sides(board, shown) for game in side.games]):
            hidden_note(store)
    else:
        parts.advice(store, board, shown)
    why = st.expander(
        "Why messages fail", icon=":material/help:", key=state.WHY_OPEN, on_change="rerun", bind="query-params"
    )
    if why.open:
        with why:
            why_messages_fail(shown.iteration.name)
    if not is_hidden:
        parts.tests(shown)
        parts.success_checklist(store, board)
    parts.waiting_for_review(seen)
    with st.expander("All iterations", icon=":material/list:"):
        parts.iteration_table(board, is_hidden=is_hidden)
    manage_iteration(store, shown, board)
    manage_games(store, board, shown.iteration.name)


show(resources.store())
