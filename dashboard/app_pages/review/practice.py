"""Practice on the Review page: a game on the desk, then the rater's rating beside the reference, with reasons."""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard.app_pages.review import desk_state, drafts_and_saving
from dashboard.app_pages.review import sections as parts
from dashboard.app_pages.review.rating_desk import PRACTISE, desk_data, read_form, read_token
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.rating_desk.practice import (
    PracticeGame,
    PracticeRating,
    PracticeResult,
    practice_games,
    practice_results,
)
from evaluation.ratings import Rating
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS
from evaluation.store import Store
from evaluation.text.display import counted

_KEY = "practice_desk"
_DESK = "practice_seat"
_SHOWN = "practice_shown"


def practice(store: Store, rater: str) -> None:
    """The next practice game on the desk, the comparison after it, and the sum of them at the end."""
    given = {one.game: one for one in store.practice.list(rater)}
    games = {game.id: game for game in practice_games()}
    shown = st.session_state.get(_SHOWN)
    if shown in games and shown in given:
        _comparison(games[shown], given[shown], left=len(games.keys() - given.keys()))
        return
    desk = desk_state.desk_of(rater, _DESK)
    # A game that was done in another window meanwhile is not asked for again.
    if desk.data is None or desk.transcript_id in given:
        waiting = [game for game in games.values() if game.id not in given]
        if not waiting:
            _summary(store, rater, list(games.values()))
            return
        desk = st.session_state[_DESK] = desk_state.DeskState(rater)
        take(desk, waiting[0], done=len(given), total=len(games))
    parts.mount(store, desk, _KEY, on_submit=submit, on_skip=leave)


def take(desk: desk_state.DeskState, game: PracticeGame, *, done: int, total: int) -> None:
    """Puts a practice game on the desk."""
    desk.transcript_id = game.id
    desk.data = desk_data(
        game.transcript,
        token=_token(desk.rater, game),
        progress=f"Practice {min(done, total - 1) + 1} of {total}. It counts for nothing, and your lead can see it.",
        storage=f"practice-{desk_state.storage(desk.rater)}",
        share=done / total,
        mode=PRACTISE,
    )


def _token(rater: str, game: PracticeGame) -> str:
    # The same after a reload, so that the browser finds what was typed, and what is sent twice is kept once.
    return hashlib.sha256(f"practice {game.id} {game.version} {rater}".encode()).hexdigest()[:32]


def submit(store: Store, desk: desk_state.DeskState, value: object) -> None:
    """Keeps the practice rating, once, and shows the reference."""
    form = read_form(value)
    if form is None or form.score is None or not desk_state.is_current(desk, form.token) or desk.transcript_id is None:
        return
    rating = Rating(desk.transcript_id, desk.rater, form.score, form.answers, form.comment, token=form.token)
    try:
        identity.require(Action.RATE)
        store.practice.add(rating)
    except DramaturgError as error:
        drafts_and_saving.tell(desk, str(error))
        return
    st.session_state[_SHOWN] = desk.transcript_id
    desk.kept = form.token
    desk.data = None


def leave(desk: desk_state.DeskState, value: object) -> None:
    """Goes back to the real desk."""
    if desk_state.is_current(desk, read_token(value)):
        desk.data = None
        st.session_state[parts.VIEW] = parts.DESK


def _comparison(game: PracticeGame, given: PracticeRating, *, left: int) -> None:
    reference = game.reference
    gap = given.score - reference.score
    words = (
        "the same as the reference."
        if not gap
        else f"{counted(abs(gap), 'point')} {'above' if gap > 0 else 'below'} the reference, {reference.score}."
    )
    show = st.success if not gap else st.info if abs(gap) == 1 else st.warning
    show(f"You gave {given.score}, {words}", icon=":material/compare_arrows:")
    st.markdown(f"**Why {reference.score}, {SCALE_POINTS[reference.score - 1].name}.** {reference.why}")
    if abs(gap) == 1:
        st.caption("One point apart is common among careful raters. Read the reason, and keep your own eye.")
    for number, question in enumerate(QUESTIONS):
        mine, theirs = given.answers[number], reference.answers[number]
        mark = "untouched" if mine is None else "same" if mine == theirs else "differs"
        icon = {"same": "✓", "differs": "✗", "untouched": "–"}[mark]
        with st.container(border=True):
            st.markdown(f"**{number + 1}. {question}**")
            st.markdown(f"{icon} You: {_word(mine)}. Reference: {_word(theirs)}.\n\n{reference.reasons[number]}")
    if given.comment:
        st.caption("Your comment")
        plain(given.comment)
    label = "Next practice game" if left else "See how you did"
    st.button(label, type="primary", key="practice_next", on_click=_forget_shown)


def _word(answer: bool | None) -> str:
    return "no answer" if answer is None else "yes" if answer else "no"


def _forget_shown() -> None:
    st.session_state.pop(_SHOWN, None)


def _summary(store: Store, rater: str, games: list[PracticeGame]) -> None:
    result = next(iter(practice_results(store.practice.list(rater))), None)
    if result is None:
        st.info("The practice games have changed since you did them.")
        return
    st.success(
        f"Practice is done. Your score was the reference's in {result.equal} of {counted(result.games, 'game')} and at "
        f"most one point away in {result.near}; {result.same_answers} of {result.answered} answers were the same.",
        icon=":material/check:",
    )
    st.markdown(lean_words(result))
    with st.container(horizontal=True):
        st.button("Go to the desk", type="primary", key="practice_done", on_click=parts.to_desk)
        for number, game in enumerate(games, start=1):
            st.button(f"Look at game {number} again", key=f"practice_again_{number}", on_click=_show, args=(game.id,))


def lean_words(result: PracticeResult) -> str:
    """Whether somebody scores higher or lower than the references, in words."""
    if abs(result.bias) < 0.5:
        return "You use the scale as it is meant."
    side = "higher" if result.bias > 0 else "lower"
    return f"On average you score {abs(result.bias):.1f} points {side} than the references: read *{parts.GUIDE}* again."


def _show(game: str) -> None:
    st.session_state[_SHOWN] = game
