"""Record a running discussion as JSON Lines: a head, then a line an event, each on disk before its call returns.

Import the file once the game has ended. Its last line says so; without it the game was broken off, and is taken on
request only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
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
_ANY_MESSAGE = {"id": "-", "index": 0, "channel": "system", "speaker": "-", "text": "-"}


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
        self._head: dict[str, Any] = {
            "game_id": self.game_id,
            "source_format": RECORDER_FORMAT,
            "language": language,
            "started_at": started,
            "metadata": _copied(dict(metadata or {}), "metadata"),
        }
        self._lock = threading.Lock()
        self._players: set[str] = set()
        self._message_ids: set[str] = set()
        self._now: dict[str, Any] = {}
        self._file: int | None = None
        self._length = 0

    def __enter__(self) -> Self:
        # The head must be as right as everything after it, and is refused before a file is there.
        build_transcript(Transcript, {**self._head, "players": [{"name": "-"}], "messages": [_ANY_MESSAGE]})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise InputError(
                f"The game {self.game_id!r} is recorded already.", place=str(self.path), remedy="Give another game_id."
            ) from None
        except OSError as error:
            raise InputError(f"The folder cannot be written: {error.strerror}.", place=str(self.path.parent)) from None
        self._write({"recording": RECORDING_FORMAT, "version": RECORDING_VERSION, **self._head})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            try:
                if not self._message_ids:
                    self.path.unlink(missing_ok=True)
                    if error is None:
                        raise InputError("Nothing was said, so there is no transcript.", place=str(self.path))
                elif error is None:
                    self._write({"end": {}})
                else:
                    self._write({"end": {"stopped_by": well_formed(f"{type(error).__name__}: {error}"[:500])}})
            finally:
                os.close(self._opened())
                self._file = None

    def player(self, name: str, role: str | None = None, **known: Any) -> None:
        """Names a player.

        Args:
            name: How it is called.
            role: In the game.
            known: Further fields of ``Player``: ``alignment``, ``personality``, ``persona``, ``model``, ``is_human``.

        Raises:
            InputError: A value cannot be held, or the player was named before.
        """
        with self._lock:
            if name in self._players:
                raise InputError(f"The player {name!r} was named before.", remedy="Name players before they speak.")
            self._write({"player": _checked(Player, {"name": name, "role": role, **known})})
            self._players.add(name)

    def begin_round(self, number: int, phase: str | None = None) -> None:
        """Sets the round and phase of what is recorded from now on, where a call names none."""
        with self._lock:
            _checked(Vote, {"round": number, "phase": phase, "voter": "-"})
            self._now = {"round": number, "phase": phase}

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
            place = {"id": key, "index": len(self._message_ids), **self._when()}
            said = {"speaker": speaker, "text": text, "recipients": list(recipients)}
            held = _checked(Message, {**place, **said, **known})
            if known.get("channel") != "system":
                self._meet(speaker)
            self._write({"message": held})
            self._message_ids.add(key)
            return key

    def vote(self, voter: str, target: str | None, **known: Any) -> None:
        """Records a vote; ``None`` as target is an abstention.

        Args:
            voter: Who votes.
            target: For whom.
            known: Further fields of ``Vote``: ``justification``, ``sent_at`` (now when left out), ``round``, ``phase``.

        Raises:
            InputError: A value cannot be held.
        """
        with self._lock:
            held = _checked(Vote, {**self._when(), "voter": voter, "target": target, **known})
            self._meet(voter, target)
            self._write({"vote": held})

    def eliminate(self, player: str, **known: Any) -> None:
        """Records that a player left the game.

        Args:
            player: Who left.
            known: Further fields of ``Elimination``: ``role`` (what was revealed), ``sent_at`` (now when left out),
                ``round``, ``phase``.

        Raises:
            InputError: A value cannot be held.
        """
        with self._lock:
            held = _checked(Elimination, {**self._when(), "player": player, **known})
            self._meet(player)
            self._write({"elimination": held})

    def cost(self, *, usd: float | None = None, **tokens: int | None) -> None:
        """Adds the cost of a call to a model; the calls of a game are summed.

        Args:
            usd: US dollars.
            tokens: ``input_tokens``, ``cached_tokens`` among them, and ``output_tokens``.

        Raises:
            InputError: A value is negative or not a number.
        """
        with self._lock:
            self._write({"cost": _checked(Cost, {"total_usd": usd, **tokens})})

    def winner(self, name: str) -> None:
        """Records who won: a side or a player.

        Raises:
            InputError: It is not a text.
        """
        with self._lock:
            # A role is a text as a winner is.
            self._write({"winner": {"name": _checked(Player, {"name": "-", "role": name})["role"]}})

    def _when(self) -> dict[str, Any]:
        return {**self._now, "sent_at": datetime.now(UTC)}

    def _meet(self, *names: str | None) -> None:
        for name in names:
            if name is not None and name not in self._players:
                self._write({"player": {"name": name}})
                self._players.add(name)

    def _opened(self) -> int:
        if self._file is None:
            raise InputError("The recorder is not open.", remedy="Record inside of: with Recorder(folder) as recorder.")
        return self._file

    def _write(self, value: Mapping[str, Any]) -> None:
        file = self._opened()
        line = json.dumps(value, default=_plain, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            written = os.write(file, line)
        except OSError as error:
            raise InputError(f"The recording cannot be written: {error.strerror}.", place=str(self.path)) from None
        if written != len(line):
            # The disk is full: half a line must not stand before the next one.
            os.ftruncate(file, self._length)
            raise InputError("The recording cannot be written: the disk is full.", place=str(self.path))
        self._length += written


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def _checked(kind: type[Player | Message | Vote | Elimination | Cost], fields: dict[str, Any]) -> dict[str, Any]:
    """A copy of the fields that were given, once the model takes them."""
    try:
        build_transcript(kind, fields)
    except BrokenTranscriptError as error:
        raise InputError(error.message, place=error.place, remedy=error.remedy) from None
    return _copied({name: value for name, value in fields.items() if value not in (None, [], {})}, kind.__name__)


def _copied(fields: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The fields as the file says them: what the caller changes afterwards changes nothing here."""
    try:
        text = json.dumps(fields, default=_plain, allow_nan=False, ensure_ascii=False)
        # Half of a surrogate pair cannot be stored.
        text.encode()
        copied: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"A value cannot be written as JSON: {error}.", place=place.lower()) from None
    return copied
