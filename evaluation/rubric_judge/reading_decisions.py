"""Turn what a judge says of a game's messages into decisions on ledger rows, metric by metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evaluation.judging.protocol import Judgement
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, prepare
from evaluation.rubric.metrics import role_consistency
from evaluation.rubric.metrics.coherence import answered_row, places
from evaluation.rubric.reader.decisions import kind_of_reference, speech_acts
from evaluation.rubric.speech import Reading
from evaluation.rubric_judge._window_answer import JudgedMessage, JudgedReference
from evaluation.rubric_judge.row_decision import NO_REFERENCE, RowDecision
from evaluation.score import Evidence, LedgerRow, MetricResult, RowVerdict, decided, row_id_of
from evaluation.transcript import Message, Transcript

_Said = Mapping[str, JudgedMessage]


@dataclass(frozen=True, slots=True)
class _Decided:
    """A verdict on a row, which may be a new one."""

    row: LedgerRow
    counts: bool | None
    label: str
    reason: str
    citations: tuple[str, ...] = ()


def decisions_on(
    transcript: Transcript,
    results: Mapping[str, MetricResult],
    said: Mapping[str, JudgedMessage],
    sources: Mapping[str, Judgement],
    metrics: Collection[str],
) -> list[RowDecision]:
    """The decisions that follow from what a judge says of messages, in the order of the metrics and messages.

    Strategic depth: as said. Coherence: a message counts when one that it answers is among the last three of other
    players, or by its reply id. Role consistency: the rubric's table decides by the acts. Memory accuracy: each
    reference decides the row that it shares most of its words with, or adds one; rows of the message that no reference
    fits are dismissed. Messages of which nothing is said keep their rows.

    Args:
        transcript: The game.
        results: Its results by metric; a metric without one gets no decisions.
        said: By message id.
        sources: The judgement in which it was said, by message id.
        metrics: Which metrics.
    """
    found = []
    for name, decide in _DECIDE.items():
        if name not in metrics or name not in results:
            continue
        computed = {row.id for row in results[name].ledger if not row.details.get(_ADDED)}
        for one in decide(transcript, said, results[name]):
            source = sources[one.row.message_id or ""]
            found.append(
                RowDecision(
                    transcript.id,
                    name,
                    one.row.id,
                    _VERDICTS[one.counts],
                    one.label,
                    one.reason,
                    None,
                    one.citations,
                    str(source.judge),
                    source.judged_by,
                    source.key,
                    added=None if one.row.id in computed else _as_added(one.row),
                )
            )
    return found


_VERDICTS = {True: RowVerdict.COUNTS, False: RowVerdict.DOES_NOT_COUNT, None: RowVerdict.EXCLUDED}
# The detail of a row that is there because a judge added it.
_ADDED = "added"


def _as_added(row: LedgerRow) -> LedgerRow:
    """An added row as it is without any decision, the same whoever has decided it since."""
    details = {_ADDED: True} | {name: row.details[name] for name in _OWN_DETAILS if name in row.details}
    return LedgerRow(
        row.id,
        row.kind,
        RowVerdict.EXCLUDED,
        "Only a judge saw this.",
        message_id=row.message_id,
        player=row.player,
        evidence=row.evidence,
        details=details,
    )


_OWN_DETAILS = ("kind", "alignment", "acts")


def _message_row(metric: str, message: Message) -> LedgerRow:
    return decided(row_id_of(metric, message.id), "message", None, "", message_id=message.id, player=message.speaker)


def _depth(_: Transcript, said: _Said, __: MetricResult) -> Iterator[_Decided]:
    for one in said.values():
        label = "strategic" if one.is_strategic else "not strategic"
        yield _Decided(_message_row(STRATEGIC_DEPTH.name, one.message), one.is_strategic, label, one.reason)


def _coherence(transcript: Transcript, said: _Said, _: MetricResult) -> Iterator[_Decided]:
    messages = transcript.discussion
    speakers, rounds = [one.speaker for one in messages], [one.round for one in messages]
    for message, place in zip(messages, places(speakers, rounds), strict=True):
        one = said.get(message.id)
        reply = answered_row(transcript, message)
        if one is None or (not place.context and message.reply_to is None):
            # The first message, and those that open a round, have nothing to answer.
            continue
        row = _message_row(COHERENCE.name, message)
        context = {messages[earlier].id for earlier in place.context}
        recent = tuple(answered for answered in one.answers if answered in context)
        if reply is not None:
            yield _Decided(row, True, "answers", reply.reason, tuple(reply.details.get("answers", ())))
        elif recent:
            yield _Decided(row, True, "answers", one.reason, recent)
        else:
            further = " It answers a message further back than the last 3 of others." if one.answers else ""
            yield _Decided(row, False, "does not answer", f"{one.reason}{further}", one.answers)


def _role(transcript: Transcript, said: _Said, _: MetricResult) -> Iterator[_Decided]:
    readings = [_with_acts(one, transcript) for one in said.values()]
    for row in role_consistency.rows(readings, transcript):
        if row.details["alignment"] is not None:
            counts = bool(row.numerator) if row.denominator else None
            one = said[row.message_id or ""]
            acts = ", ".join(f"{kind} {target or ''}".rstrip() for kind, target in one.acts) or "no act"
            yield _Decided(row, counts, acts, f"{row.reason} {one.reason}")


def _with_acts(one: JudgedMessage, transcript: Transcript) -> Reading:
    prepared = prepare(one.message, Discussion.of(transcript).names, None)
    acts = tuple(speech_acts(one.acts, prepared, argues=one.is_strategic))
    return Reading(one.message, (), acts, frozenset(), False, False, False, frozenset())


def _memory(_: Transcript, said: _Said, result: MetricResult) -> Iterator[_Decided]:
    rows: dict[str, list[LedgerRow]] = {}
    for row in result.ledger:
        rows.setdefault(row.message_id or "", []).append(row)
    for message_id, one in said.items():
        left = rows.get(message_id, [])
        for reference in one.references:
            fitting = max(left, key=lambda row: _shared(row, reference), default=None)
            if fitting is not None and _shared(fitting, reference) > 0:
                left = [row for row in left if row is not fitting]
            else:
                fitting = _reference_row(one.message, reference)
            yield _Decided(fitting, _COUNTS[reference.verdict], reference.verdict, reference.reason or one.reason)
        for row in left:
            words = "The judge sees no statement about this game's past here."
            yield _Decided(row, None, NO_REFERENCE, words)


_COUNTS = {"accurate": True, "inaccurate": False, "unsettled": None}


def _shared(row: LedgerRow, reference: JudgedReference) -> int:
    """The number of characters that a row and a reference have in common; 0 or less for none."""
    return max((min(one.end, reference.end) - max(one.start, reference.start) for one in row.evidence), default=0)


def _reference_row(message: Message, reference: JudgedReference) -> LedgerRow:
    text = message.text[reference.start : reference.end]
    return decided(
        row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{reference.start}-{reference.end}"),
        "claim",
        None,
        "",
        message_id=message.id,
        player=message.speaker,
        evidence=(Evidence(reference.start, reference.end, text),),
        details={"kind": kind_of_reference(text)},
    )


_Decide = Callable[[Transcript, _Said, MetricResult], Iterator[_Decided]]
_DECIDE: Mapping[str, _Decide] = MappingProxyType(
    {
        MEMORY_ACCURACY.name: _memory,
        STRATEGIC_DEPTH.name: _depth,
        COHERENCE.name: _coherence,
        ROLE_CONSISTENCY.name: _role,
    }
)
JUDGED_METRICS = tuple(_DECIDE)
"""The metrics that a judge's reading of a game decides, in the rubric's order."""
