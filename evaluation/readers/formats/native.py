"""Reads the native file, ``discussion-<epoch ms>.json``.

Where the file is silent: messages that carry no id get ``m1``, ``m2``, ...; a time without an offset is UTC; a cost of
nothing but zeros is unknown; keys that the shape does not know are kept in ``metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import Roster, alignment_of, is_abstention, is_moderator
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import CANONICAL_FORMAT, Cost, Transcript, build_transcript

FORMAT = "native"

_NAME_OR_PLAYER = "Correct the name, or add the player to $.players."
_MADE_UP = re.compile(r"(m+)\d+\Z")

_TOP = ("gameId", "timestamp", "metadata", "players", "messages", "votes", "winner")
_PLAYER = ("name", "role", "personality", "isAlive")
_MESSAGE = ("id", "roundNumber", "playerName", "message", "timestamp", "inReplyToId", "inReplyToPlayer", "phase")
_VOTE = ("roundNumber", "voterName", "targetName", "justification", "timestamp", "phase")
_COST = ("totalCost", "totalInputTokens", "totalCachedTokens", "totalOutputTokens", "cacheHitRate")


def _recognises(document: Document) -> bool:
    body = document.json
    if not isinstance(body, dict) or body.get("format") == CANONICAL_FORMAT:
        return False
    messages = body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    # Other programs list players and messages, too, under keys of their own.
    is_other = isinstance(first, dict) and "gameId" not in body and first.keys().isdisjoint(_MESSAGE[1:4])
    return "messages" in body and ("gameId" in body or "players" in body) and not is_other


def _read(document: Document) -> Transcript:
    root = Node(document.json)
    document.limits.check_sizes(root.fields())
    players = [_player(node) for node in root["players"].entries()]
    if not players:
        remedy = "List the players with their names."
        raise BrokenTranscriptError("The game has no player.", place="$.players", remedy=remedy)
    roster = Roster(player["name"] for player in players)
    _refuse_doubles(root["players"], "name", "player")
    messages = _messages(root["messages"], roster)
    game_id = root["gameId"].identifier_or_none() or document.game_id(FORMAT)
    fields: dict[str, Any] = {"game_id": game_id, "source_format": FORMAT}
    fields |= {"started_at": messages[0]["sent_at"], "exported_at": root["timestamp"].time_or_none()}
    votes = [_vote(node, roster) for node in root["votes"].entries()]
    fields |= {"players": players, "messages": messages, "votes": votes, "winner": root["winner"].text_or_none()}
    fields |= {"cost": _cost(root["metadata"]["cost"]), "metadata": _metadata(root)}
    return build_transcript(Transcript, fields)


def _player(node: Node) -> dict[str, Any]:
    role = node["role"].text_or_none()
    return {
        "name": node["name"].name(),
        "role": role,
        "alignment": alignment_of(role),
        "personality": node["personality"].text_or_none(),
        "is_alive": node["isAlive"].flag_or_none(),
        "metadata": node.rest(*_PLAYER),
    }


def _messages(list_node: Node, roster: Roster) -> list[dict[str, Any]]:
    nodes = list(list_node.entries())
    if not nodes:
        remedy = "Check that the game was recorded."
        raise BrokenTranscriptError("The game has no message.", place=list_node.path, remedy=remedy)
    _refuse_doubles(list_node, "id", "message id")
    messages: list[dict[str, Any]] = [
        {"id": message_id, "index": index} | _message(node, roster)
        for index, (message_id, node) in enumerate(zip(_ids(nodes), nodes, strict=True))
    ]
    speakers = {message["id"]: message["speaker"] for message in messages}
    latest: dict[str, str] = {}
    for message, node in zip(messages, nodes, strict=True):
        message["reply_to"], kept = _reply(node, roster, speakers, latest)
        message["metadata"] |= kept
        latest[message["speaker"]] = message["id"]
    return messages


def _message(node: Node, roster: Roster) -> dict[str, Any]:
    written = node["playerName"].name()
    speaker = roster.find(written)
    if speaker is None and not is_moderator(written):
        raise node["playerName"].wrong(f"one of the players ({roster})", remedy=_NAME_OR_PLAYER)
    return {
        "round": node["roundNumber"].count_or_none(),
        "phase": node["phase"].text_or_none(),
        "channel": "public" if speaker else "system",
        "speaker": speaker or written,
        "text": node["message"].text(),
        "sent_at": node["timestamp"].time_or_none(),
        "metadata": node.rest(*_MESSAGE),
    }


def _ids(nodes: list[Node]) -> list[str]:
    """An id for every message; those made up here collide with none that the file mentions."""
    own = [node["id"].identifier_or_none() for node in nodes]
    mentioned = [node["inReplyToId"].identifier_or_none() for node in nodes] + own
    taken = {len(match[1]) for text in mentioned if text and (match := _MADE_UP.match(text))}
    prefix = "m" * next(length for length in count(1) if length not in taken)
    return [given or f"{prefix}{number}" for number, given in enumerate(own, start=1)]


def _reply(
    node: Node, roster: Roster, speakers: Mapping[str, str], latest: Mapping[str, str]
) -> tuple[str | None, dict[str, Any]]:
    """The id of the message answered, and what that id cannot express.

    Args:
        node: The message that may be an answer.
        roster: The players.
        speakers: Speaker by message id, for the whole game.
        latest: Id of the latest earlier message by speaker.
    """
    given = node["inReplyToId"].identifier_or_none()
    player = node["inReplyToPlayer"].name_or_none()
    player = roster.find(player) or player if player else None
    answered = given if given in speakers else latest.get(player or "", given)
    kept = {}
    if given not in (None, answered):
        kept["inReplyToId"] = given
    if player and (answered is None or speakers.get(answered) != player):
        kept["inReplyToPlayer"] = player
    return answered, kept


def _vote(node: Node, roster: Roster) -> dict[str, Any]:
    return {
        "round": node["roundNumber"].count_or_none(),
        "phase": node["phase"].text_or_none(),
        "voter": _player_in(node["voterName"], roster),
        "target": _target(node["targetName"], roster),
        "justification": node["justification"].text_or_none(),
        "sent_at": node["timestamp"].time_or_none(),
    }


def _target(node: Node, roster: Roster) -> str | None:
    target = node.name_or_none()
    if target is None or (roster.find(target) is None and is_abstention(target)):
        return None
    return _player_in(node, roster)


def _player_in(node: Node, roster: Roster) -> str:
    player = roster.find(node.name())
    if player is None:
        raise node.wrong(f"one of the players ({roster})", remedy=_NAME_OR_PLAYER)
    return player


def _cost(node: Node) -> dict[str, Any] | None:
    cost = {
        "total_usd": node["totalCost"].number_or_none(),
        "input_tokens": node["totalInputTokens"].count_or_none(),
        "cached_tokens": node["totalCachedTokens"].count_or_none(),
        "output_tokens": node["totalOutputTokens"].count_or_none(),
        "cache_hit_rate": node["cacheHitRate"].number_or_none(maximum=1),
    }
    return cost if Cost.model_validate(cost).is_known else None


def _metadata(root: Node) -> dict[str, Any]:
    """The file's own metadata, without the cost figures that the model has; the file's unknown keys as ``extra``."""
    metadata = root["metadata"].rest("cost")
    rests = enumerate(vote.rest(*_VOTE) for vote in root["votes"].entries())
    votes = [{"vote": position} | rest for position, rest in rests if rest]
    kept = {"cost": root["metadata"]["cost"].rest(*_COST), "extra": root.rest(*_TOP), "votes": votes}
    return metadata | {key: value for key, value in kept.items() if value}


def _refuse_doubles(list_node: Node, key: str, what: str) -> None:
    seen: dict[str, str] = {}
    for node in (entry[key] for entry in list_node.entries()):
        written = node.identifier_or_none()
        if written in seen:
            message = f"The {what} {shorten(written)!r} occurs twice, first at {seen[written]}."
            remedy = f"Give each its own {'id' if what.endswith(' id') else 'name'}."
            raise BrokenTranscriptError(message, place=node.path, remedy=remedy)
        seen |= {} if written is None else {written: node.path}


READER = FileReader(FORMAT, _recognises, _read)
