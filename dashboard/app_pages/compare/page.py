"""The Compare page: two iterations, or two of their games, side by side."""

import streamlit as st

from dashboard.app_pages.compare import iterations as parts
from dashboard.app_pages.compare.two_games import two_games
from dashboard.shared import queries, resources, state
from dashboard.shared.changes.actions import show_outcome
from dashboard.shared.first_run import no_games_yet
from dashboard.shared.identity.visible_games import hidden_note, is_engagement_hidden
from dashboard.shared.marks.pictures import open_clicked_mark
from dashboard.shared.newer_iteration import newer_note
from dashboard.shared.page_links import add_games_link
from dashboard.shared.version_notes import pair_note
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.workflows.iterations import iteration_names, stored_comparison

ITERATIONS, GAMES = "Iterations", "Two games"


def show() -> None:
    of = state.choose_view([ITERATIONS, GAMES], key="of", label="Compare")
    store = resources.store()
    show_outcome(store)
    open_clicked_mark(store)
    names = resources.read(iteration_names)
    if len(names) < 2:
        no_games_yet(
            "compare",
            "Two iterations are needed",
            "A comparison sets the games of one prompt version beside those of another: the ones before a change, and "
            "the ones after it.",
        )
        return

    before, after = parts.pick(names)
    newer_note(resources.share(queries.overview).board, after)
    if before == after:
        st.info("Both sides are the same iteration. Choose another one to compare with.", icon=":material/info:")
        return

    found = resources.read(stored_comparison, before, after)
    thresholds = resources.read(queries.thresholds)
    if not (found.before.games and found.after.games):
        st.info("One of the two has no games yet, so there is nothing to compare.", icon=":material/info:")
        add_games_link("Upload games into it")
        parts.prompts(found)
        return

    if of == GAMES:
        two_games(found)
        return
    games = [one.transcript_id for one in (*found.before.games, *found.after.games)]
    is_hidden = is_engagement_hidden(store, games)
    found = found.without(ENGAGEMENT.name) if is_hidden else found
    parts.answer(found, is_hidden=is_hidden)
    if is_hidden:
        hidden_note(store)
    pair_note(before, after)
    parts.picture(found, thresholds)
    parts.decision(store, found, is_hidden=is_hidden)
    parts.prompts(found)
    parts.movers(found)
    parts.numbers(found, with_files=not is_hidden)


show()
