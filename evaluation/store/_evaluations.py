"""Evaluation runs of agents with their scores, and what judges answered about discussions; the latest hold."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.insight.validator import ValidationResult
from evaluation.judging.propositions import message_reference
from evaluation.store._bulk_rows import append_rows, next_numbers, packed, picked, require_storable, to_utc
from evaluation.store._jobs import may_run, this_process
from evaluation.store.transactions import UnitsPart
from evaluation.store.transcripts import GAME_NAMES, require_transcript
from evaluation.text.display import counted

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.judging.proposition_scores import PropositionScore
    from evaluation.persona.agents import Agent
    from evaluation.persona.evaluation import DimensionScore, EvaluationPlan, PersonaEvaluation


_NO_REASON = "(no reason given)"


def run_values(evaluation: PersonaEvaluation) -> dict[str, Any]:
    """Values that are known of a run when it ends."""
    judge, model = evaluation.judges[0] if evaluation.judges else ("", "")
    used = evaluation.usage
    usage = {
        "input_tokens": round(used.input_tokens),
        "output_tokens": round(used.output_tokens),
        "cached_tokens": round(used.cached_tokens),
        "cost_usd": None if used.known_usd is None else round(used.known_usd, 6),
        "calls": round(used.calls),
    }
    reasons = [f"{each.dimension}: {each.reason}" for each in evaluation.dimensions.values() if each.reason]
    return {
        "status": "failed" if evaluation.has_failed else "completed",
        "overall": evaluation.overall_score,
        "size": evaluation.sample_size,
        "usage": _json(usage),
        "scores": _json({str(key): _summary(each) for key, each in evaluation.dimensions.items()}),
        "judge": str(judge) or None,
        "model": model or None,
        "error": well_formed("; ".join(reasons)) if evaluation.has_failed else None,
    }


def _summary(score: DimensionScore) -> dict[str, Any]:
    return {
        **picked(score, "score", "score_without_marked", "marked"),
        "items": len(score.items),
        "unscored": len(score.unscored),
        "reason": well_formed(score.reason),
    }


def score_rows(run_id: str, evaluation: PersonaEvaluation) -> list[dict[str, Any]]:
    """One row of ``evaluation_scores`` for everything that has a score."""
    scored = [
        (str(d), item) for d, each in evaluation.dimensions.items() for item in each.items if item.score is not None
    ]
    return [
        {"evaluation_run_id": run_id, "position": position, "dimension": dimension, **_score_values(item)}
        for position, (dimension, item) in enumerate(scored)
    ]


def _score_values(item: PropositionScore) -> dict[str, Any]:
    transcript_id, message_id = message_reference(item.reference)
    judgement = item.judgement
    return {
        "proposition_id": item.proposition.id,
        "score": item.score,
        "reasoning": well_formed(item.reason).strip() or _NO_REASON,
        "context_snippet": well_formed(item.snippet) or None,
        "claim": well_formed(item.claim),
        "weight": item.proposition.weight,
        "is_inverted": item.proposition.is_inverted,
        "raw_score": item.raw,
        "mark": str(item.mark),
        "transcript_id": transcript_id or None,
        "message_id": message_id or None,
        "citations": _json(list(item.citations)),
        "ideas": _json([{"text": well_formed(idea.text), "citations": list(idea.citations)} for idea in item.ideas]),
        "confidence": judgement.confidence if judgement else None,
        "judge": str(judgement.judge) if judgement else None,
        "model": judgement.judged_by if judgement else None,
        "judgement_key": judgement.key if judgement else None,
    }


def failure_rows(run_id: str, evaluation: PersonaEvaluation) -> list[dict[str, Any]]:
    """One row of ``score_failures`` per dimension, proposition and reason, with how often it occurred.

    ``transcript_id`` stays empty: what failed here is no metric of a transcript.
    """
    occurrences: Counter[tuple[str, str, str, str]] = Counter()
    for dimension, each in evaluation.dimensions.items():
        for item in each.unscored:
            occurrences[str(dimension), item.proposition.id, str(item.status), item.detail] += 1
    return [
        {
            "evaluation_run_id": run_id,
            "scorer": dimension,
            "subject": well_formed(f"{evaluation.agent.display_name}, {counted(times, 'time')}"),
            "reason": well_formed(detail) or "no reason given",
            "proposition_id": proposition_id,
            "status": status,
        }
        for (dimension, proposition_id, status, detail), times in occurrences.items()
    ]


def _json(value: Any) -> str:
    return packed(value).decode("utf-8")


INTERRUPTED = "interrupted"
"""The status of a run whose process ended before it did."""


class Evaluations(UnitsPart):
    """Reads and writes ``evaluation_runs``, ``evaluation_scores`` and the ``score_failures`` of runs."""

    def begin(self, agent: Agent, plan: EvaluationPlan, *, mode: str = "") -> str:
        """Records that an agent is being evaluated; an unknown agent becomes known.

        Args:
            agent: Who is evaluated.
            plan: Dimensions, period, sample size and seed.
            mode: How the run came about: "live", "offline", "mock" or "synthetic".

        Returns:
            The id of the run.
        """
        run_id = str(uuid.uuid4())
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(_ENSURE_AGENT, [well_formed(agent.id), well_formed(agent.display_name), str(agent.kind)])
            cursor.execute(
                _BEGIN,
                {
                    "id": run_id,
                    "agent": well_formed(agent.id),
                    "dimensions": [str(dimension) for dimension in plan.dimensions],
                    "start": to_utc(plan.period.since),
                    "end": to_utc(plan.period.until),
                    "size": plan.sample_size,
                    "seed": plan.seed,
                    "mode": mode,
                    "owner": this_process(),
                },
            )
        return run_id

    def finish(self, run_id: str, evaluation: PersonaEvaluation) -> None:
        """Stores the scores and ends the run, in one transaction.

        The run has failed when nothing could be scored and some answer was an error; otherwise it is completed. What
        has no score goes to ``score_failures``, never to ``evaluation_scores``.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._units.unit(write=True, join=True) as cursor:
            _require(cursor, run_id)
            # Arrow and pandas would take longer to load than a run of recorded answers takes as a whole.
            append_rows(cursor, "evaluation_scores", score_rows(run_id, evaluation))
            append_rows(cursor, "score_failures", failure_rows(run_id, evaluation))
            cursor.execute(_FINISH, {"id": run_id, **run_values(evaluation)})

    def fail(self, run_id: str, error: str) -> None:
        """Ends a run that was broken off, with the reason.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._units.unit(write=True, join=True) as cursor:
            _require(cursor, run_id)
            cursor.execute(
                "UPDATE evaluation_runs SET status = 'failed', error = ?, completed_at = now() WHERE id = ?",
                [well_formed(error), run_id],
            )

    def mark_baseline(self, run_id: str) -> None:
        """Makes a run one that later ones are compared with.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._units.unit(write=True, join=True) as cursor:
            _require(cursor, run_id)
            cursor.execute("UPDATE evaluation_runs SET is_baseline = true WHERE id = ?", [run_id])

    def runs(self, agent_id: str | None = None) -> pd.DataFrame:
        """Every run, the latest last.

        Returns:
            One row per run: ``run_id``, ``position`` (grows from run to run, whatever the clock says), ``agent_id``,
            ``display_name``, ``kind``, ``status`` ("running", "completed", "failed", "interrupted"), ``dimensions``
            (list), ``window_start``, ``window_end`` (UTC, empty for open), ``sample_size``, ``seed``, ``overall_score``
            (0 to 9, empty when nothing was scored), ``is_baseline``, ``token_usage`` and ``scores`` (JSON text;
            ``scores`` has per dimension ``score``, ``score_without_marked``, ``marked``, ``items``, ``unscored``,
            and ``reason``), ``mode``, ``judge``, ``model``, ``instructions`` (versions of the prompts and temperatures
            that its answers came from, empty where none is on record), ``error``, ``created_at`` and ``completed_at``
            (UTC).

        Raises:
            InputError: UTF-8 cannot hold the agent's id.
        """
        require_storable(agent=agent_id or "")
        times = ["window_start", "window_end", "created_at", "completed_at"]
        return _as_they_stand(self._units.table(_RUNS, {"agent": agent_id}, times=times))

    def newest(self) -> int:
        """The position of the latest run; 0 while there is none."""
        found = self._units.rows("SELECT coalesce(max(position), 0) FROM evaluation_runs")
        return int(found[0][0])

    def scores(self, run_id: str) -> pd.DataFrame:
        """The scores of a run in the order in which they were asked.

        Returns:
            One row per proposition and message (or trajectory: then ``message_id`` is empty): ``dimension``,
            ``proposition_id``, ``claim``, ``weight``, ``is_inverted``, ``raw_score``, ``score`` (0 to 9, inverted
            claims turned round; a count for ideas), ``mark`` ("", "data_missing", "precondition"), ``reasoning``,
            ``context_snippet``, ``transcript_id``, ``message_id``, ``citations`` and ``ideas`` (JSON text),
            ``confidence``, ``judge``, ``model``, ``judgement_key``.
        """
        with self._units.unit() as cursor:
            _require(cursor, run_id)
            return self._units.table(_SCORES, {"run": run_id})

    def latest_scores(self) -> pd.DataFrame:
        """The scores of every agent's latest completed run, without their reasons.

        Returns:
            One row per proposition and message: ``run_id``, ``display_name``, ``dimension``, ``proposition_id``,
            ``weight``, ``score`` (0 to 9; a count for ideas), ``transcript_id`` (empty for a trajectory).
        """
        return self._units.table(_LATEST_SCORES, {})

    def failures(self, run_id: str) -> pd.DataFrame:
        """Scores of a run that could not be computed.

        Returns:
            ``dimension``, ``proposition_id``, ``subject``, ``status`` ("error", "not_scored", "skipped"), ``reason``.
        """
        with self._units.unit() as cursor:
            _require(cursor, run_id)
            return self._units.table(_FAILURES, {"run": run_id})

    def latest(self, agent_ids: Sequence[str] | None = None) -> pd.DataFrame:
        """The latest completed run of every agent, as :meth:`runs` gives it."""
        runs = self.runs()
        done = runs[runs["status"] == "completed"]
        if agent_ids is not None:
            done = done[done["agent_id"].isin(list(agent_ids))]
        return done.drop_duplicates("agent_id", keep="last").reset_index(drop=True)

    def delete(self, run_id: str) -> None:
        """Removes a run with its scores and failures.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._units.unit() as cursor:
            _require(cursor, run_id)
        self._units.execute_in_turn(
            run_id,
            "DELETE FROM evaluation_scores WHERE evaluation_run_id = ?",
            "DELETE FROM score_failures WHERE evaluation_run_id = ?",
            "DELETE FROM evaluation_runs WHERE id = ?",
        )


def _as_they_stand(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs as people see them, without the owner.

    One that is recorded as running is ``interrupted`` when its process has ended; no row says so. Of another machine's
    that is taken for granted a quarter of an hour after it began.
    """
    at_work = runs["status"] == "running"
    for index, run in runs[at_work].iterrows():
        if not (isinstance(run["owner"], str) and may_run(run["owner"], run["created_at"])):
            runs.loc[index, "status"] = INTERRUPTED
    return runs.drop(columns="owner")


