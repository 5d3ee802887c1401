"""Options that many commands share, declared once: no command passes them on one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import typer

Value = TypeVar("Value")
Command = TypeVar("Command", bound=Callable[..., Any])
_ATTRIBUTE = "shared_options"


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
