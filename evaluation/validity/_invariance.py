"""Meaningless changes of a transcript, which must not change any score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from evaluation.engines.scoring import SCORERS
from evaluation.rubric.discussion import Discussion
from evaluation.transcript import Message, Transcript, build_transcript

_SAME = 1e-9
_BEGINNINGS = ("Zor", "Quim", "Vex", "Tolm", "Brund", "Glish")
_ENDINGS = ("avik", "ondel", "urrip", "ethoz")


class Break(NamedTuple):
    """A score that a meaningless change moved."""

    change: str
    game: str
    metric: str
    before: float | None
    after: float | None


def breaks(transcript: Transcript) -> Iterator[Break]:
    """The scores of a transcript that a meaningless change moves; none is as it should be."""
    before = {name: measure(transcript).score for name, measure in SCORERS.items()}
    for change, apply in CHANGES.items():
        changed = apply(transcript)
        for name, measure in SCORERS.items():
            after = measure(changed).score
            if not _is_same(before[name], after):
                yield Break(change, transcript.game_id, name, before[name], after)


def _is_same(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else abs(one - other) <= _SAME


def with_other_names(transcript: Transcript) -> Transcript:
    """Rename every player, in the record and wherever a public message names them."""
    invented = (beginning + ending for ending, beginning in product(_ENDINGS, _BEGINNINGS))
    names = {name: _unused(invented, number) for number, name in enumerate(transcript.player_names)}
    texts = _renamed_texts(transcript, names)
    body = _body(transcript)
    for player in body["players"]:
        player["name"] = names[player["name"]]
    for message in body["messages"]:
        message["speaker"] = names.get(message["speaker"], message["speaker"])
        message["recipients"] = [names.get(name, name) for name in message["recipients"]]
        message["text"] = texts.get(message["index"], message["text"])
    for vote in body["votes"]:
        vote["voter"], vote["target"] = names[vote["voter"]], names.get(vote["target"], vote["target"])
    for elimination in body["eliminations"]:
        elimination["player"] = names[elimination["player"]]
    return build_transcript(Transcript, body)


def without_reply_fields(transcript: Transcript) -> Transcript:
    """The reply field missing where it was null."""
    body = _body(transcript)
    for message in body["messages"]:
        if message["reply_to"] is None:
            del message["reply_to"]
    return build_transcript(Transcript, body)


def with_private_chat(transcript: Transcript) -> Transcript:
    """A private and a team message by each of the first players after the first public message."""
    body = _body(transcript)
    added = [
        {
            "id": f"added {channel} {player.name}"[:200],
            "channel": channel,
            "speaker": player.name,
            "round": transcript.messages[0].round,
            "text": "I am certain that it is suspicious evidence, and we all voted together last round.",
        }
        for channel in ("private", "team")
        for player in transcript.players[:3]
    ]
    body["messages"] = [*body["messages"][:1], *added, *body["messages"][1:]]
    for index, message in enumerate(body["messages"]):
        message["index"] = index
    return build_transcript(Transcript, body)


CHANGES: Mapping[str, Callable[[Transcript], Transcript]] = MappingProxyType(
    {
        "all players renamed": with_other_names,
        "missing instead of null reply field": without_reply_fields,
        "private chat added": with_private_chat,
    }
)
"""By what was changed, in words."""


def _body(transcript: Transcript) -> dict[str, Any]:
    return transcript.model_dump(mode="json")


def _unused(invented: Iterator[str], number: int) -> str:
    return next(invented, f"Playerx{number}")


def _renamed_texts(transcript: Transcript, names: Mapping[str, str]) -> dict[int, str]:
    """The public messages with every recognised name replaced, by index."""
    return {
        prepared.message.index: _renamed(prepared.message, prepared.body_start, prepared.mentions, names)
        for prepared in Discussion.of(transcript).messages
    }


def _renamed(message: Message, body_start: int, mentions: Any, names: Mapping[str, str]) -> str:
    parts, done = [f"{names[message.speaker]}: "] if body_start else [], body_start
    for mention in mentions:
        written = message.text[mention.start : mention.end]
        parts += [message.text[done : mention.start], _in_the_case_of(written, names[mention.player])]
        done = mention.end
    return "".join([*parts, message.text[done:]])


def _in_the_case_of(written: str, name: str) -> str:
    """Shouted and small names stay so: capitals are read as aggression."""
    return name.upper() if written.isupper() and len(written) > 1 else name.lower() if written.islower() else name
