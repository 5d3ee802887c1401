"""Judge two games blind: both discussions beside each other, and which was better to watch.

The games are read as the rating desk reads them; neither ids nor names of iterations are sent to the browser.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.shared.chat.timeline import TimelineEvent, timeline
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.rating_desk.game_pairs import GamePair, PairChoice
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.transcript import Transcript
from evaluation.workflows.ratings.pair_judgements import judge_pair, pair_to_judge
from evaluation.workflows.reports import default_pair

_FOLDER = Path(__file__).parent
_reader = st.components.v2.component(
    "dramaturg_pair_reader",
    css=(_FOLDER / "pair_reader.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "pair_reader.js").read_text(encoding="utf-8"),
)
_LAST = "pair_judged_last"
_FAILED = "pair_not_saved"
_LABELS = {
    PairChoice.LEFT: ("The left one", ":material/arrow_back:"),
    PairChoice.NO_DIFFERENCE: ("No difference", ":material/drag_handle:"),
    PairChoice.RIGHT: ("The right one", ":material/arrow_forward:"),
}


def judge_latest_pairs(store: Store, rater: str) -> None:
    """The next pair of games of the latest iteration and its reference, for raters: neither is named."""
    latest = default_pair(store)
    if latest is None:
        st.info("There are no pairs of games to judge yet: they need an iteration that follows another one.")
        return
    judge_pairs(store, rater, *latest, tells_sides=False)


def judge_pairs(store: Store, rater: str, before: str, after: str, *, tells_sides: bool) -> None:
    """The next pair of games of two iterations, and three buttons.

    Args:
        store: Where games and answers are.
        rater: Who judges.
        before: The name of the earlier iteration; not shown.
        after: That of the later one; not shown.
        tells_sides: Say after each answer which iteration's game was preferred. Raters are not told.
    """
    judged = store.pair_judgements.judged_by(rater)
    _say_last(store, rater, tells_sides=tells_sides)
    pair = pair_to_judge(store, rater, before, after)
    if pair is None:
        words = f"You have judged {counted(len(judged), 'pair')}." if judged else "There is no pair of games to judge."
        st.success(f"No pair is left. {words}", icon=":material/check:")
        return
    st.caption(
        f"Read both games, then say which was better to watch. You have judged {counted(len(judged), 'pair')}. Which "
        "prompt a game was played with stays hidden, and sides are drawn by lot."
    )
    _reader(key="pair_reader", data=_reader_data(store, pair))
    st.markdown("**Which was better to watch?**")
    # Keys that no later pair has: the second press of a double click must not judge games that nobody has read.
    number = len(store.pair_judgements.list())
    with st.container(horizontal=True):
        for choice, (label, icon) in _LABELS.items():
            st.button(
                label,
                key=f"pair_{choice.name.lower()}_{number}",
                icon=icon,
                on_click=_save,
                args=(store, rater, before, after, pair, choice),
            )


def _save(store: Store, rater: str, before: str, after: str, pair: GamePair, choice: PairChoice) -> None:
    try:
        identity.require(Action.RATE)
        judgement_id = judge_pair(store, rater, before, after, pair, choice)
    except DramaturgError as error:
        st.session_state[_FAILED] = str(error)
        return
    chosen = {PairChoice.LEFT: pair.left, PairChoice.RIGHT: pair.right}.get(choice)
    side = None if chosen is None else (after if chosen in store.transcripts.ids(after) else before)
    st.session_state[_LAST] = (judgement_id, side)


def _say_last(store: Store, rater: str, *, tells_sides: bool) -> None:
    failed = st.session_state.pop(_FAILED, None)
    if failed is not None:
        st.error("That was not saved.", icon=":material/error:")
        plain(failed)
    last = st.session_state.get(_LAST)
    if last is None:
        return
    judgement_id, side = last
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("✓ saved", color="green")
        if tells_sides:
            plain("No difference." if side is None else f"The better one was of: {side}")
        st.button("Undo", key="pair_undo", icon=":material/undo:", on_click=_undo, args=(store, rater, judgement_id))


def _undo(store: Store, rater: str, judgement_id: str) -> None:
    try:
        identity.require(Action.RATE)
        store.pair_judgements.withdraw(judgement_id, rater)
    except DramaturgError as error:
        st.session_state[_FAILED] = str(error)
    st.session_state.pop(_LAST, None)


def _reader_data(store: Store, pair: GamePair) -> dict[str, Any]:
    sides = [
        {"title": title, "rows": _rows(store.blind.get(game))}
        for title, game in (("Left game", pair.left), ("Right game", pair.right))
    ]
    version = hashlib.blake2b(json.dumps(sides).encode(), digest_size=8).hexdigest()
    return {"version": version, "sides": sides}


def _rows(transcript: Transcript) -> list[dict[str, str | None]]:
    return [
        {"speaker": None, "text": "\n".join((one.title, *one.lines))}
        if isinstance(one, TimelineEvent)
        else {"speaker": one.message.speaker, "text": one.message.text}
        for one in timeline(transcript, roles_hidden=True, public_only=True)
    ]
