"""The rating desk of one rater: the game on it, progress, drafts, and what is saved, before what is drawn."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.app_pages.rate.rating_desk import (
    CHOOSE,
    RATE,
    DeskMode,
    FilledForm,
    desk_data,
    draft_data,
    read_discard,
    read_form,
    read_token,
    tell_kept,
)
from dashboard.shared import state
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import words_of
from evaluation.access import Action
from evaluation.errors import DramaturgError, NotFoundError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.rating_desk import QueueProgress
from evaluation.text.display import shortened

_DESK = "review_seat"


@dataclass(slots=True)
class DeskState:
    """The state of one session's desk between reruns.

    Attributes:
        data: What the component draws; ``None`` when no game is on the desk.
        is_revision: Whether the game on the desk was rated before.
        is_linked: Whether the address names the game on the desk.
        goes_on: Whether the rater wants more games than those that were assigned.
        handed_over: How many games waited when a decision was handed over, its decoy among them; 0 without one.
        kept: The token of the form that was stored last, for the browser to know that its form has arrived.
        last: The token of the form that was sent last from here, which can be changed from the desk.
        is_last_aside: Whether that form said that the game cannot be rated.
        left: The token of a form that the browser is to let go of.
        left_words: Why, where the rater was not told yet.
        receipt: Where the browser is told that a form is stored, before the next game is drawn.
    """

    rater: str
    transcript_id: str | None = None
    data: dict[str, Any] | None = None
    is_revision: bool = False
    is_linked: bool = False
    goes_on: bool = False
    handed_over: int = 0
    kept: str | None = None
    last: str | None = None
    is_last_aside: bool = False
    left: str | None = None
    left_words: str = ""
    receipt: DeltaGenerator | None = None


def desk_of(rater: str, key: str = _DESK) -> DeskState:
    """This session's desk under ``key`` of the session state; an empty one for another rater than before."""
    desk = st.session_state.get(key)
    if not isinstance(desk, DeskState) or desk.rater != rater:
        desk = st.session_state[key] = DeskState(rater)
    return desk


def take_next(store: Store, desk: DeskState, progress: QueueProgress | None = None) -> None:
    """Puts the next unrated game on the desk, with the draft that there may be; none is left when there is no data.

    Args:
        store: Where the games lie.
        desk: Whose desk.
        progress: How far the rater is, where that was read just now.
    """
    game = next_game(store, desk)
    if game is None:
        desk.transcript_id = None
        return
    words, share = how_far(store, desk, progress or store.rating_queue.progress(desk.rater))
    take(store, desk, game, words, RATE, share=share)


def next_game(store: Store, desk: DeskState) -> str | None:
    """The id of the game that comes to the desk next; ``None`` when the rater's queue is at its end.

    While a decision waits for games, these come and no others, those skipped once more when nothing else of it is left.
    """
    queue = store.rating_queue
    if desk.handed_over and queue.handed_over_left(desk.rater):
        if (found := queue.next_unrated(desk.rater, is_handed_over_only=True)) is not None:
            return found
        queue.take_back_skips(desk.rater)
        return queue.next_unrated(desk.rater, is_handed_over_only=True)
    return queue.next_unrated(desk.rater, is_assigned_only=not desk.goes_on)


def how_far(store: Store, desk: DeskState, progress: QueueProgress) -> tuple[str, float]:
    """The rater's progress: in words, with the name, and as a share of 0 to 1; for a decision, of its games.

    The navigation, which names the person elsewhere, is folded beside the desk.
    """
    who = shortened(desk.rater, 40)
    if desk.handed_over and (left := store.rating_queue.handed_over_left(desk.rater)):
        total = max(desk.handed_over, left)
        words = f"Game {total - left + 1} of {total} for this decision{_skipped_words(progress)} · {who}"
        return words, (total - left) / total
    words = f"{_progress_words(progress)} · {who}"
    if progress.waiting:
        return words, (progress.assigned - progress.waiting) / progress.assigned
    return words, (progress.rated + progress.discarded) / progress.total


