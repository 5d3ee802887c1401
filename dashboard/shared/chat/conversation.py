"""A transcript as the chat view draws it: texts, badges and character spans. Independent of Streamlit.

Reasons and evidence are fetched on a click. What comes back from a browser is checked against the transcript.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.shared.chat.timeline import TimelineEvent, timeline
from evaluation.judging.fencing import flags
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, SHORT_LABELS
from evaluation.score import Evidence, LedgerRow, MetricResult, RowVerdict
from evaluation.text.display import counted
from evaluation.transcript import Message, Transcript

_METRICS = tuple(DEFINITIONS)
_CODES = {RowVerdict.COUNTS: 0, RowVerdict.DOES_NOT_COUNT: 1, RowVerdict.EXCLUDED: 2}
_EVENT_CODES = {"round": "r", "votes": "v", "elimination": "e"}
FoundIn = dict[int, dict[str, list[Evidence]]]
RowsByMessage = Mapping[str, Mapping[str, Sequence[LedgerRow]]]


@dataclass(frozen=True, slots=True)
class Aim:
    """The message that the view should scroll to.

    Attributes:
        message_id: ``None`` for the beginning, with nothing chosen.
        metric: The metric whose badge is opened there, ``None`` for none.
        count: Rises whenever the view should go there again.
        is_glance: Only show the message, and leave what is chosen as it is.
    """

    message_id: str | None
    metric: str | None
    count: int = 1
    is_glance: bool = False


def utf16_span(text: str, start: int, end: int) -> tuple[int, int]:
    """A span in code points as JavaScript counts it: characters beyond U+FFFF (most emoji) are two units there."""
    if text.isascii():
        return start, end
    before = sum(1 for letter in text[:start] if letter > "\uffff")
    return start + before, end + before + sum(1 for letter in text[start:end] if letter > "\uffff")


def rows_by_message(results: Mapping[str, MetricResult]) -> dict[str, dict[str, list[LedgerRow]]]:
    """The ledger rows that concern each message: message id -> metric -> rows.

    A phrase that was repeated concerns the messages that repeat it, not the one that used it first.
    """
    found: dict[str, dict[str, list[LedgerRow]]] = defaultdict(lambda: defaultdict(list))
    for name, result in results.items():
        for row in result.ledger:
            for message_id in _messages_of(row):
                found[message_id][name].append(row)
    return {message_id: dict(by_metric) for message_id, by_metric in found.items()}


def _messages_of(row: LedgerRow) -> set[str]:
    if row.message_id:
        return {row.message_id}
    return {evidence.message_id for evidence in row.evidence[1:] if evidence.message_id}


def chat_data(transcript: Transcript, concerning: RowsByMessage, *, roles_hidden: bool) -> dict[str, Any]:
    """Data for the component.

    Args:
        transcript: What was said.
        concerning: The ledger rows of each message, from :func:`rows_by_message`.
        roles_hidden: Leave out roles, private chat, and whatever else tells a role.

    Returns:
        ``rows``, ``speakers`` and ``metrics``, as ``load`` in chat_view.js reads them.
    """
    entries = timeline(transcript, roles_hidden=roles_hidden)
    places = {entry.id: place for place, entry in enumerate(entries) if isinstance(entry, Message)}
    speakers = {name: position for position, name in enumerate(_speakers(transcript))}
    found_in: FoundIn = {}
    rows = [
        _event_row(entry)
        if isinstance(entry, TimelineEvent)
        else _message_row(entry, transcript, speakers, concerning.get(entry.id, {}), places, found_in)
        | {"w": bool(flags(entry.text))}
        for entry in entries
    ]
    return {
        "rows": rows,
        "speakers": [_speaker(transcript, name, roles_hidden) for name in speakers],
        "metrics": [{"name": n, "label": DEFINITIONS[n].label, "short": SHORT_LABELS[n]} for n in _METRICS],
    }


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as the chat view draws it, ready to be sent.

    Attributes:
        id: Of the transcript.
        rows: The rows of the view, from :func:`chat_data`.
        body: All that it draws as JSON. Packed once: that of 5,000 messages takes a tenth of a second.
        version: Differs whenever ``body`` does.
    """

    id: str
    rows: Sequence[Mapping[str, Any]]
    body: str
    version: str

    @classmethod
    def of(cls, transcript: Transcript, concerning: RowsByMessage, *, roles_hidden: bool) -> Conversation:
        """The conversation that :func:`chat_data` describes."""
        data = chat_data(transcript, concerning, roles_hidden=roles_hidden)
        body = json.dumps(data)
        version = hashlib.blake2b(body.encode(), digest_size=8).hexdigest()
        return cls(transcript.id, data["rows"], body, version)


def _speakers(transcript: Transcript) -> dict[str, None]:
    return dict.fromkeys([*transcript.player_names, *(message.speaker for message in transcript.messages)])


def _speaker(transcript: Transcript, name: str, roles_hidden: bool) -> dict[str, str | None]:
    if roles_hidden or name not in transcript.player_names:
        return {"name": name, "role": None, "side": None}
    player = transcript.player(name)
    return {"name": name, "role": player.role, "side": player.alignment}


