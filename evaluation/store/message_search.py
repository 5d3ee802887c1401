"""Full-text search over the messages of the stored transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.escaping import well_formed
from evaluation.store.engine.bulk_rows import frame
from evaluation.store.engine.transactions import Units
from evaluation.store.transcripts import GAME_NAMES, require_iteration
from evaluation.text.searching import pattern, phrases

if TYPE_CHECKING:
    import pandas as pd

MOST_FOUND = 200


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """The answer to a search.

    Attributes:
        phrases: What every message found holds, in any case.
        total: How many messages do.
        games: In how many transcripts.
        table: The first of them, in the order of the transcripts and within each as they were said:
            ``transcript_id``, ``message_id``, ``game`` (its name), ``iteration`` (empty for none), ``number`` (place of
            the message in its transcript, from 1), ``round`` (empty where unknown), ``speaker``, ``text``.
    """

    phrases: tuple[str, ...]
    total: int
    games: int
    table: pd.DataFrame


class MessageSearch:
    """Searches messages. Words to the game engine ("Skip") are not found: nobody reads them."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def search(
        self,
        query: str,
        *,
        iteration: str | None = None,
        within: Sequence[str] | None = None,
        limit: int = MOST_FOUND,
    ) -> FoundMessages:
        """The messages that hold every word of ``query``, and every phrase that stands in it in double quotes.

        Upper and lower case are the same. A word is found inside longer ones, too: "vote" finds "voted".

        Args:
            query: Such as ``doctor "voted for"``.
            iteration: Only in its transcripts; ``None`` for all.
            within: Only in the transcripts of these ids; ``None`` for all.
            limit: How many messages the table holds at most.

        Raises:
            InputError: The query holds no word, or more than 20.
            NotFoundError: There is no such iteration.
        """
        wanted = phrases(well_formed(query))
        values: dict[str, object] = {f"pattern_{place}": pattern(phrase) for place, phrase in enumerate(wanted)}
        values |= {
            "iteration": None if iteration is None else well_formed(iteration),
            "within": None if within is None else list(within),
            "limit": limit,
        }
        matches = " AND ".join(f"regexp_matches(text, $pattern_{place})" for place in range(len(wanted)))
        with self._units.unit() as cursor:
            require_iteration(cursor, iteration)
            table = frame(cursor, _SEARCH.format(matches=matches, names=GAME_NAMES), values)
        total, games = (int(table[name].iloc[0]) if len(table) else 0 for name in ("total", "games"))
        return FoundMessages(wanted, total, games, table.drop(columns=["total", "games"]).astype({"round": "Int64"}))

    def texts(self, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The texts of messages, by transcript and message; those that are not stored are left out."""
        columns = [[place[0] for place in places], [place[1] for place in places]]
        with self._units.unit() as cursor:
            return {(key, message): text for key, message, text in cursor.execute(_TEXTS, columns).fetchall()}


_TEXTS = """
SELECT transcript_id, message_id, text FROM messages
WHERE (transcript_id, message_id) IN (SELECT unnest(?::text[]), unnest(?::text[]))
"""

# The texts are read once to find out which match, and only those that are shown are read again.
_SEARCH = """
WITH found AS MATERIALIZED (
    SELECT messages.rowid AS place, transcripts.position AS added, messages.position, transcript_id, iteration
    FROM messages JOIN transcripts USING (transcript_id)
    WHERE ($iteration::text IS NULL OR iteration = $iteration)
      AND ($within::text[] IS NULL OR list_contains($within, transcript_id))
      AND NOT is_control AND {matches}
), shown AS (SELECT * FROM found ORDER BY added, position LIMIT $limit)
SELECT shown.transcript_id, message_id, game, iteration, shown.position + 1 AS number, round, speaker, text,
       (SELECT count(*) FROM found) AS total, (SELECT count(DISTINCT transcript_id) FROM found) AS games
FROM shown JOIN messages ON messages.rowid = shown.place
JOIN ({names}) names ON names.transcript_id = shown.transcript_id
ORDER BY added, shown.position
"""
