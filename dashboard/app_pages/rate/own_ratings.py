"""Show a rater's own ratings, to revise them, and discarded games, to restore them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import streamlit as st

from dashboard.app_pages.rate import desk_state
from dashboard.app_pages.rate import rate_view as parts
from dashboard.app_pages.rate.rating_desk import REVISE, read_form, read_token
from dashboard.shared import resources, state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from dashboard.shared.rating_sheets import rating_sheets
from dashboard.shared.status_table import open_row
from evaluation.access import Action
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import EngagementDecision, Rating
from evaluation.rubric.rating_guide import SCALE_POINTS
from evaluation.store import Store
from evaluation.text.display import counted, fixed, shortened

_KEY = "revision_desk"
_DESK = "revision_seat"
_DONE = "revision_done"
_LONGEST_OPENING = 60
_LONGEST_COMMENT = 300
_NEAR = 0.5
"""Points that two scores may lie apart and still agree: the smallest step of the form."""


def own_ratings(store: Store, rater: str) -> None:
    """The rater's ratings; one that is selected opens on the desk. Both the old and the new rating are kept."""
    given = store.ratings.by_rater(rater)
    wanted = next((one for one in given if one.transcript_id == state.chosen(state.REVISED)), None)
    if wanted is not None:
        desk = desk_state.desk_of(rater, _DESK)
        if desk.data is None or desk.transcript_id != wanted.transcript_id:
            words = desk_state.given_words(wanted)
            desk_state.take(store, desk, wanted.transcript_id, words, REVISE, given=wanted)
        parts.mount(store, desk, _KEY, on_submit=_submit, on_skip=_back)
        return
    st.session_state.pop(_DESK, None)
    if message := st.session_state.pop(_DONE, None):
        st.success(message, icon=":material/check:")
    if given:
        _table(store, rater, given, store.transcripts.game_names())
    else:
        st.info("You have not rated a game yet. *Rate*, above, shows the next one.")
    _put_aside(store, rater)
    rating_sheets(store, rater)


def _table(store: Store, rater: str, given: list[Rating], games: dict[str, str]) -> None:
    # Where there are logins, a rater never sees what others gave.
    is_blind = not identity.allowed(Action.SEE_RATINGS)
    others: dict[str, list[float]] = {}
    for one in () if is_blind else store.ratings.current():
        if one.rater != rater:
            others.setdefault(one.transcript_id, []).append(one.score)
    shared = [(one.score, fmean(others[one.transcript_id])) for one in given if one.transcript_id in others]
    near = sum(abs(own - mean) <= _NEAR for own, mean in shared)
    rated = f"You rated {counted(len(given), 'game')}"
    headline = f"You are near the others on {near} of {counted(len(shared), 'game')}." if shared else f"{rated}."
    facts = [Fact(rated)] if shared else []
    facts.append(Fact(f"{fixed(fmean(one.score for one in given))} of 5 on average"))
    refused = {one.transcript_id for one in store.discards.of(rater)}
    own = {one.transcript_id for one in given}
    waiting = [] if shared else [game for game in others if game in games and game not in refused | own]
    with answer(headline, _beside_others(shared, is_blind=is_blind), facts):
        if waiting:
            # The queue gives unrated games first.
            fewest = min(waiting, key=lambda game: (len(others[game]), game))
            st.button("Rate a game that others rated", key="shared_next", on_click=_to_desk_with, args=(fewest,))
        elif store.rating_queue.progress(rater).left:
            st.button("Rate the next game", key="next_game", type="primary", on_click=parts.to_desk)
    st.caption("Select a game to revise its rating; the earlier one is kept too.")
    decided = store.engagement_decisions.current()
    # Whoever rated a game knows it by what was said, not by its name.
    openings = resources.share(_openings)
    rows = [
        {
            "Game": games[one.transcript_id],
            "It begins": openings.get(one.transcript_id, ""),
            "You gave": _score_words(one.score),
            "Counts instead": _decision_words(decided.get(one.transcript_id), is_blind=is_blind),
            "Others": _others_words(one.score, others.get(one.transcript_id, ())),
            "Your comment": shortened(one.comment, _LONGEST_COMMENT),
            "Yes answers": f"{one.yes_count} of {sum(answer is not None for answer in one.answers)}",
            "Look again": one.misfit,
        }
        for one in given
    ]
    empty = {name for name in ("Counts instead", "Others", "Look again") if not any(row[name] for row in rows)}
    rows = [{name: cell for name, cell in row.items() if name not in empty} for row in rows]
    if (row := open_row(rows, "Your ratings", "own_table")) is not None:
        state.choose(**{state.REVISED: given[row].transcript_id})
        st.rerun()


