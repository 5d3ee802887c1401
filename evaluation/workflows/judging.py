"""Have a judge decide ledger rows of stored transcripts, one transcript after the other, and store its decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from evaluation.errors import NotFoundError
from evaluation.judging.judge_config import ChosenJudge, JudgeConfig, build_estimate
from evaluation.judging.judges.estimating import NOTHING_ASKED
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.protocol import JudgementStatus, Report
from evaluation.rubric_judge.judge_rows import JudgedTranscript, judge_rows
from evaluation.rubric_judge.judged_metrics import TASKS
from evaluation.store import Store


@dataclass(slots=True)
class JudgingTally:
    """Outcomes of the rows asked about.

    Attributes:
        transcripts: How many transcripts were judged.
        asked: How many rows the judge was asked about.
        decided: How many of them it decided.
        changed: How many of those the rule had decided otherwise.
        errors: How many got no usable answer.
        skipped: How many were not asked, because the budget was spent or somebody stopped the run.
        gone: How many transcripts were deleted before their turn came.
        why_not: Why rows were left to the rule, with how many.
        usage: What the answers cost; those that were known already cost nothing.
    """

    transcripts: int = 0
    asked: int = 0
    decided: int = 0
    changed: int = 0
    errors: int = 0
    skipped: int = 0
    gone: int = 0
    why_not: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def add(self, judged: JudgedTranscript) -> None:
        """Counts one more transcript."""
        statuses = [row.judgement.status for row in judged.rows]
        self.transcripts += 1
        self.asked += len(judged.rows)
        self.decided += len(judged.decisions)
        self.changed += sum(
            row.decision is not None and row.decision.verdict is not row.asked.row.verdict for row in judged.rows
        )
        self.errors += statuses.count(JudgementStatus.ERROR)
        self.skipped += statuses.count(JudgementStatus.SKIPPED)
        for reason, count in judged.reasons_why_not().items():
            self.why_not[reason] = self.why_not.get(reason, 0) + count
        self.usage += judged.usage


def judge_stored(
    store: Store,
    transcript_ids: Sequence[str],
    judge: ChosenJudge,
    *,
    metrics: Collection[str] = (),
    is_batched: bool = True,
    report: Report | None = None,
    finished: Callable[[JudgedTranscript], None] | None = None,
) -> JudgingTally:
    """Judges stored transcripts in turn; each is stored before the next begins, so that a stopped run loses nothing.

    Args:
        store: Where transcripts, results and decisions are.
        transcript_ids: Full ids; one that is deleted before its turn is passed over.
        judge: Who decides; its connections stay open until the last transcript.
        metrics: Which metrics; all that a judge may decide when empty.
        is_batched: Whether neighbouring rows may share a call.
        report: Told of every judgement.
        finished: Told of every transcript that was judged.

    Returns:
        What became of the rows.
    """
    names = metrics or tuple(TASKS)

    async def run() -> JudgingTally:
        tally = JudgingTally()
        async with judge.session():
            for transcript_id in transcript_ids:
                try:
                    with store.unit():
                        transcript = store.transcripts.get(transcript_id)
                        results = store.results.load(transcript_id)
                    judged = await judge_rows(
                        transcript, results, judge, metrics=names, is_batched=is_batched, report=report
                    )
                    store.decisions.save(judged.decisions)
                except NotFoundError:
                    tally.gone += 1
                    continue
                tally.add(judged)
                if finished is not None:
                    finished(judged)
        return tally

    return asyncio.run(run())


def estimate_judging(
    store: Store,
    transcript_ids: Sequence[str],
    config: JudgeConfig,
    *,
    metrics: Collection[str] = (),
    is_batched: bool = True,
) -> str:
    """The calls that ``judge_stored`` would make and what they would cost, in a sentence."""
    if config.mode != "live":
        return NOTHING_ASKED

    async def run() -> str:
        counting = await build_estimate(config, store.judgements)
        for each in transcript_ids:
            with store.unit():
                transcript, results = store.transcripts.get(each), store.results.load(each)
            await judge_rows(transcript, results, counting, metrics=metrics or tuple(TASKS), is_batched=is_batched)
        return counting.words

    return asyncio.run(run())
