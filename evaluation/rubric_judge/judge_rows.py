"""Have a judge decide rows of a transcript's ledgers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.judging.model_client.calls import Usage, total
from evaluation.judging.protocol import Judge, Judgement, Report
from evaluation.rubric_judge.judged_metrics import TASKS
from evaluation.rubric_judge.requests import AskedRow, requests_for
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import MetricResult, replace_rows
from evaluation.text.display import counted
from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The outcome of one question.

    Attributes:
        decision: What the judge decided; ``None`` where the rule's verdict stays.
        why_not: Why there is no decision, in words; empty when there is one.
    """

    asked: AskedRow
    judgement: Judgement
    decision: RowDecision | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class JudgedTranscript:
    """The answers about one transcript's rows, in the order of the metrics and ledgers."""

    transcript: Transcript
    rows: tuple[JudgedRow, ...]

    @property
    def decisions(self) -> list[RowDecision]:
        """The judge's decisions; rows that it left open are missing."""
        return [row.decision for row in self.rows if row.decision is not None]

    @property
    def usage(self) -> Usage:
        """The cost of the answers in this run; answers from the cache cost nothing."""
        return total(row.judgement.usage for row in self.rows if not row.judgement.is_cached)

    def reasons_why_not(self) -> dict[str, int]:
        """Why rows were left as the rule has them, with how many, the most frequent first."""
        counts: dict[str, int] = {}
        for row in self.rows:
            if row.why_not:
                counts[row.why_not] = counts.get(row.why_not, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))


async def judge_rows(
    transcript: Transcript,
    results: Mapping[str, MetricResult],
    judge: Judge,
    *,
    metrics: Collection[str] = tuple(TASKS),
    is_batched: bool = True,
    report: Report | None = None,
) -> JudgedTranscript:
    """Asks the judge about every row that the rubric leaves to judgement.

    Nothing is looked up and nothing is stored: the same rows and answers always give the same decisions. A row that the
    judge cannot score (the offline judge can score none), skips for want of budget, or answers with another label or
    without the cited message that its label needs, keeps the rule's verdict.

    Args:
        transcript: The transcript.
        results: Its results by metric, overrides applied, so that rows decided by people are not asked.
        judge: Who decides.
        metrics: Which metrics; others than those of ``TASKS`` have nothing to ask.
        is_batched: Whether neighbouring rows may share a call.
        report: Told of every judgement.
    """
    wanted = [results[name] for name in TASKS if name in metrics and name in results]
    asked = [one for result in wanted for one in requests_for(transcript, result, is_batched=is_batched)]
    judgements = await judge.judge([one.request for one in asked], report=report)
    rows = [_judged(transcript, one, judgement) for one, judgement in zip(asked, judgements, strict=True)]
    return JudgedTranscript(transcript, tuple(rows))


def _judged(transcript: Transcript, asked: AskedRow, judgement: Judgement) -> JudgedRow:
    if not judgement.is_scored:
        return JudgedRow(asked, judgement, None, judgement.detail or str(judgement.status).replace("_", " "))
    task = TASKS[asked.metric]
    label = _plain_label(judgement.label or "")
    if label not in task.labels:
        return JudgedRow(asked, judgement, None, f"the judge gave a label that is none of {', '.join(task.labels)}")
    if label not in task.uncited and not judgement.citations:
        return JudgedRow(asked, judgement, None, "the judge cited no message that there is")
    decision = RowDecision(
        transcript_id=transcript.id,
        metric=asked.metric,
        row_id=asked.row.id,
        verdict=task.labels[label],
        label=label,
        reason=judgement.reason.strip() or f"The judge says: {label.replace('_', ' ')}.",
        confidence=judgement.confidence,
        citations=judgement.citations,
        judge=str(judgement.judge),
        model=judgement.judged_by,
        key=judgement.key,
    )
    return JudgedRow(asked, judgement, decision)


def _plain_label(label: str) -> str:
    return label.strip(" \t\n.\"'`*").casefold().replace(" ", "_").replace("-", "_")


def apply_decisions(results: Mapping[str, MetricResult], decisions: Sequence[RowDecision]) -> dict[str, MetricResult]:
    """The results with the decided rows in place of the rule's, every score computed again; the rule's rows are kept.

    Decisions on rows that a ledger does not have are left out.
    """
    by_metric: dict[str, dict[str, RowDecision]] = {}
    for decision in decisions:
        by_metric.setdefault(decision.metric, {})[decision.row_id] = decision
    return {name: _applied(result, by_metric.get(name, {})) for name, result in results.items()}


def _applied(result: MetricResult, decisions: Mapping[str, RowDecision]) -> MetricResult:
    if not decisions:
        return result
    rows = {row.id: decisions[row.id].applied_to(row) for row in result.ledger if row.id in decisions}
    if not rows:
        return result
    judges = ", ".join(dict.fromkeys(decisions[row_id].method for row_id in rows))
    # What the rule remarked counts its own rows, not those that stand now.
    notes = (f"{counted(len(rows), 'row')} decided by {judges}", *(f"by the rule: {note}" for note in result.notes))
    return replace(replace_rows(result, rows), notes=notes)
