"""The Rate page: the rating desk, a rater's own ratings, instructions, and the check of who speaks."""

from dashboard.app_pages.rate import rate_view as parts
from dashboard.app_pages.rate.instructions import rating_guide
from dashboard.app_pages.rate.own_ratings import own_ratings
from dashboard.app_pages.rate.rate_view import take_handed_over, take_picked
from dashboard.app_pages.rate.style_check import style_check
from dashboard.shared import page_links, resources, state
from dashboard.shared.identity import identity
from dashboard.shared.notices import empty_state
from evaluation.access import Action
from evaluation.errors import StoreError
from evaluation.store import Store


def show() -> None:
    store = resources.store()
    rater = identity.rater_name()
    if rater is None:
        parts.ask_for_name(store)
        return

    view = state.choose_view(page_links.DESK_VIEWS, key=page_links.VIEW)
    if view == page_links.DESK:
        _desk(store, rater)
    elif view == page_links.OWN:
        own_ratings(store, rater)
    elif view == page_links.HOW_TO_RATE:
        rating_guide()
    else:
        style_check(store, rater)


def _desk(store: Store, rater: str) -> None:
    try:
        take_handed_over(store, rater)
        progress = store.rating_queue.progress(rater)
        if progress.total:
            take_picked(store, rater)
            parts.desk(store, rater, progress)
            return
    except StoreError as error:
        if not parts.desk_as_it_was(store, rater, error):
            raise
        return
    if identity.allowed(Action.ADD):
        page_links.no_games_yet("review", "Nothing to rate yet", "Upload games first; then rate them here one by one.")
    else:
        empty_state("Nothing to rate yet", "Ask an admin to add games. Until then you can read how to rate.")


show()
