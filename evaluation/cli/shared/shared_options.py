"""Options that many commands share, declared once: no command passes them on one by one. ``--db`` is one of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import typer

if TYPE_CHECKING:
    from evaluation.store import Store

Value = TypeVar("Value")
Command = TypeVar("Command", bound=Callable[..., Any])
_ATTRIBUTE = "shared_options"
_DB_HELP = "The database file; else that of DRAMATURG_DB, data/dramaturg.duckdb in a checkout, or your data folder's."
_database: list[Path] = []


class SharedOptions(Generic[Value]):
    """A set of options, and what the command line says of them.

    Used as a decorator, it gives its options to a command, which calls ``value`` for what was typed.

    Args:
        read: Its parameters are the options, as in a command of typer's; it returns what commands want of them.
    """

    def __init__(self, read: Callable[..., Value]) -> None:
        self._read = read
        self._typed: dict[str, Any] = {}
        self._made: Any = None

    def __call__(self, command: Command) -> Command:
        """Marks a command as one that takes these options."""
        vars(command)[_ATTRIBUTE] = (*vars(command).get(_ATTRIBUTE, ()), self)
        return command

    def value(self) -> Value:
        """The typed options, as ``read`` returns them."""
        found: Value = self._command().callback(**self._typed)
        return found

    def add_to(self, command: Any) -> None:
        """Adds the options to a command, before ``--help``."""
        command.params.extend(self._command().params)

    def _command(self) -> Any:
        if self._made is None:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            alone.command()(self._read)
            self._made = typer.main.get_command(alone)
            for option in self._made.params:
                option.expose_value = False
                option.callback = self._remember
        return self._made

    def _remember(self, _context: Any, option: Any, value: Any) -> Any:
        self._typed[option.name] = value
        return value


def add_shared_options(command: Any) -> None:
    """Gives a command, and all below it, the options that it is marked with."""
    for options in vars(command.callback).get(_ATTRIBUTE, ()) if command.callback else ():
        options.add_to(command)
    for child in getattr(command, "commands", {}).values():
        add_shared_options(child)


def forget_database() -> None:
    """Begins a command line that has named no database yet."""
    _database.clear()


def add_database_option(command: Any) -> None:
    """Gives a command and all below it ``--db``, which no command declares or passes on.

    Behind a group it stands for its sub-commands, which may name another one.
    """
    if not any("--db" in each.opts for each in command.params):
        command.params.append(_database_option())
    for child in getattr(command, "commands", {}).values():
        add_database_option(child)


def _choose_database(value: Path | None) -> None:
    if value is not None:
        _database[:] = [value]


@cache
def _database_option() -> Any:
    """The option as typer makes it of a command that has nothing else."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)

    @alone.command()
    def only(
        db: Annotated[
            Path | None,
            typer.Option("--db", expose_value=False, callback=_choose_database, show_default=False, help=_DB_HELP),
        ] = None,
    ) -> None:
        """Does nothing."""

    return next(each for each in typer.main.get_command(alone).params if "--db" in each.opts)


def database_path(db: Path | None = None) -> Path:
    """The file that ``db`` or ``--db`` names, else the default one."""
    from evaluation.store import default_path

    named = db or next(iter(_database), None)
    return named.expanduser() if named is not None else default_path()


def open_store(db: Path | None = None) -> Store:
    """The store in that file."""
    from evaluation.store import Store

    return Store(database_path(db))
