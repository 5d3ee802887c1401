"""``dramaturg iterations``: prompt versions, what their tests say, and whether to keep their change."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.cli.exit_codes import CommandGroup
from evaluation.cli.options import By, MetricName, Rows, open_store, person
from evaluation.cli.terminal import note, safe, say, say_json

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    help="Without a command: list iterations with their tests, means and decisions. Or create one, or decide on one.",
)


FateName = Literal["kept", "reverted", "undecided"]
"""The decisions that a person can record on a change."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="The iteration's name.")]
Target = Annotated[MetricName | None, typer.Option(help="The metric that the change is meant to raise.")]
PromptFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="A file with the prompt's text.")]


@app.callback(invoke_without_command=True)
def list_iterations(context: typer.Context, output: Rows = "table") -> None:
    """Without a command: list iterations with their tests, means and decisions. Or create one, or decide on one."""
    if context.invoked_subcommand is not None:
        return
    from evaluation.cli.rendering import board_dict, board_lines, mix_dict, stored_mixes, warn_of
    from evaluation.workflows.iterations import stored_board, stored_losses

    store = open_store()
    board = stored_board(store)
    losses = stored_losses(store, board.current.iteration.name, board) if board.current else {}
    mixes = stored_mixes(store)
    if output == "json":
        say_json(board_dict(board, losses) | {"versions": [mix_dict(mix) for mix in mixes]})
    elif board.iterations:
        say("\n".join(board_lines(board, losses)))
    else:
        note("There is no iteration yet. Create one with: dramaturg iterations create NAME.")
    warn_of(mixes)


@app.command()
def create(
    name: Name,
    parent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The iteration that this one was changed from: its reference.")
    ] = None,
    change: Annotated[str, typer.Option(help="The one change that was made, in words.")] = "",
    target: Target = None,
    prompt: PromptFile = None,
) -> None:
    """Create an iteration, after all others."""
    iteration = open_store().iterations.create(
        name,
        parent=parent,
        prompt_text=_prompt_text(prompt),
        change=change,
        target_metric=target,
    )
    command = f"dramaturg import PATH --iteration {shlex.quote(safe(iteration.name))}"
    say(f"Created {safe(iteration.name)}. Add games with: {command}")


def _prompt_text(path: Path | None) -> str:
    from evaluation.errors import InputError

    try:
        return "" if path is None else path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.", place=str(path), remedy="Save it as UTF-8.") from None


@app.command()
def decide(
    name: Name,
    fate: Annotated[FateName, typer.Argument(help="The decision on its change; undecided clears an earlier one.")],
    reason: Annotated[str, typer.Option(help="Why, in a few words.")],
    remark: Annotated[
        str, typer.Option("--note", help="Why the decision differs from the rule's; required if it does.")
    ] = "",
    by: By = None,
) -> None:
    """Record that a person keeps or reverts an iteration's change, or takes that back. All of it stays on record."""
    from evaluation.iterations.iteration import Fate
    from evaluation.workflows.iterations import record_decision

    store = open_store()
    if fate == "undecided":
        store.iterations.withdraw_decision(name, who=person(by), reason=reason)
        say(f"The decision on {safe(name)} is taken back.")
        return
    held = record_decision(store, name, Fate(fate), who=person(by), reason=reason, note=remark)
    assert held.recorded is not None
    command = f"dramaturg iterations decide {shlex.quote(safe(name))} undecided --reason WHY"
    say(f"{safe(name)}: {safe(held.recorded.words)}. To take it back: {command}")
