"""Have a model read stored games, and queue the rows that a person should check."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.errors import InputError, NotFoundError
from evaluation.judging.judge_config import (
    SETTINGS_KEY,
    ChosenJudge,
    JudgeConfig,
    build_estimate,
    build_judge,
    judge_config,
)
from evaluation.judging.live_judge import NOTHING_ASKED
from evaluation.judging.model_client.budget import spent_words
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.protocol import JudgementStatus, Report
from evaluation.overrides import Override
from evaluation.rubric.definitions import MEMORY_ACCURACY
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind, most_at_stake_first
from evaluation.rubric_judge.game_reading import JudgedGame, read_game
from evaluation.rubric_judge.window_prompt import windows
from evaluation.score import MetricResult, RowVerdict, row_id_of
from evaluation.store import Store
from evaluation.store.transcripts import simulated
from evaluation.text.display import counted
from evaluation.transcript import Message


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
        message: What the row is about; ``None`` where it is about no message.
        before: The public messages just before it, oldest first; at most six.
        role: The role of who says it; empty where the game does not tell.
    """

    game: str
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


def row_context(store: Store, transcript_id: str, message_id: str | None) -> RowContext:
    """The message of a row with the name of its game.

    Args:
        store: Where to read.
        transcript_id: Full id of its game.
        message_id: What it is about; ``None`` or empty for no message.

    Raises:
        NotFoundError: The transcript is not stored.
    """
    with store.unit():
        game = store.transcripts.name(transcript_id)
        transcript = store.transcripts.get(transcript_id)
    message = transcript.message(message_id) if message_id else None
    if message is None:
        return RowContext(game, None)
    role = transcript.player(message.speaker).role if message.speaker in transcript.player_names else None
    return RowContext(game, message, _before(transcript.discussion, message), role or "")


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
