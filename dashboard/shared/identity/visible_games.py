"""Games as the person at this browser may see them."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.shared import queries, resources
from dashboard.shared.identity import identity
from dashboard.shared.queries import OpenTranscript
from evaluation.store import Store

ENGAGEMENT_HIDDEN = "Engagement is hidden from you until you have rated these games."


def is_engagement_hidden(store: Store, games: Iterable[str]) -> bool:
    """Whether the ratings of some of the games are hidden from the person at this browser, and so all their means."""
    return bool(identity.hidden_games(store, identity.author_name(), games))


def open_game(store: Store, transcript_id: str) -> tuple[OpenTranscript, bool]:
    """A game with its results, and whether what others gave it is left out, as a named rater has not rated it.

    Raises:
        NotFoundError: There is none.
    """
    is_hidden = is_engagement_hidden(store, [transcript_id])
    return resources.share(queries.open_unrated if is_hidden else queries.open_transcript, transcript_id), is_hidden
