"""The Review page: who rates, and the desk with its callbacks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import identity, state
from dashboard.components.messages import plain
from dashboard.components.rating_desk import (
    RATE,
    REVISE,
    DeskMode,
    FilledForm,
    desk_data,
    draft_data,
    rating_desk,
    read_discard,
    read_form,
    read_token,
    tell_kept,
)
from dashboard.formatting import counted, duration_text
from dashboard.precedence import SAVING
from evaluation.access import Action
from evaluation.desk.pace import pace
from evaluation.errors import DramaturgError, InputError
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.ratings import QueueProgress

VIEW = "desk"
"""The key, and query parameter, of the page's view."""

DESK = "Rate"
OWN = "My ratings"
GUIDE = "How to rate"
PRACTICE = "Practice"
STYLE = "Who speaks?"
RECORDS = "Sheets and records"
VIEWS = (DESK, OWN, GUIDE, PRACTICE, STYLE, RECORDS)

_TODAY = timedelta(hours=12)
_KEY = "rating_desk"
_SEAT = "review_seat"


def ask_for_name() -> None:
    """Asks once who rates; the browser keeps the name from then on."""
    st.markdown(
        "You read a game and say how good it was to watch. Scores, roles and the prompt behind it stay hidden until "
        "you have rated it."
    )
    with st.form("rater_name", width=420):
        name = st.text_input("Your name", max_chars=200, help="Your ratings are kept under this name.")
        if st.form_submit_button("Start", type="primary"):
            try:
                identity.use_name(name)
            except InputError as error:
                st.error("That name cannot be used.")
                plain(str(error))
            else:
                st.rerun()


@dataclass(slots=True)
class Seat:
    """What one session's desk holds between reruns.

    Attributes:
        data: What the component draws; ``None`` when no game is on the desk.
        skipped: Ids of the games put aside until nothing else is left.
        is_revision: Whether the game was rated before.
        kept: The token of the form that was stored last, for the browser to know that its form has arrived.
        receipt: Where the browser is told that a form is stored, before the next game is drawn.
    """

    rater: str
    transcript_id: str | None = None
    data: dict[str, Any] | None = None
    skipped: tuple[str, ...] = ()
    is_revision: bool = False
    kept: str | None = None
    receipt: DeltaGenerator | None = None


def seat_of(rater: str) -> Seat:
    """This session's desk; an empty one for another rater than before."""
    seat = st.session_state.get(_SEAT)
    if not isinstance(seat, Seat) or seat.rater != rater:
        seat = st.session_state[_SEAT] = Seat(rater)
    return seat


def desk(store: Store, rater: str, progress: QueueProgress, *, lowered: int = 0) -> None:
    """The desk with the next unrated transcript, or what to do when there is none, ``lowered`` by so many pixels.

    No fragment: a server that was restarted does not know fragments of pages that are open, and would drop the form.
    """
    seat = seat_of(rater)
    if seat.data is None:
        take_next(store, seat, progress)
    if seat.data is None:
        _nothing_left(seat, progress)
        return
    mount(store, seat, _KEY, on_submit=submit, on_skip=skip, lowered=lowered)


def mount(
    store: Store,
    seat: Seat,
    key: str,
    *,
    on_submit: Callable[[Store, Seat, object], None],
    on_skip: Callable[[Seat, object], None],
    lowered: int = 0,
) -> None:
    """Draws the desk with the game of ``seat``; what comes back goes to the functions."""
    assert seat.data is not None
    rating_desk(
        seat.data | {"above": seat.data["above"] + lowered, "kept": seat.kept},
        key=key,
        on_submit=lambda: on_submit(store, seat, st.session_state[key].submit),
        on_draft=lambda: keep_draft(store, seat, st.session_state[key].draft),
        on_skip=lambda: on_skip(seat, st.session_state[key].skip),
        on_discard=lambda: discard(store, seat, st.session_state[key].discard),
    )
    seat.receipt = st.empty()


def take_next(store: Store, seat: Seat, progress: QueueProgress | None = None) -> None:
    """Puts the next unrated game on the desk, with the draft that there may be; none is left when there is no data.

    Args:
        store: Where the games lie.
        seat: Whose desk.
        progress: How far the rater is, where that was read just now.
    """
    seat.transcript_id = store.ratings.next_unrated(seat.rater, skip=seat.skipped)
    if seat.transcript_id is not None:
        words, share = _how_far(store, seat, progress or store.ratings.progress(seat.rater))
        take(store, seat, seat.transcript_id, words, RATE, share=share)


def _how_far(store: Store, seat: Seat, progress: QueueProgress) -> tuple[str, float]:
    words = _progress_words(seat, progress, store.ratings.times(seat.rater, datetime.now(UTC) - _TODAY))
    return words, (progress.rated + progress.discarded) / progress.total


