"""Have a judge read whole games, window by window."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.judging.model_client.calls import Usage, total
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, Report
from evaluation.rubric_judge.reading_decisions import RowDecision, decisions_on
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


@dataclass(frozen=True, slots=True)
class WindowsRead:
    """A judge's answers about windows.

    Attributes:
        said: For each window by message id, with the answer that it comes from.
        judgements: The answers, in the order in which they were asked for.
        unread: Why messages have no usable answer, with how many.
    """

    said: list[dict[str, tuple[JudgedMessage, Judgement]]]
    judgements: list[Judgement]
    unread: Counter[str]


async def read_windows(found: Sequence[MessageWindow], judge: Judge, report: Report | None = None) -> WindowsRead:
    """Asks the judge about windows, and once more about the messages that it left out."""
    read = WindowsRead([{} for _ in found], [], Counter())
    asked: list[tuple[int, list[int]]] = [(place, []) for place in range(len(found))]
    for is_last in (False, True):
        requests = [found[place].request(numbers) for place, numbers in asked]
        judgements = await judge.judge(requests, report=None if is_last else report) if requests else []
        read.judgements.extend(judgements)
        again: list[tuple[int, list[int]]] = []
        for (place, numbers), judgement in zip(asked, judgements, strict=True):
            missing = _take(found[place], numbers, judgement, read.said[place])
            if missing and judgement.is_scored and not is_last:
                again.append((place, missing))
            elif missing:
                read.unread[_why(judgement)] += len(missing)
        asked = again
    return read


async def read_game(
    transcript: Transcript, results: Mapping[str, MetricResult], judge: Judge, *, report: Report | None = None
) -> JudgedGame:
    """Asks the judge about every public message, a window at a time, and once more about those that it left out.

    Nothing is looked up and nothing is stored: the same game and answers always give the same decisions. A message of
    which the judge says nothing usable keeps the rows of rule and reader.

    Args:
        transcript: The game.
        results: Its results by metric, as they stand.
        judge: Who reads.
        report: Told of every judgement about a window; not of those that ask again.
    """
    read = await read_windows(windows(transcript), judge, report)
    found = ChainMap(*read.said)
    told = {message.id: found[message.id] for message in transcript.discussion if message.id in found}
    said = {key: one for key, (one, _) in told.items()}
    left_out = Counter(note for one in said.values() for note in one.notes)
    decisions = decisions_on(transcript, results, said, {key: source for key, (_, source) in told.items()})
    return JudgedGame(transcript, said, decisions, read.judgements, read.unread, left_out)


def _take(
    window: MessageWindow,
    numbers: Sequence[int],
    judgement: Judgement,
    said: dict[str, tuple[JudgedMessage, Judgement]],
) -> list[int]:
    """Adds what a judgement says of messages; the numbers of those that it says nothing usable of."""
    asked = list(numbers) or [number_of(message) for message in window.messages]
    shown = {number_of(message): message.id for message in (*window.before, *window.messages)}
    answer = judgement.answer
    found = checked(answer, window.transcript, shown, asked) if isinstance(answer, WindowAnswer) else {}
    said.update((one.message.id, (one, judgement)) for one in found.values())
    return [number for number in asked if number not in found]


def _why(judgement: Judgement) -> str:
    if judgement.status is JudgementStatus.SCORED:
        return _NO_ENTRY
    return judgement.detail or str(judgement.status).replace("_", " ")
