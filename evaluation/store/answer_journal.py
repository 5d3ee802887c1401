"""Write models' answers to disk as soon as they come, and to the store once per second.

A transaction waits for the disk and takes ten milliseconds of processor time. With a hundred answers a second and one
transaction for each, no time would be left to ask. Appending a line to a file takes microseconds, and the line also
outlives the process. So every answer is appended first and used at once; the answers of one second are stored together;
and a run that starts after a killed one first stores what the files of that run hold. The process that writes a file
holds a lock on it, which the kernel releases when the process ends in any way.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache, partial
from glob import escape
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter, ValidationError

from evaluation.errors import DramaturgError, StoreError
from evaluation.judging.cached_judge import JudgementCache, KeepAnswers, KeptAnswer
from evaluation.judging.model_client.calls import CallRecord
from evaluation.simulation.model_texts import Generation, GenerationCache
from evaluation.store.transactions import retry_while_busy

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
    """A file of entries that this process holds the lock on.

    Args:
        path: Where it is; ``None`` for one that is not on the disk, for databases that are not there either.
        descriptor: Of the open file.

    Attributes:
        entries: The complete ones, oldest first.
    """

    def __init__(self, path: Path | None = None, descriptor: int = -1) -> None:
        self.entries: list[JournalEntry] = []
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def make(cls, place: Path | None) -> JournalFile:
        """A new file. ``place`` is the beginning of its path; what follows differs for every file.

        Raises:
            StoreError: The file cannot be made.
        """
        if place is None:
            return cls()
        path = place.with_name(f"{place.name}.{uuid.uuid4().hex}{_SUFFIX}")
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
        return cls(path, descriptor)

    @classmethod
    def left(cls, place: Path) -> Iterator[JournalFile]:
        """The files of ``place`` that killed runs left; locked until ``close``, so that no second run takes them too.

        A line that the end of the process cut off is left out.

        Raises:
            StoreError: One cannot be read.
        """
        # The whole identifier: the name of another database may begin with this place's.
        for path in sorted(place.parent.glob(f"{escape(place.name)}.{'[0-9a-f]' * 32}{_SUFFIX}")):
            with suppress(FileNotFoundError):
                file = cls(path, os.open(path, os.O_RDONLY))
                if _is_written(file._descriptor):
                    os.close(file._descriptor)
                    continue
                try:
                    lines = path.read_bytes().splitlines()
                except OSError as error:
                    raise _failure(error, path) from error
                for line in lines:
                    with suppress(ValidationError, ValueError, RecursionError):
                        file.entries.append(_adapter().validate_python(json.loads(line), strict=False))
                yield file

    def add(self, entry: JournalEntry) -> None:
        """Keeps an entry; it outlives the process when this returns, though not a machine that loses its power.

        Raises:
            StoreError: The disk is full or broken.
        """
        if self._path is not None:
            # Not pydantic's own JSON: half a character of a surrogate pair, as models sometimes write, ends that.
            rest = (json.dumps(_adapter().dump_python(entry, mode="json")) + "\n").encode("ascii")
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                raise _failure(error, self._path) from error
        self.entries.append(entry)

    def close(self, *, is_stored: bool) -> None:
        """Lets go of the file, and removes it where everything in it is stored elsewhere by now."""
        if self._path is not None:
            if is_stored:
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)


def _failure(error: OSError, path: Path) -> StoreError:
    reason = error.strerror or str(error)
    return StoreError(
        f"Answers could not be kept in a file: {reason}.", place=str(path), remedy="See to the disk; then go on."
    )


def _is_written(descriptor: int) -> bool:
    """Whether a process holds the lock; if not, this one does from now on, where the file system knows locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


STORE_SECONDS = 1.0
"""How long answers wait for others before they are stored."""

Keep = Callable[[Sequence[JournalEntry]], None]
"""Stores entries in one transaction; what is stored already stays."""

HasCall = Callable[[CallRecord], bool]
"""Whether a call is stored. Then all of its file is: the run died after that, and before it removed the file."""


