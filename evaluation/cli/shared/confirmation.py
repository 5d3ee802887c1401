"""Name of the acting person and confirmation, for commands that change or remove what others made."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

import typer

from evaluation.errors import InputError

By = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Who does it, for the record; your user name if left out."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Needed where nobody can be asked, as in a script.")]


def person(by: str | None) -> str:
    """The name to record: the one given, else the user's on this machine."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # A container may run as a number that has no name.
        return "command line"


def require_consent(question: str, yes: bool) -> None:
    """Returns when the person agrees.

    Raises:
        InputError: They do not, or nobody can be asked and ``--yes`` was not said.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{question} Nobody can be asked here.", remedy="Say --yes.")
    if not typer.confirm(question, err=True):
        raise InputError("Nothing was changed.")
