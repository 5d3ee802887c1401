"""Record a running discussion: every event is on disk at once, and leaving the block writes the canonical transcript.

While it runs, ``<game>.journal.jsonl`` grows by a line per event. What was recorded before the process was killed is
read from there like any other transcript; the last line may be torn. Leaving the block writes ``<game>.json`` in one
step and removes the journal.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any, Self

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.escaping import well_formed
from evaluation.transcript import (
    Cost,
    Elimination,
    Message,
    Player,
    Transcript,
    Vote,
    build_transcript,
)

JOURNAL_ENDING = ".journal.jsonl"
JOURNAL_FORMAT = "dramaturg-journal"
JOURNAL_VERSION = 1
RECORDER_FORMAT = "recorder"
"""The source format of transcripts that a ``Recorder`` wrote."""

_PARTS: Mapping[str, str] = {
    "player": "players",
    "message": "messages",
    "vote": "votes",
    "elimination": "eliminations",
}
_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80


def is_left_to_its_recorder(path: Path) -> bool:
    """Whether a file is the journal of a game that is being recorded, or whose transcript stands beside it.

    A recorder locks its journal. One that was killed between its last two steps leaves both files behind.
    """
    if not path.name.endswith(JOURNAL_ENDING):
        return False
    if path.with_name(path.name.removesuffix(JOURNAL_ENDING) + ".json").exists():
        return True
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # Gone meanwhile, or not to be opened: whoever reads it says why.
        return False
    return False


class Recorder:
    """Records one discussion into a folder, from any number of threads.

    A value that a transcript cannot hold is refused by the call that brings it, and nothing of that call is recorded.
    Whoever speaks, votes or is voted for without having been named as a player becomes one, without a role.

    Args:
        folder: Where the files go; created when it is not there.
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
        self.path = Path(folder) / f"{name}.json"
        self._head: dict[str, Any] = {
            "game_id": self.game_id,
            "source_format": RECORDER_FORMAT,
            "language": language,
            "started_at": started,
            "metadata": _copied({"metadata": dict(metadata or {})}, "metadata")["metadata"],
        }
        self._lock = threading.Lock()
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._players: set[str] = set()
        self._message_ids: set[str] = set()
        self._now: dict[str, Any] = {}
        self._journal: _Journal | None = None

    def __enter__(self) -> Self:
        if self.path.exists():
            raise InputError(
                f"The game {self.game_id!r} is recorded already.", place=str(self.path), remedy="Give another game_id."
            )
        head = {"journal": JOURNAL_FORMAT, "version": JOURNAL_VERSION, **self._head}
        # The head must be as right as everything after it, and is refused before a file is there.
        build_transcript(Transcript, {**self._head, "players": [{"name": "-"}], "messages": [_ANY_MESSAGE]})
        self._journal = _Journal(self.path.with_name(self.path.stem + JOURNAL_ENDING))
        self._journal.append(head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            journal, self._journal = self._opened(), None
            if not self._message_ids:
                journal.remove()
                if error is None:
                    raise InputError("Nothing was said, so there is no transcript.", place=str(self.path))
                return
            if error is not None:
                self._head["metadata"]["stopped_by"] = well_formed(f"{type(error).__name__}: {error}"[:500])
            transcript = transcript_of_events(self._head, self._events)
            _write_at_once(self.path, transcript.to_json(indent=1) + "\n")
            journal.remove()

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
            self._add("player", _checked(Player, {"name": name, "role": role, **known}))
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
            self._add("message", held)
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
            self._add("vote", held)

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
            self._add("elimination", held)

    def cost(self, *, usd: float | None = None, **tokens: int | None) -> None:
        """Adds the cost of a call to a model; the calls of a game are summed.

        Args:
            usd: US dollars.
            tokens: ``input_tokens``, ``cached_tokens`` among them, and ``output_tokens``.

        Raises:
            InputError: A value is negative or not a number.
        """
        with self._lock:
            self._add("cost", _checked(Cost, {"total_usd": usd, **tokens}))

    def winner(self, name: str) -> None:
        """Records who won: a side or a player.

        Raises:
            InputError: It is not a text.
        """
        with self._lock:
            # A role is a text as a winner is.
            self._add("winner", {"name": _checked(Player, {"name": "-", "role": name})["role"]})

    def _when(self) -> dict[str, Any]:
        return {**self._now, "sent_at": datetime.now(UTC)}

    def _meet(self, *names: str | None) -> None:
        for name in names:
            if name is not None and name not in self._players:
                self._add("player", _checked(Player, {"name": name}))
                self._players.add(name)

    def _add(self, kind: str, fields: dict[str, Any]) -> None:
        self._opened().append({kind: fields})
        self._events.append((kind, fields))

    def _opened(self) -> _Journal:
        if self._journal is None:
            raise InputError("The recorder is not open.", remedy="Record inside of: with Recorder(folder) as recorder.")
        return self._journal


_ANY_MESSAGE = {"id": "-", "index": 0, "channel": "system", "speaker": "-", "text": "-"}


class _Journal:
    """A file that grows by whole lines. It is locked as long as it is written, so that a watcher leaves it alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
            # Waits: whoever looks at the new file meanwhile holds its lock for an instant.
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except FileExistsError:
            raise InputError(
                "A journal of that name is there: the game is being recorded, or was cut off.",
                place=str(path),
                remedy="Give another game_id, or import the journal and delete it.",
            ) from None
        except OSError as error:
            raise InputError(f"The folder cannot be written: {error.strerror}.", place=str(path.parent)) from None
        self._length = 0

    def append(self, value: Mapping[str, Any]) -> None:
        line = json.dumps(value, default=_plain, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise InputError(f"The journal cannot be written: {error.strerror}.", place=str(self._path)) from None
        if written != len(line):
            # The disk is full: half a line must not stand before the next one.
            os.ftruncate(self._file, self._length)
            raise InputError("The journal cannot be written: the disk is full.", place=str(self._path))
        self._length += written

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


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
    """The fields as the journal says them: what the caller changes afterwards changes nothing here."""
    try:
        text = json.dumps(fields, default=_plain, allow_nan=False, ensure_ascii=False)
        # Half of a surrogate pair cannot be stored.
        text.encode()
        copied: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"A value cannot be written as JSON: {error}.", place=place.lower()) from None
    return copied


def transcript_of_events(head: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> Transcript:
    """The transcript of a head and events (``player``, ``message``, ``vote``, ``elimination``, ``cost``, ``winner``).

    Costs are summed; who has left the game is not alive at its end.

    Raises:
        BrokenTranscriptError: An event is of another kind, or a value cannot be held.
    """
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in _PARTS.values()}
    cost: dict[str, Any] = {}
    winner = None
    for kind, fields in events:
        if kind in _PARTS:
            parts[_PARTS[kind]].append(dict(fields))
        elif kind == "cost":
            for name, value in build_transcript(Cost, fields).model_dump(exclude_none=True).items():
                cost[name] = cost.get(name, 0) + value
        elif kind == "winner":
            winner = fields.get("name")
        else:
            raise BrokenTranscriptError(f"{kind!r:.60} is not a kind of event.", remedy="Record the game again.")
    gone = {each.get("player") for each in parts["eliminations"]}
    for player in parts["players"]:
        if gone:
            player["is_alive"] = player.get("name") not in gone
    if cost.get("input_tokens") and "cached_tokens" in cost:
        cost["cache_hit_rate"] = min(1.0, cost["cached_tokens"] / cost["input_tokens"])
    body = {**head, **parts, "winner": winner, "cost": cost or None}
    return build_transcript(Transcript, body)


def _write_at_once(path: Path, text: str) -> None:
    """Writes the file in one step: whoever reads the folder sees all of it or nothing."""
    unfinished = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(
            f"The transcript cannot be written: {error.strerror}.",
            place=str(path),
            remedy="Everything that was recorded stands in the journal beside it.",
        ) from None
