"""Decide rows of the three metrics that read by what the reader says of the messages, where it has a licence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from evaluation.rubric._claims import tells_of_another_game
from evaluation.rubric.definitions import MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.metrics import role_consistency
from evaluation.rubric.reader._features import sentences_of
from evaluation.rubric.reader.model import Reader, ReadMessage, kind_by_rule
from evaluation.rubric.rows_in_doubt import UNSURE
from evaluation.rubric.speech import ACCUSATIONS, PLANS, ActKind, Reading, SpeechAct, acts_at_players, read
from evaluation.score import (
    PROOF,
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
from evaluation.text.display import picked_data, quoted
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
STOOD_DOWN = "the built-in reader knows few games like this"


def decide(result: MetricResult, transcript: Transcript, reader: Reader) -> MetricResult:
    """``result`` with the rows that the reader may decide in place of the rule's, and its score computed again.

    It may where the rule proves nothing and the reader's chance lies beyond the limit of its licence (see
    ``benchmarks/reader.py``). Such a row keeps what the rule said in ``details["rule"]`` (``verdict`` and ``reason``).
    ``details["chance"]``, from 0 to 1, is of strategic depth and coherence the chance that the verdict is right; of
    role consistency that of the least likely deciding act, missing where the reader saw none of them; of memory
    accuracy, where the reader only adds open rows, the chance that the sentence is a reference. Where the reader gives
    the opposite of a row of depth a chance of 0.4 or more without a licence, neither is known to be right: the row is
    left open, and ``details["review"]`` offers it to people; one that stands says that the reader agrees. The result's
    ``details["by_rule"]`` hold the rule's ``score``, ``numerator``, ``denominator`` and ``status``,
    ``details["reader"]`` the reader's name. Of a game unlike those that it was trained on the reader says nothing:
    ``details["stood_down"]`` tells why.

    Args:
        result: As the rule computed it.
        transcript: What it was computed from.
        reader: Who reads.

    Returns:
        The same object for a metric that nobody has to read for, and where the metric does not apply.
    """
    if result.name not in _DECIDED or (result.status is Status.NOT_APPLICABLE and not result.ledger):
        return result
    discussion = Discussion.of(transcript)
    said = discussion.derive(reader.read)
    if not said:
        return result
    if discussion.derive(reader.is_far):
        return replace(result, details={**result.details, "stood_down": STOOD_DOWN})
    rows = list(_DECIDED[result.name](result, discussion, said, reader))
    by_rule = picked_data(result, "score", "numerator", "denominator", "status")
    has_weight = any(row.denominator for row in rows)
    left_open = sum(is_left_open(row) for row in rows)
    read_by = {"by_rule": by_rule} if left_open or any(row.method is Method.READER for row in rows) else {}
    not_applicable = result.reason if result.status is Status.NOT_APPLICABLE and not has_weight else ""
    return summarise(
        result.definition,
        rows,
        threshold=result.threshold,
        not_applicable=not_applicable,
        failure=failure_beyond_score(result),
        notes=result.notes,
        details={**result.details, **read_by, "reader": reader.name},
    )


def acts_read(discussion: Discussion, reader: Reader) -> tuple[Reading, ...]:
    """The messages of a discussion with the speech acts that stand, of rule and reader.

    First come the rule's acts of the kinds that it sees well, then the reader's licensed ones, then the rubric's own
    lines; an act at the same player that says the opposite gives way. The rule's alone where the reader stands down.
    """
    readings = read(discussion)
    if discussion.derive(reader.is_far):
        return readings
    left = {one.player: one.round for one in discussion.transcript.eliminations}
    return tuple(
        reading
        if reading.is_rubric_line or not (reading.acts or one.acts)
        else replace(
            reading, acts=acts_at_players(list(_standing_acts(reading, one, prepared, reader)), reading.message, left)
        )
        for reading, one, prepared in zip(readings, discussion.derive(reader.read), discussion.messages, strict=True)
    )


def _standing_acts(
    reading: Reading, one: ReadMessage, prepared: PreparedMessage, reader: Reader
) -> Iterator[SpeechAct]:
    own = {(act.kind, act.target): act for act in reading.acts if kind_by_rule(act) in reader.rule_acts}
    text = prepared.message.text
    seen = {(act.kind, act.target) for act in one.acts} - reading.denied
    revealed = {act for act in seen if act[0] is ActKind.REVEAL_ROLE}
    if revealed and tells_of_another_game(text, 0, len(text)):
        seen -= revealed
    told = dict.fromkeys([*(key for key in own if not _is_denied(key, seen)), *seen])
    ordered = sorted(told, key=lambda act: (_ORDER[act[0]], act[1] or ""))
    for act in speech_acts(ordered, prepared, argues=one.strategic >= _ARGUES):
        rule = own.get((act.kind, act.target))
        yield act if rule is None else replace(rule, grounded=rule.grounded or act.grounded)


_OPPOSITE = {
    ActKind.DEFEND: ACCUSATIONS,
    ActKind.ALLY: ACCUSATIONS,
    **dict.fromkeys(ACCUSATIONS, frozenset({ActKind.DEFEND, ActKind.ALLY})),
}
_ORDER = {kind: place for place, kind in enumerate(ActKind)}


def _is_denied(act: tuple[ActKind, str | None], seen: Collection[tuple[ActKind, str | None]]) -> bool:
    kind, target = act
    return any((other, target) in seen for other in _OPPOSITE.get(kind, ()))


def _depth(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    by_message = {prepared.message.id: (prepared, one) for prepared, one in zip(discussion.messages, said, strict=True)}
    overruled: dict[str, float] = {}
    for row in result.ledger:
        if row.message_id in by_message and (
            chance := _overruling(row, by_message[row.message_id][1].strategic, reader)
        ):
            overruled[row.id] = chance
    prepared = [by_message[row.message_id or ""][0] for row in result.ledger if row.id in overruled]
    weights = _telling_words(reader, "strategic", prepared) if prepared else {}
    for row in result.ledger:
        if row.message_id not in by_message or row.details.get(PROOF):
            yield row
        elif row.id in overruled:
            counts = row.verdict is not RowVerdict.COUNTS
            evidence = _evidence(by_message[row.message_id][0], weights, counts)
            words = quoted(list(dict.fromkeys(one.text for one in evidence)))
            taken = f"the built-in reader takes it as {'an' if counts else 'no'} argument"
            why = f"{row.reason[:-1]}, but {taken}{f', most of all for {words}' if words else ''}"
            yield _redecided(row, overruled[row.id], why, evidence=evidence)
        else:
            yield _offered(row, by_message[row.message_id][1].strategic, reader)


def _overruling(row: LedgerRow, chance: float, reader: Reader) -> float | None:
    """The chance that the opposite of a row's verdict is right, where the reader may say so; else ``None``."""
    if row.details.get(PROOF) or row.verdict is RowVerdict.EXCLUDED:
        return None
    licence = reader.licences[_direction(row)]
    right = licence.chance(chance)
    return right if right >= licence.limit else None


