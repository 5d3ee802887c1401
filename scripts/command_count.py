"""Print every command of ``dramaturg`` with the number of its options, and the totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.cli.command_list import COMMANDS, LazyCommands

ALIASES = frozenset({"eval"})
"""Other names of a group, which add nothing to learn."""

SHARED = "--db"
"""Said once, in ``evaluation.cli.shared.database_option``, and counted once."""


def leaves(name: str, command: Any) -> Iterator[tuple[str, list[str]]]:
    """Each command that can be run, with its options; those of a group count once, beside its name."""
    options = [
        each.opts[0]
        for each in command.params
        if each.param_type_name == "option" and each.opts[0] not in (SHARED, "--help")
    ]
    if not hasattr(command, "commands"):
        yield name, options
        return
    if options:
        yield f"{name} (group)", options
    for key in command.commands:
        yield from leaves(f"{name} {key}", command.commands[key])


def main() -> None:
    """Prints them."""
    commands = LazyCommands()
    found = [one for name in COMMANDS if name not in ALIASES for one in leaves(name, commands[name])]
    for name, options in found:
        print(f"{name}: {len(options)} {' '.join(options)}")
    runnable = [name for name, _ in found if not name.endswith("(group)")]
    print(f"{len(runnable)} commands, {1 + sum(len(options) for _, options in found)} options")


if __name__ == "__main__":
    main()
