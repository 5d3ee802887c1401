"""``dramaturg iterations``: prompt versions, what their tests say, and whether to keep their change."""

from __future__ import annotations

from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.confirmation import By, Yes, person, require_consent
from evaluation.cli.shared.exit_codes import CommandGroup
from evaluation.cli.shared.options import Database, DatabaseAgain, ListFormat, MetricName, Rows, group_store, open_store
from evaluation.cli.shared.terminal import note, safe, say, say_list, shortened
from evaluation.cli.shared.version_warnings import mix_dict, stored_mixes, warn_of
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.comparison import FailureReason
    from evaluation.iterations import RecordedDecision
    from evaluation.iterations.edit_history import Edit, SignOff

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    help="List iterations with their tests, means and decisions; create, fill, mend, promote or sign off one.",
)

_ID_DIGITS = 8


class FateName(StrEnum):
    """The decisions that a person can record on a change."""

    KEPT = "kept"
    REVERTED = "reverted"


Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The iteration's name.")]
Target = Annotated[
    MetricName | None, typer.Option(show_default=False, help="The metric that the change is meant to raise.")
]
PromptFile = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, show_default=False, help="A file with the prompt's text."),
]


@app.callback(invoke_without_command=True)
def list_iterations(context: typer.Context, output: Rows = ListFormat.TABLE, db: Database = None) -> None:
    """List iterations with their tests, means and decisions; create, fill, mend, promote or sign off one."""
    if context.invoked_subcommand is not None:
        context.obj = db
        return
    from evaluation.cli.iterations.board import board_dict, board_lines
    from evaluation.escaping import json_text
    from evaluation.workflows.reports import stored_board, stored_losses

    store = open_store(db)
    board = stored_board(store)
    losses = stored_losses(store, board.current.iteration.name, board) if board.current else {}
    mixes = stored_mixes(store)
    if output is ListFormat.JSON:
        say(json_text(board_dict(board, losses) | {"versions": [mix_dict(mix) for mix in mixes]}))
    elif board.iterations:
        say("\n".join(board_lines(board, losses)))
    else:
        note("There is no iteration yet. Create one with: dramaturg iterations create NAME.")
    warn_of(mixes)


@app.command()
def create(
    context: typer.Context,
    name: Name,
    parent: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="The iteration whose prompt was changed."),
    ] = None,
    change: Annotated[str, typer.Option(help="The one change that was made, in words.")] = "",
    target: Target = None,
    prompt: PromptFile = None,
    db: DatabaseAgain = None,
) -> None:
    """Create an iteration, after all others."""
    iteration = group_store(context, db).iterations.create(
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
    store = group_store(context, db)
    with store.unit(write=True):
        found = [store.transcripts.resolve(reference) for reference in transcripts]
        for transcript_id in found:
            store.iterations.assign(transcript_id, name)
    say(f"{safe(name)} has {len(store.transcripts.ids(name))} games now.")


@app.command()
def rename(
    context: typer.Context,
    name: Name,
    new_name: Annotated[str, typer.Argument(metavar="NEW_NAME", show_default=False, help="The new name.")],
    by: By = None,
    db: DatabaseAgain = None,
) -> None:
    """Give an iteration another name; its games, place, sign-off and children stay."""
    group_store(context, db).iterations.rename(name, new_name, who=person(by))
    say(f"{safe(name)} is called {safe(new_name)} now.")


@app.command()
def edit(
    context: typer.Context,
    name: Name,
    parent: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="The iteration whose prompt was changed; '' for none."),
    ] = None,
    change: Annotated[str | None, typer.Option(show_default=False, help="The one change that was made.")] = None,
    target: Target = None,
    no_target: Annotated[
        bool, typer.Option("--no-target", help="It is meant to raise no metric in particular.")
    ] = False,
    prompt: PromptFile = None,
    by: By = None,
    db: DatabaseAgain = None,
) -> None:
    """Correct what is said about an iteration. What is left out stays; what stood before is kept, see 'history'."""
    from evaluation.iterations.edit_history import Description

    if target is not None and no_target:
        raise typer.BadParameter("Name a metric, or say --no-target.", param_hint="--target")
    if not no_target and all(one is None for one in (parent, change, target, prompt)):
        raise typer.BadParameter("Say what to correct: --parent, --change, --target, --no-target or --prompt.")
    store = group_store(context, db)
    with store.unit(write=True):
        held = store.iterations.get(name)
        described = Description(
            name,
            held.parent if parent is None else parent or None,
            held.prompt_text if prompt is None else _prompt_text(prompt),
            held.change if change is None else change,
            None if no_target else target.value if target else held.target_metric,
        )
        store.iterations.describe(described, who=person(by))
    say(f"Corrected {safe(name)}. What stood before: dramaturg iterations history {safe(name)}.")


@app.command()
def history(context: typer.Context, name: Name, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None) -> None:
    """List what was changed in an iteration's name and description, its sign-offs and the decisions on it."""
    store = group_store(context, db)
    made: list[Edit] = [
        *store.iterations.history(name),
        *map(_as_edit, store.iterations.sign_offs(name)),
        *map(_decision_as_edit, store.iterations.decisions(name)),
    ]
    made.sort(key=lambda one: one.at)
    records = [{**asdict(one), "at": one.at.isoformat()} for one in made]
    lines = [
        (f"{e.at:%Y-%m-%d %H:%M}", shortened(e.who, 24), e.field, shortened(e.before, 40), shortened(e.after, 40))
        for e in made
    ]
    headers, nothing = ("When (UTC)", "By", "What", "Before", "After"), "Nothing was changed since it was created."
    say_list(records, headers, lines, nothing, is_json=output is ListFormat.JSON)