def _direction(row: LedgerRow) -> str:
    return f"strategic {'no' if row.verdict is RowVerdict.COUNTS else 'yes'}"


def _offered(row: LedgerRow, chance: float, reader: Reader) -> LedgerRow:
    """A row with the reader's agreement, or left open and offered for review where the reader doubts it."""
    right = reader.licences[_direction(row)].chance(chance)
    argues = row.verdict is RowVerdict.COUNTS
    if row.verdict is RowVerdict.EXCLUDED:
        return row
    if right < DOUBT:
        # Of two messages with the same keyword one may stand and one be open: this tells them apart.
        reason = f"{row.reason[:-1]}, and the built-in reader takes it as {'an' if argues else 'no'} argument."
        return replace(row, reason=reason, details={**row.details, "review": None})
    taken = "no argument" if argues else "an argument"
    doubt = (
        f"but the built-in reader rather takes it as {taken}"
        if right >= _LIKELY
        else "and the built-in reader doubts it"
    )
    return redecided(
        row,
        RowVerdict.EXCLUDED,
        reason=f"{row.reason[:-1]}, {doubt}: left open.",
        details={
            **row.details,
            "review": {"kind": UNSURE, "likelihood": round(right, 2)},
            "rule": {"verdict": str(row.verdict), "reason": row.reason},
        },
    )


def is_left_open(row: LedgerRow) -> bool:
    """Whether neither rule nor reader is sure of a row, so that it counts on neither side."""
    return row.verdict is RowVerdict.EXCLUDED and (row.details.get("review") or {}).get("kind") == UNSURE


DOUBT = 0.4
"""Of sources left out of the fit the rule was right in 642 of 1,663 rows of depth from here on, in 3,456 of 3,966
below: `make reader` prints them by direction."""
_LIKELY = 0.5
"""Of sentences taken for references 543 of 762 were some from here on, 164 of 432 from 0.29 to here."""


