"""``dramaturg collect``: Parquet partitions into a database."""

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
        Path, typer.Option(metavar="FILE", show_default=False, help="Into this database, made where there is none.")
    ],
) -> None:
    """Import what evaluate --output wrote into a database, games with their scores and ledgers.

    Running it again adds what is new. It may be killed at any time.
    """
    from evaluation.store import Store
    from evaluation.workflows.corpora import Collected, import_corpus

    collected, store, progress = Collected(), Store(database), TerminalProgress("file")
    for games in import_corpus(corpus, store, collected):
        progress.advance(counted(games, "game"))
    progress.finish()
    store.close()
    known = f"; {collected.known} were known" if collected.known else ""
    deleted = f"; {collected.deleted} had been deleted and stay so" if collected.deleted else ""
    say(f"{counted(collected.new, 'game')} imported{known}{deleted}.")
