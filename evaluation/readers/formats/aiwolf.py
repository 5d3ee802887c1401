"""Reads the logs of the AIWolf contest: one comma-separated event a line, ``day,kind,...``.

``status`` lines introduce the players: index, role, alive or dead, team, character. Players are named by their
characters; every other line means them by index. The round is the day's number as the log counts it, 0 for the day of
greetings; the night that follows a day belongs to its round. Texts are not quoted and may hold commas; the contest cuts
long ones short, and they are kept as they are. "Skip" and "Over" are messages too (``Message.is_control``).

Roles of the executed are in the log but the players do not learn them, so eliminations carry none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import Roster, TranscriptDraft, alignment_of, broken_line
from evaluation.readers.document import Document, FileReader
from evaluation.transcript import Channel, Transcript

FORMAT = "aiwolf"

_KINDS = "status|talk|whisper|vote|attackVote|execute|attack|divine|guard|result"
_FIRST_LINE = re.compile(rf"\s*\d+,(?:{_KINDS}),")
_EVENT = re.compile(r"(\d{1,6}),([A-Za-z]+)(?:,(.*))?\Z")
_REMEDY = "Expected day,kind,...; export the log again."


class _Event(NamedTuple):
    line: int
    day: int
    kind: str
    rest: str

    def fields(self, count: int, *, optional: int = 0) -> list[str]:
        """The first ``count`` fields, the last one with all the commas in it, and up to ``optional`` empty ones."""
        fields = self.rest.split(",", count - 1)
        if len(fields) < count - optional:
            raise broken_line(self.line, f"The {self.kind} line has {len(fields)} of {count} fields.", _REMEDY)
        return fields + [""] * (count - len(fields))


def _recognises(document: Document) -> bool:
    return _FIRST_LINE.match(document.text) is not None


def _read(document: Document) -> Transcript:
    document.limits.check_lines(document.text)
    events = list(_events(document.text))
    players = _players(events)
    draft = TranscriptDraft(Roster(player["name"] for player in players.values()), document.limits)
    # Events name players by index; older logs by the character's name.
    names = {player["name"]: player["name"] for player in players.values()}
    names |= {index: player["name"] for index, player in players.items()}
    metadata: dict[str, list[dict[str, Any]]] = {}
    winner = None
    for event in events:
        draft.round = event.day
        if event.kind == "result":
            *_, winner = event.fields(3)
        else:
            _add(event, draft, names, metadata)
    dead = {elimination["player"] for elimination in draft.eliminations}
    for player in players.values():
        player["is_alive"] = player["is_alive"] and player["name"] not in dead
    return draft.build(FORMAT, document.game_id(FORMAT), players.values(), winner=winner, metadata=metadata)


def _events(text: str) -> Iterator[_Event]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        match = _EVENT.match(line)
        if match is None:
            raise broken_line(number, f'"{shorten(line)}" is not an event.', _REMEDY)
        yield _Event(number, int(match[1]), match[2], match[3] or "")


def _players(events: list[_Event]) -> dict[str, dict[str, Any]]:
    """The players by index. Roles come from the first status line of each, who is alive from the last."""
    players: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.kind == "status":
            index, role, state, team, character = event.fields(5, optional=1)
            player = players.setdefault(index, _player(index, role, team, character))
            player["is_alive"] = state.upper() == "ALIVE"
    if not players:
        raise BrokenTranscriptError("The log has no status line, so nobody plays.", remedy="Export the log again.")
    _tell_apart(players)
    return players


def _player(index: str, role: str, team: str, character: str) -> dict[str, Any]:
    return {
        "name": character.strip() or team.strip() or f"Agent {index}",
        "role": role,
        "alignment": alignment_of(role),
        "metadata": {"index": index, "team": team},
    }


def _tell_apart(players: dict[str, dict[str, Any]]) -> None:
    """Adds the index to names that several players share: a team that plays against itself without characters."""
    bearers = Counter(player["name"] for player in players.values())
    for index, player in players.items():
        if bearers[player["name"]] > 1:
            player["name"] = f"{player['name']} {index}"


def _add(
    event: _Event, draft: TranscriptDraft, names: dict[str, str], metadata: dict[str, list[dict[str, Any]]]
) -> None:
    """Adds one event other than the result."""
    draft.phase = "night" if event.kind in ("whisper", "attackVote", "attack", "divine", "guard") else "day"
    match event.kind:
        case "talk" | "whisper":
            *_, speaker, text = event.fields(4)
            channel: Channel = "public" if event.kind == "talk" else "team"
            channel_name = None if event.kind == "talk" else event.kind
            draft.say(_name(speaker, names, event), text, channel, channel_name=channel_name)
        case "vote" | "attackVote":
            voter, target = event.fields(2)
            draft.vote(_name(voter, names, event), _name_or_none(target, names, event))
        case "execute" | "attack":
            victim, outcome = event.fields(2, optional=1)
            name = _name_or_none(victim, names, event)
            # A guarded victim stands in the log with "false" and lives.
            if name and outcome.lower() != "false":
                draft.eliminate(name)
        case "status":
            pass
        case "divine" | "guard":
            agent, target, result = event.fields(3, optional=1)
            who, whom = _name(agent, names, event), _name_or_none(target, names, event)
            entry = {"round": event.day, "player": who, "target": whom, "result": result or None}
            metadata.setdefault(event.kind, []).append(entry)
        case _:
            entry = {"round": event.day, "kind": event.kind, "fields": event.rest}
            metadata.setdefault("other_events", []).append(entry)


def _name(written: str, names: dict[str, str], event: _Event) -> str:
    if name := names.get(written.strip()):
        return name
    message = f"The {event.kind} line names {shorten(written)!r}, whom no status line introduces."
    raise broken_line(event.line, message, "Correct the line, or add the player's status line.")


def _name_or_none(written: str, names: dict[str, str], event: _Event) -> str | None:
    return None if written.strip() in ("", "-1") else _name(written, names, event)


READER = FileReader(FORMAT, _recognises, _read)