class AnswerJournal:
    """Keeps answers for the event loop in which it is entered; leaving it stores all that is left.

    Args:
        keep: Stores.
        has_call: Asked of what a killed run left; its calls must not be counted twice.
        heavy: Where the storing is done; a thread of the event loop's when left out.
        place: The beginning of the paths of its files, the same for the same run; ``None`` for none.

    Raises:
        StoreError: On entering or leaving: what there is could not be stored; its files stay for the next run.
    """

    def __init__(self, keep: Keep, has_call: HasCall, heavy: Executor | None, place: Path | None) -> None:
        self._keep = keep
        self._has_call = has_call
        self._heavy = heavy
        self._place = place
        self._unstored: dict[str, KeptAnswer] = {}
        self._failure: DramaturgError | None = None
        self._file: JournalFile | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._heavy, self._recover)
        self._is_over = asyncio.Event()
        self._storing = asyncio.ensure_future(self._store_now_and_then())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over.set()
        await self._storing
        if self._file is not None:
            self._file.close(is_stored=False)
        if self._failure is not None and error is None:
            raise self._failure

    def add(self, entry: JournalEntry) -> None:
        """Keeps an entry; safe when this returns.

        Raises:
            StoreError: It could not be kept, or earlier ones could not be stored: nothing more must be paid for then.
        """
        if self._failure is not None:
            raise self._failure
        if self._file is None:
            self._file = JournalFile.make(self._place)
        self._file.add(entry)
        self._unstored.update({answer.key: answer for answer in entry.answers})

    def unstored(self, key: str) -> KeptAnswer | None:
        """The answer under ``key``, where it is kept but not stored yet."""
        return self._unstored.get(key)

    async def _store_now_and_then(self) -> None:
        is_last = False
        while not is_last:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), STORE_SECONDS)
            # Asked before storing: what came while something was stored needs another round.
            is_last = self._is_over.is_set()
            if self._file is not None and self._failure is None:
                await self._store(self._file)

    async def _store(self, full: JournalFile) -> None:
        # What comes meanwhile goes into another file, so that this one can be removed.
        self._file = None
        try:
            await self._loop.run_in_executor(self._heavy, retry_while_busy, partial(self._keep, full.entries))
        except DramaturgError as error:
            self._failure = error
            full.close(is_stored=False)
            return
        full.close(is_stored=True)
        for entry in full.entries:
            for answer in entry.answers:
                self._unstored.pop(answer.key, None)

    def _recover(self) -> None:
        for left in JournalFile.left(self._place) if self._place is not None else ():
            call = next((call for entry in left.entries for call in entry.calls), None)
            if call is None or not retry_while_busy(partial(self._has_call, call)):
                retry_while_busy(partial(self._keep, left.entries))
            left.close(is_stored=True)


class JournalledTexts:
    """A ``GenerationCache`` that keeps texts in a journal.

    Args:
        journal: Entered.
        cache: Where they are stored in the end.
    """

    def __init__(self, journal: AnswerJournal, cache: GenerationCache) -> None:
        self._journal = journal
        self._cache = cache

    def of_scope(self, scope: str) -> Mapping[str, Generation]:
        """All texts of a scope that are stored; ask before the first is written."""
        return self._cache.of_scope(scope)

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Keeps texts and calls; raises ``StoreError``."""
        self._journal.add(JournalEntry(generations=generations, calls=calls))


class JournalledAnswers:
    """A ``JudgementCache`` that keeps answers in a journal.

    Args:
        journal: Entered.
        cache: Where they are stored in the end.
        known: The keys that are stored already, so that nobody looks for others.
    """

    def __init__(self, journal: AnswerJournal, cache: JudgementCache, known: Iterable[str]) -> None:
        self._journal = journal
        self._cache = cache
        self._known = set(known)

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        """The answers kept under ``keys``."""
        there = [key for key in keys if key in self._known]
        found = {key: answer for key in there if (answer := self._journal.unstored(key))}
        stored = [key for key in there if key not in found]
        return found | dict(self._cache.lookup(stored)) if stored else found

    def journal(self) -> AbstractAsyncContextManager[KeepAnswers]:
        """The journal is entered already, and left by whoever entered it."""
        return nullcontext(self.keep)

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord]) -> None:
        """Keeps answers and calls; raises ``StoreError``."""
        self._journal.add(JournalEntry(answers=answers, calls=calls))
        self._known |= {answer.key for answer in answers}
