"""Have a model read stored games or check what is said in them, and queue the rows that a person should check."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.errors import InputError, NotFoundError
from evaluation.insight.evaluation_report import EvaluationReport, Wanted, report_on
from evaluation.insight.recommendations import judge_of_its_own_words
from evaluation.insight.validator import EvaluationConfig
from evaluation.judging.judge_config import (
    SETTINGS_KEY,
    ChosenJudge,
    JudgeConfig,
    build_estimate,
    build_judge,
    judge_config,
)
from evaluation.judging.live_judge import NOTHING_ASKED, EstimatingJudge
from evaluation.judging.model_client.budget import spent_words
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.protocol import JudgementStatus, Report
from evaluation.overrides import Override
from evaluation.rubric.definitions import MEMORY_ACCURACY
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind, decides, most_at_stake_first
from evaluation.rubric_judge.game_reading import JudgedGame, read_game
from evaluation.rubric_judge.window_prompt import windows
from evaluation.score import LedgerRow, MetricResult, RowVerdict, row_id_of
from evaluation.store import Store
from evaluation.store.transcripts import simulated
from evaluation.text.display import counted
from evaluation.transcript import Message, Transcript
from evaluation.workflows.agents import player_personas


@dataclass(slots=True)
class JudgingTally:
    """Outcomes of games that a judge was to read.

    Attributes:
        transcripts: How many games were read, or tried.
        messages: How many public messages they have.
        read: Of how many of them the judge said anything usable.
        decided: How many rows follow from that.
        changed: How many of those stood otherwise before, or were not there.
        errors: How many questions got no usable answer.
        skipped: How many were not asked, because the budget was spent or somebody stopped the run.
        gone: How many games were deleted before their turn came.
        unread: Why messages were not read, with how many.
        left_out: What of the answers could not be so and was left out, with how often.
        usage: What the answers cost; those that were known already cost nothing.
    """

    transcripts: int = 0
    messages: int = 0
    read: int = 0
    decided: int = 0
    changed: int = 0
    errors: int = 0
    skipped: int = 0
    gone: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)

    def add(self, judged: JudgedGame, changed: int) -> None:
        """Counts one more game."""
        statuses = [one.status for one in judged.judgements]
        self.transcripts += 1
        self.messages += len(judged.transcript.discussion)
        self.read += len(judged.said)
        self.decided += len(judged.decisions)
        self.changed += changed
        self.errors += statuses.count(JudgementStatus.ERROR)
        self.skipped += statuses.count(JudgementStatus.SKIPPED)
        self.unread.update(judged.unread)
        self.left_out.update(judged.left_out)
        self.usage += judged.usage

    @property
    def words(self) -> str:
        """In a sentence: "58 of 60 messages in 1 game read; 12 of 180 rows otherwise than before"."""
        return (
            f"{self.read} of {counted(self.messages, 'message')} in {counted(self.transcripts, 'game')} read; "
            f"{self.changed} of {counted(self.decided, 'row')} otherwise than before"
        )


def count_windows(store: Store, transcript_ids: Sequence[str]) -> int:
    """The number of windows in which games are read."""
    found = 0
    for each in transcript_ids:
        with store.unit():
            found += len(windows(store.transcripts.get(each)))
    return found


def judge_stored(
    store: Store,
    transcript_ids: Sequence[str],
    judge: ChosenJudge,
    *,
    report: Report | None = None,
    finished: Callable[[JudgedGame], None] | None = None,
) -> JudgingTally:
    """Has stored games read in turn; each is stored before the next begins, so that a stopped run loses nothing.

    Args:
        store: Where transcripts, results and decisions are.
        transcript_ids: Full ids; one that is deleted before its turn is passed over.
        judge: Who decides; its connections stay open until the last transcript.
        report: Told of every judgement about a window.
        finished: Told of every game that was read.

    Returns:
        What became of messages and rows.
    """

    async def run() -> JudgingTally:
        tally = JudgingTally()
        async with judge.session():
            for transcript_id in transcript_ids:
                try:
                    with store.unit():
                        transcript = store.transcripts.get(transcript_id)
                        results = store.results.load(transcript_id)
                    judged = await read_game(transcript, results, judge, report=report)
                    with store.unit(write=True):
                        store.decisions.save(judged.decisions)
                        after = store.results.load(transcript_id)
                except NotFoundError:
                    tally.gone += 1
                    continue
                before = _verdicts(results)
                changed = sum(before.get(row_id) is not verdict for row_id, verdict in _verdicts(after).items())
                tally.add(judged, changed)
                if finished is not None:
                    finished(judged)
        return tally

    return asyncio.run(run())


def _verdicts(results: Mapping[str, MetricResult]) -> dict[str, RowVerdict]:
    return {row.id: row.verdict for result in results.values() for row in result.ledger}


def estimate_judging(store: Store, transcript_ids: Sequence[str], config: JudgeConfig) -> str:
    """The calls that ``judge_stored`` would make and what they would cost, in a sentence."""
    if config.mode != "live":
        return NOTHING_ASKED

    async def run() -> str:
        counting = build_estimate(config, store.judgements)
        for each in transcript_ids:
            with store.unit():
                transcript = store.transcripts.get(each)
            await read_game(transcript, {}, counting)
        return counting.words

    return asyncio.run(run())


def reads_imports(store: Store) -> bool:
    """Whether a model is to read every game that is imported: it is switched on, and there is a model to ask.

    Raises:
        InputError: The judge's settings cannot be used.
    """
    return store.settings.judges_imports() and _own_config(store).mode == "live"


def read_imported(store: Store, transcript_ids: Sequence[str]) -> str:
    """Has a model read games that were just imported, where that is switched on; what came of it in a sentence.

    Returns:
        Empty where it is switched off or there is nothing to read.
    """
    if not transcript_ids or not reads_imports(store):
        return ""
    chosen = build_judge(_own_config(store), cache=store.judgements)
    tally = judge_stored(store, transcript_ids, chosen)
    why = next(iter(tally.unread), "")
    return f"{chosen.model}: {tally.words}. {spent_words(chosen.budget)}." + (f" Not read: {why}" if why else "")


def _own_config(store: Store) -> JudgeConfig:
    return judge_config(stored=store.settings.get(SETTINGS_KEY))


_CONTEXT = 6


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """One row to be decided."""

    transcript_id: str
    item: ReviewItem


@dataclass(frozen=True, slots=True)
class RowContext:
    """The text that a person reads to decide a row.

    Attributes:
        game: The display name of the game.
        row: The row as it stands.
        message: What the row is about; ``None`` where it is about no message.
        before: The public messages just before it, oldest first; at most six.
        role: The role of who says it; empty where the game does not tell.
    """

    game: str
    row: LedgerRow
    message: Message | None
    before: tuple[Message, ...] = ()
    role: str = ""


def stored_review_queue(
    store: Store, iteration: str | None = None, kinds: Collection[ReviewKind] = tuple(ReviewKind)
) -> list[QueuedRow]:
    """The rows of an iteration's games that a person should look at, those with most at stake first.

    Args:
        store: Where to read.
        iteration: Whose games; ``None`` for those of no iteration.
        kinds: Only these.
    """
    with store.unit():
        summaries = store.transcripts.summaries()
        is_loose = summaries["iteration"].isna() & ~simulated(summaries)
        is_in = is_loose if iteration is None else summaries["iteration"] == iteration
        chosen = [str(key) for key in summaries.loc[is_in, "transcript_id"]]
        games = store.results.rows_in_doubt(chosen)
    found = [QueuedRow(key, item) for key, items in games.items() for item in items if item.kind in kinds]
    return most_at_stake_first(found, lambda queued: queued.item)


def stored_review_counts(store: Store, iteration: str) -> tuple[int, int]:
    """The number of rows that :func:`stored_review_queue` has of an iteration, and of those that decide alone.

    Those could change by themselves whether their metric passes, by today's thresholds.
    """
    with store.unit():
        thresholds = store.settings.thresholds()
        found = store.results.outcomes_in_doubt(iteration)
    return len(found), sum(decides(thresholds[metric], scores) for metric, scores in found)


def row_context(store: Store, transcript_id: str, metric: str, row_id: str) -> RowContext:
    """A ledger row with the message that it is about and the name of its game.

    Args:
        store: Where to read.
        transcript_id: Full id of its game.
        metric: Whose ledger it stands in.
        row_id: Its id there.

    Raises:
        NotFoundError: The transcript is not stored, or has no such row.
    """
    with store.unit():
        game = store.transcripts.name(transcript_id)
        transcript = store.transcripts.get(transcript_id)
        ledger = store.results.load(transcript_id)[metric].ledger
    row = next((one for one in ledger if one.id == row_id), None)
    if row is None:
        raise NotFoundError("This verdict was computed again in the meantime.", remedy="Reload the page.")
    message = transcript.message(row.message_id) if row.message_id else None
    if message is None:
        return RowContext(game, row, None)
    role = transcript.player(message.speaker).role if message.speaker in transcript.player_names else None
    return RowContext(game, row, message, _before(transcript.discussion, message), role or "")


def _before(discussion: Sequence[Message], message: Message) -> tuple[Message, ...]:
    earlier = [one for one in discussion if one.index < message.index]
    return tuple(earlier[-_CONTEXT:])


def mark_reference(
    store: Store,
    transcript_id: str,
    message_id: str,
    words: str,
    verdict: RowVerdict | str,
    *,
    author: str,
    reason: str,
) -> Override:
    """Adds words of a message to memory accuracy as a reference that the rule missed, with a person's verdict.

    Args:
        store: Where the game is.
        transcript_id: Full id of the game.
        message_id: The message, of the public discussion.
        words: As they stand in the message; of several places the first.
        verdict: Whether the reference is accurate (``counts``), inaccurate, or left out.
        author: Who marks it.
        reason: Why.

    Raises:
        NotFoundError: The transcript is not stored.
        InputError: The words do not stand in a message of the discussion, or nobody or no reason is named.
    """
    with store.unit(write=True, join=True):
        transcript = store.transcripts.get(transcript_id)
        message = next((one for one in transcript.discussion if one.id == message_id), None)
        if message is None:
            raise InputError("Only messages of the public discussion hold references.", place="message")
        start = message.text.find(words) if words.strip() else -1
        if start < 0:
            raise InputError(
                "These words do not stand in the message.", place="words", remedy="Copy them from the message."
            )
        row_id = row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{start}-{start + len(words)}")
        place = (transcript_id, MEMORY_ACCURACY.name, row_id)
        return store.overrides.add(*place, verdict, author=author, reason=reason, added_words=words)


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
    chosen: ChosenJudge,
    wanted: Wanted,
    config: EvaluationConfig,
    *,
    report: Report | None = None,
) -> EvaluationReport:
    """The report on a stored game; what a judge answered for it is stored.

    Args:
        store: Where the game and what is known of its players are.
        game: The discussion.
        chosen: The judge, connected.
        wanted: What is asked.
        config: Thresholds, limits and sample.
        report: Told of every judgement.
    """
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
        own_words: A warning where the judge wrote messages of a game itself; empty where it did not.
    """

    games: int = 0
    cut_short: int = 0
    gone: int = 0
    scored: int = 0
    passed: int = 0
    why_not: str = ""
    own_words: str = ""

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
                    warnings = judge_of_its_own_words(game, chosen.model)
                    tally.own_words = tally.own_words or " ".join(warnings)
                except NotFoundError:
                    tally.gone += 1
        return tally

    return asyncio.run(run())
