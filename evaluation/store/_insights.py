"""Answers of judges about discussions: checks of messages, opinions, themes and quotes; the latest hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.escaping import well_formed
from evaluation.insight.validator import ValidationResult
from evaluation.store._bulk_rows import append_rows, next_numbers, packed, picked
from evaluation.store.transactions import Units
from evaluation.store.transcripts import GAME_NAMES, require_transcript

if TYPE_CHECKING:
    import pandas as pd


class Insights:
    """Reads and writes ``insight_checks`` and ``insight_findings``; rows are only ever added."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def save_checks(self, transcript_id: str, checks: Sequence[ValidationResult], judged_by: Mapping[str, str]) -> None:
        """Stores the checks of one sample of a transcript, in place of those of earlier samples.

        Args:
            transcript_id: Whose messages were checked.
            checks: All that were wanted, also those without a score.
            judged_by: The judge's ``kind`` and ``model``.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            (number,) = next_numbers(cursor, "insight_numbers", 1)
            rows = [_check_row(number, place, transcript_id, one, judged_by) for place, one in enumerate(checks)]
            append_rows(cursor, "insight_checks", rows)

    def save_finding(
        self, transcript_id: str, kind: str, question: str, result: Mapping[str, Any], judged_by: Mapping[str, str]
    ) -> None:
        """Stores what was found in a transcript, in place of earlier answers to the same question.

        Args:
            transcript_id: What was read.
            kind: "opinions", "themes" or "quotes".
            question: The topic or criteria; empty for themes.
            result: As ``Extraction.as_dict`` gives it.
            judged_by: The judge's ``kind`` and ``model``.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            (number,) = next_numbers(cursor, "insight_numbers", 1)
            row = {
                "number": number,
                "transcript_id": transcript_id,
                "kind": kind,
                "question": well_formed(question),
                "result": packed(dict(result)).decode("utf-8"),
                "judge": judged_by["kind"],
                "model": well_formed(judged_by["model"]),
            }
            append_rows(cursor, "insight_findings", [row])

    def checks(self) -> pd.DataFrame:
        """The checks of the latest sample of every stored transcript, in the order of iterations and transcripts.

        Returns:
            One row per check: ``transcript_id``, ``game`` (its name), ``iteration`` (empty for none), ``position`` (of
            the iteration; missing for none), ``check_type``, ``status``, ``score`` (0 to 1), ``passed``,
            ``threshold``, ``agent``, ``message_id``, ``excerpt``, ``explanation``, ``judge``, ``model``,
            ``created_at`` (UTC).
        """
        return self._units.table(_CHECKS, times=["created_at"])

    def findings(self) -> pd.DataFrame:
        """The latest answers to every question about opinions, themes and quotes.

        Returns:
            One row per transcript and question: ``transcript_id``, ``game``, ``iteration``, ``kind``, ``question``,
            ``result`` (as ``Extraction.as_dict``), ``judge``, ``model``, ``created_at`` (UTC).
        """
        found = self._units.table(_FINDINGS, times=["created_at"])
        found["result"] = found["result"].map(json.loads)
        return found


def _check_row(
    number: int, place: int, transcript_id: str, one: ValidationResult, judged_by: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "number": number,
        "place": place,
        "transcript_id": transcript_id,
        "check_type": str(one.check_type),
        "status": str(one.status),
        **picked(one, "score", "passed", "threshold", "message_id"),
        "agent": None if one.agent_id is None else well_formed(one.agent_id),
        "excerpt": well_formed(one.response_excerpt),
        "explanation": well_formed(one.explanation),
        "judge": judged_by["kind"],
        "model": well_formed(judged_by["model"]),
    }


_CHECKS = f"""
WITH latest AS (SELECT transcript_id, max(number) AS number FROM insight_checks GROUP BY transcript_id)
SELECT c.transcript_id, names.game, coalesce(t.iteration, '') AS iteration, i.position, c.check_type, c.status,
    c.score, c.passed, c.threshold, c.agent, c.message_id, c.excerpt, c.explanation, c.judge, c.model,
    timezone('UTC', c.created_at) AS created_at
FROM insight_checks c JOIN latest USING (transcript_id, number) JOIN transcripts t USING (transcript_id)
JOIN ({GAME_NAMES}) names USING (transcript_id)
LEFT JOIN iterations i ON i.name = t.iteration
ORDER BY i.position NULLS LAST, t.position, c.place
"""

_FINDINGS = f"""
WITH latest AS (
    SELECT transcript_id, kind, question, max(number) AS number FROM insight_findings
    GROUP BY transcript_id, kind, question
)
SELECT f.transcript_id, names.game, coalesce(t.iteration, '') AS iteration, f.kind, f.question,
    f.result::text AS result, f.judge, f.model, timezone('UTC', f.created_at) AS created_at
FROM insight_findings f JOIN latest USING (transcript_id, kind, question, number)
JOIN transcripts t USING (transcript_id)
JOIN ({GAME_NAMES}) names USING (transcript_id)
ORDER BY t.position, f.kind, f.question
"""
