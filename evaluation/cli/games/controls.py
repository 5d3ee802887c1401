"""``dramaturg controls``: the scores of stored games compared with chance, where that is missing."""

from __future__ import annotations

from typing import Annotated

import typer

from evaluation.cli.shared.options import Database, OfIteration, open_store
from evaluation.cli.shared.terminal import TerminalProgress, note, say
from evaluation.text.display import counted


def controls(
    transcripts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TRANSCRIPT...", show_default=False, help="Only these, computed anew."),
    ] = None,
    iteration: OfIteration = None,
    db: Database = None,
) -> None:
    """Compare the scores of stored games with those of shuffled copies, where that was not done yet.

    Each game is stored as soon as it is done, so that what was interrupted goes on where it was. ``dramaturg show``
    prints the comparison beside each score.
    """
    if transcripts and iteration is not None:
        raise typer.BadParameter("Name transcripts, or choose by --iteration.", param_hint="TRANSCRIPT")
    from evaluation.workflows.controls import compute_missing

    store = open_store(db)
    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        named = [store.transcripts.resolve(each) for each in transcripts or []]
        chosen = list(dict.fromkeys(named)) or store.controls.missing(iteration)
    if not chosen:
        note("Every score was compared with chance.")
        return
    progress = TerminalProgress("game")
    done = compute_missing(store, chosen, lambda count, total: progress.advance(f"{total - count} to go"))
    progress.finish()
    say(f"Compared the scores of {counted(done, 'game')} with chance.")
