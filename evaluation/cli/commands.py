"""The sub-commands by name. Only the one that is called is imported: all together take longer than most of them run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_group

from evaluation.cli.exits import CommandGroup


class Entry(NamedTuple):
    """Where a sub-command is, and what the list of all says of it.

    Attributes:
        module: Its file in this folder.
        name: The function in it, or the ``Typer`` of a group.
        summary: A sentence that fits into a line of 80 columns.
    """

    module: str
    name: str
    summary: str


COMMANDS: Mapping[str, Entry] = {
    "serve": Entry("serve", "serve", "Serve the dashboard until interrupted."),
    "import": Entry("evaluate", "import_", "Store and score transcripts."),
    "evaluate": Entry("evaluate", "evaluate", "Score transcripts and print the results."),
    "validate": Entry("validate", "validate", "Say what a file is taken for and what it lacks."),
    "list": Entry("listing", "list_transcripts", "List the stored transcripts with their verdicts."),
    "show": Entry("listing", "show", "Show a transcript's scores, or the ledger behind one."),
    "search": Entry("search", "search", "Find messages by their words, in all transcripts."),
    "insights": Entry("insights", "insights", "Who talks how much and to whom, and what it cost."),
    "reevaluate": Entry("reevaluate", "reevaluate", "Score games again by today's metrics."),
    "controls": Entry("controls", "controls", "Compare stored scores with chance."),
    "rename": Entry("mend", "rename", "Give a game another name."),
    "move": Entry("mend", "move", "Put transcripts into another iteration."),
    "delete": Entry("mend", "delete", "Delete transcripts; 'undo' brings them back."),
    "deleted": Entry("mend", "deleted", "List what was deleted and can come back."),
    "undo": Entry("mend", "undo", "Bring back what was deleted, as it was."),
    "purge": Entry("mend", "purge", "Remove deleted things for ever."),
    "agreement": Entry("agreement", "agreement", "How far raters and metrics agree with each other."),
    "judge": Entry("judge", "judge", "Have a model decide what counting cannot."),
    "compare": Entry("compare", "compare", "Compare two iterations, and say keep or revert."),
    "ab": Entry("ab", "ab", "Compare variants of a configuration."),
    "report": Entry("report", "report", "Write a report that opens offline and prints."),
    "doctor": Entry("doctor", "doctor", "Check installation, database and samples."),
    "settings": Entry("settings", "settings", "Show or change thresholds and limits."),
    "backup": Entry("backup", "backup", "Copy the whole database to a file."),
    "restore": Entry("backup", "restore", "Put a backup in the place of the database."),
    "rate": Entry("rate", "app", "Rate a transcript; ratings from and to sheets."),
    "override": Entry("override", "app", "Overrule a row of a ledger."),
    "iterations": Entry("iterations", "app", "List, create, fill, mend or sign off iterations."),
    "experiment": Entry("experiment", "app", "Treatment against control, and TinyTroupe's Table 1."),
    "agents": Entry("agents", "app", "List agents, and give them personas."),
    "propositions": Entry("propositions", "app", "Check and list what agents are held against."),
    "corrections": Entry("corrections", "app", "What the gate did to messages, and its settings."),
    "eval": Entry("persona", "app", "Evaluate agents, and hold them against baselines."),
    "export": Entry("export", "app", "Write transcripts, scores or ratings to files."),
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
        return get_group(holder).commands[name]

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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes names and summaries."""
        listed: dict[str, Any] = {name: TyperCommand(name, help=entry.summary) for name, entry in COMMANDS.items()}
        CommandGroup(commands=listed).format_commands(ctx, formatter)