def take(
    store: Store,
    desk: DeskState,
    transcript_id: str,
    words: str,
    mode: DeskMode,
    *,
    share: float = 0.0,
    given: Rating | None = None,
) -> None:
    """Puts a game on the desk, blind, with the draft that there may be.

    Args:
        store: Where the game lies.
        desk: Whose desk.
        transcript_id: Which game.
        words: Progress, or what the rater is about to do.
        mode: What the desk is used for.
        share: How much is done, 0 to 1.
        given: An earlier rating that the form begins with.
    """
    left = desk.data["token"] if desk.data else desk.left
    token = store.ratings.token(desk.rater, transcript_id)
    data = desk_data(
        store.blind.get(transcript_id),
        token=token,
        progress=words,
        storage=_storage(desk.rater),
        share=share,
        mode=mode,
    )
    # In a decision's games, what others gave would tell the decoy from those that nobody has rated.
    if mode is RATE and _is_informed(store, desk, transcript_id, is_told=not desk.handed_over):
        data["seen"] = _SEEN
    # The browser lets go of that form, but keeps what was typed, as it came back with its game.
    data["left"] = left
    if desk.left_words:
        data["error"] = {"id": left, "text": desk.left_words}
    draft = store.drafts.load(token)
    form = read_form({**draft.body, "token": token, "rev": draft.revision}) if draft else None
    if form is None and given is not None:
        form = FilledForm(token, given.score, given.answers, given.comment, rev=1)
    data["draft"] = draft_data(form)
    # Whole or not at all: a later event may end this run in the middle, and its run takes what lies on the desk.
    desk.transcript_id, desk.is_revision, desk.is_linked = transcript_id, mode is not RATE, False
    desk.data, desk.left, desk.left_words = data, None, ""


_SEEN = "You have seen scores or ratings of this game: yours would not be blind, and is told apart. Or say you know it:"


def _is_informed(store: Store, desk: DeskState, transcript_id: str, *, is_told: bool = True) -> bool:
    """Whether a first rating of the game is given after a look at its scores or, ``is_told``, at what others gave."""
    if identity.has_seen_scores(transcript_id):
        return True
    is_shown = is_told and identity.has_seen_ratings(transcript_id)
    return is_shown and any(one.rater != desk.rater for one in store.ratings.latest(transcript_id))


def _storage(rater: str) -> str:
    """Sets the drafts of several raters at one browser apart, without their names."""
    return hashlib.sha256(rater.encode()).hexdigest()[:12]


def _progress_words(progress: QueueProgress) -> str:
    done = progress.rated + progress.discarded
    words = f"Game {min(done + 1, progress.total)} of {progress.total:,}"
    if progress.waiting:
        words = f"Game {progress.assigned - progress.waiting + 1} of {progress.assigned} assigned to you"
    if progress.discarded:
        words += f", {progress.discarded} cannot be rated"
    return words + _skipped_words(progress)


def _skipped_words(progress: QueueProgress) -> str:
    return f", {progress.skipped} skipped" if progress.skipped else ""


def given_words(given: Rating) -> str:
    """The text above a game that was rated before."""
    return f"You gave {given.score} on {local_time(given.created_at)}. The newer rating counts; both are kept."


def is_current(desk: DeskState, token: str | None) -> bool:
    """Whether a message is about the game on the desk."""
    return desk.data is not None and desk.data["token"] == token


def clear(desk: DeskState) -> None:
    """Makes room for the next game; a link to this one has served its purpose."""
    desk.data = None
    state.choose(game=None, revised=None)


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
        informed = not desk.is_revision and _is_informed(store, desk, game)
        given = Rating(game, desk.rater, form.score, form.answers, form.comment, token=form.token, is_informed=informed)
        rival = _save(store, given)
    except NotFoundError:
        _let_go(desk, form.token, GONE)
        return
    except DramaturgError as error:
        tell(desk, words_of(error))
        return
    desk.last, desk.is_last_aside = form.token, False
    if rival is None:
        _kept(store, desk, form.token)
        return
    desk.kept = form.token
    take(store, desk, game, "Two tabs rated this game", CHOOSE, given=given)
    _show(
        desk,
        f"Saved in another tab on {local_time(rival.created_at)}: {rival.score}, which counts. "
        f"Yours, {given.score}, is kept beside it. Which one stands?",
    )


