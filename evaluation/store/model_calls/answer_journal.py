"""Write models' answers to disk as soon as they come, and to the store once per second.

A transaction waits for the disk and takes ten milliseconds of processor time. With a hundred answers a second and one
transaction for each, no time would be left to ask. Appending a line to a file takes microseconds, and the line also
outlives the process. So every answer is appended first and used at once; the answers of one second are stored together;
and a run that starts after a killed one first stores what the files of that run hold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluation.errors import DramaturgError
from evaluation.judging.judges.cached import JudgementCache, KeepAnswers, KeptAnswer
from evaluation.judging.model_client.calls import CallRecord
from evaluation.simulation.model_texts import Generation, GenerationCache
from evaluation.store.engine.transactions import retry_while_busy
from evaluation.store.model_calls.journal_file import JournalEntry, JournalFile, leftovers

STORE_SECONDS = 1.0
"""How long answers wait for others before they are stored."""

Keep = Callable[[Sequence[JournalEntry]], None]
"""Stores entries in one transaction; what is stored already stays."""

IsStored = Callable[[Sequence[JournalEntry]], bool]
"""Whether entries of a file that was left are stored: the run died after that, and before it removed the file."""


class AnswerJournal:
    """Keeps answers for the event loop in which it is entered; leaving it stores all that is left.

    Args:
        keep: Stores.
        is_stored: Asked of what a killed run left; its calls must not be counted twice.
        heavy: Where the storing is done; a thread of the event loop's when left out.
        place: The beginning of the paths of its files, the same for the same run; ``None`` for none.
        store_seconds: How long answers wait for others before they are stored.

    Raises:
        StoreError: On entering or leaving: what there is could not be stored; its files stay for the next run.
    """

    def __init__(
        self,
        keep: Keep,
        is_stored: IsStored,
        heavy: Executor | None,
        place: Path | None,
        store_seconds: float = STORE_SECONDS,
    ) -> None:
        self._keep = keep
        self._is_stored = is_stored
        self._heavy = heavy
        self._place = place
        self._store_seconds = store_seconds
        self._unstored: dict[str, KeptAnswer] = {}
        self._failure: DramaturgError | None = None
        self._file: JournalFile | None = None

    async def __aenter__(self) -> Self:
        await self._in_heavy(self._recover)
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
            self._file = JournalFile(self._place)
        self._file.add(entry)
        self._unstored.update({answer.key: answer for answer in entry.answers})

    def unstored(self, key: str) -> KeptAnswer | None:
        """The answer under ``key``, where it is kept but not stored yet."""
        return self._unstored.get(key)

    async def _store_now_and_then(self) -> None:
        is_last = False
        while not is_last:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), self._store_seconds)
            # Asked before storing: what came while something was stored needs another round.
            is_last = self._is_over.is_set()
            if self._file is not None and self._failure is None:
                await self._store(self._file)

    async def _store(self, full: JournalFile) -> None:
        # What comes meanwhile goes into another file, so that this one can be removed.
        self._file = None
        try:
            await self._in_heavy(partial(retry_while_busy, partial(self._keep, full.entries)))
        except DramaturgError as error:
            self._failure = error
            full.close(is_stored=False)
            return
        full.close(is_stored=True)
        for entry in full.entries:
            for answer in entry.answers:
                self._unstored.pop(answer.key, None)

    def _recover(self) -> None:
        if self._place is None:
            return
        for left in leftovers(self._place):
            entries = list(left.entries())
            if entries and not retry_while_busy(partial(self._is_stored, entries)):
                retry_while_busy(partial(self._keep, entries))
            left.remove()

    async def _in_heavy(self, work: Callable[[], None]) -> None:
        if self._heavy is None:
            await asyncio.to_thread(work)
        else:
            await asyncio.get_running_loop().run_in_executor(self._heavy, work)


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
