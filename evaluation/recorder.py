"""Record a running discussion as JSON Lines: a head, then a line an event, each on disk before its call returns.

Import the file once the game has ended. Its last line says so; without it the game was broken off, and is taken on
request only.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any, Self

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.escaping import well_formed
from evaluation.transcript import Cost, Elimination, Message, Player, Transcript, Vote, build_transcript

RECORDING_FORMAT = "dramaturg-recording"
RECORDING_VERSION = 1
RECORDER_FORMAT = "recorder"
"""The source format of transcripts that a ``Recorder`` wrote."""

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80
_NOT_OPEN = "Record inside of: with Recorder(folder) as recorder."
_ANYBODY = {
    "players": [{"name": "-"}],
    "messages": [{"id": "-", "index": 0, "channel": "system", "speaker": "-", "text": "-"}],
}


class Recorder:
    """Records one discussion into a file of a folder, from any number of threads.

    A value that a transcript cannot hold is refused by the call that brings it, and nothing of that call is recorded.
    Whoever speaks, votes or is voted for without having been named as a player becomes one, without a role.

    Args:
        folder: Where the file goes; created when it is not there.
        game_id: The game's name; by default one from the time and chance.
        language: The language of the discussion, such as "en"; recognised from the messages when left out.
        metadata: Further facts about the game, as JSON values.

    Raises:
        InputError: A game of that name is recorded in the folder already, or the folder cannot be written.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        game_id: str | None = None,
        language: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        started = datetime.now(UTC)
        self.game_id = game_id or f"game-{started:%Y%m%d-%H%M%S}-{token_hex(3)}"
        name = _NOT_FOR_NAMES.sub("-", self.game_id)[:_LONGEST_NAME].strip("-.") or "game"
        if name != self.game_id:
            # Names that differ in what a file name cannot hold must not meet in one file.
            name += f"-{hashlib.sha256(self.game_id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        self.path = Path(folder) / f"{name}.jsonl"
        self._head = {
            "game_id": self.game_id,
            "source_format": RECORDER_FORMAT,
            "language": language,
            "started_at": started,
            "metadata": dict(metadata or {}),
        }
        self._lock = threading.Lock()
        self._players: set[str] = set()
        self._message_ids: set[str] = set()
        self._now: dict[str, Any] = {}
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        # The head must be as right as everything after it, and is refused before a file is there.
        _check("head", Transcript, {**self._head, **_ANYBODY})
        line = _line("head", {"recording": RECORDING_FORMAT, "version": RECORDING_VERSION, **self._head})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = FileIO(self.path, "x")
        except FileExistsError:
            raise InputError(
                f"The game {self.game_id!r} is recorded already.", place=str(self.path), remedy="Give another game_id."
            ) from None
        except OSError as error:
            raise InputError(f"The folder cannot be written: {error.strerror}.", place=str(self.path.parent)) from None
        self._write(line)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            stopped = {} if error is None else {"stopped_by": well_formed(f"{type(error).__name__}: {error}"[:500])}
            if self._message_ids and self._file is not None:
                self._write(_line("end", {"end": stopped}))
            if self._file is not None:
                self._file.close()
                self._file = None
            if not self._message_ids:
                self.path.unlink(missing_ok=True)
                if error is None:
                    raise InputError("Nothing was said, so there is no transcript.", place=str(self.path))

    def player(self, name: str, role: str | None = None, **known: Any) -> None:
        """Names a player, with further fields of ``Player``: ``alignment``, ``personality``, ``persona``, ``model``.

        Raises:
            InputError: A value cannot be held, or the player was named before.
        """
        with self._lock:
            if name in self._players:
                raise InputError(f"The player {name!r} was named before.", remedy="Name each player once.")
            self._record("player", Player, {"name": name, "role": role, **known})
            self._players.add(name)

    def begin_round(self, number: int, phase: str | None = None) -> None:
        """Sets the round and phase of what is recorded from now on, where a call names none."""
        with self._lock:
            now = {"round": number, "phase": phase}
            _check("round", Vote, {**now, "voter": "-"})
            self._now = now

    def message(
        self, speaker: str, text: str, *, recipients: Sequence[str] = (), message_id: str | None = None, **known: Any
    ) -> str:
        """Records a message, and returns its id for answers to it.

        A message on the channel "system" may come from somebody who is not a player.

        Args:
            speaker: Who says it.
            text: The words.
            recipients: Who hears it, where not everybody does.
            message_id: An id of one's own; counted when left out.
            known: Further fields of ``Message``: ``channel``, ``reply_to``, ``metadata``, ``sent_at`` (now when left
                out), ``round``, ``phase``.

        Raises:
            InputError: A value cannot be held, or the id was used before.
        """
        if isinstance(recipients, str):
            raise InputError("The recipients are one text.", place="recipients", remedy="Give a list of names.")
        with self._lock:
            number = len(self._message_ids) + 1
            while message_id is None and f"m{number}" in self._message_ids:
                number += 1
            key = message_id or f"m{number}"
            if key in self._message_ids:
                raise InputError(
                    f"The message id {key!r} was used before.", remedy="Give each message an id of its own."
                )
            said = {"speaker": speaker, "text": text, "recipients": list(recipients)}
            self._record(
                "message", Message, {"id": key, "index": len(self._message_ids), **self._when(), **said, **known}
            )
            self._message_ids.add(key)
            return key

    def vote(self, voter: str, target: str | None, **known: Any) -> None:
        """Records a vote, with further fields of ``Vote``, such as ``justification``; no target is an abstention.

        Raises:
            InputError: A value cannot be held.
        """
        with self._lock:
            self._record("vote", Vote, {**self._when(), "voter": voter, "target": target, **known})

    def eliminate(self, player: str, **known: Any) -> None:
        """Records that a player left the game, with further fields of ``Elimination``, such as the revealed ``role``.

        Raises:
            InputError: A value cannot be held.
        """
        with self._lock:
            self._record("elimination", Elimination, {**self._when(), "player": player, **known})

    def cost(self, *, usd: float | None = None, **tokens: int | None) -> None:
        """Adds the cost of a call to a model; the calls of a game are summed.

        Args:
            usd: US dollars.
            tokens: ``input_tokens``, ``cached_tokens`` among them, and ``output_tokens``.

        Raises:
            InputError: A value is negative or not a number.
        """
        with self._lock:
            self._record("cost", Cost, {"total_usd": usd, **tokens})

    def winner(self, name: str) -> None:
        """Records who won: a side or a player.

        Raises:
            InputError: It is not a text.
        """
        with self._lock:
            # A role is a text as a winner is.
            _check("winner", Player, {"name": "-", "role": name})
            self._write(_line("winner", {"winner": {"name": name}}))

    def _when(self) -> dict[str, Any]:
        return {**self._now, "sent_at": datetime.now(UTC)}

    def _record(self, kind: str, model: type[Player | Message | Vote | Elimination | Cost], fields: Any) -> None:
        _check(kind, model, fields)
        self._write(_line(kind, {kind: {name: value for name, value in fields.items() if value not in (None, [], {})}}))

    def _write(self, line: bytes) -> None:
        if self._file is None:
            raise InputError("The recorder is not open.", remedy=_NOT_OPEN)
        try:
            written = self._file.write(line)
        except OSError:
            written = 0
        if written != len(line):
            # Half a line may stand at the end now, and nothing may stand behind it.
            self._file.close()
            self._file = None
            raise InputError("The recording cannot be written any further: is the disk full?", place=str(self.path))


def _check(place: str, model: type[Any], fields: Mapping[str, Any]) -> None:
    try:
        build_transcript(model, fields)
    except BrokenTranscriptError as error:
        raise InputError(error.message, place=f"{place}{error.place.removeprefix('$')}", remedy=error.remedy) from None


def _line(place: str, value: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        # Half of a surrogate pair cannot be stored.
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"A value cannot be written as JSON: {error}.", place=place) from None


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON value")