def _event_row(event: TimelineEvent) -> dict[str, Any]:
    return {"k": _EVENT_CODES[event.kind], "x": event.title, "l": list(event.lines)}


def _message_row(
    message: Message,
    transcript: Transcript,
    speakers: Mapping[str, int],
    rows: Mapping[str, Sequence[LedgerRow]],
    places: Mapping[str, int],
    found_in: FoundIn,
) -> dict[str, Any]:
    return {
        "k": "m",
        "i": message.id,
        "n": message.index + 1,
        "s": speakers[message.speaker],
        "x": message.text,
        "c": None if message.channel == "public" else message.channel,
        "q": places.get(message.reply_to or "", -1),
        "f": _link(rows.get(COHERENCE.name, ()), places),
        "b": [_badge(name, rows[name], message.id, transcript, places, found_in) for name in _METRICS if name in rows],
    }


def _link(rows: Sequence[LedgerRow], places: Mapping[str, int]) -> list[int] | None:
    """[row of the message that it answers, link strength from 0 to 100], -1 for either that is not known."""
    for row in rows:
        strength = row.details.get("link_strength")
        place = places.get(row.refers_to or "", -1)
        if strength is not None or place >= 0:
            return [place, -1 if strength is None else round(strength)]
    return None


def _badge(
    metric: str,
    rows: Sequence[LedgerRow],
    message_id: str,
    transcript: Transcript,
    places: Mapping[str, int],
    found_in: FoundIn,
) -> list[Any]:
    """[metric, verdict, own spans, spans cited elsewhere, rows it rests on, tally], as ``drawBadges`` reads it."""
    worst = worst_verdict(rows)
    own, cited = _spans(rows, message_id, transcript, places, found_in)
    rests_on = sorted({places[refers] for row in rows if (refers := row.refers_to) is not None and refers in places})
    return [_METRICS.index(metric), _CODES[worst], own, cited, rests_on, _tally(rows)]


def worst_verdict(rows: Sequence[LedgerRow]) -> RowVerdict:
    """The verdict that stands for several rows: one that does not count outweighs all others."""
    verdicts = {row.verdict for row in rows}
    order = (RowVerdict.DOES_NOT_COUNT, RowVerdict.COUNTS, RowVerdict.EXCLUDED)
    return next(verdict for verdict in order if verdict in verdicts)


def _tally(rows: Sequence[LedgerRow]) -> str:
    if rows[0].kind == "phrase":
        return counted(len(rows), "phrase")
    settled = [row for row in rows if row.verdict is not RowVerdict.EXCLUDED]
    if len(settled) < 2:
        return ""
    return f"{sum(row.verdict is RowVerdict.COUNTS for row in settled)} of {len(settled)} count"


def _spans(
    rows: Sequence[LedgerRow],
    message_id: str,
    transcript: Transcript,
    places: Mapping[str, int],
    found_in: FoundIn,
) -> tuple[list[list[int]], list[list[int]]]:
    own: set[tuple[int, int]] = set()
    cited: set[tuple[int, int, int]] = set()
    for row in rows:
        for evidence in _evidence(row, message_id, found_in):
            place_id = evidence.message_id or row.message_id
            message = transcript.message(place_id) if place_id else None
            if message is None or place_id is None or place_id not in places:
                continue
            start, end = utf16_span(message.text, evidence.start, evidence.end)
            if place_id == message_id:
                own.add((start, end))
            elif row.message_id is not None:
                # The other places of a phrase row are messages of their own, with badges of their own.
                cited.add((places[place_id], start, end))
    return _merged(own), [list(span) for span in sorted(cited)]


def _evidence(row: LedgerRow, message_id: str, found_in: FoundIn) -> Sequence[Evidence]:
    """All of a message's own row; of a phrase found in hundreds of messages only what stands in this one."""
    if row.message_id is not None:
        return row.evidence
    if id(row) not in found_in:
        by_message = found_in.setdefault(id(row), {})
        for evidence in row.evidence:
            by_message.setdefault(evidence.message_id or "", []).append(evidence)
    return found_in[id(row)].get(message_id, ())


def _merged(spans: set[tuple[int, int]]) -> list[list[int]]:
    """Spans in order, those that touch each other as one."""
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def focus_on(rows: Sequence[Mapping[str, Any]], aim: Aim) -> dict[str, int | bool]:
    """The row to scroll to and the badge to open there; -1 for none, or where the view does not show that message."""
    place = next((index for index, row in enumerate(rows) if row["k"] == "m" and row["i"] == aim.message_id), -1)
    metric = _METRICS.index(aim.metric) if aim.metric in _METRICS else -1
    return {"row": place, "metric": metric, "count": aim.count, "glance": aim.is_glance}


def read_open(value: object, transcript: Transcript) -> tuple[str, str | None] | None:
    """The message that a click named, and the metric where it named one; ``None`` for anything else that was sent."""
    if not isinstance(value, Mapping):
        return None
    message_id, metric = value.get("message"), value.get("metric")
    if not isinstance(message_id, str) or transcript.message(message_id) is None:
        return None
    if metric is None:
        return message_id, None
    return (message_id, metric) if isinstance(metric, str) and metric in DEFINITIONS else None
