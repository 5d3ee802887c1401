"""Turn what a judge says of a game's messages into decisions on ledger rows, metric by metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from evaluation.judging.protocol import Judgement
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, prepare
from evaluation.rubric.metrics import role_consistency
from evaluation.rubric.metrics.coherence import answered_row, places
from evaluation.rubric.reader.decisions import kind_of_reference, speech_acts
from evaluation.rubric.speech import Reading
from evaluation.rubric_judge.window_prompt import JudgedMessage, JudgedReference
from evaluation.score import (
    DISMISSED,
    PROOF,
    Evidence,
    LedgerRow,
    Method,
    MetricResult,
    RowVerdict,
    decided,
    redecided,
    row_id_of,
)
from evaluation.text.display import picked_data
from evaluation.transcript import Message, Transcript

NO_REFERENCE = "no reference"
"""The label of a row that the judge does not take for a reference to the past."""


@dataclass(frozen=True, slots=True)
class RowDecision:
    """A judge's decision on one ledger row.

    Attributes:
        verdict: What the row is to be.
        label: The judge's word for it ("accurate").
        reason: The judge's reason; untrusted text.
        confidence: 0 to 1, the judge's own; ``None`` where it was not asked.
        citations: Ids of the cited messages, in the order cited.
        judge: Which kind of judge: "live", "recorded", "scripted".
        model: The model's name.
        key: The address of the judgement, under which prompt and raw answer are kept.
        decided_at: When it was stored; ``None`` before that.
        added: The row, considered and left out, where no ledger had one; ``None`` for a row that was there.
    """

    transcript_id: str
    metric: str
    row_id: str
    verdict: RowVerdict
    label: str
    reason: str
    confidence: float | None
    citations: tuple[str, ...]
    judge: str
    model: str
    key: str
    decided_at: datetime | None = None
    added: LedgerRow | None = None

    @property
    def method(self) -> str:
        """The display name of who decided: "judge:gpt-4o-mini"."""
        return f"judge:{self.model}"

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as the judge decided it; it rests on the first cited message that is not its own.

        What is proven stays; where the judge says otherwise, the row tells.
        """
        others = [citation for citation in self.citations if citation != row.message_id]
        judged = picked_data(self, "method", "judge", "label", "confidence", "citations", "key")
        details = {**row.details, "judged": judged}
        if is_proven(row):
            if self.verdict is row.verdict:
                return redecided(row, row.verdict, details=details)
            words = f"{self.model} says {self.label}: {self.reason}"
            return redecided(
                row, row.verdict, reason=f"{row.reason} The proof decides, though {words}", details=details
            )
        if self.label == NO_REFERENCE:
            details[DISMISSED] = True
        return redecided(
            row,
            self.verdict,
            method=Method.JUDGE,
            reason=self.reason,
            refers_to=others[0] if others else None,
            details=details,
        )


_EVENTS = frozenset({"vote", "elimination"})


def is_proven(row: LedgerRow) -> bool:
    """Whether anybody can check the row without judgement, so that it stands against any judge.

    Of references to the past the record proves what it shows, and votes and eliminations that it shows to be otherwise;
    that no message shows something proves nothing: keywords overlook what a judge can read. Rows of strategic depth and
    coherence say themselves that they are proven.
    """
    if row.details.get(PROOF):
        return row.method is Method.RULE
    is_settled = row.metric == MEMORY_ACCURACY.name and row.method is Method.RULE and row.denominator > 0
    return is_settled and (row.verdict is RowVerdict.COUNTS or row.details.get("kind") in _EVENTS)


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
    """
    found = []
    for name, decide in _DECIDE.items():
        if name not in results:
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
    # A model that reads "I" as a name has players accuse themselves.
    told = [act for act in one.acts if act[1] != one.message.speaker]
    acts = tuple(speech_acts(told, prepared, argues=one.is_strategic))
    return Reading(one.message, (), acts, frozenset(), False, False, False)


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