def take(
    store: Store,
    seat: Seat,
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
        seat: Whose desk.
        transcript_id: Which game.
        words: Progress, or what the rater is about to do.
        mode: What the desk is used for.
        share: How much is done, 0 to 1.
        given: An earlier rating that the form begins with.
    """
    seat.transcript_id, seat.is_revision = transcript_id, mode is REVISE
    token = store.ratings.token(seat.rater, transcript_id)
    seat.data = desk_data(
        store.blind.get(transcript_id),
        token=token,
        progress=words,
        storage=storage(seat.rater),
        share=share,
        mode=mode,
    )
    draft = store.drafts.load(token)
    form = read_form({**draft.body, "token": token, "rev": draft.revision}) if draft else None
    if form is None and given is not None:
        form = FilledForm(token, given.score, given.answers, given.comment, rev=1)
    seat.data["draft"] = draft_data(form)


def storage(rater: str) -> str:
    """Sets the drafts of several raters at one browser apart, without their names."""
    return hashlib.sha256(rater.encode()).hexdigest()[:12]


def _progress_words(seat: Seat, progress: QueueProgress, times: list[datetime]) -> str:
    words = f"{progress.rated} of {counted(progress.total, 'game')} rated by you"
    if progress.discarded:
        words += f", {progress.discarded} cannot be rated"
    if seat.skipped:
        words += f", {len(seat.skipped)} skipped"
    if (each := pace(times)) is not None:
        left = duration_text(each.total_seconds() * progress.left)
        words += f", {duration_text(each.total_seconds())} each, about {left} to go"
    return words


def _nothing_left(seat: Seat, progress: QueueProgress) -> None:
    aside = f" You said of {progress.discarded} that they cannot be rated." if progress.discarded else ""
    if seat.skipped:
        st.success(f"Nothing new is left: {len(seat.skipped)} skipped, {progress.rated} of {progress.total} rated.")
        if st.button("Go through the skipped ones", type="primary", key="unskip"):
            seat.skipped = ()
            st.rerun()
        return
    if progress.discarded:
        st.success(f"You have rated {progress.rated} of {counted(progress.total, 'game')}.{aside}")
        return
    st.success(f"You have rated all {counted(progress.total, 'game')}. Thank you.", icon=":material/check:")
    if identity.allowed(Action.EDIT):
        st.page_link("app_pages/overview.py", label="See what it changed", icon=":material/dashboard:")


def submit(store: Store, seat: Seat, value: object) -> None:
    """Saves the form that the browser sent, once, and makes room for the next game."""
    form = read_form(value)
    game = game_of(store, seat, form.token) if form else None
    if form is None or form.score is None or game is None:
        return
    try:
        identity.require(Action.RATE)
        with SAVING.urgent():
            _save(store, Rating(game, seat.rater, form.score, form.answers, form.comment, token=form.token))
    except DramaturgError as error:
        tell(seat, str(error))
        return
    _kept(store, seat, form.token)


def _kept(store: Store, seat: Seat, token: str) -> None:
    """What was sent is stored for good: the rater hears of it at once, and the desk is free for the next game."""
    seat.kept = token
    if is_current(seat, token):
        _clear(seat)
    elif seat.data is not None and not seat.is_revision:
        words, share = _how_far(store, seat, store.ratings.progress(seat.rater))
        seat.data = seat.data | {"progress": words, "share": share}
    if seat.receipt is not None:
        tell_kept(seat.receipt, token)
    SAVING.give_way()


def _clear(seat: Seat) -> None:
    seat.data = None
    state.choose(game=None)


def given_words(given: Rating) -> str:
    """What stands above a game that was rated before."""
    return f"You gave {given.score} on {given.created_at:%Y-%m-%d}. The newer rating counts; both are kept."


def _save(store: Store, rating: Rating) -> None:
    """Stores a rating once. Where another window saved this form meanwhile with other answers, it is a revision."""
    with store.unguarded().unit(write=True):
        if store.ratings.add(rating):
            return
        held = store.ratings.by_token([rating.token])[rating.token]
        if (held.score, held.answers, held.comment) != (rating.score, rating.answers, rating.comment):
            store.ratings.add(replace(rating, token=store.ratings.token(rating.rater, rating.transcript_id)))


def is_current(seat: Seat, token: str | None) -> bool:
    """Whether a message is about the game on the desk."""
    return seat.data is not None and seat.data["token"] == token


def game_of(store: Store, seat: Seat, token: str) -> str | None:
    """The game that a form is about: the one on the desk, or one that this rater was given before.

    A form may arrive after the next game is on the desk: sent a second time, or filled in before the server was
    restarted and another game came to the desk of the new session. What a rater has filled in is never dropped.
    """
    return seat.transcript_id if is_current(seat, token) else store.ratings.assigned(seat.rater, token)


def keep_draft(store: Store, seat: Seat, value: object) -> None:
    """Stores what the browser has in its form so far."""
    form = read_form(value)
    if form is not None and game_of(store, seat, form.token) is not None:
        store.drafts.save(form.token, form.rev, _body(form))


def _body(form: FilledForm) -> dict[str, Any]:
    return {"score": form.score, "answers": list(form.answers), "comment": form.comment}


def skip(seat: Seat, value: object) -> None:
    """Puts the game aside until nothing else is left."""
    if is_current(seat, read_token(value)) and seat.transcript_id:
        if not seat.is_revision:
            seat.skipped = (*seat.skipped, seat.transcript_id)
        _clear(seat)


def discard(store: Store, seat: Seat, value: object) -> None:
    """Takes the game out of this rater's queue for good, with the reason."""
    given = read_discard(value)
    game = game_of(store, seat, given.token) if given else None
    if given is None or game is None:
        return
    try:
        identity.require(Action.RATE)
        store.discards.add(game, seat.rater, given.reason, given.note)
    except DramaturgError as error:
        tell(seat, str(error))
        return
    _kept(store, seat, given.token)


def tell(seat: Seat, text: str) -> None:
    """Shows the rater why something was not saved."""
    assert seat.data is not None
    # An id of its own, so that the browser shows the same words again when they are true again.
    seat.data = seat.data | {"error": {"id": uuid4().hex, "text": f"Not saved: {text} Your answers are kept."}}
