"""``dramaturg collect``: Parquet partitions into fewer files, or into a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.shared.terminal import TerminalProgress, say
from evaluation.text.display import counted


def collect(
    corpus: Annotated[
        str, typer.Argument(metavar="OUTPUT", show_default=False, help="The folder or URL that evaluate wrote to.")
    ],
    database: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Also import the games with their scores and ledgers into this database, made where there is none.",
        ),
    ] = None,
) -> None:
    """Put the small files of a scored corpus together, and import it into a database.

    Running it again moves and adds what is new. It may be killed at any time, and may run beside a reader, but only one
    collection of a corpus may run at a time.
    """
    from evaluation.workflows.corpora.collection import Collected, compact_corpus, import_corpus

    progress = TerminalProgress("file")
    moved = compact_corpus(corpus, on_file=lambda games: progress.advance(counted(games, "game")))
    progress.finish()
    say(f"{counted(moved, 'game')} moved to larger files.")
    if database is None:
        return
    from evaluation.store import Store

    collected = Collected()
    store = Store(database)
    progress = TerminalProgress("file")
    for games in import_corpus(corpus, store, collected):
        progress.advance(counted(games, "game"))
    progress.finish()
    store.close()
    known = f"; {collected.known} were known" if collected.known else ""
    deleted = f"; {collected.deleted} had been deleted and stay so" if collected.deleted else ""
    say(f"{counted(collected.new, 'game')} imported{known}{deleted}.")
