"""``dramaturg watch``: transcripts are stored and scored as they arrive in a folder."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import IterationName, open_store
from evaluation.cli.shared.terminal import note, safe, say

if TYPE_CHECKING:
    from evaluation.workflows.importing import ScoredFile


def watch(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder that fills.")],
    iteration: IterationName = None,
    settle: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="How long a file must stay as it is before it is read.")
    ] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Stop when every file that is there has been taken.")] = False,
) -> None:
    """Store and score transcripts as they arrive in a folder, until interrupted.

    Each file is taken once, when nobody writes it any more, also across restarts; a file that is changed later is taken
    again. What cannot be read is said once and does not stop the others. A game that is a folder of several files goes
    in as a zip. The exit code is 0.
    """
    from evaluation.workflows.judging import read_imported
    from evaluation.workflows.watching import Watcher

    store = open_store()
    watcher = Watcher(store, folder, iteration=iteration, settled_seconds=settle)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    note(f"Watching {folder}. Interrupt to stop.")
    while not stopped.is_set():
        for found in watcher.look(note):
            _say(found)
            if found.is_new and (words := read_imported(store, [found.evaluation.transcript.id])):
                note(safe(words))
            if stopped.is_set():
                return
        if once and not watcher.waiting:
            return
        stopped.wait(max(0.1, min(1.0, settle / 2)))


def _say(found: ScoredFile) -> None:
    verdict = found.evaluation.verdict
    state = "stored" if found.is_new else "known already"
    say(f"{found.source_name}: {state}, {verdict.status}, {verdict.passed_count} of 7 metrics pass")
