"""Have a judge read whole games, window by window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.judging.model_client.calls import Usage, total
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, Report
from evaluation.rubric_judge.reading_decisions import JUDGED_METRICS, RowDecision, decisions_on
from evaluation.rubric_judge.window_prompt import (
    JudgedMessage,
    MessageWindow,
    WindowAnswer,
    checked,
    number_of,
    windows,
)
from evaluation.score import MetricResult
from evaluation.transcript import Transcript

_NO_ENTRY = "the answer left the message out, or garbled it"


@dataclass(frozen=True, slots=True)
class JudgedGame:
    """A judge's answers about one game, and the decisions that follow from them.

    Attributes:
        said: By message id; messages without a usable answer are missing.
        decisions: On the rows of the metrics, as they follow from it.
        judgements: The answers, in the order in which they were asked for.
        unread: Why messages have no answer, with how many.
        left_out: What of the answers was left out, with how often.
    """

    transcript: Transcript
    said: Mapping[str, JudgedMessage]
    decisions: list[RowDecision]
    judgements: list[Judgement]
    unread: Mapping[str, int]
    left_out: Mapping[str, int]

    @property
    def usage(self) -> Usage:
        """The cost of the answers in this run; answers from the cache cost nothing."""
        return total(one.usage for one in self.judgements if not one.is_cached)


async def read_game(
    transcript: Transcript,
    results: Mapping[str, MetricResult],
    judge: Judge,
    *,
    metrics: Collection[str] = JUDGED_METRICS,
    report: Report | None = None,
) -> JudgedGame:
    """Asks the judge about every public message, a window at a time, and once more about those that it left out.

    Nothing is looked up and nothing is stored: the same game and answers always give the same decisions. A message of
    which the judge says nothing usable keeps the rows of rule and reader.

    Args:
        transcript: The game.
        results: Its results by metric, as they stand.
        judge: Who reads.
        metrics: The metrics that may be decided, of ``JUDGED_METRICS``.
        report: Told of every judgement about a window; not of those that ask again.
    """
    found = windows(transcript)
    said: dict[str, JudgedMessage] = {}
    sources: dict[str, Judgement] = {}
    unread: Counter[str] = Counter()
    judgements = await judge.judge([window.request() for window in found], report=report)
    again: list[tuple[MessageWindow, list[int]]] = []
    for window, judgement in zip(found, judgements, strict=True):
        missing = _take(window, [], judgement, said, sources)
        if judgement.is_scored and missing:
            again.append((window, missing))
        elif missing:
            unread[_why(judgement)] += len(missing)
    repeated = await judge.judge([window.request(numbers) for window, numbers in again]) if again else []
    for (window, numbers), judgement in zip(again, repeated, strict=True):
        missing = _take(window, numbers, judgement, said, sources)
        if missing:
            unread[_NO_ENTRY if judgement.is_scored else _why(judgement)] += len(missing)
    said = {message.id: said[message.id] for message in transcript.discussion if message.id in said}
    left_out = Counter(note for one in said.values() for note in one.notes)
    decisions = decisions_on(transcript, results, said, sources, metrics)
    return JudgedGame(transcript, said, decisions, [*judgements, *repeated], unread, left_out)


def _take(
    window: MessageWindow,
    numbers: Sequence[int],
    judgement: Judgement,
    said: dict[str, JudgedMessage],
    sources: dict[str, Judgement],
) -> list[int]:
    """Adds what a judgement says of messages; the numbers of those that it says nothing usable of."""
    asked = list(numbers) or [number_of(message) for message in window.messages]
    shown = {number_of(message): message.id for message in (*window.before, *window.messages)}
    answer = judgement.answer
    found = checked(answer, window.transcript, shown, asked) if isinstance(answer, WindowAnswer) else {}
    for one in found.values():
        said[one.message.id] = one
        sources[one.message.id] = judgement
    return [number for number in asked if number not in found]


def _why(judgement: Judgement) -> str:
    if judgement.status is JudgementStatus.SCORED:
        return _NO_ENTRY
    return judgement.detail or str(judgement.status).replace("_", " ")
