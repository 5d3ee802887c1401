"""Decide the rows of the four metrics that read by what the reader says of the messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.metrics import role_consistency
from evaluation.rubric.metrics.coherence import WINDOW, places
from evaluation.rubric.reader._features import sentences_of
from evaluation.rubric.reader.model import Reader, ReadMessage, ReadReference
from evaluation.rubric.speech import ActKind, Reading, SpeechAct, read
from evaluation.score import (
    Evidence,
    LedgerRow,
    Method,
    MetricResult,
    RowVerdict,
    Status,
    failure_beyond_score,
    redecided,
    row_id_of,
    summarise,
)
from evaluation.text.tokens import STOP_WORDS
from evaluation.transcript import Transcript

# What a reference is about, told by its words; the first that fits.
_KINDS = (
    ("vote", re.compile(r"\bvot(?:e[ds]?|ing)\b", re.IGNORECASE)),
    (
        "elimination",
        re.compile(r"\b(?:died|dead|killed|eliminated|voted out|lost|lynched|hanged|left the game)\b", re.IGNORECASE),
    ),
    ("role claim", re.compile(r"\b(?:claim\w*|seer|divin\w+|revealed)\b", re.IGNORECASE)),
    ("accusation", re.compile(r"\b(?:accus\w+|blam\w+|suspect\w*|defend\w*|attack\w*)\b", re.IGNORECASE)),
)
_OTHER_KIND = "earlier statement"
_UNPROVEN = "Refers to the past; the record alone does not show whether it is so."


def decide(result: MetricResult, transcript: Transcript, reader: Reader) -> MetricResult:
    """``result`` with the rows that the reader decides in place of the rule's, and its score computed again.

    A row that the reader decides keeps what the rule said in ``details["rule"]`` (``verdict`` and ``reason``) and has
    ``details["chance"]``: how likely the row's verdict is, from 0 to 1, by the reader. Where the reader is unsure the
    rule's verdict stands. ``details["by_rule"]`` of the result hold the rule's ``score``, ``numerator``,
    ``denominator`` and ``status``; ``details["reader"]`` the reader's name.

    Args:
        result: As the rule computed it.
        transcript: What it was computed from.
        reader: Who reads.

    Returns:
        The same object for a metric that nobody has to read for, and where the metric does not apply.
    """
    own_name = reader.name if reader.is_own else None
    if result.name in _DECIDED and (version := reader_version(result.name, own_name)) != result.definition.version:
        result = replace(result, definition=replace(result.definition, version=version))
    if result.name not in _DECIDED or (result.status is Status.NOT_APPLICABLE and not result.ledger):
        return result
    discussion = Discussion.of(transcript)
    said = discussion.derive(reader.read)
    if not said:
        return result
    rows = list(_DECIDED[result.name](result, discussion, said, reader))
    by_rule = {
        "score": result.score,
        "numerator": result.numerator,
        "denominator": result.denominator,
        "status": str(result.status),
    }
    has_weight = any(row.denominator for row in rows)
    not_applicable = result.reason if result.status is Status.NOT_APPLICABLE and not has_weight else ""
    return summarise(
        result.definition,
        rows,
        threshold=result.threshold,
        not_applicable=not_applicable,
        failure=failure_beyond_score(result),
        notes=result.notes,
        details={**result.details, "by_rule": by_rule, "reader": reader.name},
    )


def reader_version(metric: str, own_reader: str | None) -> str:
    """The version under which results of a metric are stored: its definition's, and the name of a team's own reader."""
    version = DEFINITIONS[metric].version
    return f"{version} {own_reader}" if metric in READ and own_reader else version


def acts_read(discussion: Discussion, reader: Reader) -> tuple[Reading, ...]:
    """The messages of a discussion with the speech acts that the reader sees in place of the rule's."""
    return tuple(
        replace(reading, acts=tuple(_acts_of(one, prepared)))
        for reading, one, prepared in zip(
            read(discussion), discussion.derive(reader.read), discussion.messages, strict=True
        )
    )


