"""The program: its commands, what each is for, and the entry point ``dramaturg``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from evaluation.cli.exit_codes import CommandGroup, report_fault
from evaluation.cli.options import add_options, forget_database
from evaluation.engines.task_engines import collect_rarely


class CommandEntry(NamedTuple):
    """The module of a sub-command and its line in the list of commands.

    Attributes:
        module: Its file in this folder.
        name: The function in it, or the ``Typer`` of a group.
        summary: A sentence that fits into a line of 80 columns.
    """

    module: str
    name: str
    summary: str


COMMANDS: Mapping[str, CommandEntry] = {
    "serve": CommandEntry("serve", "serve", "Serve the dashboard until interrupted."),
    "import": CommandEntry("scoring", "import_", "Store and score transcripts."),
    "evaluate": CommandEntry("scoring", "evaluate", "Score transcripts and print the results."),
    "collect": CommandEntry("scoring", "collect", "Import what evaluate --output wrote."),
    "list": CommandEntry("games", "list_transcripts", "List the stored transcripts with their verdicts."),
    "show": CommandEntry("games", "show", "Show a transcript's scores, or the ledger behind one."),
    "reevaluate": CommandEntry("scoring", "reevaluate", "Score games again by today's metrics."),
    "judge": CommandEntry("decisions", "judge", "Have a model read games and decide rows of ledgers."),
    "compare": CommandEntry("iterations", "compare", "Compare two iterations, and say keep or revert."),
    "ab": CommandEntry("experiment", "ab", "Compare variants of a configuration."),
    "settings": CommandEntry("system", "settings", "Show or change thresholds and limits."),
    "backup": CommandEntry("system", "backup", "Copy the whole database to a file."),
    "restore": CommandEntry("system", "restore", "Replace the database with a backup."),
    "rate": CommandEntry("decisions", "rate_app", "Rate a transcript; ratings from and to sheets."),
    "override": CommandEntry("decisions", "override", "Override a row of a ledger."),
    "iterations": CommandEntry("iterations", "app", "List or create iterations, and decide on them."),
    "experiment": CommandEntry("experiment", "app", "Treatment against control, and TinyTroupe's Table 1."),
    "agents": CommandEntry("agents", "app", "Give agents personas and speakers from files."),
    "propositions": CommandEntry("agents", "propositions_app", "Check the files of claims that agents are judged by."),
    "persona": CommandEntry("agents", "persona_app", "Evaluate agents, and compare them with baselines."),
    "eval": CommandEntry("agents", "persona_app", "Alias of 'persona'."),
    "export": CommandEntry("export", "export", "Write transcripts, scores or people's answers to a file."),
}


class LazyCommands(Mapping[str, Any]):
    """The sub-commands as ``typer`` wants them, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        entry = COMMANDS[name]
        found = getattr(import_module(f"evaluation.cli.{entry.module}"), entry.name)
        holder = typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=name)
        else:
            holder.command(name)(found)
        command = get_group(holder).commands[name]
        add_options(command)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Program(CommandGroup):
    """All sub-commands. Their list is written from the summaries, without importing one of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Typer only ever reads it once its own commands are in, of which there are none.
        self.commands = LazyCommands()  # type: ignore[assignment]

    def invoke(self, ctx: Any) -> Any:
        """Runs the command line, which names a database of its own or none."""
        forget_database()
        return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes names and summaries."""
        listed: dict[str, Any] = {name: TyperCommand(name, help=entry.summary) for name, entry in COMMANDS.items()}
        CommandGroup(commands=listed).format_commands(ctx, formatter)


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
    collect_rarely()
    sys.excepthook = report_fault
    for stream in (sys.stdout, sys.stderr):
        # A file name or a name in a transcript may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # Calling the app itself would put Typer's own hook in the place of ours, and end with the code of a failed gate.
    get_command(app)()


if __name__ == "__main__":
    main()
