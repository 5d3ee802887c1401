"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.store import Store


class OutputFormat(StrEnum):
    """How a command prints its result."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


class ListFormat(StrEnum):
    """How a list is printed."""

    TABLE = "table"
    JSON = "json"


Database = Annotated[
    Path | None,
    typer.Option(
        "--db",
        envvar="DRAMATURG_DB",
        show_default=False,
        help="The database file; in a checkout data/dramaturg.duckdb, else in your data folder.",
    ),
]
DatabaseAgain = Annotated[
    Path | None,
    typer.Option("--db", show_default=False, help="The database file; may also stand before the sub-command."),
]
TranscriptReference = Annotated[
    str,
    typer.Argument(
        metavar="TRANSCRIPT",
        show_default=False,
        help="The id of a stored transcript, its first digits, or the game's id.",
    ),
]
Rows = Annotated[ListFormat, typer.Option("--format", help="A table to read, or JSON for programs.")]


def database_path(db: Path | None) -> Path:
    """The file that ``--db`` names, else the default one."""
    from evaluation.store import default_path

    return db.expanduser() if db is not None else default_path()


def open_store(db: Path | None) -> Store:
    """The store in that file."""
    from evaluation.store import Store

    return Store(database_path(db))
