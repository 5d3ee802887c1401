"""Choose which transcript a rater gets next, and say how far the rater is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evaluation.escaping import well_formed
from evaluation.ratings import rater_name
from evaluation.store.engine.transactions import Units
from evaluation.transcript import SIMULATED_FORMAT


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """Progress of a rater, without anything about a transcript.

    Attributes:
        rated: Transcripts that the rater has rated.
        discarded: Those that the rater put aside for good without rating them.
        total: All that are stored.
        assigned: Those that the rater is to rate by assignment.
        waiting: Assigned ones that the rater has neither rated nor put aside.
    """

    rated: int
    discarded: int
    total: int
    assigned: int = 0
    waiting: int = 0

    @property
    def left(self) -> int:
        """Number of transcripts that wait for this rater."""
        return self.total - self.rated - self.discarded


class RatingQueue:
    """Hands out the rating desk's next transcript."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def progress(self, rater: str) -> QueueProgress:
        """The rater's progress."""
        name = rater_name(rater)
        with self._units.unit() as cursor:
            # Every saved form waits for it, and most raters have neither assignments nor discards.
            others, rated, total = cursor.execute(_PLAIN_PROGRESS, {"rater": name}).fetchall()[0]
            return self.progress_of([name])[name] if others else QueueProgress(rated, 0, total)

    def progress_of(self, raters: Collection[str]) -> dict[str, QueueProgress]:
        """The progress of several raters, by their names, in one query."""
        names = {rater_name(one) for one in raters}
        with self._units.unit() as cursor:
            rows = cursor.execute(_PROGRESS, {"raters": sorted(names)}).fetchall()
        return {rater: QueueProgress(*counts) for rater, *counts in rows}

    def next_unrated(self, rater: str, *, skip: Collection[str] = (), is_assigned_only: bool = False) -> str | None:
        """The transcript to rate next: one of those with the fewest raters, in an order of this rater's own.

        What the rater has begun comes first, or a reload would find another game because somebody else was quicker.
        Then come the games assigned to the rater, then those of the iteration that was handed over to this rater and of
        its reference, mixed so that neither side comes in a block. What an experiment simulated is handed out only once
        it is assigned or belongs to an iteration.

        Args:
            rater: Who is to rate; transcripts that this person has rated or discarded are left out.
            skip: Ids of transcripts to leave out this time.
            is_assigned_only: Nothing beyond what was begun, assigned or handed over, where the rater has an assignment.

        Returns:
            Its id and nothing else, so that the desk stays blind; ``None`` when none is left.
        """
        with self._units.unit() as cursor:
            found = cursor.execute(
                _NEXT, {"rater": rater_name(rater), "skip": list(skip), "assigned_only": is_assigned_only}
            ).fetchone()
        return None if found is None else str(found[0])

    def hand_over(self, rater: str, iteration: str, reference: str | None) -> None:
        """Has the rater rate the games of an iteration and of its reference first; nothing of it reaches the desk.

        It holds until another one follows. Names of iterations that are gone change nothing.

        Raises:
            InputError: The rater's name cannot be used.
        """
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(
                "INSERT INTO rating_handovers (rater, iteration, reference) VALUES (?, ?, ?)",
                [rater_name(rater), well_formed(iteration), reference and well_formed(reference)],
            )


# What an experiment simulated is judged by the experiment, and hundreds of such conversations would bury the games that
# wait for people; in an iteration it is a game like others.
_FOR_PEOPLE = f"(source_format <> '{SIMULATED_FORMAT}' OR iteration IS NOT NULL)"

_ASSIGNMENTS = "SELECT transcript_id FROM current_rating_assignments WHERE rater = $rater"

