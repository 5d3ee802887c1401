"""Games as the person at this browser may see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from dashboard.shared import queries, resources
from dashboard.shared.identity import identity
from dashboard.shared.queries import OpenTranscript
from evaluation.access import Action
from evaluation.errors import DramaturgError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.store import Store
from evaluation.text.display import counted

_MOST_SHOWN = 200
"""Games that are put aside at one press: each is a row on record."""


def is_engagement_hidden(store: Store, games: Iterable[str]) -> bool:
    """Whether the ratings of some of the games are hidden from the person at this browser, and so all their means."""
    return bool(identity.hidden_games(store, identity.author_name(), games))


def hidden_note(store: Store, games: Iterable[str]) -> None:
    """Says why engagement is hidden, with a way to see it for somebody who decides and will not rate these games.

    They then leave that person's queue as known, which stands on record, so that no rating is given after a look.
    """
    who = identity.author_name()
    hidden = sorted(identity.hidden_games(store, who, games))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Engagement is hidden from you until you have rated {counted(len(hidden), 'more game')}.")
        if len(hidden) <= _MOST_SHOWN:
            st.button(
                "Show it, I will not rate them",
                key="show_ratings",
                type="tertiary",
                on_click=_put_aside,
                args=(store, hidden, who),
                help="They leave your queue. A lead can give them back to you on the Team page.",
            )


def _put_aside(store: Store, games: Sequence[str], who: str) -> None:
    try:
        identity.require(Action.RATE)
        for game in games:
            store.discards.add(game, who, DiscardReason.KNOWN)
    except DramaturgError as error:
        st.toast(str(error))


def open_game(store: Store, transcript_id: str) -> tuple[OpenTranscript, bool]:
    """A game with its results, and whether what others gave it is left out, as a named rater has not rated it.

    Raises:
        NotFoundError: There is none.
    """
    is_hidden = is_engagement_hidden(store, [transcript_id])
    return resources.share(queries.open_unrated if is_hidden else queries.open_transcript, transcript_id), is_hidden