def _depth(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    head = reader.heads["strategic"]
    by_message = _by_message(discussion, said)
    overruled = [
        by_message[row.message_id][0]
        for row in result.ledger
        if row.message_id in by_message
        and (by_message[row.message_id][1].strategic >= head.threshold) != (row.verdict is RowVerdict.COUNTS)
    ]
    weights = _telling_words(reader, "strategic", overruled) if overruled else {}
    for row in result.ledger:
        one = by_message.get(row.message_id or "")
        if one is None:
            yield row
            continue
        prepared, read_message = one
        chance = read_message.strategic
        if head.is_unsure(chance):
            yield replace(row, details={**row.details, "chance": round(chance, 3), "review": _doubt(chance)})
            continue
        counts = chance >= head.threshold
        is_overruled = counts != (row.verdict is RowVerdict.COUNTS)
        evidence = _evidence(prepared, weights, counts) if is_overruled else row.evidence
        no = "Holds a keyword, but does not argue" if is_overruled else "Does not argue"
        words = "Argues: it gives a reason, an inference, a plan or a pointed question" if counts else no
        yield _redecided(row, counts, chance if counts else 1 - chance, words, evidence=evidence)


def _doubt(chance: float) -> dict[str, Any]:
    return {"kind": "unsure", "likelihood": round(1 - 2 * abs(chance - 0.5), 2)}


def _coherence(
    result: MetricResult, discussion: Discussion, _said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    return coherence_rows(result.ledger, discussion, reader)


def coherence_rows(rows: Iterable[LedgerRow], discussion: Discussion, reader: Reader) -> Iterator[LedgerRow]:
    """The rule's rows of coherence, those that the reader decides redecided."""
    head = reader.heads["answers"]
    messages = discussion.messages
    contexts = places([one.message.speaker for one in messages], [one.message.round for one in messages])
    said = discussion.derive(reader.answers)
    at = {prepared.message.id: (place, one) for prepared, place, one in zip(messages, contexts, said, strict=True)}
    for row in rows:
        found = at.get(row.message_id or "")
        if found is None or row.verdict is RowVerdict.EXCLUDED or row.details.get("by") == "reply":
            yield row
            continue
        place, one = found
        if head.is_unsure(one.chance):
            yield replace(row, details={**row.details, "chance": round(one.chance, 3)})
            continue
        best = max(one.fits.values(), default=0.0)
        likely = sorted(one.fits, key=one.fits.__getitem__, reverse=True)
        recent = [each for each in likely if each in place.context and one.fits[each] >= best - _NEARLY]
        answers = one.chance >= head.threshold and bool(likely)
        counts = answers and bool(recent)
        ids = [messages[earlier].message.id for earlier in (recent or likely[:1])] if answers else []
        if not answers:
            words = "Answers nobody"
        elif counts:
            words = f"Answers {messages[recent[0]].message.speaker}"
        else:
            words = (
                f"Answers {messages[likely[0]].message.speaker}, further back than the last {WINDOW} messages of others"
            )
        extra = {"by": "reader", "answers": ids} if counts else {}
        chance = one.chance if answers else 1 - one.chance
        yield _redecided(row, counts, chance, words, extra=extra, refers_to=ids[0] if ids else None)


# Messages that fit nearly as well as the best one are answered too.
_NEARLY = 0.1


def _memory(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    threshold = reader.heads["reference"].threshold
    references = {prepared.message.id: one.references for prepared, one in zip(discussion.messages, said, strict=True)}
    known: dict[str, list[tuple[int, int]]] = {}
    for row in result.ledger:
        yield _settled(row, references.get(row.message_id or "", ()), threshold)
        known.setdefault(row.message_id or "", []).extend((one.start, one.end) for one in row.evidence)
    for prepared, one in zip(discussion.messages, said, strict=True):
        message = prepared.message
        spans = known.get(message.id, ())
        for seen in one.references:
            if seen.chance < threshold or any(start < seen.end and end > seen.start for start, end in spans):
                continue
            text = message.text[seen.start : seen.end]
            yield LedgerRow(
                row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{seen.start}-{seen.end}"),
                "claim",
                RowVerdict.EXCLUDED,
                _UNPROVEN,
                message_id=message.id,
                player=message.speaker,
                method=Method.READER,
                evidence=(Evidence(seen.start, seen.end, text),),
                details={"kind": kind_of_reference(text), "finding": "unverified", "chance": round(seen.chance, 3)},
            )


_NEEDS_READING = frozenset({"defend", "unclear"})


def _settled(row: LedgerRow, references: Sequence[ReadReference], threshold: float) -> LedgerRow:
    """A row of the rule; one that it settled is open where the reader doubts that it can be settled so.

    That is where the reader sees no reference to the past; where the verdict is that no earlier message shows a
    defence, most of which the rule overlooks; and where the rule understood no more than a time or "somebody". On
    tuning and synthetic games 1 of 9 such verdicts was right.
    """
    if not row.denominator or not row.evidence:
        return row
    span = row.evidence[0]
    chance = max((one.chance for one in references if one.start < span.end and one.end > span.start), default=0.0)
    if chance < threshold:
        reason = "Probably no statement about this game's past."
    elif row.verdict is RowVerdict.DOES_NOT_COUNT and row.details.get("act") in _NEEDS_READING:
        reason = "Keywords cannot tell whether this was so: a person or a model has to read it."
    else:
        return row
    details = {
        **row.details,
        "finding": "unverified",
        "chance": round(chance, 3),
        "rule": {"verdict": str(row.verdict), "reason": row.reason},
    }
    return redecided(row, RowVerdict.EXCLUDED, method=Method.READER, reason=reason, details=details)


def kind_of_reference(text: str) -> str:
    """The kind of a reference to the past, as memory accuracy counts them, by its words."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), _OTHER_KIND)


def _role(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    by_id = {row.id: row for row in result.ledger}
    chances = {prepared.message.id: one for prepared, one in zip(discussion.messages, said, strict=True)}
    for row in role_consistency.rows(acts_read(discussion, reader), discussion.transcript):
        rule = by_id[row.id]
        least = min((act.chance for act in chances[row.message_id or ""].acts), default=None)
        details = {**row.details, "rule": {"verdict": str(rule.verdict), "reason": rule.reason}}
        if least is not None:
            details["chance"] = round(least, 3)
        yield replace(row, method=Method.READER, details=details)


def speech_acts(
    acts: Sequence[tuple[ActKind, str | None]], prepared: PreparedMessage, *, argues: bool
) -> Iterator[SpeechAct]:
    """The acts of a message as the rubric's table takes them, whoever read them: each once, by its narrowest name.

    Args:
        acts: Kinds with their targets.
        prepared: The message.
        argues: Whether it gives reasons, which are grounds for whatever it does but ask.
    """
    told = set(acts)
    for kind, target in acts:
        is_attack = (ActKind.ACCUSE_AGGRESSIVELY, target) in told
        is_case = (ActKind.BUILD_CASE, target) in told
        # The narrower act says it already.
        if (kind is ActKind.BUILD_CASE and is_attack) or (kind is ActKind.ACCUSE and (is_attack or is_case)):
            continue
        start, end = _span(prepared, target)
        role = _revealed(prepared.message.text) if kind is ActKind.REVEAL_ROLE else ""
        grounded = is_case or (argues and kind is not ActKind.QUESTION)
        yield SpeechAct(kind, target, start, end, grounded=grounded, role=role)


def _acts_of(one: ReadMessage, prepared: PreparedMessage) -> Iterator[SpeechAct]:
    acts = [(act.kind, act.target) for act in one.acts]
    return speech_acts(acts, prepared, argues=one.strategic >= _ARGUES)


_ARGUES = 0.5


def _revealed(text: str) -> str:
    """The side that a message reveals for its speaker; the town's where it does not say plainly that it is evil."""
    found = _OWN_ROLE.search(text)
    return "evil" if found and _EVIL.search(found[0]) and not _DENIED.search(found[0]) else "town"


_OWN_ROLE = re.compile(
    r"\b(?:i'?m|i am|i was|as (?:a|the|your)|my (?:real )?role (?:is|was))\b[^.!?,;\n]{1,40}", re.IGNORECASE
)
_EVIL = re.compile(r"\b(?:mafia|werewol(?:f|ves)|wolf|wolves|evil|minion|possessed|impost[eo]r)\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no|accus\w+|suspect\w*|if)\b|n't\b", re.IGNORECASE)


def _span(prepared: PreparedMessage, target: str | None) -> tuple[int, int]:
    """The sentence that names the target, else the whole message."""
    for mention in prepared.mentions:
        if mention.player == target:
            for start, end in sentences_of(prepared):
                if start <= mention.start < end:
                    return start, end
    return prepared.body_start, len(prepared.message.text)


def _by_message(discussion: Discussion, said: Sequence[ReadMessage]) -> dict[str, tuple[PreparedMessage, ReadMessage]]:
    return {prepared.message.id: (prepared, one) for prepared, one in zip(discussion.messages, said, strict=True)}


def _telling_words(reader: Reader, head: str, messages: Sequence[PreparedMessage]) -> dict[str, float]:
    """The weight of every word of some messages, all at once: hashing one text takes nearly as long as hashing many."""
    words = list({token.text for prepared in messages for token in prepared.plain_tokens[:_MOST_READ]})
    return dict(zip(words, reader.word_weights(head, words), strict=True))


def _evidence(prepared: PreparedMessage, weights: Mapping[str, float], counts: bool) -> tuple[Evidence, ...]:
    """The words of a message that weigh most for the verdict, in order.

    "That" or "the" would convince nobody, though their weights add up: they are shown only where nothing else is there.
    """
    text = prepared.message.text
    read = prepared.plain_tokens[:_MOST_READ]
    tokens = [token for token in read if token.text not in STOP_WORDS or token.text in _CONNECTIVES] or read
    best = sorted(tokens, key=lambda token: -weights[token.text] if counts else weights[token.text])[:_MOST_WORDS]
    found = sorted((token for token in best if (weights[token.text] > 0) == counts), key=lambda token: token.start)
    return tuple(Evidence(one.start, one.end, text[one.start : one.end]) for one in found)


_CONNECTIVES = frozenset({"because", "but", "if", "since", "so", "then", "though", "unless", "who", "why"})
_MOST_READ = 200
_MOST_WORDS = 3


def _redecided(
    row: LedgerRow,
    counts: bool,
    chance: float,
    words: str,
    *,
    extra: Mapping[str, Any] = MappingProxyType({}),
    **changes: Any,
) -> LedgerRow:
    details = {
        **{name: value for name, value in row.details.items() if name not in _RULE_DETAILS},
        **extra,
        "chance": round(chance, 3),
        "rule": {"verdict": str(row.verdict), "reason": row.reason},
    }
    return redecided(
        row,
        RowVerdict.COUNTS if counts else RowVerdict.DOES_NOT_COUNT,
        method=Method.READER,
        reason=f"{words}.",
        details=details,
        **changes,
    )


# What the rule alone says of a row; its way of answering stands in the row's reason, too.
_RULE_DETAILS = frozenset({"review", "answers", "by"})

_Decide = Callable[[MetricResult, Discussion, Sequence[ReadMessage], Reader], Iterator[LedgerRow]]
_DECIDED: Mapping[str, _Decide] = MappingProxyType(
    {
        MEMORY_ACCURACY.name: _memory,
        STRATEGIC_DEPTH.name: _depth,
        COHERENCE.name: _coherence,
        ROLE_CONSISTENCY.name: _role,
    }
)

READ = frozenset(_DECIDED)
"""The metrics whose rows a reader decides."""