GONE = "Somebody deleted that game. Your answers are kept in case it comes back."
_RATED_ELSEWHERE = "You have rated that game in another tab. The rating stands; My ratings revises it."


def _let_go(desk: DeskState, token: str, words: str) -> None:
    """Makes room for the next game where nothing can be said about the one on the desk any more."""
    clear(desk)
    desk.left, desk.left_words = token, words


def _kept(store: Store, desk: DeskState, token: str) -> None:
    """Confirm a stored form to the rater at once, and free the desk for the next game."""
    desk.kept = token
    if is_current(desk, token):
        clear(desk)
    elif desk.data is not None and not desk.is_revision:
        words, share = how_far(store, desk, store.rating_queue.progress(desk.rater))
        desk.data = desk.data | {"progress": words, "share": share}
    if desk.receipt is not None:
        tell_kept(desk.receipt, token)


def _save(store: Store, rating: Rating) -> Rating | None:
    """Stores a rating once.

    Returns:
        The rating that counts in its place, where another tab saved this form meanwhile with other answers: the rater
        has to say which one stands, and both are stored.
    """
    with store.unguarded().unit(write=True):
        if store.ratings.add(rating):
            return None
        rivals = [one for one in store.ratings.latest(rating.transcript_id) if one.rater == rating.rater]
        if not rivals or _is_same(rivals[0], rating):
            return None
        own = [one for one in store.ratings.of_transcript(rating.transcript_id)[0] if one.rater == rating.rater]
        if not any(_is_same(one, rating) and one.created_at >= rivals[0].created_at for one in own):
            store.ratings.add(replace(rating, token=uuid4().hex), is_past=True)
        return rivals[0]


def _is_same(one: Rating, other: Rating) -> bool:
    return (one.score, one.answers, one.comment) == (other.score, other.answers, other.comment)


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
        tell(desk, words_of(error))


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


def skip(store: Store, desk: DeskState, value: object) -> None:
    """Puts the game aside until nothing else is left."""
    if not is_current(desk, read_token(value)) or not desk.transcript_id:
        return
    try:
        if not desk.is_revision:
            store.rating_queue.skip(desk.rater, desk.transcript_id)
    except DramaturgError as error:
        tell(desk, words_of(error))
        return
    clear(desk)


def change(store: Store, desk: DeskState, value: object) -> None:
    """Opens the game of a form that this rater sent again, with what was given; one put aside is taken back."""
    try:
        game = store.ratings.assigned(desk.rater, read_token(value) or "")
        for aside in store.discards.of(desk.rater):
            if aside.transcript_id == game and aside.reason is not DiscardReason.KNOWN:
                store.discards.undo(aside.id, who=desk.rater)
                take(store, desk, aside.transcript_id, "You took this game back", RATE)
                return
    except DramaturgError as error:
        tell(desk, words_of(error))
        return
    if game is not None:
        state.choose(game=game)


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
        if store.ratings.by_token([given.token]):
            _let_go(desk, given.token, _RATED_ELSEWHERE)
            return
        store.discards.add(game, desk.rater, given.reason, given.note)
    except NotFoundError:
        _let_go(desk, given.token, GONE)
        return
    except DramaturgError as error:
        tell(desk, words_of(error))
        return
    # Who knows a game may see its ratings: only a lead gives it back.
    desk.last, desk.is_last_aside = None if given.reason is DiscardReason.KNOWN else given.token, True
    _kept(store, desk, given.token)


def tell(desk: DeskState, text: str) -> None:
    """Shows the rater why something was not saved."""
    if desk.data is None:
        # No form is on the desk; the browser keeps what it has sent, and sends it again.
        return
    _show(desk, f"Not saved: {text} Your answers are kept.")


def _show(desk: DeskState, text: str) -> None:
    # An id of its own, so that the browser shows the same words again when they are true again.
    desk.data = (desk.data or {}) | {"error": {"id": uuid4().hex, "text": text}}
