"""The rating desk of one rater: the game on it, the rater's progress, and any earlier rating or draft."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.app_pages.review.rating_desk import RATE, REVISE, DeskMode, FilledForm, desk_data, draft_data, read_form
from dashboard.app_pages.review.save_before_draw import SAVING
from dashboard.shared import state
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.rating_desk import QueueProgress
from evaluation.text.display import counted

_DESK = "review_seat"


@dataclass(slots=True)
class DeskState:
    """The state of one session's desk between reruns.

    Attributes:
        data: What the component draws; ``None`` when no game is on the desk.
        skipped: Ids of the games put aside until nothing else is left.
        is_revision: Whether the rater opened a game again that was rated before.
        goes_on: Whether the rater wants more games than those that were assigned.
        kept: The token of the form that was stored last, for the browser to know that its form has arrived.
        receipt: Where the browser is told that a form is stored, before the next game is drawn.
    """

    rater: str
    transcript_id: str | None = None
    data: dict[str, Any] | None = None
    skipped: tuple[str, ...] = ()
    is_revision: bool = False
    goes_on: bool = False
    kept: str | None = None
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
    # Whoever waits for the answer that a form is saved waits for this page, too.
    SAVING.give_way()
    desk.transcript_id = next_game(store, desk)
    if desk.transcript_id is not None:
        words, share = how_far(desk, progress or store.rating_queue.progress(desk.rater))
        take(store, desk, desk.transcript_id, words, RATE, share=share)


def next_game(store: Store, desk: DeskState) -> str | None:
    """The id of the game that comes to the desk next; ``None`` when the rater's queue is at its end."""
    return store.rating_queue.next_unrated(desk.rater, skip=desk.skipped, is_assigned_only=not desk.goes_on)


def how_far(desk: DeskState, progress: QueueProgress) -> tuple[str, float]:
    """The rater's progress: in words, and as a share of 0 to 1."""
    words = _progress_words(desk, progress)
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
    desk.transcript_id, desk.is_revision = transcript_id, mode is REVISE
    token = store.ratings.token(desk.rater, transcript_id)
    desk.data = desk_data(
        store.blind.get(transcript_id),
        token=token,
        progress=words,
        storage=_storage(desk.rater),
        share=share,
        mode=mode,
    )
    draft = store.drafts.load(token)
    form = read_form({**draft.body, "token": token, "rev": draft.revision}) if draft else None
    if form is None and given is not None:
        form = FilledForm(token, given.score, given.answers, given.comment, rev=1)
    desk.data["draft"] = draft_data(form)


def _storage(rater: str) -> str:
    """Sets the drafts of several raters at one browser apart, without their names."""
    return hashlib.sha256(rater.encode()).hexdigest()[:12]


def _progress_words(desk: DeskState, progress: QueueProgress) -> str:
    if progress.waiting:
        words = f"{progress.assigned - progress.waiting} of {counted(progress.assigned, 'assigned game')} done by you"
    else:
        words = f"{progress.rated} of {counted(progress.total, 'game')} rated by you"
    if progress.discarded:
        words += f", {progress.discarded} cannot be rated"
    if desk.skipped:
        words += f", {len(desk.skipped)} skipped"
    return words


def given_words(given: Rating) -> str:
    """The text above a game that was rated before."""
    return f"You gave {given.score} on {given.created_at:%Y-%m-%d}. The newer rating counts; both are kept."


def is_current(desk: DeskState, token: str | None) -> bool:
    """Whether a message is about the game on the desk."""
    return desk.data is not None and desk.data["token"] == token


def clear(desk: DeskState) -> None:
    """Makes room for the next game; a link to this one has served its purpose."""
    desk.data = None
    state.choose(game=None)
