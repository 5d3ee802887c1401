"""The decision of a lead on the score of a game whose raters lie apart, and what became of the last change."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain, words_of
from evaluation.access import Action
from evaluation.errors import ConflictError, DramaturgError
from evaluation.ratings import SCORES, EngagementDecision
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.ratings import GridGame

_DONE = "team_done"
"""Where :func:`act` leaves what it did, in words, for the next run to show; with whether it went well."""
_TOLD_AT = "team_told_at"
_DOUBLE_CLICK_SECONDS = 2.0
_LEAD = "lead_name"


def told() -> None:
    """Say what became of the last change, once; the second click of a double click does not take it away."""
    if (said := st.session_state.get(_DONE)) is not None:
        if monotonic() - st.session_state.setdefault(_TOLD_AT, monotonic()) > _DOUBLE_CLICK_SECONDS:
            del st.session_state[_DONE]
            return
        words, is_fine = said
        if is_fine:
            st.success("Stored.", icon=":material/check:")
        else:
            st.error("Nothing was stored.", icon=":material/error:")
        plain(words)


def decision(store: Store, lead: str, game: GridGame, after: Callable[[], None], part: str = "") -> None:
    """The decision on the score of a game with a way to undo it, else the form where raters lie apart.

    Args:
        store: Where decisions are kept.
        lead: Who undoes one, unless a name was typed to decide.
        game: With its ratings.
        after: Called once something was stored.
        part: Tells the fields of several games on one page apart.
    """
    if game.decision is not None:
        held = game.decision
        wanted = st.session_state.get(f"team_decided_score{part}")
        if st.session_state.get(f"team_decide_button{part}") and wanted not in (None, held.score):
            act(lambda: _refuse(held), "", after)
        plain(f"Decided by {held.who} on {local_time(held.created_at)}: {held.score} of 5 counts. {held.reason}")
        if st.button("Undo the decision", icon=":material/undo:", key=f"team_undo_decision{part}"):
            words = f"The ratings of {game.name} count again."
            who = str(st.session_state.get(_LEAD) or lead)
            act(lambda: store.engagement_decisions.undo(held.id, who=who), words, after)
        return
    if not game.is_disputed:
        return
    scores = ", ".join(f"{one.rater} {one.score}" for one in game.ratings)
    with st.expander(f"Decide: {counted(game.spread, 'point')} apart", expanded=not part, key=f"team_decide_box{part}"):
        plain(scores)
        with st.form(f"team_decide{part}", border=False):
            score = st.segmented_control("The score that counts", SCORES, key=f"team_decided_score{part}")
            reason = st.text_input("Why?", key=f"team_decision_reason{part}")
            who = identity.decider_name() or _lead_name(part)
            st.caption("It counts in place of the ratings, in all metrics and verdicts. They stay; it can be undone.")
            if st.form_submit_button("Decide", type="primary", key=f"team_decide_button{part}"):
                if score is None or not who.strip():
                    st.warning("Choose a score from 1 to 5." if score is None else "Enter your name.")
                else:
                    act(
                        lambda: store.engagement_decisions.add(
                            game.transcript_id, score, who=identity.name_among(who, ()), reason=reason
                        ),
                        f"{score} of 5 counts for {game.name}.",
                        after,
                    )


def _refuse(held: EngagementDecision) -> None:
    """Refuse a decision from a form that another tab overtook."""
    raise ConflictError(
        f"{held.who} decided {held.score} of 5 in the meantime: {held.reason}",
        remedy="Undo that decision first to put yours in its place.",
    )


def _lead_name(part: str) -> str:
    """A name for decisions of a lead who does not rate, to whom ratings would be hidden under a rater's name."""
    held = st.text_input("Your name (required)", st.session_state.get(_LEAD, ""), key=f"team_decider{part}")
    st.session_state[_LEAD] = held
    return str(held)


def act(do: Callable[[], object], words: str, after: Callable[[], None]) -> None:
    """Does something that leads may do, and draws the page again with what became of it.

    Args:
        do: Writes to the store.
        words: What is so afterwards; may hold untrusted text.
        after: Called once it is done.
    """
    st.session_state.pop(_TOLD_AT, None)
    try:
        identity.require(Action.EDIT)
        do()
    except DramaturgError as error:
        st.session_state[_DONE] = (words_of(error), False)
    else:
        st.session_state[_DONE] = (words, True)
        after()
    st.rerun()
