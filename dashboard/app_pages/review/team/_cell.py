"""One game in the hands of one rater, opened by a lead: the rating, a decision, the assignment."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.state import TRANSCRIPT
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.ratings import SCORES, Rating
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.rating_teams import CellState, GridCell, GridGame

DONE = "team_done"
"""Where ``act`` leaves what it did, in words, for the next run to show; with whether it went well."""
_DECISION_REASON = "team_decision_reason"
_WORDS = {True: "yes", False: "no", None: "no answer"}


def chosen_cell(store: Store, lead: str, game: GridGame, rater: str) -> None:
    """The rating with its history, and what a lead can do about it and about the game."""
    cell = game.cells.get(rater, GridCell(CellState.NOT_ASSIGNED))
    with st.container(border=True):
        plain(f"{game.name}\n{rater}: {cell.state}")
        st.page_link(
            "app_pages/transcripts/page.py",
            label="Read the game",
            icon=":material/forum:",
            query_params={TRANSCRIPT: game.transcript_id},
        )
        if cell.rating is not None:
            given = [one for one in store.ratings.history(game.transcript_id) if one.rater == rater]
            _rating(cell.rating, given)
        if cell.state in (CellState.NOT_ASSIGNED, CellState.ASSIGNED, CellState.UNDER_WAY):
            _assignment(store, lead, game, rater)
        _decision(store, lead, game)


def _rating(counting: Rating, given: list[Rating]) -> None:
    st.markdown(f"**{counting.score} of 5**, {counting.created_at:%Y-%m-%d %H:%M} UTC")
    answers = [f"{text} {_WORDS[answer]}" for text, answer in zip(QUESTIONS, counting.answers, strict=True)]
    plain("\n".join(answers))
    if counting.comment:
        st.caption("Comment")
        plain(counting.comment)
    if len(given) > 1:
        earlier = ", ".join(f"{one.score} on {one.created_at:%Y-%m-%d}" for one in given if one != counting)
        st.caption(f"Earlier, kept: {earlier}.")


def _assignment(store: Store, lead: str, game: GridGame, rater: str) -> None:
    pair = (game.transcript_id, rater)
    is_assigned = pair in {(one.transcript_id, one.rater) for one in store.rating_assignments.current()}
    label = "Withdraw the assignment" if is_assigned else "Assign it"
    if st.button(label, key="team_assign_one"):
        if is_assigned:
            act(lambda: store.rating_assignments.withdraw([pair], who=lead), f"{rater} need not rate {game.name}.")
        else:
            act(lambda: store.rating_assignments.add([pair], who=lead), f"{rater} is to rate {game.name}.")


def _decision(store: Store, lead: str, game: GridGame) -> None:
    if game.decision is not None:
        held = game.decision
        plain(f"Decided by {held.who} on {held.created_at:%Y-%m-%d}: {held.score} of 5 counts. {held.reason}")
        if st.button("Undo the decision", icon=":material/undo:", key="team_undo_decision"):
            act(lambda: store.engagement_decisions.undo(held.id, who=lead), f"The ratings of {game.name} count again.")
        return
    if not game.is_disputed:
        return
    scores = ", ".join(f"{one.rater} {one.score}" for one in game.ratings)
    with st.expander(f"Decide: {counted(game.spread, 'point')} apart"):
        plain(scores)
        with st.form("team_decide", border=False):
            score = st.segmented_control("The score that counts", SCORES, key="team_decided_score")
            reason = st.text_input("Why?", key=_DECISION_REASON, max_chars=2_000)
            st.caption("It counts in place of the ratings, in all metrics and verdicts. They stay; it can be undone.")
            if st.form_submit_button("Decide", type="primary", key="team_decide_button"):
                if score is None:
                    st.warning("Choose a score from 1 to 5.")
                else:
                    act(
                        lambda: store.engagement_decisions.add(game.transcript_id, score, who=lead, reason=reason),
                        f"{score} of 5 counts for {game.name}.",
                    )


def act(do: Callable[[], object], words: str) -> None:
    """Does something that leads may do, and draws the page again with what became of it.

    Args:
        do: Writes to the store.
        words: What is so afterwards; may hold untrusted text.
    """
    try:
        identity.require(Action.EDIT)
        do()
    except DramaturgError as error:
        st.session_state[DONE] = (str(error), False)
    else:
        st.session_state[DONE] = (words, True)
    st.rerun()
