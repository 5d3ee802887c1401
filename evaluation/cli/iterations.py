"""``dramaturg iterations``: prompt versions, what their tests say, and whether to keep their change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exits import CommandGroup
from evaluation.cli.listing import MetricName
from evaluation.cli.options import Database, DatabaseAgain, ListFormat, Rows, open_store
from evaluation.cli.terminal import note, safe, say

if TYPE_CHECKING:
    from evaluation.iterations import Board
    from evaluation.store import Store

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    help="List iterations with their tests, means and decisions; create, fill, promote or sign off one.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The iteration's name.")]


@app.callback(invoke_without_command=True)
def list_iterations(context: typer.Context, output: Rows = ListFormat.TABLE, db: Database = None) -> None:
    """List iterations with their tests, means and decisions; create, fill, promote or sign off one."""
    if context.invoked_subcommand is not None:
        context.obj = db
        return
    from evaluation.cli.board import board_dict, board_lines
    from evaluation.cli.rendering import json_text

    board = load_board(open_store(db))
    if output is ListFormat.JSON:
        say(json_text(board_dict(board)))
    elif board.iterations:
        say("\n".join(board_lines(board)))
    else:
        note("There is no iteration yet. Create one with: dramaturg iterations create NAME.")


def load_board(store: Store) -> Board:
    """Everything that the store knows about iterations, judged by today's thresholds."""
    from evaluation.iterations import games_by_iteration, make_board

    with store.unit():
        games = games_by_iteration(store.transcripts.summaries(), store.results.scores())
        settings = store.settings
        return make_board(store.iterations.list(), games, settings.thresholds(), settings.test_size())


@app.command()
def create(
    context: typer.Context,
    name: Name,
    parent: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="The iteration whose prompt was changed."),
    ] = None,
    change: Annotated[str, typer.Option(help="The one change that was made, in words.")] = "",
    target: Annotated[
        MetricName | None, typer.Option(show_default=False, help="The metric that the change is meant to raise.")
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, show_default=False, help="A file with the prompt's text."),
    ] = None,
    db: DatabaseAgain = None,
) -> None:
    """Create an iteration, after all others."""
    iteration = _store(context, db).iterations.create(
        name,
        parent=parent,
        prompt_text=_prompt_text(prompt),
        change=change,
        target_metric=target.value if target else None,
    )
    say(f"Created {safe(iteration.name)}. Add games with: dramaturg import PATH --iteration NAME.")


def _prompt_text(path: Path | None) -> str:
    from evaluation.errors import InputError

    try:
        return "" if path is None else path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.", place=str(path), remedy="Save it as UTF-8.") from None


@app.command()
def assign(
    context: typer.Context,
    name: Name,
    transcripts: Annotated[
        list[str],
        typer.Argument(metavar="TRANSCRIPT", show_default=False, help="Stored transcripts, in the order of playing."),
    ],
    db: DatabaseAgain = None,
) -> None:
    """Put stored transcripts into an iteration, after the games that it has."""
    store = _store(context, db)
    with store.unit(write=True):
        found = [store.transcripts.resolve(reference) for reference in transcripts]
        for transcript_id in found:
            store.iterations.assign(transcript_id, name)
    say(f"{safe(name)} has {len(store.transcripts.summaries(name))} games now.")


@app.command()
def promote(context: typer.Context, name: Name, db: DatabaseAgain = None) -> None:
    """Make an iteration the baseline that the others are compared with."""
    _store(context, db).iterations.promote(name)
    say(f"{safe(name)} is the baseline now.")


@app.command("sign-off")
def sign_off(
    context: typer.Context,
    name: Name,
    by: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who signs it off.")],
    remark: Annotated[str, typer.Option("--note", help="What made it so.")] = "",
    db: DatabaseAgain = None,
) -> None:
    """Record that a person found an iteration's games fascinating to watch."""
    _store(context, db).iterations.sign_off(name, by, remark)
    say(f"{safe(by)} signed off {safe(name)}.")


@app.command("test-size")
def resize_tests(
    context: typer.Context,
    games: Annotated[
        int, typer.Argument(min=1, metavar="GAMES", help="How many games form a test.", show_default=False)
    ],
    db: DatabaseAgain = None,
) -> None:
    """Set how many games of an iteration form a test; the rubric's is 3."""
    _store(context, db).settings.set_test_size(games)
    say(f"{games} games form a test from now on." if games > 1 else "Every game is a test from now on.")


def _store(context: typer.Context, db: Path | None) -> Store:
    # The environment is read once, before the sub-command, so that an option there is not outranked by it.
    return open_store(db or context.obj)