def _require(cursor: DuckDBPyConnection, run_id: str) -> None:
    query = "SELECT 1 FROM evaluation_runs WHERE id::text = ?"
    # All rows: an unfinished result would keep the connection from other work.
    if not cursor.execute(query, [well_formed(run_id)]).fetchall():
        raise NotFoundError(f"There is no evaluation run {run_id!r}.", remedy="See them on the Agents page.")


_ENSURE_AGENT = "INSERT INTO agents (id, display_name, kind) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"

_BEGIN = """
INSERT INTO evaluation_runs (
    id, agent_id, status, dimensions, window_start, window_end, sample_size, seed, mode, owner)
VALUES ($id, $agent, 'running', $dimensions, $start, $end, $size, $seed, $mode, $owner)
"""

# Only plain columns: DuckDB refuses to update an indexed or a list column of a row that others refer to.
_FINISH = """
UPDATE evaluation_runs SET status = $status, overall_score = $overall, sample_size = $size, token_usage = $usage,
    scores = $scores, judge = $judge, model = $model, error = $error, completed_at = now()
WHERE id = $id
"""

_RUNS = """
WITH asked AS (
    SELECT s.evaluation_run_id AS run, array_to_string(list_sort(list(DISTINCT concat_ws(
        ', temperature ', j.prompt->>'version', j.answer->'parameters'->>'temperature'))), '; ') AS instructions
    FROM evaluation_scores s JOIN judgements j ON j.key = s.judgement_key
    GROUP BY s.evaluation_run_id
)
SELECT r.id::text AS run_id, r.position, agent_id, display_name, kind, status, dimensions,
       timezone('UTC', window_start) AS window_start, timezone('UTC', window_end) AS window_end, sample_size, seed,
       overall_score::double AS overall_score, is_baseline, token_usage::text AS token_usage, scores::text AS scores,
       mode, judge, model, coalesce(instructions, '') AS instructions, error,
       timezone('UTC', r.created_at) AS created_at,
       timezone('UTC', completed_at) AS completed_at, owner
FROM evaluation_runs r JOIN agents a ON a.id = r.agent_id LEFT JOIN asked ON asked.run = r.id
WHERE $agent::text IS NULL OR agent_id = $agent
ORDER BY r.position
"""

