"""The option ``--db`` of all commands: said once, read by whoever opens the store."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evaluation.store import Store

_HELP = "The database file; else that of DRAMATURG_DB, data/dramaturg.duckdb in a checkout, or your data folder's."
_chosen: list[Path] = []


def forget_database() -> None:
    """Begins a command line that has named no database yet."""
    _chosen.clear()


def add_database_option(command: Any) -> None:
    """Gives a command and all below it ``--db``, which no command declares or passes on.

    Behind a group it stands for its sub-commands, which may name another one.
    """
    if not any("--db" in each.opts for each in command.params):
        command.params.append(_option())
    for child in getattr(command, "commands", {}).values():
        add_database_option(child)


def _choose_database(value: Path | None) -> None:
    if value is not None:
        _chosen[:] = [value]


@cache
def _option() -> Any:
    """The option as typer makes it of a command that has nothing else."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)

    @alone.command()
    def only(
        db: Annotated[
            Path | None,
            typer.Option("--db", expose_value=False, callback=_choose_database, show_default=False, help=_HELP),
        ] = None,
    ) -> None:
        """Does nothing."""

    return next(each for each in typer.main.get_command(alone).params if "--db" in each.opts)


def database_path(db: Path | None = None) -> Path:
    """The file that ``db`` or ``--db`` names, else the default one."""
    from evaluation.store import default_path

    named = db or next(iter(_chosen), None)
    return named.expanduser() if named is not None else default_path()


def open_store(db: Path | None = None) -> Store:
    """The store in that file."""
    from evaluation.store import Store

    return Store(database_path(db))
