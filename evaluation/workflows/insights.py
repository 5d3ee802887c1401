"""Ask a judge about discussions (checks, opinions, themes, quotes), and store its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.errors import NotFoundError
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import EvaluationReport, Wanted, plain_report, report_on
from evaluation.judging.judge_config import ChosenJudge, JudgeConfig, build_estimate
from evaluation.judging.live_judge import EstimatingJudge
from evaluation.judging.protocol import JudgementStatus, Report
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.agents import player_personas


def estimate_insights(
    store: Store, transcript_ids: Iterable[str], wanted: Wanted, config: EvaluationConfig, judged_by: JudgeConfig
) -> EstimatingJudge:
    """The expected questions about these games, as the estimate of every other run counts them; nobody is asked."""
    games = [store.transcripts.get(one) for one in transcript_ids]
    counting = build_estimate(judged_by, store.judgements)

    async def ask() -> None:
        for game in games:
            personas = player_personas(store, game) if wanted.checks else {}
            await report_on(game, counting, wanted, config=config, personas=personas)

    asyncio.run(ask())
    return counting


async def insight_report(
    store: Store,
    game: Transcript,
    chosen: ChosenJudge | None,
    wanted: Wanted,
    config: EvaluationConfig,
    *,
    report: Report | None = None,
) -> EvaluationReport:
    """The report on a stored game; what a judge answered for it is stored.

    Args:
        store: Where the game and what is known of its players are.
        game: The discussion.
        chosen: The judge, connected; ``None`` to ask nobody.
        wanted: What is asked.
        config: Thresholds, limits and sample.
        report: Told of every judgement.
    """
    if chosen is None:
        return plain_report(game, config)
    found = await report_on(
        game,
        chosen,
        wanted,
        judged_by={"kind": str(chosen.kind), "model": chosen.model},
        config=config.model_copy(update={"evaluation_model": chosen.model, "max_usd": chosen.budget.usd}),
        personas=player_personas(store, game) if wanted.checks else {},
        report=report,
    )
    _store(store, game.id, found, wanted)
    return found


def _store(store: Store, transcript_id: str, found: EvaluationReport, wanted: Wanted) -> None:
    """A sample that the judge's limit cut short, or that nobody could judge, replaces no earlier one."""
    judged_by = found.judge
    if judged_by is None:
        return
    questions = {"opinions": wanted.topic or "", "quotes": wanted.criteria or ""}
    with store.unit(write=True):
        if not was_cut_short(found) and any(one.score is not None for one in found.validations):
            store.insights.save_checks(transcript_id, found.validations, judged_by)
        for kind, one in found.extractions.items():
            if one.status == "done":
                store.insights.save_finding(transcript_id, kind, questions.get(kind, ""), one.as_dict(), judged_by)


def was_cut_short(found: EvaluationReport) -> bool:
    """Whether the judge's limit was reached before the sample was checked."""
    return any(one.is_asked and one.status is JudgementStatus.SKIPPED for one in found.validations)


@dataclass(slots=True)
class InsightTally:
    """Outcomes of asking about several games.

    Attributes:
        games: How many were asked about and answered whole.
        cut_short: How many the judge's limit cut short, or left out.
        gone: How many were deleted before their turn came.
        scored: Checks with a score.
        passed: How many of them passed.
        why_not: The first reason why a question has no answer; empty when all have one.
    """

    games: int = 0
    cut_short: int = 0
    gone: int = 0
    scored: int = 0
    passed: int = 0
    why_not: str = ""

    def add(self, found: EvaluationReport) -> None:
        """Counts one more game."""
        problems = [one for each in found.extractions.values() for one in each.problems]
        is_cut = was_cut_short(found) or any(one.status is JudgementStatus.SKIPPED for one in problems)
        self.games += not is_cut
        self.cut_short += is_cut
        verdicts = [one.passed for one in found.validations if one.passed is not None]
        self.scored += len(verdicts)
        self.passed += sum(verdicts)
        useless = {JudgementStatus.ERROR, JudgementStatus.NOT_SCORED}
        reasons = [one.explanation for one in found.validations if one.is_asked and one.status in useless]
        reasons += [one.detail for one in problems if one.status in useless]
        self.why_not = self.why_not or next(iter(reasons), "")


def ask_about_games(
    store: Store,
    transcript_ids: Sequence[str],
    chosen: ChosenJudge,
    wanted: Wanted,
    config: EvaluationConfig,
    report: Report | None = None,
) -> InsightTally:
    """Asks about stored games in turn; each is stored before the next begins, so that a stopped run loses nothing.

    Args:
        store: Where games are and answers go.
        transcript_ids: Full ids; one that is deleted before its turn is passed over.
        chosen: The judge; its connections stay open until the last game.
        wanted: What is asked of each.
        config: Thresholds, limits and sample of each.
        report: Told of every judgement.
    """

    async def run() -> InsightTally:
        tally = InsightTally()
        async with chosen.session():
            for transcript_id in transcript_ids:
                try:
                    game = store.transcripts.get(transcript_id)
                    tally.add(await insight_report(store, game, chosen, wanted, config, report=report))
                except NotFoundError:
                    tally.gone += 1
        return tally

    return asyncio.run(run())
