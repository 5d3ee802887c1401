"""The decision of a lead on the score of a game whose raters lie apart, and what became of the last change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TypeVar

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain, words_of
from dashboard.shared.state import begun_text, keep_begun
from evaluation.access import Action
from evaluation.errors import ConflictError, DramaturgError
from evaluation.ratings import SCORES, EngagementDecision
from evaluation.store import Store
from evaluation.workflows.ratings import GridGame

_DONE = "team_done"
"""Where :func:`act` leaves what it did for the next run to show."""
_TOLD_AT = "team_told_at"
_DOUBLE_CLICK_SECONDS = 2.0
_UNDO_SECONDS = 60.0
_LEAD = "lead_name"
_SCORE, _REASON = "team_decided_score", "team_decision_reason"
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class _Told:
    """The outcome of a change: its words, untrusted, whether it went well, where it is said, and what takes it back."""

    words: str
    is_fine: bool
    place: str = ""
    take_back: Callable[[], None] | None = None


def told(place: str = "") -> None:
    """Say what became of the last change: once, or for a minute where it can be undone.

    The second click of a double click does not take it away.

    Args:
        place: The form that it is said below; empty for the top of the section.
    """
    said: _Told | None = st.session_state.get(_DONE)
    if said is not None and said.place == place:
        told_for = monotonic() - st.session_state.setdefault(_TOLD_AT, monotonic())
        if told_for > (_UNDO_SECONDS if said.take_back else _DOUBLE_CLICK_SECONDS):
            del st.session_state[_DONE]
            return
        if not said.is_fine:
            st.error("Nothing was stored.", icon=":material/error:")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if said.is_fine:
                st.badge("✓ Stored", color="green")
            plain(said.words)
            if said.take_back:
                st.button("Undo", icon=":material/undo:", key="team_undo_told", on_click=said.take_back)


def decision(store: Store, lead: str, game: GridGame, after: Callable[[], None], *, is_open: bool = True) -> None:
    """The decision on the score of a game with a way to undo it, else the form where raters lie apart.

    Args:
        store: Where decisions are kept.
        lead: Who undoes one, unless a name was typed to decide.
        game: With its ratings.
        after: Called once something was stored.
        is_open: Whether the form is unfolded, not one of several.
    """
    of, score_key, reason_key = game.transcript_id, *(f"{key}_{game.transcript_id}" for key in (_SCORE, _REASON))
    if game.decision is not None:
        held = game.decision
        is_other = st.session_state.get(score_key) not in (None, held.score)
        if is_other and st.session_state.get(f"team_decide_button_{of}"):
            act(lambda: _refuse(held), "", after)
        plain(f"Decided by {held.who} on {local_time(held.created_at)}: {held.score} of 5 counts. {held.reason}")
        if st.button("Undo the decision", icon=":material/undo:", key=f"team_undo_decision_{of}"):
            _undo(store, lead, game, held.id, after)
            st.rerun()
        return
    if not game.is_disputed:
        return
    begun = any(st.session_state.get(key) for key in (score_key, reason_key))
    with st.expander("Decide the score", expanded=is_open or begun, key=f"team_decide_box_{of}"):
        plain(", ".join(f"{one.rater} {one.score}" for one in game.ratings))
        # Above the fields that it asks for: the button may be the last line of the screen.
        asked_for = st.container()
        keep_begun(score_key, SCORES)
        score = st.segmented_control("The score that counts (required)", SCORES, key=score_key, persist_state="session")
        reason = begun_text("Why? (required)", reason_key)
        who = identity.decider_name()
        if who:
            plain(f"You decide as {who}.")
        who = who or _lead_name(of)
        st.caption("It counts in place of the ratings, in all metrics and verdicts. They stay; it can be undone.")
        if st.button("Decide", type="primary", key=f"team_decide_button_{of}"):
            asked = {"Choose a score from 1 to 5.": score, "Say why.": reason.strip(), "Enter your name.": who.strip()}
            if missing := [words for words, given in asked.items() if not given]:
                asked_for.error(" ".join(missing))
            else:
                act(
                    lambda: store.engagement_decisions.add(
                        of, float(score or 0), who=identity.name_among(who, ()), reason=reason
                    ),
                    f"{score} of 5 counts for {game.name}.",
                    after,
                    place=of,
                    take_back=lambda number: _undo(store, lead, game, number, after),
                )
        told(of)


def _undo(store: Store, lead: str, game: GridGame, number: int, after: Callable[[], None]) -> None:
    """Takes a decision back, and leaves word of it."""
    who = str(st.session_state.get(_LEAD) or lead)
    words = f"The ratings of {game.name} count again."
    attempt(lambda: store.engagement_decisions.undo(number, who=who), words, after)


def _refuse(held: EngagementDecision) -> None:
    """Refuse a decision from a form that another tab overtook."""
    raise ConflictError(
        f"{held.who} decided {held.score} of 5 in the meantime: {held.reason}",
        remedy="Undo that decision first to put yours in its place.",
    )


def _lead_name(of: str) -> str:
    """A name for decisions of a lead who does not rate, to whom ratings would be hidden under a rater's name."""
    held = begun_text("Your name (required)", f"team_decider_{of}", str(st.session_state.get(_LEAD, "")))
    st.session_state[_LEAD] = held
    return held


def act(
    do: Callable[[], Done],
    words: str,
    after: Callable[[], None],
    *,
    place: str = "",
    take_back: Callable[[Done], None] | None = None,
) -> None:
    """Does something that leads may do, and draws the page again with what became of it.

    Args:
        do: Writes to the store.
        words: What is so afterwards; may hold untrusted text.
        after: Called once it is done.
        place: The form that a refusal is said below.
        take_back: Undoes it, from beside ``words``, given what ``do`` returned.
    """
    attempt(do, words, after, place, take_back)
    st.rerun()


def attempt(
    do: Callable[[], Done],
    words: str,
    after: Callable[[], None],
    place: str = "",
    take_back: Callable[[Done], None] | None = None,
) -> None:
    """:func:`act` as a callback, after which the page is drawn anyway."""
    st.session_state.pop(_TOLD_AT, None)
    try:
        identity.require(Action.EDIT)
        done = do()
    except DramaturgError as error:
        st.session_state[_DONE] = _Told(words_of(error), False, place)
    else:
        st.session_state[_DONE] = _Told(words, True, take_back=take_back and partial(take_back, done))
        after()
