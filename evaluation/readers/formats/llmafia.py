"""Reads the games of LLMafia ("Time to Talk"): a folder, or a zip of it, with ``config.json`` and three chat files.

The chat files have lines ``[HH:MM:SS] Name: text``. The manager's own file carries the phases and results, the day's
and the night's file the talk and the votes. They are merged by the clock, past midnight too. A day and the night after
it are one round. The clock has no date, so times stand on 1 January 1970, UTC: they order the game and mean no more.

The roles are "mafia" and "bystander". The night's file is team talk of the mafia. Surveys of the players and the rest
of the folder are kept in the metadata.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import Roster, TranscriptDraft, alignment_of, broken_line
from evaluation.readers.document import Document, FolderReader, Node, content_id
from evaluation.transcript import Channel, Transcript

FORMAT = "llmafia"

_CONFIG = "config.json"
_MANAGER_FILE = "public_manager_chat.txt"
_DAY_FILE = "public_daytime_chat.txt"
_NIGHT_FILE = "public_nighttime_chat.txt"
_KINDS = {_DAY_FILE: "day", _NIGHT_FILE: "night"}
_CORE = (_CONFIG, _MANAGER_FILE, *_KINDS)
_WHOLE_FOLDER = "Choose the whole game folder."
_WINNER = "who_wins.txt"
_SURVEY = "_survey.txt"
_NOTES = ("game_start_time.txt", "phase_status.txt")
_REPEATED = ("mafia_names.txt", "player_names.txt")
_VOTED = " voted for "
_OUT = " was voted out. Their role was "
_MANAGER = "Game-Manager"
_STAMPED = re.compile(r"\[(\d\d):(\d\d):(\d\d)\] ")

_DAY_SECONDS = 24 * 60 * 60
_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
_PHASES = {"Now it's Daytime": "day", "Now it's Nighttime": "night"}
_VOTING = " has ended, now it's time to vote"
_RESULT = " was voted out"


def _takes(name: str) -> bool:
    return name in (*_CORE, _WINNER, *_NOTES, *_REPEATED) or name.endswith(_SURVEY)


def _recognises(names: Set[str]) -> bool:
    return len(names & set(_CORE)) > 1


def _recognises_part(document: Document) -> bool:
    # Chats alone are plain text, which many others write so too.
    if _STAMPED.match(document.text.lstrip()) and f"] {_MANAGER}: " in document.text:
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
    players = [_player(node) for node in config["players"].entries() if node["name"].name() != _MANAGER]
    draft = TranscriptDraft(Roster(player["name"] for player in players), limits)
    manager, day, night = (_parse_lines(name, texts[name], draft.roster) for name in (_MANAGER_FILE, *_KINDS))
    for line, segment in _merge(manager, day, night, _segments_of(manager)):
        _add(line, segment, draft)
    dead = {elimination["player"] for elimination in draft.eliminations}
    winner = texts.get(_WINNER, "").strip()
    players = [player | {"is_alive": player["name"] not in dead} for player in players]
    metadata = config.rest("players") | _notes(texts) | {"who_wins": winner}
    game_id = content_id(FORMAT, "\n".join(texts[name] for name in _CORE))
    return draft.build(FORMAT, game_id, players, winner=winner, metadata=metadata)


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


def _add(line: _Line, segment: _Segment | None, draft: TranscriptDraft) -> None:
    kind = _KINDS.get(line.file)
    draft.round, draft.phase = (segment.round, segment.phase) if segment else (None, kind)
    if line.speaker != _MANAGER:
        channel_name = "mafia" if kind == "night" else None
        channel: Channel = "team" if kind == "night" else "public"
        draft.say(line.speaker, line.text, channel, channel_name=channel_name, sent_at=line.sent_at)
        return
    draft.say(_MANAGER, line.text, "system", sent_at=line.sent_at)
    if kind and _VOTED in line.text:
        draft.vote(*_vote(line, draft.roster), sent_at=line.sent_at)
    elif _OUT in line.text:
        name, _, role = line.text.partition(_OUT)
        draft.eliminate(_known(name, line, draft.roster), role=role.strip(" .") or None, sent_at=line.sent_at)


def _vote(line: _Line, roster: Roster) -> tuple[str, str]:
    """Voter and target; the words between them may stand in a name too."""
    for match in re.finditer(f"(?={_VOTED})", line.text):
        voter, target = roster.find(line.text[: match.start()]), roster.find(line.text[match.start() + len(_VOTED) :])
        if voter and target:
            return voter, target
    written, _, whom = line.text.partition(_VOTED)
    return _known(written, line, roster), _known(whom, line, roster)


def _known(name: str, line: _Line, roster: Roster) -> str:
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


@dataclass(slots=True)
class _Line:
    """One line of a chat file with the lines that continue it.

    Attributes:
        file: The file's name.
        number: Its place in the file, from 1.
        clock: Seconds since the midnight before the game began; past 86,400 after the next one.
        speaker: A player, or ``_MANAGER``.
        parts: What was said, one text for each line of it.
    """

    file: str
    number: int
    clock: int
    speaker: str
    parts: list[str]

    @property
    def text(self) -> str:
        """The words of the message."""
        return "\n".join(self.parts).rstrip("\n")

    @property
    def sent_at(self) -> datetime:
        """The clock's time, on a date that means nothing."""
        return _NO_DATE + timedelta(seconds=self.clock)

    def wrong(self, message: str, remedy: str) -> BrokenTranscriptError:
        """An error at this line."""
        return broken_line(self.number, message, remedy, file=self.file)