def _openings(store: Store) -> dict[str, str]:
    """The first words of every game, by its id."""
    return {
        key: shortened(opening, _LONGEST_OPENING) for key, (_, opening) in store.transcripts.introductions().items()
    }


def _decision_words(decision: EngagementDecision | None, *, is_blind: bool) -> str:
    """The decision on a game whose raters differ, with its lead: "3.5, decided by Lea"."""
    if decision is None:
        return ""
    return f"{'' if is_blind else f'{decision.score:g}, '}decided by {decision.who}"


def _score_words(score: float) -> str:
    half = " and a half" if score % 1 else ""
    return f"{score:g} {SCALE_POINTS[int(score) - 1].name}{half}"


def _others_words(own: float, scores: Sequence[float]) -> str:
    """The mean of what others gave the same game, beside the rater's own score; empty where nobody did."""
    if not scores:
        return ""
    difference = round(fmean(scores) - own, 1)
    side = "higher" if difference > 0 else "lower"
    return f"{fixed(fmean(scores))}, {abs(difference):g} {side}" if difference else "the same"


def _beside_others(shared: Sequence[tuple[float, float]], *, is_blind: bool) -> str:
    """The comparison of the rater's scores with the means of others on the same games, in words."""
    if not shared:
        return (
            "" if is_blind else "Nobody else has rated these games, so it is not known whether you agree with others."
        )
    leaning = fmean(own - mean for own, mean in shared)
    side = "more" if leaning > 0 else "less"
    lean = f" You give {fixed(abs(leaning))} {side} than they do." if abs(leaning) >= _NEAR else ""
    return f"Near is within half a point of the mean of all others.{lean}"


def _to_desk_with(transcript_id: str) -> None:
    # A link would lead to the page that it stands on, which keeps its view.
    parts.to_desk()
    state.choose(**{state.GAME: transcript_id})


def _submit(store: Store, desk: desk_state.DeskState, value: object) -> None:
    form = read_form(value)
    desk_state.submit(store, desk, value)
    if form is None or desk.data is not None:
        return
    st.session_state[_DONE] = desk.left_words or "Saved. Both ratings are kept; the newer one counts."


def _back(_: Store, desk: desk_state.DeskState, value: object) -> None:
    if desk_state.is_current(desk, read_token(value)):
        desk_state.clear(desk)


def _put_aside(store: Store, rater: str) -> None:
    found = store.discards.of(rater)
    if not found:
        return
    st.subheader("Cannot be rated", anchor=False)
    # Only of known games the name, of others their first words: what is taken back comes to the desk, which is blind.
    names, openings = store.transcripts.game_names(), resources.share(_openings)
    st.caption("These left your queue. Take one back to rate it.")
    for place, one in enumerate(found):
        with st.container(border=True):
            note = f"\n{one.note}" if one.note else ""
            is_known = one.reason is DiscardReason.KNOWN
            which = (names if is_known else openings).get(one.transcript_id, "")
            plain(f"{which}\n{local_time(one.created_at)}: {one.reason.words}{note}")
            if one.reason is DiscardReason.KNOWN:
                # Its ratings were shown: only a lead gives it back.
                continue
            st.button(
                "Take it back",
                icon=":material/undo:",
                key=f"undiscard_{place}",
                on_click=_undo,
                args=(store, one.id, rater),
            )


def _undo(store: Store, discard_id: int, rater: str) -> None:
    with identity.permitted(Action.RATE):
        store.discards.undo(discard_id, who=rater)
        st.session_state[_DONE] = "It is in your queue again."
