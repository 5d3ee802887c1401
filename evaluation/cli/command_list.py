"""List of the sub-commands by name; only the one that is called is imported, because importing all is slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_group

from evaluation.cli.shared.exit_codes import CommandGroup
from evaluation.cli.shared.shared_options import add_database_option, add_shared_options, forget_database


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
    "serve": CommandEntry("system.serve", "serve", "Serve the dashboard until interrupted."),
    "import": CommandEntry("games.evaluate", "import_", "Store and score transcripts."),
    "watch": CommandEntry("games.watch", "watch", "Store and score what arrives in a folder."),
    "evaluate": CommandEntry("games.evaluate", "evaluate", "Score transcripts and print the results."),
    "collect": CommandEntry("games.collect", "collect", "Import what evaluate --output wrote."),
    "validate": CommandEntry("games.validate", "validate", "Say what a file is taken for and what it lacks."),
    "list": CommandEntry("games.list_and_show", "list_transcripts", "List the stored transcripts with their verdicts."),
    "show": CommandEntry("games.list_and_show", "show", "Show a transcript's scores, or the ledger behind one."),
    "insights": CommandEntry("games.insights", "insights", "Who talks how much and to whom, and what it cost."),
    "reevaluate": CommandEntry("games.reevaluate", "reevaluate", "Score games again by today's metrics."),
    "delete": CommandEntry("games.delete_and_undo", "delete", "Delete transcripts; 'undo' brings them back."),
    "undo": CommandEntry("games.delete_and_undo", "undo", "Bring back what was deleted, as it was."),
    "agreement": CommandEntry("ratings.agreement", "agreement", "How far raters and metrics agree with each other."),
    "judge": CommandEntry("ratings.judge", "judge", "Have a model decide what counting cannot."),
    "labels": CommandEntry("ratings.labels", "app", "Your decisions as labels, and a reader trained on them."),
    "compare": CommandEntry("iterations.compare", "compare", "Compare two iterations, and say keep or revert."),
    "ab": CommandEntry("experiments.ab", "ab", "Compare variants of a configuration."),
    "report": CommandEntry("iterations.report", "report", "Write a report that opens offline and prints."),
    "doctor": CommandEntry("system.doctor", "doctor", "Check installation, database and samples."),
    "settings": CommandEntry("system.settings", "settings", "Show or change thresholds and limits."),
    "backup": CommandEntry("system.backup", "backup", "Copy the whole database to a file."),
    "restore": CommandEntry("system.backup", "restore", "Put a backup in the place of the database."),
    "rate": CommandEntry("ratings.rate", "app", "Rate a transcript; ratings from and to sheets."),
    "override": CommandEntry("ratings.override", "app", "Override a row of a ledger."),
    "iterations": CommandEntry("iterations.iterations", "app", "List or create iterations, and decide on them."),
    "experiment": CommandEntry("experiments.experiment", "app", "Treatment against control, and TinyTroupe's Table 1."),
    "agents": CommandEntry("persona.agents", "app", "List agents, and give them personas."),
    "propositions": CommandEntry("persona.propositions", "app", "Check what agents are held against."),
    "corrections": CommandEntry("persona.corrections", "app", "What the gate did to messages, and its settings."),
    "persona": CommandEntry("persona.commands", "app", "Evaluate agents, and hold them against baselines."),
    "eval": CommandEntry("persona.commands", "app", "Alias of 'persona'."),
    "export": CommandEntry("games.export", "export", "Write transcripts, scores or people's answers to a file."),
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
        add_shared_options(command)
        add_database_option(command)
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
