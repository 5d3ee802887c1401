"""Entry point of the ``dramaturg`` command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.main import get_command

from evaluation.cli.command_list import Program
from evaluation.cli.shared.exit_codes import report_fault

# Without rich, help is plain text and appears in half the time.
app = typer.Typer(
    cls=Program,
    name="dramaturg",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"dramaturg {metadata.version('dramaturg')}")
        raise typer.Exit


@app.callback()
def dramaturg(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Tell whether your talking agents got better.

    Exit codes: 0 done, 1 a gate failed (only with --gate) or an agent fell below its baseline (persona), 2 wrong usage
    or bad input, 3 something else is broken (also when a metric could not be computed, or a judge failed). Where
    several apply, the highest.
    """


def main() -> None:
    """Runs the command line; the entry point of the installed ``dramaturg``."""
    sys.excepthook = report_fault
    for stream in (sys.stdout, sys.stderr):
        # A file name or a name in a transcript may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # Calling the app itself would put Typer's own hook in the place of ours, and end with the code of a failed gate.
    get_command(app)()


if __name__ == "__main__":
    main()