# Written for speed, as every saved form waits for it: no view that ranks all ratings there are.
_NEXT = f"""
WITH counted AS (
    SELECT transcript_id, count(DISTINCT rater) AS raters, bool_or(rater = $rater) AS is_rated
    FROM ratings GROUP BY transcript_id
), begun AS (
    SELECT transcript_id, max(drafts.touched) AS touched
    FROM assignments JOIN drafts USING (token) WHERE rater = $rater GROUP BY transcript_id
), assigned AS ({_ASSIGNMENTS}), handed_over AS (
    SELECT iteration, reference FROM rating_handovers WHERE rater = $rater ORDER BY handover_id DESC LIMIT 1
), spread AS (
    -- Each side's games at even distances from 0 to 1 in this rater's order, so that the two sides interleave.
    SELECT transcript_id, (row_number() OVER side - 1 + ('0x' || left(seed, 8))::bigint / 4294967296) / count(*) OVER (
        PARTITION BY iteration) AS turn
    FROM (SELECT transcript_id, t.iteration, md5(concat($rater, ' ', transcript_id)) AS seed
          FROM transcripts t, handed_over h WHERE t.iteration IN (h.iteration, h.reference))
    WINDOW side AS (PARTITION BY iteration ORDER BY seed)
), open AS (
    SELECT transcript_id, touched, turn, coalesce(raters, 0) AS raters, transcript_id IN (FROM assigned) AS is_assigned
    FROM transcripts LEFT JOIN counted USING (transcript_id) LEFT JOIN begun USING (transcript_id)
        LEFT JOIN spread USING (transcript_id)
    WHERE ({_FOR_PEOPLE} OR transcript_id IN (FROM assigned))
        AND NOT coalesce(is_rated, false)
        AND transcript_id NOT IN (SELECT transcript_id FROM current_discards WHERE rater = $rater)
)
SELECT transcript_id FROM open
WHERE NOT list_contains($skip::text[], transcript_id)
    AND (NOT $assigned_only OR (SELECT count(*) = 0 FROM assigned) OR is_assigned
         OR touched IS NOT NULL OR turn IS NOT NULL)
ORDER BY touched DESC NULLS LAST, NOT is_assigned, turn NULLS LAST, raters,
    md5(concat($rater, ' ', transcript_id))
LIMIT 1
"""

_PLAIN_PROGRESS = f"""
SELECT (SELECT count(*) FROM discards WHERE rater = $rater)
    + (SELECT count(*) FROM rating_assignments WHERE rater = $rater),
    (SELECT count(DISTINCT transcript_id) FROM ratings WHERE rater = $rater),
    (SELECT count(*) FROM transcripts
     WHERE {_FOR_PEOPLE} OR transcript_id IN (SELECT transcript_id FROM ratings WHERE rater = $rater))
"""

_PROGRESS = f"""
WITH people AS (SELECT unnest($raters::text[]) AS rater),
assigned AS (SELECT DISTINCT rater, transcript_id FROM current_rating_assignments WHERE rater IN (FROM people)),
rated AS (SELECT DISTINCT rater, transcript_id FROM ratings WHERE rater IN (FROM people)),
aside AS (SELECT DISTINCT rater, transcript_id FROM current_discards WHERE rater IN (FROM people)),
wanted AS (SELECT rater, transcript_id FROM assigned SEMI JOIN transcripts USING (transcript_id)),
waiting AS (FROM wanted EXCEPT (FROM rated UNION FROM aside)
), beside AS (
    -- What an experiment simulated counts for who has rated it or is to rate it.
    SELECT rater, transcript_id FROM (FROM rated UNION FROM assigned) JOIN transcripts USING (transcript_id)
    WHERE NOT {_FOR_PEOPLE}
), counted AS (
    SELECT rater, 'rated' AS what FROM rated UNION ALL
    SELECT rater, 'discarded' FROM (FROM aside EXCEPT FROM rated) UNION ALL
    SELECT rater, 'beside' FROM beside UNION ALL
    SELECT rater, 'assigned' FROM wanted UNION ALL
    SELECT rater, 'waiting' FROM waiting
)
SELECT rater, count(*) FILTER (what = 'rated'), count(*) FILTER (what = 'discarded'),
    (SELECT count(*) FROM transcripts WHERE {_FOR_PEOPLE}) + count(*) FILTER (what = 'beside'),
    count(*) FILTER (what = 'assigned'), count(*) FILTER (what = 'waiting')
FROM people LEFT JOIN counted USING (rater) GROUP BY rater
"""
