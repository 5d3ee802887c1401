"""People's blind marks of judgements: only ever added; the latest of a rater for a judgement holds."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.errors import InputError
from evaluation.escaping import well_formed
from evaluation.judging.propositions.proposition import HIGHEST_SCORE
from evaluation.ratings import BlindMark, rater_name
from evaluation.store.engine.transactions import Units

LONGEST_EVIDENCE = 2_000


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim that a judge has marked, to be marked blind by a person.

    Attributes:
        claim: Untrusted text, as is ``snippet``.
        snippet: The beginning of the message in question.
        transcript_id: Empty for a whole trajectory, as is ``message_id``.
    """

    judgement_key: str
    model: str
    dimension: str
    proposition_id: str
    claim: str
    judge_mark: int
    agent: str
    snippet: str
    transcript_id: str
    message_id: str


class CalibrationMarks:
    """Reads and writes ``calibration_marks``."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, asked: JudgedClaim, rater: str, mark: int | None, evidence: str = "") -> None:
        """Stores a person's mark; ``None`` says that they could not tell.

        Raises:
            InputError: The mark is none from 0 to 9, or the evidence too long.
        """
        if mark is not None and not 0 <= mark <= HIGHEST_SCORE:
            raise InputError(f"{mark} is not a mark.", place="mark", remedy="Give a whole number from 0 to 9.")
        if len(evidence) > LONGEST_EVIDENCE:
            raise InputError("The evidence is too long.", place="evidence", remedy=f"At most {LONGEST_EVIDENCE:,}.")
        values = [asked.judgement_key, asked.model, asked.dimension, asked.proposition_id, well_formed(asked.claim)]
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(_INSERT, [*values, asked.judge_mark, rater_name(rater), mark, well_formed(evidence)])

    def all(self) -> list[BlindMark]:
        """The marks that hold, in the order in which they were given."""
        with self._units.unit() as cursor:
            return [BlindMark(*row) for row in cursor.execute(_SELECT).fetchall()]

    def counts(self) -> dict[tuple[str, str], int]:
        """Number of blind marks by model and dimension."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_COUNTS).fetchall()
        return {(model, dimension): count for model, dimension, count in rows}

    def next_for(self, rater: str) -> JudgedClaim | None:
        """The judgement that this rater marks next; ``None`` when they have marked all.

        Dimensions with the fewest marks come first, and in them judgements that one other person has marked, so that
        people can be compared; else the order is that of the keys, which says nothing about the mark.
        """
        with self._units.unit() as cursor:
            rows = cursor.execute(_NEXT, {"rater": rater_name(rater)}).fetchall()
        return JudgedClaim(*rows[0]) if rows else None


_INSERT = """
INSERT INTO calibration_marks
    (judgement_key, model, dimension, proposition_id, claim, judge_mark, rater, mark, evidence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_HOLDING = """
SELECT * FROM calibration_marks
QUALIFY row_number() OVER (PARTITION BY judgement_key, rater ORDER BY mark_id DESC) = 1
"""

_SELECT = f"""
SELECT judgement_key, model, dimension, proposition_id, claim, judge_mark, rater, mark, evidence
FROM ({_HOLDING}) ORDER BY mark_id
"""

_COUNTS = f"SELECT model, dimension, count(*) FROM ({_HOLDING}) WHERE mark IS NOT NULL GROUP BY ALL"

# A mark that comes from missing data or from a condition that does not hold says nothing about the judge; and a
# person needs to read what the judge read: a message, or the prompt where it is kept.
_NEXT = f"""
WITH holding AS ({_HOLDING}),
judged AS (
    SELECT s.judgement_key, s.model, s.dimension, s.proposition_id, any_value(s.claim) AS claim,
           any_value(s.raw_score) AS raw_score, any_value(a.display_name) AS agent,
           any_value(coalesce(s.context_snippet, '')) AS snippet,
           any_value(coalesce(s.transcript_id, '')) AS transcript_id,
           any_value(coalesce(s.message_id, '')) AS message_id
    FROM evaluation_scores s JOIN evaluation_runs r ON r.id = s.evaluation_run_id JOIN agents a ON a.id = r.agent_id
    WHERE r.status = 'completed' AND s.raw_score IS NOT NULL AND coalesce(s.mark, '') = ''
        AND s.judgement_key IS NOT NULL AND s.model IS NOT NULL
        AND (coalesce(s.message_id, '') <> '' OR s.judgement_key IN (SELECT key FROM judgements))
    GROUP BY ALL
)
SELECT judgement_key, model, dimension, proposition_id, claim, raw_score::integer, agent, snippet, transcript_id,
       message_id
FROM judged
WHERE judgement_key NOT IN (SELECT judgement_key FROM holding WHERE rater = $rater)
ORDER BY (SELECT count(*) FROM holding h
          WHERE h.model = judged.model AND h.dimension = judged.dimension AND h.mark IS NOT NULL),
         abs((SELECT count(*) FROM holding h WHERE h.judgement_key = judged.judgement_key) - 1), judgement_key
LIMIT 1
"""
