"""Save what the rating desk sends: forms, drafts, skipped games and discards. No filled-in form is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from dashboard.app_pages.review.desk_state import DeskState, clear, how_far, is_current, next_game
from dashboard.app_pages.review.rating_desk import FilledForm, read_discard, read_form, read_token, tell_kept
from dashboard.app_pages.review.save_before_draw import SAVING
from dashboard.shared import state
from dashboard.shared.identity import identity
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.ratings import Rating
from evaluation.store import Store

MOST_BEGUN = 20
"""How many begun forms are taken from a browser at once."""


def submit(store: Store, desk: DeskState, value: object) -> None:
    """Saves the form that the browser sent, once, and makes room for the next game."""
    form = read_form(value)
    if form is None or form.score is None:
        return
    try:
        identity.require(Action.RATE)
        game = game_of(store, desk, form.token)
        if game is None:
            return
        with SAVING.urgent():
            _save(store, Rating(game, desk.rater, form.score, form.answers, form.comment, token=form.token))
    except DramaturgError as error:
        tell(desk, str(error))
        return
    _kept(store, desk, form.token)


def _kept(store: Store, desk: DeskState, token: str) -> None:
    """Confirm a stored form to the rater at once, and free the desk for the next game."""
    desk.kept = token
    if is_current(desk, token):
        clear(desk)
    elif desk.data is not None and not desk.is_revision:
        words, share = how_far(desk, store.rating_queue.progress(desk.rater))
        desk.data = desk.data | {"progress": words, "share": share}
    if desk.receipt is not None:
        tell_kept(desk.receipt, token)
    SAVING.give_way()


def _save(store: Store, rating: Rating) -> None:
    """Stores a rating once. Where another window saved this form meanwhile with other answers, it is a revision."""
    with store.unguarded().unit(write=True):
        if store.ratings.add(rating):
            return
        held = store.ratings.by_token([rating.token])[rating.token]
        if (held.score, held.answers, held.comment) != (rating.score, rating.answers, rating.comment):
            store.ratings.add(replace(rating, token=store.ratings.token(rating.rater, rating.transcript_id)))


def game_of(store: Store, desk: DeskState, token: str) -> str | None:
    """The game that a form is about: the one on the desk, or one that this rater was given before.

    A form may arrive after the next game is on the desk: sent a second time, or filled in before the server was
    restarted and another game came to the desk of the new session. What a rater has filled in is never dropped.
    """
    return desk.transcript_id if is_current(desk, token) else store.ratings.assigned(desk.rater, token)


def keep_draft(store: Store, desk: DeskState, value: object) -> None:
    """Stores what the browser has in its form so far."""
    form = read_form(value)
    if form is None:
        return
    try:
        if game_of(store, desk, form.token) is not None:
            store.drafts.save(form.token, form.rev, _body(form))
    except DramaturgError as error:
        tell(desk, str(error))


def take_up(store: Store, desk: DeskState, value: object) -> None:
    """Stores forms that were begun while no server listened, and puts the game of the latest back on the desk.

    A game that somebody opened the desk on stays there, and so does a revision.

    Args:
        store: Where drafts are kept.
        desk: The rater's desk.
        value: What the browser sent: a list of forms, the latest last.
    """
    games = set()
    for one in value[-MOST_BEGUN:] if isinstance(value, list) else ():
        keep_draft(store, desk, one)
        games.add(game_of(store, desk, read_token(one) or ""))
    if desk.is_revision or desk.transcript_id is None or state.chosen(state.GAME):
        return
    coming = next_game(store, desk)
    if coming in games and coming != desk.transcript_id:
        clear(desk)


def _body(form: FilledForm) -> dict[str, Any]:
    return {"score": form.score, "answers": list(form.answers), "comment": form.comment}


def skip(desk: DeskState, value: object) -> None:
    """Puts the game aside until nothing else is left."""
    if is_current(desk, read_token(value)) and desk.transcript_id:
        if not desk.is_revision:
            desk.skipped = (*desk.skipped, desk.transcript_id)
        clear(desk)


def discard(store: Store, desk: DeskState, value: object) -> None:
    """Takes the game out of this rater's queue for good, with the reason."""
    given = read_discard(value)
    if given is None:
        return
    try:
        identity.require(Action.RATE)
        game = game_of(store, desk, given.token)
        if game is None:
            return
        store.discards.add(game, desk.rater, given.reason, given.note)
    except DramaturgError as error:
        tell(desk, str(error))
        return
    _kept(store, desk, given.token)


def tell(desk: DeskState, text: str) -> None:
    """Shows the rater why something was not saved."""
    if desk.data is None:
        # No form is on the desk; the browser keeps what it has sent, and sends it again.
        return
    # An id of its own, so that the browser shows the same words again when they are true again.
    desk.data = desk.data | {"error": {"id": uuid4().hex, "text": f"Not saved: {text} Your answers are kept."}}