_SCORES = """
SELECT dimension, proposition_id, claim, weight::double AS weight, is_inverted, raw_score, score::double AS score, mark,
       reasoning, context_snippet, transcript_id, message_id, citations::text AS citations, ideas::text AS ideas,
       confidence::double AS confidence, judge, model, judgement_key
FROM evaluation_scores WHERE evaluation_run_id::text = $run ORDER BY position
"""

_LATEST_SCORES = """
WITH latest AS (
    SELECT r.id, display_name FROM evaluation_runs r JOIN agents a ON a.id = r.agent_id WHERE status = 'completed'
    QUALIFY row_number() OVER (PARTITION BY agent_id ORDER BY r.position DESC) = 1
)
SELECT l.id::text AS run_id, display_name, dimension, proposition_id, weight::double AS weight,
       score::double AS score, transcript_id
FROM evaluation_scores s JOIN latest l ON l.id = s.evaluation_run_id ORDER BY display_name, position
"""

_FAILURES = """
SELECT scorer AS dimension, proposition_id, subject, status, reason
FROM score_failures WHERE evaluation_run_id::text = $run ORDER BY scorer, proposition_id, subject
"""


class Insights(UnitsPart):
    """Reads and writes ``insight_checks`` and ``insight_findings``; rows are only ever added."""

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