@app.command()
def reasons(
    context: typer.Context,
    name: Name,
    metric: Annotated[MetricName | None, typer.Option(show_default=False, help="Only this metric's reasons.")] = None,
    output: Rows = ListFormat.TABLE,
    db: DatabaseAgain = None,
) -> None:
    """List why an iteration's messages fail: each reason with its rows, its share, its trend and an example."""
    from evaluation.workflows.reports import stored_failure_reasons

    found = stored_failure_reasons(group_store(context, db), name)
    wanted = [one for one in found.metrics if metric is None or one.metric == metric.value]
    if output is ListFormat.JSON:
        from evaluation.escaping import json_text

        say(json_text(replace(found, metrics=tuple(wanted)).as_dict()))
        return
    rows = [_reason_cells(reason) for one in wanted for reason in one.reasons]
    headers = (
        "Metric",
        "Reason",
        "Rows",
        "Of judged",
        f"Since {safe(shortened(found.reference or '-', 24))}",
        "Example",
    )
    say_list((), headers, rows, "No judged row loses points.", is_json=False)


def _reason_cells(reason: FailureReason) -> tuple[str, ...]:
    example = reason.examples[0]
    change = "-" if reason.change is None else f"{reason.change:+.1f} points"
    where = f"{example.transcript_id[:_ID_DIGITS]} {example.message_id or example.player}"
    label = DEFINITIONS[reason.metric].label
    return label, shortened(reason.label, 70), str(reason.count), f"{100 * reason.share:.1f} %", change, where


def _as_edit(made: SignOff) -> Edit:
    from evaluation.iterations.edit_history import Edit

    return Edit("withdrawal" if made.is_withdrawal else "sign_off", "", made.note, made.who, made.at)


def _decision_as_edit(made: RecordedDecision) -> Edit:
    from evaluation.iterations.edit_history import Edit

    said = "; ".join(filter(None, (made.reason, made.note)))
    fate = f"{made.fate} taken back" if made.is_withdrawal else str(made.fate)
    return Edit("decision", f"rule: {made.rule.replace('_', ' ') or 'none'}", f"{fate}: {said}", made.who, made.at)


@app.command()
def delete(
    context: typer.Context,
    name: Name,
    with_games: Annotated[
        bool, typer.Option("--with-games", help="Delete its games too; else they stay, outside all iterations.")
    ] = False,
    by: By = None,
    yes: Yes = False,
    db: DatabaseAgain = None,
) -> None:
    """Delete an iteration, and its games only if asked to; 'dramaturg undo' brings all of it back."""
    store = group_store(context, db)
    store.iterations.get(name)
    games = counted(len(store.transcripts.ids(name)), "game")
    fate = f"and its {games}" if with_games else f"and leave its {games} without an iteration"
    require_consent(f"Delete the iteration {safe(name)} {fate}?", yes)
    deletion = store.deletions.delete_iteration(name, who=person(by), with_games=with_games)
    say(f"Deleted {safe(name)}. To bring it back: dramaturg undo {deletion.id}.")


@app.command()
def decide(
    context: typer.Context,
    name: Name,
    fate: Annotated[FateName, typer.Argument(show_default=False, help="What becomes of its change.")],
    reason: Annotated[str, typer.Option(show_default=False, help="Why, in a few words.")],
    remark: Annotated[str, typer.Option("--note", help="Why it departs from the rule; needed where it does.")] = "",
    by: By = None,
    db: DatabaseAgain = None,
) -> None:
    """Record that a person keeps or reverts an iteration's change. A kept one is what the next are compared with."""
    from evaluation.iterations import Fate
    from evaluation.workflows.decisions import record_decision

    held = record_decision(group_store(context, db), name, Fate(fate), who=person(by), reason=reason, note=remark)
    assert held.recorded is not None
    say(f"{safe(name)}: {safe(held.recorded.words)}. To take it back: dramaturg iterations undecide {safe(name)}.")
    if held.is_kept and not held.is_baseline:
        say(f"To make it the baseline too: dramaturg iterations promote {safe(name)}.")


@app.command()
def undecide(
    context: typer.Context,
    name: Name,
    reason: Annotated[str, typer.Option(help="Why it no longer holds.")] = "",
    by: By = None,
    db: DatabaseAgain = None,
) -> None:
    """Take the recorded decision on an iteration back; both stay on record, see 'history'."""
    group_store(context, db).iterations.withdraw_decision(name, who=person(by), reason=reason)
    say(f"The decision on {safe(name)} is taken back.")


@app.command()
def promote(context: typer.Context, name: Name, db: DatabaseAgain = None) -> None:
    """Mark an iteration as the baseline, the second line beside every reference."""
    group_store(context, db).iterations.promote(name)
    say(f"{safe(name)} is the baseline now.")


@app.command("sign-off")
def sign_off(
    context: typer.Context,
    name: Name,
    by: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who signs it off, or withdraws that.")],
    remark: Annotated[str, typer.Option("--note", help="What made it so.")] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the sign-off back; both stay on record.")] = False,
    db: DatabaseAgain = None,
) -> None:
    """Record that a person found an iteration's games fascinating to watch, or take that back."""
    store = group_store(context, db)
    if withdraw:
        store.iterations.withdraw_sign_off(name, by, remark)
        say(f"{safe(by)} withdrew the sign-off of {safe(name)}.")
    else:
        store.iterations.sign_off(name, by, remark)
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
    group_store(context, db).settings.set_test_size(games)
    say(f"{games} games form a test from now on." if games > 1 else "Every game is a test from now on.")