@dataclass(frozen=True, slots=True)
class _Segment:
    """One day or night, from its announcement on."""

    index: int
    round: int
    phase: str
    start: int


def _parse_lines(file: str, text: str, roster: Roster) -> list[_Line]:
    """The lines of one file.

    Raises:
        BrokenTranscriptError: A line before the first time stamp, an impossible time, or an unknown speaker.
    """
    lines: list[_Line] = []
    names = sorted((_MANAGER, *roster.names), key=len, reverse=True)
    for number, written in enumerate(text.rstrip("\n").split("\n"), start=1):
        stamp = _STAMPED.match(written)
        if stamp:
            lines.append(_line(file, number, stamp, written[stamp.end() :], names))
        elif lines:
            lines[-1].parts.append(written)
        elif written.strip():
            raise broken_line(
                number, f'"{shorten(written)}" has no time.', "Expected [HH:MM:SS] Name: text.", file=file
            )
    return lines


def _line(file: str, number: int, stamp: re.Match[str], rest: str, names: Sequence[str]) -> _Line:
    hours, minutes, seconds = (int(part) for part in stamp.groups())
    if hours > 23 or minutes > 59 or seconds > 59:
        raise broken_line(number, f"{stamp[0].strip()} is not a time of day.", "Correct the time.", file=file)
    # The longest name first: "Lee: Junior" may play beside "Lee".
    speaker = next((name for name in names if rest.startswith(f"{name}:")), None)
    if speaker is None:
        who = shorten(rest.partition(":")[0])
        message = f"{who!r} is not among the players."
        raise broken_line(number, message, "Correct the name, or add the player to config.json.", file=file)
    text = rest[len(speaker) + 1 :].removeprefix(" ")
    return _Line(file, number, hours * 3600 + minutes * 60 + seconds, speaker, [text])


def _segments_of(manager: Sequence[_Line]) -> list[_Segment]:
    """The days and nights that the manager announced. A night belongs to the round of the day before it."""
    _pass_midnight(manager, manager[0].clock if manager else 0)
    segments: list[_Segment] = []
    day = 0
    for line in manager:
        phase = next((phase for words, phase in _PHASES.items() if line.text.startswith(words)), None)
        if phase:
            day += phase == "day"
            segments.append(_Segment(len(segments), day, phase, line.clock))
    return segments


def _merge(
    manager: Sequence[_Line], day: Sequence[_Line], night: Sequence[_Line], segments: Sequence[_Segment]
) -> Iterator[tuple[_Line, _Segment | None]]:
    """All lines in the order of the game, each with its segment (``None`` when the manager announced none).

    Within one second the order is that of the game: the phase is announced, people talk and vote, the result is told.
    """
    begin = manager[0].clock if manager else 0
    keyed = list(_manager_keys(manager))
    for phase, lines in (("day", day), ("night", night)):
        _pass_midnight(lines, begin)
        keyed.extend(_chat_keys(lines, phase, segments))
    for (_, index, _), line in sorted(keyed, key=lambda pair: pair[0]):
        yield line, segments[index] if segments else None


_Key = tuple[int, int, int]


def _manager_keys(lines: Sequence[_Line]) -> Iterator[tuple[_Key, _Line]]:
    index = -1
    for line in lines:
        index += line.text.startswith(tuple(_PHASES))
        yield (line.clock, max(index, 0), 2 if _RESULT in line.text else 0), line


def _chat_keys(lines: Sequence[_Line], phase: str, segments: Sequence[_Segment]) -> Iterator[tuple[_Key, _Line]]:
    """The clock decides, not the place in the file: a model's message may be written minutes after its stamp."""
    own = [segment for segment in segments if segment.phase == phase]
    votings = 0
    for line in lines:
        votings += line.speaker == _MANAGER and _VOTING in line.text
        if line.speaker == _MANAGER and 0 < votings <= len(own):
            # The clock cannot tell the votes of two nights of the same second apart; the calls for votes can.
            index = own[votings - 1].index
        else:
            index = _segment_at(line.clock, phase, segments) if segments else 0
        yield (line.clock, index, 1), line


def _segment_at(clock: int, phase: str, segments: Sequence[_Segment]) -> int:
    """The segment of that second; where several meet in it, the earliest of the file's own phase."""
    last = max(bisect_right(segments, clock, key=lambda segment: segment.start) - 1, 0)
    first = last
    while first > 0 and segments[first].start == clock:
        first -= 1
    return next((index for index in range(first, last + 1) if segments[index].phase == phase), last)


def _pass_midnight(lines: Sequence[_Line], begin: int) -> None:
    """Adds a day to the clocks after each midnight: a line is never half a day away from the one before it."""
    before = begin
    for line in lines:
        line.clock += round((before - line.clock) / _DAY_SECONDS) * _DAY_SECONDS
        before = line.clock


READER = FolderReader(FORMAT, _takes, _recognises, _recognises_part, _read)