def _memory(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    threshold = max(_LIKELY, reader.licences["reference"].limit)
    known: dict[str, list[tuple[int, int]]] = {}
    for row in result.ledger:
        yield row
        known.setdefault(row.message_id or "", []).extend((one.start, one.end) for one in row.evidence)
    for prepared, one in zip(discussion.messages, said, strict=True):
        message = prepared.message
        spans = known.get(message.id, ())
        for seen in one.references:
            if seen.chance < threshold or any(start < seen.end and end > seen.start for start, end in spans):
                continue
            text = message.text[seen.start : seen.end]
            if tells_of_another_game(message.text, seen.start, seen.end) or _PLAN.fullmatch(text):
                continue
            kind = kind_of_reference(text)
            taken = f"The built-in reader takes it for a reference to the past ({kind}, {seen.chance:.0%} likely)"
            yield LedgerRow(
                row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{seen.start}-{seen.end}"),
                "claim",
                RowVerdict.EXCLUDED,
                f"{taken}; no rule reads its words, so the record was not asked.",
                message_id=message.id,
                player=message.speaker,
                method=Method.READER,
                evidence=(Evidence(seen.start, seen.end, text),),
                details={"kind": kind, "finding": "unverified", "chance": round(seen.chance, 3)},
            )


# One clause of what the speaker is going to do: "I will watch who voted with Bob."
_PLAN = re.compile(
    r"\W*(?:(?:so|and|but|then|now|ok|okay|tonight|tomorrow|today)\W+)*"
    rf"{PLANS}\s(?:(?!\b(?:since|because|as|if)\b)[^,;:.!?])*[.!]*\s*",
    re.IGNORECASE,
)


def kind_of_reference(text: str) -> str:
    """The kind of a reference to the past, as memory accuracy counts them, by its words."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), _OTHER_KIND)


def _role(
    result: MetricResult, discussion: Discussion, said: Sequence[ReadMessage], reader: Reader
) -> Iterator[LedgerRow]:
    chances = {prepared.message.id: one for prepared, one in zip(discussion.messages, said, strict=True)}
    standing = role_consistency.rows(acts_read(discussion, reader), discussion.transcript)
    for rule, row in zip(result.ledger, standing, strict=True):
        if (row.verdict, row.reason) == (rule.verdict, rule.reason):
            yield rule
            continue
        acts = {(str(act.kind), act.target): act.chance for act in chances[row.message_id or ""].acts}
        deciding = [acts[key] for act in row.details["acts"] if (key := (act["act"], act["target"])) in acts]
        details = {**row.details, "rule": {"verdict": str(rule.verdict), "reason": rule.reason}}
        if deciding:
            details["chance"] = round(min(deciding), 3)
        yield replace(row, method=Method.READER, details=details)


def speech_acts(
    acts: Sequence[tuple[ActKind, str | None]], prepared: PreparedMessage, *, argues: bool
) -> Iterator[SpeechAct]:
    """The acts of a message as the rubric's table takes them, whoever read them: each once, by its narrowest name.

    Args:
        acts: Kinds with their targets.
        prepared: The message.
        argues: Whether it argues. Whoever argues may give grounds or not; only a case is known to have them.
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
        grounded = is_case or (None if argues and kind is not ActKind.QUESTION else False)
        yield SpeechAct(kind, target, start, end, grounded=grounded, role=role)


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


def _redecided(row: LedgerRow, chance: float, words: str, *, evidence: tuple[Evidence, ...]) -> LedgerRow:
    details = {
        **{name: value for name, value in row.details.items() if name != "review"},
        "chance": round(chance, 3),
        "rule": {"verdict": str(row.verdict), "reason": row.reason},
    }
    counts = row.verdict is not RowVerdict.COUNTS
    return redecided(
        row,
        RowVerdict.COUNTS if counts else RowVerdict.DOES_NOT_COUNT,
        method=Method.READER,
        reason=f"{words}.",
        details=details,
        evidence=evidence,
    )


_Decide = Callable[[MetricResult, Discussion, Sequence[ReadMessage], Reader], Iterator[LedgerRow]]
_DECIDED: Mapping[str, _Decide] = {
    MEMORY_ACCURACY.name: _memory,
    STRATEGIC_DEPTH.name: _depth,
    ROLE_CONSISTENCY.name: _role,
}

READ = frozenset(_DECIDED)
"""The metrics whose rows a reader decides."""
