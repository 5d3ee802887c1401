"""Reads the games of LLMafia ("Time to Talk"): a folder, or a zip of it, with ``config.json`` and three chat files.

The chat files have lines ``[HH:MM:SS] Name: text``. The manager's own file carries the phases and results, the day's
and the night's file the talk and the votes. They are merged by the clock, past midnight too. A day and the night after
it are one round. The clock has no date, so times stand on 1 January 1970, UTC: they order the game and mean no more.

The roles are "mafia" and "bystander". The night's file is team talk of the mafia. Surveys of the players and the rest
of the folder are kept in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document, content_id
from evaluation.readers.base.draft import TranscriptDraft
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FolderReader
from evaluation.readers.base.roster import Roster, alignment_of
from evaluation.readers.formats._llmafia_clock import MANAGER, STAMPED, Line, Segment, merge, parse_lines, segments_of
from evaluation.transcript import Channel, Transcript

FORMAT = "llmafia"

_CONFIG = "config.json"
_MANAGER_FILE = "public_manager_chat.txt"
_DAY_FILE = "public_daytime_chat.txt"
_NIGHT_FILE = "public_nighttime_chat.txt"
_KINDS = {_DAY_FILE: "day", _NIGHT_FILE: "night"}
_CORE = (_CONFIG, _MANAGER_FILE, *_KINDS)
_WHOLE_FOLDER = "Hand in the whole game folder."
_WINNER = "who_wins.txt"
_SURVEY = "_survey.txt"
_NOTES = ("game_start_time.txt", "phase_status.txt")
_REPEATED = ("mafia_names.txt", "player_names.txt")
_VOTED = " voted for "
_OUT = " was voted out. Their role was "


def _takes(name: str) -> bool:
    return name in (*_CORE, _WINNER, *_NOTES, *_REPEATED) or name.endswith(_SURVEY)


def _recognises(names: Set[str]) -> bool:
    return len(names & set(_CORE)) > 1


def _recognises_part(document: Document) -> bool:
    # Chats alone are plain text, which many others write so too.
    if STAMPED.match(document.text.lstrip()) and f"] {MANAGER}: " in document.text:
        return True
    players = document.json.get("players") if isinstance(document.json, dict) else None
    return isinstance(players, list) and any(isinstance(player, dict) and "is_mafia" in player for player in players)


def _read(files: Mapping[str, Document]) -> Transcript:
    for name in _CORE:
        if name not in files:
            raise BrokenTranscriptError(f"{name} is missing.", remedy=_WHOLE_FOLDER)
    texts = {name: _text(name, document) for name, document in files.items()}
    limits = files[_CONFIG].limits
    for text in texts.values():
        limits.check_lines(text)
    config = _config(files[_CONFIG])
    limits.check_players(config["players"].size)
    players = [_player(node) for node in config["players"].entries() if node["name"].name() != MANAGER]
    draft = TranscriptDraft(Roster(player["name"] for player in players), limits)
    manager, day, night = (parse_lines(name, texts[name], draft.roster) for name in (_MANAGER_FILE, *_KINDS))
    for line, segment in merge(manager, day, night, segments_of(manager)):
        _add(line, segment, draft)
    dead = {elimination["player"] for elimination in draft.eliminations}
    winner = texts.get(_WINNER, "").strip()
    return draft.build(
        game_id=content_id(FORMAT, "\n".join(texts[name] for name in _CORE)),
        source_format=FORMAT,
        players=[player | {"is_alive": player["name"] not in dead} for player in players],
        winner=winner,
        metadata=config.rest("players") | _notes(texts) | {"who_wins": winner},
    )


def _text(name: str, document: Document) -> str:
    """The text of a file that may well be empty: nobody spoke, nothing was answered."""
    try:
        return document.text if document.data.strip() else ""
    except InputError as error:
        raise _within(name, error) from None


def _config(document: Document) -> Node:
    is_empty = not document.data.strip()
    if not is_empty and document.json_error:
        raise _within(_CONFIG, document.json_error)
    config = Node(None if is_empty else document.json, f"{_CONFIG}: $")
    if not isinstance(config.value, dict):
        raise config.wrong("an object with the players", remedy=_WHOLE_FOLDER)
    return config


def _within(name: str, error: InputError) -> InputError:
    """The same error with the file's name before its place."""
    place = f"{name}, {error.place}" if error.place else name
    return type(error)(error.message, place=place, remedy=error.remedy)


def _player(node: Node) -> dict[str, Any]:
    is_mafia, is_llm = node["is_mafia"].flag_or_none(), node["is_llm"].flag_or_none()
    role = None if is_mafia is None else "mafia" if is_mafia else "bystander"
    return {
        "name": node["name"].name(),
        "role": role,
        "alignment": alignment_of(role),
        "model": node["llm_config"]["model_name"].text_or_none(),
        "is_human": None if is_llm is None else not is_llm,
        "metadata": {key: value for key, value in node.rest("name", "is_mafia", "is_llm").items() if value},
    }


def _add(line: Line, segment: Segment | None, draft: TranscriptDraft) -> None:
    kind = _KINDS.get(line.file)
    draft.round, draft.phase = (segment.round, segment.phase) if segment else (None, kind)
    if line.speaker != MANAGER:
        channel_name = "mafia" if kind == "night" else None
        channel: Channel = "team" if kind == "night" else "public"
        draft.say(line.speaker, line.text, channel, channel_name=channel_name, sent_at=line.sent_at)
        return
    draft.say(MANAGER, line.text, "system", sent_at=line.sent_at)
    if kind and _VOTED in line.text:
        draft.vote(*_vote(line, draft.roster), sent_at=line.sent_at)
    elif _OUT in line.text:
        name, _, role = line.text.partition(_OUT)
        draft.eliminate(_known(name, line, draft.roster), role=role.strip(" .") or None, sent_at=line.sent_at)


def _vote(line: Line, roster: Roster) -> tuple[str, str]:
    """Voter and target; the words between them may stand in a name too."""
    start = line.text.find(_VOTED)
    while start >= 0:
        voter, target = roster.find(line.text[:start]), roster.find(line.text[start + len(_VOTED) :])
        if voter and target:
            return voter, target
        start = line.text.find(_VOTED, start + 1)
    voter, _, target = line.text.partition(_VOTED)
    return _known(voter, line, roster), _known(target, line, roster)


def _known(name: str, line: Line, roster: Roster) -> str:
    player = roster.find(name)
    if player is None:
        raise line.wrong(f"{shorten(name)!r} is not among the players ({roster}).", "Correct the name.")
    return player


def _notes(texts: Mapping[str, str]) -> dict[str, Any]:
    """The folder's small files, and the players' surveys by player: answers by question, and the comment."""
    notes: dict[str, Any] = {name.removesuffix(".txt"): texts[name].strip() for name in _NOTES if name in texts}
    surveys = {
        name.removesuffix(_SURVEY): _survey(text) for name, text in sorted(texts.items()) if name.endswith(_SURVEY)
    }
    return notes | {"surveys": surveys}


def _survey(text: str) -> dict[str, Any]:
    questions, _, comment = text.partition("Comments:")
    pairs = [line.rpartition(" - ") for line in questions.split("\n") if " - " in line]
    return {"answers": {question: answer.strip() for question, _, answer in pairs}, "comment": comment.strip()}


READER = FolderReader(FORMAT, _takes, _recognises, _recognises_part, _read)
