"""The ``dramaturg`` command: its sub-commands, and how it starts."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evaluation.cli import (
    ab,
    agents,
    agreement,
    backup,
    compare,
    corrections,
    doctor,
    evaluate,
    experiment,
    export,
    insights,
    iterations,
    judge,
    listing,
    mend,
    override,
    persona,
    propositions,
    rate,
    reevaluate,
    report,
    search,
    serve,
    settings,
    validate,
)
from evaluation.cli.exits import CommandGroup, report_fault

# Without rich, help is plain text and appears in half the time.
app = typer.Typer(
    cls=CommandGroup,
    name="dramaturg",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(serve.serve)
app.command("import")(evaluate.import_)
app.command()(evaluate.evaluate)
app.command()(validate.validate)
app.command("list")(listing.list_transcripts)
app.command()(listing.show)
app.command()(search.search)
app.command()(insights.insights)
app.add_typer(rate.app, name="rate")
app.command()(reevaluate.reevaluate)
app.command()(mend.rename)
app.command()(mend.move)
app.command()(mend.delete)
app.command()(mend.deleted)
app.command()(mend.undo)
app.command()(mend.purge)
app.command()(agreement.agreement)
app.command()(judge.judge)
app.add_typer(override.app, name="override")
app.add_typer(iterations.app, name="iterations")
app.command()(compare.compare)
app.command()(ab.ab)
app.command()(report.report)
app.add_typer(experiment.app, name="experiment")
app.add_typer(agents.app, name="agents")
app.add_typer(propositions.app, name="propositions")
app.add_typer(corrections.app, name="corrections")
app.add_typer(persona.app, name="eval")
app.add_typer(export.app, name="export")
app.command()(doctor.doctor)
app.command()(settings.settings)
app.command()(backup.backup)
app.command()(backup.restore)


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

    Exit codes: 0 done, 1 a gate failed (only with --gate) or an agent fell below its baseline (eval), 2 wrong usage
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
    app()


if __name__ == "__main__":
    main()
