"""The Review page: who rates, the desk with its callbacks, and the ratings that a person gave before."""

from __future__ import annotations

import hashlib
import time
import uuid
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import identity
from dashboard.components.messages import plain
from dashboard.components.rating_desk import FilledForm, desk_data, draft_data, rating_desk, read_form, read_token
from dashboard.components.status_table import status_table
from dashboard.formatting import counted, duration_text
from dashboard.queries import RatingProgress, rating_progress
from evaluation.errors import DramaturgError, InputError
from evaluation.ratings import Rating
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS
from evaluation.store import Store

DESK = "Rate"
OWN = "My ratings"
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
        skipped: Ids of the games put aside.
        saved: How many forms were saved since ``started`` (monotonic seconds).
    """

    rater: str
    transcript_id: str | None = None
    data: dict[str, Any] | None = None
    skipped: tuple[str, ...] = ()
    saved: int = 0
    started: float = 0.0
    errors: int = 0


def _seat(rater: str) -> Seat:
    seat = st.session_state.get(_SEAT)
    if not isinstance(seat, Seat) or seat.rater != rater:
        seat = st.session_state[_SEAT] = Seat(rater, started=time.monotonic())
    return seat


def desk(store: Store, rater: str) -> None:
    """The desk with the next unrated transcript, or what to do when there is none.

    No fragment: a server that was restarted does not know fragments of pages that are open, and would drop the form.
    """
    seat = _seat(rater)
    if seat.data is None:
        take_next(store, seat)
    if seat.data is None:
        _nothing_left(seat, rating_progress(store, rater))
        return
    rating_desk(
        seat.data,
        key=_KEY,
        on_submit=lambda: submit(store, seat, st.session_state[_KEY].submit),
        on_draft=lambda: keep_draft(store, seat, st.session_state[_KEY].draft),
        on_skip=lambda: skip(seat, st.session_state[_KEY].skip),
    )


def take_next(store: Store, seat: Seat) -> None:
    """Puts the next unrated game on the desk, with the draft that there may be; none is left when there is no data."""
    seat.transcript_id = store.ratings.next_unrated(seat.rater, skip=seat.skipped)
    if seat.transcript_id is None:
        return
    token = store.ratings.token(seat.rater, seat.transcript_id)
    seat.data = desk_data(
        store.transcripts.get(seat.transcript_id),
        token=token,
        progress=_progress_words(seat, rating_progress(store, seat.rater)),
        storage=hashlib.sha256(seat.rater.encode()).hexdigest()[:12],
    )
    draft = store.drafts.load(token)
    form = read_form({**draft.body, "token": token, "rev": draft.revision}) if draft else None
    seat.data["draft"] = draft_data(form)


def _progress_words(seat: Seat, progress: RatingProgress) -> str:
    words = f"{progress.rated} of {counted(progress.total, 'game')} rated by you"
    if seat.skipped:
        words += f", {len(seat.skipped)} skipped"
    if seat.saved:
        words += f", {duration_text((time.monotonic() - seat.started) / seat.saved)} each today"
    return words


def _nothing_left(seat: Seat, progress: RatingProgress) -> None:
    if seat.skipped:
        st.success(f"Nothing new is left: {len(seat.skipped)} skipped, {progress.rated} of {progress.total} rated.")
        if st.button("Go through the skipped ones", type="primary", key="unskip"):
            seat.skipped = ()
            st.rerun()
        return
    st.success(f"You have rated all {counted(progress.total, 'game')}. Thank you.", icon=":material/check:")
    st.page_link("app_pages/overview.py", label="See what it changed", icon=":material/dashboard:")


def submit(store: Store, seat: Seat, value: object) -> None:
    """Saves the form that the browser sent, once, and makes room for the next game."""
    form = read_form(value)
    if form is None or form.score is None or not _is_current(seat, form.token):
        return
    assert seat.transcript_id is not None
    try:
        store.ratings.add(
            Rating(seat.transcript_id, seat.rater, form.score, form.answers, form.comment, token=form.token)
        )
    except DramaturgError as error:
        _tell(seat, str(error))
        return
    seat.saved += 1
    seat.data = None


def _is_current(seat: Seat, token: str | None) -> bool:
    # A form that arrives a second time belongs to the game before: it is saved, and the next one is on the desk.
    return seat.data is not None and seat.data["token"] == token


def keep_draft(store: Store, seat: Seat, value: object) -> None:
    """Stores what the browser has in its form so far."""
    form = read_form(value)
    if form is not None and _is_current(seat, form.token):
        store.drafts.save(form.token, form.rev, _body(form))


def _body(form: FilledForm) -> dict[str, Any]:
    return {"score": form.score, "answers": list(form.answers), "comment": form.comment}


def skip(seat: Seat, value: object) -> None:
    """Puts the game aside until nothing else is left."""
    if _is_current(seat, read_token(value)) and seat.transcript_id:
        seat.skipped = (*seat.skipped, seat.transcript_id)
        seat.data = None


def _tell(seat: Seat, text: str) -> None:
    seat.errors += 1
    assert seat.data is not None
    seat.data = seat.data | {"error": {"count": seat.errors, "text": f"Not saved: {text} Your answers are kept."}}


def own_ratings(store: Store, rater: str) -> None:
    """What the person rated before, and a form to revise one of them. Both ratings are kept."""
    ratings = store.ratings.all()
    own = ratings[(ratings["rater"] == rater) & ratings["is_latest"]].reset_index(drop=True)
    if own.empty:
        st.info("You have not rated a game yet.")
        return
    games = dict(zip(*(store.transcripts.summaries()[name] for name in ("transcript_id", "game_id")), strict=True))
    frame = own.assign(
        Game=own["transcript_id"].map(games), Score=own["score"], Comment=own["comment"], Rated=own["created_at"]
    )[["Game", "Score", "Comment", "Rated"]]
    st.caption(f"{counted(len(own), 'game')} rated. Select one to revise it.")
    event = status_table(frame, "Your ratings", on_select="rerun", selection_mode="single-row", key="own_table")
    if event.selection.rows:
        _revision_form(store, rater, own.iloc[event.selection.rows[0]].to_dict())


def _revision_form(store: Store, rater: str, given: dict[str, Any]) -> None:
    with st.form("revision"):
        st.subheader("Revise this rating", anchor=False)
        score = st.select_slider(
            "Score",
            [point.score for point in SCALE_POINTS],
            value=int(given["score"]),
            format_func=lambda value: f"{value} {SCALE_POINTS[value - 1].name}",
        )
        answers = [
            st.segmented_control(question, ["yes", "no"], default=_word(given[f"answer_{number}"]))
            for number, question in enumerate(QUESTIONS, start=1)
        ]
        comment = st.text_area("Comment", value=given["comment"], max_chars=20_000)
        token = st.session_state.setdefault("revision_token", uuid.uuid4().hex)
        if st.form_submit_button("Save the revision", type="primary"):
            revised = Rating(given["transcript_id"], rater, score, tuple(map(_answer, answers)), comment, token=token)
            store.ratings.add(revised)
            st.session_state.pop("revision_token")
            if revised.breaks_one_way_rule:
                st.warning(f"Saved, though {revised.yes_count} yes promise a score of at least 3.")
            else:
                st.success("Saved. Both ratings are kept; the newer one counts.")


def _word(value: object) -> str | None:
    return ("yes" if value else "no") if isinstance(value, bool) else None


def _answer(word: str | None) -> bool | None:
    return None if word is None else word == "yes"
