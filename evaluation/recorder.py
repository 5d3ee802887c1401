"""Record a running discussion as JSON Lines: a head, then a line an event, each on disk before its call returns.

Import the file once the game has ended. Its last line says so; without it the game was broken off, and is taken on
request only.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import quote

from evaluation.errors import InputError
from evaluation.escaping import well_formed
from evaluation.transcript import Cost, Elimination, Message, Player, Vote, build_transcript

RECORDING_FORMAT = "dramaturg-recording"
RECORDING_VERSION = 1


class Recorder:
    """Records one discussion into a file of a folder, from any number of threads.

    A value that a transcript cannot hold is refused by the call that brings it, and nothing of that call is recorded.
    Who speaks, votes or is voted for without having been named as a player becomes one, without a role.

    Args:
        folder: Where the file goes; created when it is not there.
        game_id: The game's name; by default one from the time and chance.
        language: The language of the discussion, such as "en"; recognised from the messages when left out.
        metadata: Further facts about the game, as JSON values.

    Raises:
        FileExistsError: A game of that name is recorded in the folder already.
        InputError: A call outside of the block, or a value that cannot be held (of every call below).
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
        # Two names never meet in one file, and none is that of a hidden file.
        name = re.sub(r"\A\.", "%2E", quote(self.game_id, safe=" ", errors="replace"))
        self.path = Path(folder) / f"{name}.jsonl"
        self._head = json.dumps(
            {
                "recording": RECORDING_FORMAT,
                "version": RECORDING_VERSION,
                "game_id": self.game_id,
                "source_format": "recorder",
                "language": language,
                "started_at": started.isoformat(),
                "metadata": dict(metadata or {}),
            },
            ensure_ascii=False,
            allow_nan=False,
        )
        self._lock = threading.RLock()
        self._players: set[str] = set()
        self._messages = 0
        self._now: dict[str, Any] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        head = self._head.encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("xb")
        self._write(head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        stopped = {} if error is None else {"stopped_by": well_formed(f"{type(error).__name__}: {error}"[:500])}
        with self._lock:
            file = self._file
            try:
                self._write(json.dumps({"end": stopped}).encode())
            finally:
                self._file = None
                if file is not None:
                    file.close()

    def player(self, name: str, role: str | None = None, **known: Any) -> None:
        """Names a player, with further fields of ``Player``: ``alignment``, ``personality``, ``persona``, ``model``."""
        with self._lock:
            if name in self._players:
                raise InputError(f"The player {name!r} was named before.", remedy="Name each player once.")
            self._record("player", Player, {"name": name, "role": role, **known})
            self._players.add(name)

    def begin_round(self, number: int, phase: str | None = None) -> None:
        """Sets the round and phase of what is recorded from now on, where a call names none."""
        now = {"round": number, "phase": phase}
        build_transcript(Vote, {**now, "voter": "-"})
        self._now = now

    def message(self, speaker: str, text: str, *, recipients: Sequence[str] = (), **known: Any) -> str:
        """Records a message, and returns its id for answers to it.

        A message on the channel "system" may come from somebody who is not a player.

        Args:
            speaker: Who says it.
            text: The words.
            recipients: Who hears it, where not everybody does.
            known: Further fields of ``Message``: ``channel``, ``reply_to``, ``metadata``, ``sent_at`` (now when left
                out), ``round``, ``phase``.
        """
        with self._lock:
            key = f"m{self._messages + 1}"
            said = {"speaker": speaker, "text": text, "recipients": recipients, **known}
            self._record("message", Message, {**self._when(), **said, "id": key, "index": self._messages})
            self._messages += 1
            return key

    def vote(self, voter: str, target: str | None, **known: Any) -> None:
        """Records a vote, with further fields of ``Vote``, such as ``justification``; no target is an abstention."""
        self._record("vote", Vote, {**self._when(), "voter": voter, "target": target, **known})

    def eliminate(self, player: str, **known: Any) -> None:
        """Records that a player left the game, with further fields of ``Elimination``, such as ``role``."""
        self._record("elimination", Elimination, {**self._when(), "player": player, **known})

    def cost(self, *, usd: float | None = None, **tokens: int | None) -> None:
        """Adds the cost of a call to a model; the calls of a game are summed.

        Args:
            usd: US dollars.
            tokens: ``input_tokens``, ``cached_tokens`` among them, and ``output_tokens``.
        """
        self._record("cost", Cost, {"total_usd": usd, **tokens})

    def winner(self, name: str) -> None:
        """Records who won: a side or a player."""
        self._record("winner", Player, {"name": name})

    def _when(self) -> dict[str, Any]:
        return {**self._now, "sent_at": datetime.now(UTC)}

    def _record(
        self, kind: str, part: type[Player | Message | Vote | Elimination | Cost], fields: Mapping[str, Any]
    ) -> None:
        self._write(f'{{"{kind}":{build_transcript(part, fields).model_dump_json(exclude_unset=True)}}}'.encode())

    def _write(self, line: bytes) -> None:
        with self._lock:
            if self._file is None:
                raise InputError("The recorder is not open.", remedy="Record inside of: with Recorder(folder) as ...")
            # A line that the disk refused stays in the buffer, so that nothing ever stands behind half of it.
            self._file.write(line + b"\n")
            self._file.flush()
