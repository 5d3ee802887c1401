"""Games as the person at this browser may see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from dashboard.shared import queries, resources
from dashboard.shared.identity import identity
from dashboard.shared.page_links import rate_link
from dashboard.shared.queries import OpenTranscript
from evaluation.access import Action
from evaluation.iterations.board import Board
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.ratings import Habit, rating_habits

_MOST_SHOWN = 200
"""Games that are put aside at one press: each is a row on record."""


def is_engagement_hidden(store: Store, games: Iterable[str]) -> bool:
    """Whether the ratings of some of the games are hidden from the person at this browser, and so all their means.

    Where they are not, the page shows them, and they count as seen: whoever then rates a game that a decision waits for
    finds the answer as it was, not hidden.
    """
    shown = list(games)
    is_hidden = bool(identity.hidden_games(store, identity.author_name(), shown))
    if not is_hidden:
        identity.note_ratings_seen(shown)
    return is_hidden


def hidden_ratings(store: Store, games: Iterable[str]) -> frozenset[str]:
    """Those of the games whose ratings are hidden from the person; those of all others count as seen from now on."""
    shown = frozenset(games)
    hidden = identity.hidden_games(store, identity.author_name(), shown)
    identity.note_ratings_seen(shown & store.ratings.rater_counts().keys() - hidden)
    return hidden


def visible_habits(store: Store, games: Iterable[str] | None = None) -> tuple[dict[str, Habit], str]:
    """:func:`rating_habits` for a lead, and the words on what they are about; nothing for who is asked to rate.

    Games whose ratings are hidden from the person say nothing.

    Args:
        store: Where to read.
        games: Only these; ``None`` for all.
    """
    who, rated = identity.author_name(), store.ratings.rater_counts().keys()
    if not identity.allowed(Action.EDIT) or identity.is_asked(store, who):
        return {}, ""
    hidden = identity.hidden_games(store, who, rated)
    aside = hidden if games is None else hidden | (rated - {*games})
    return resources.read(rating_habits, tuple(sorted(aside))), "Of the games that you may see:" if hidden else ""


def games_of(board: Board) -> list[str]:
    """The ids of the games of all iterations."""
    return [game.transcript_id for one in board.iterations for game in one.games]


def hidden_note(store: Store) -> None:
    """Says that engagement is hidden, with the way to rate, and one for somebody who decides and will not rate.

    All games whose ratings are hidden then leave that person's queue as known, which stands on record, so that no
    rating is given after a look.
    """
    who = identity.author_name()
    hidden = sorted(identity.hidden_games(store, who, store.ratings.rater_counts()))
    games = counted(len(hidden), "game")
    st.caption(f"Engagement is hidden from you until you have rated what others rated: {games} of all iterations.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        rate_link("Rate them")
        with st.popover("Show it, I will not rate them", type="tertiary"):
            assigned = {one.transcript_id for one in store.rating_assignments.current() if one.rater == who}
            yours = f", {len(assigned & {*hidden})} of them assigned to you" if assigned & {*hidden} else ""
            st.markdown(
                f"{games}{yours}, leave your queue for good, and it is noted that you know their scores. "
                "Only a lead can give them back."
            )
            st.button(
                f"Take {games} out and show it",
                key="show_ratings",
                on_click=_put_aside,
                args=(store, hidden[:_MOST_SHOWN], who),
            )


def _put_aside(store: Store, games: Sequence[str], who: str) -> None:
    with identity.permitted(Action.RATE):
        for game in games:
            store.discards.add(game, who, DiscardReason.KNOWN)
        st.toast(f"{counted(len(games), 'game')} left your queue. My ratings lists them.")


def game_called(store: Store, reference: str) -> str:
    """The id of the game that an address names, by its id or by its first digits as commands print them.

    Raises:
        NotFoundError: There is none.
        ConflictError: It could be several.
    """
    return reference if reference in resources.read(queries.transcript_ids) else store.transcripts.resolve(reference)


def open_game(store: Store, reference: str) -> tuple[OpenTranscript, bool]:
    """A game with its results, and whether what others gave it is left out, as a named rater has not rated it.

    Raises:
        NotFoundError: There is none, see :func:`game_called`.
        ConflictError: It could be several.
    """
    transcript_id = game_called(store, reference)
    is_hidden = is_engagement_hidden(store, [transcript_id])
    opened = resources.share(queries.open_unrated if is_hidden else queries.open_transcript, transcript_id)
    identity.note_scores_seen([transcript_id])
    return opened, is_hidden
