"""Import transcripts from a folder that fills while it is watched."""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import DramaturgError, InputError
from evaluation.escaping import lone_surrogate
from evaluation.readers.import_report import ImportOutcome, ImportReport, ReportLine
from evaluation.recorder import is_left_to_its_recorder
from evaluation.store.imports import FileState
from evaluation.workflows.scoring import ScoredFile, Tally, evaluate_paths

if TYPE_CHECKING:
    from evaluation.store import Store

SETTLED_SECONDS = 2.0
"""How long a file must stay as it is before it is read."""


class Watcher:
    """Takes each file of a folder once, as soon as nobody writes it any more.

    A file is taken when its size and time of change have stayed for ``settled_seconds``; a journal of a recorder, when
    its process has ended. What was taken is remembered in the store, so that a file is not taken again when the
    watching begins anew, and a game that somebody deleted does not come back. A file that was changed is taken again.
    Hidden files, links, names that are not UTF-8 and what else is not a regular file are passed over. What was
    refused is tried again when the watching begins anew: a limit or a permission may have changed.

    Args:
        store: Where games go.
        folder: What is watched, with the folders below it.
        iteration: The iteration for the games; created where there is none.
        settled_seconds: See above.
        clock: Seconds that never go back.

    Raises:
        InputError: There is no such folder.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        *,
        iteration: str | None = None,
        settled_seconds: float = SETTLED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not folder.is_dir():
            raise InputError("There is no such folder.", place=str(folder), remedy="Create it, or correct the path.")
        self._store = store
        self._folder = folder.resolve()
        self._iteration = iteration
        self._settled_seconds = settled_seconds
        self._clock = clock
        self._taken = store.watched_files.taken(str(self._folder))
        self._seen: dict[str, tuple[FileState, float]] = {}

    def look(self, note: Callable[[str], None]) -> Iterator[ScoredFile]:
        """Takes what has settled since the last look, file by file; a report on refused files is kept in the store.

        Args:
            note: Called with each remark that a person should see.
        """
        now, waiting = self._clock(), {}
        ready = []
        for state in self._states():
            if state in self._taken:
                continue
            before, since = self._seen.get(state.path, (None, now))
            if before != state:
                since = now
            waiting[state.path] = (state, since)
            if now - since >= self._settled_seconds and not is_left_to_its_recorder(self._folder / state.path):
                ready.append(state)
        self._seen = waiting
        tally, started_at, begun = Tally(note), datetime.now(UTC), self._clock()
        for state in ready:
            yield from self._take(state, tally)
        if tally.refused:
            seconds = self._clock() - begun
            report = ImportReport(tuple(tally.lines), "watched folder", self._iteration, started_at, seconds)
            self._store.imports.save(report)

    @property
    def waiting(self) -> int:
        """Number of files that are there and not taken yet."""
        return len(self._seen)

    def _take(self, state: FileState, tally: Tally) -> Iterator[ScoredFile]:
        refused = tally.refused
        path = self._folder / state.path
        try:
            yield from evaluate_paths([path], tally, store=self._store, iteration=self._iteration)
        except (DramaturgError, OSError):
            raise
        except Exception as error:
            # A fault of ours must not keep the files behind this one waiting for ever.
            logging.getLogger(__name__).exception("The file %s could not be read", state.path)
            fault = InputError(f"It cannot be read: {type(error).__name__}.", remedy="Report it with the file.")
            tally.refuse(
                ReportLine(state.path, ImportOutcome.REFUSED, message=fault.message, remedy=fault.remedy), fault
            )
        # Only now: what is cut off in between is taken again, and its games are recognised by their content.
        self._store.watched_files.add(str(self._folder), state, is_refused=tally.refused > refused)
        self._taken.add(state)
        del self._seen[state.path]

    def _states(self) -> Iterator[FileState]:
        for place, folders, names in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(place, name)
                if name.startswith(".") or lone_surrogate(str(path)) is not None:
                    continue
                try:
                    status = path.lstat()
                except OSError:
                    # It went away between the two looks.
                    continue
                if stat.S_ISREG(status.st_mode) and status.st_size:
                    yield FileState(str(path.relative_to(self._folder)), status.st_size, status.st_mtime_ns)
