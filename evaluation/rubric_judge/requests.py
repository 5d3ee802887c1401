"""Build questions from ledger rows, in batches of rows that share the messages around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.judging.fencing import as_message, as_name, fenced
from evaluation.judging.protocol import LARGEST_BATCH, JudgeRequest, LabelAnswer, Prompt
from evaluation.rubric.definitions import DEFINITIONS, MEMORY_ACCURACY
from evaluation.rubric_judge.judged_metrics import PROMPT_VERSION, TASKS, MetricTask, rows_to_judge
from evaluation.score import LedgerRow, MetricResult
from evaluation.transcript import Elimination, Message, Transcript, Vote

LONGEST_MESSAGE = 4_000
"""Characters of one message that a judge reads; the rest is said to be left out."""

_SIDES = {"mafia": "Mafia", "town": "town"}


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A ledger row with the question about it."""

    metric: str
    row: LedgerRow
    request: JudgeRequest


def requests_for(transcript: Transcript, result: MetricResult, *, is_batched: bool = True) -> list[AskedRow]:
    """The questions about one metric's rows, in the ledger's order; none where the rubric asks for no judgement.

    Args:
        transcript: Where the rows come from.
        result: The metric's result; ``rows_to_judge`` says which rows are asked.
        is_batched: Whether up to ten neighbouring rows share their context, so that one call can settle them. Otherwise
            every row has a context of its own, which costs more and is a little more exact.
    """
    task = TASKS.get(result.name)
    if task is None:
        return []
    size = LARGEST_BATCH if is_batched else 1
    rows = sorted(rows_to_judge(result), key=lambda row: _message_of(transcript, row).index)
    asked: list[AskedRow] = []
    for start in range(0, len(rows), size):
        asked.extend(_batch(transcript, result, task, rows[start : start + size], is_batched))
    return asked


def _message_of(transcript: Transcript, row: LedgerRow) -> Message:
    message = transcript.message(row.message_id or "")
    assert message is not None, row.id
    return message


def _batch(
    transcript: Transcript, result: MetricResult, task: MetricTask, rows: Sequence[LedgerRow], is_batched: bool
) -> Iterator[AskedRow]:
    last = _message_of(transcript, rows[-1])
    shown, left_out = _shown(transcript, task, _message_of(transcript, rows[0]), last)
    user = _context(transcript, task, shown, left_out, last)
    numbers = {message.index + 1: message.id for message in shown}
    for row in rows:
        message = _message_of(transcript, row)
        label = DEFINITIONS[result.name].label
        yield AskedRow(
            result.name,
            row,
            JudgeRequest(
                purpose=result.name,
                subject=f"{label}, message {message.index + 1} of game {transcript.game_id}",
                prompt=Prompt(task.system, user, _question(task, result.name, row, message)),
                answer=LabelAnswer,
                prompt_version=PROMPT_VERSION,
                messages=numbers,
                claim=task.question.format(number=message.index + 1),
                batch_group=f"{transcript.id}:{result.name}:{rows[0].id}" if is_batched else None,
            ),
        )


def _shown(transcript: Transcript, task: MetricTask, first: Message, last: Message) -> tuple[list[Message], int]:
    """The public messages that the judge sees, and how many come before them."""
    until = [message for message in transcript.discussion if message.index <= last.index]
    place = next(place for place, message in enumerate(until) if message.index >= first.index)
    start = max(0, place - task.before)
    return until[start:], start


def _context(transcript: Transcript, task: MetricTask, shown: Sequence[Message], left_out: int, last: Message) -> str:
    sections = []
    if task.shows_sides:
        sections.append("Every player's true side:\n" + fenced("\n".join(_sides(transcript))))
    if task.shows_record:
        sections.append(
            "What the record holds (a round's votes come after its messages):\n"
            + fenced("\n".join(_record(transcript, last)) or "(nothing)")
        )
    lines = [f"({left_out} earlier messages are left out.)"] if left_out else []
    known = {message.id: message.index + 1 for message in shown}
    lines += [_line(message, known) for message in shown]
    sections.append("What was said:\n" + fenced("\n".join(lines)))
    return "\n\n".join(sections)


def _sides(transcript: Transcript) -> Iterator[str]:
    for player in transcript.players:
        yield f"{as_name(player.name)}: {_SIDES.get(player.alignment or '', 'unknown')}"


def _line(message: Message, known: dict[str, int]) -> str:
    text = message.text
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]} ({len(text) - LONGEST_MESSAGE} more characters are left out)"
    when = "" if message.round is None else f" (round {message.round})"
    answered = known.get(message.reply_to or "")
    reply = f" (marked as a reply to message {answered})" if answered else ""
    return f"[M{message.index + 1}] {as_name(message.speaker)}{when}{reply}: {as_message(text)}"


def _record(transcript: Transcript, last: Message) -> Iterator[str]:
    """Votes by day and eliminations, up to the round of the last message."""
    for vote in transcript.valid_votes:
        if _is_known(vote, last):
            yield f"{_when(vote)}{as_name(vote.voter)} voted for {as_name(vote.target) if vote.target else 'nobody'}."
    for elimination in transcript.eliminations:
        if _is_known(elimination, last):
            role = f" ({as_name(elimination.role)})" if elimination.role else ""
            yield f"{_when(elimination)}{as_name(elimination.player)}{role} left the game."


def _is_known(event: Vote | Elimination, last: Message) -> bool:
    if isinstance(event, Vote) and event.phase is not None and "night" in event.phase.casefold():
        return False
    return event.round is None or last.round is None or event.round <= last.round


def _when(event: Vote | Elimination) -> str:
    return "" if event.round is None else f"Round {event.round}: "


def _question(task: MetricTask, metric: str, row: LedgerRow, message: Message) -> str:
    question = task.question.format(number=message.index + 1)
    if metric != MEMORY_ACCURACY.name:
        return question
    quote = " ... ".join(evidence.text for evidence in row.evidence if evidence.message_id is None)
    reference = fenced(as_name(quote))
    return f"{question} Only what came before that message counts. The reference:\n{reference}"
