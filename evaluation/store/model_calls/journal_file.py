"""Journal files: one line for every answer, safe as soon as it is written, even if the process dies.

The process that writes a file holds a lock on it, which the kernel releases when the process ends in any way. So a file
without a lock was left by a run that was killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from evaluation.errors import StoreError
from evaluation.judging.judges.cached import KeptAnswer
from evaluation.judging.model_client.calls import CallRecord
from evaluation.simulation.model_texts import Generation

_SUFFIX = ".answers"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Texts or answers with the calls made meanwhile, stored together."""

    generations: Sequence[Generation] = ()
    answers: Sequence[KeptAnswer] = ()
    calls: Sequence[CallRecord] = ()


@cache
def _adapter() -> TypeAdapter[JournalEntry]:
    # Made on first use: it takes as long as a tenth of a run that knows all answers.
    return TypeAdapter(JournalEntry)


class JournalFile:
    """A file to which entries are added.

    Args:
        place: The beginning of its path; what follows differs for every file. ``None`` keeps nothing on the disk, for
            databases that are not there either.

    Attributes:
        entries: What was added, oldest first.

    Raises:
        StoreError: The file cannot be made.
    """

    def __init__(self, place: Path | None) -> None:
        self.entries: list[JournalEntry] = []
        self._path = None if place is None else place.with_name(f"{place.name}.{uuid.uuid4().hex}{_SUFFIX}")
        self._descriptor = -1 if self._path is None else _made(self._path)

    def add(self, entry: JournalEntry) -> None:
        """Keeps an entry; it outlives the process when this returns, though not a machine that loses its power.

        Raises:
            StoreError: The disk is full or broken.
        """
        if self._path is not None:
            # Not pydantic's own JSON: half a character of a surrogate pair, as models sometimes write, ends that.
            line = json.dumps(_adapter().dump_python(entry, mode="json")) + "\n"
            try:
                _write(self._descriptor, line.encode("ascii"))
            except OSError as error:
                raise _failure(error, self._path) from error
        self.entries.append(entry)

    def close(self, *, is_stored: bool) -> None:
        """Lets go of the file, and removes it where everything in it is stored elsewhere by now."""
        if self._path is not None:
            if is_stored:
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)


def _made(path: Path) -> int:
    # It gets its name once it is locked: nobody finds it without its lock while somebody writes.
    unnamed = path.with_name(f"{path.name}-new")
    try:
        descriptor = os.open(unnamed, os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_WRONLY, 0o600)
        # A file system that knows no locks leaves this one to whoever comes next; storing it twice changes nothing.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(path)
    except OSError as error:
        raise _failure(error, path) from error
    return descriptor


def _write(descriptor: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _failure(error: OSError, path: Path) -> StoreError:
    reason = error.strerror or str(error)
    return StoreError(
        f"Answers could not be kept in a file: {reason}.", place=str(path), remedy="See to the disk; then go on."
    )


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file that a killed run left; locked until ``remove``, so that no second run takes it too."""

    path: Path
    descriptor: int

    def entries(self) -> Iterator[JournalEntry]:
        """The complete entries; a line that the end of the process cut off is left out.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError as error:
            raise _failure(error, self.path) from error
        for line in lines:
            with suppress(ValidationError, ValueError, RecursionError):
                yield _adapter().validate_python(json.loads(line), strict=False)

    def remove(self) -> None:
        """Delete the file, after its entries were stored elsewhere."""
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def leftovers(place: Path) -> Iterator[Leftover]:
    """The files of ``place`` that nobody writes any more."""
    # The whole identifier: the name of another database may begin with this place's.
    for path in sorted(place.parent.glob(f"{_escaped(place.name)}.{'[0-9a-f]' * 32}{_SUFFIX}")):
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            if _is_written(descriptor):
                os.close(descriptor)
            else:
                yield Leftover(path, descriptor)


def _is_written(descriptor: int) -> bool:
    """Whether a process holds the lock; if not, this one does from now on, where the file system knows locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
