"""``dramaturg labels``: what people decided about verdicts, as labels; and a reader trained on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.exit_codes import command_group
from evaluation.cli.options import Force, OutputFile, TranscriptReference, open_store
from evaluation.cli.terminal import note, safe, say, say_data
from evaluation.escaping import json_text

app = command_group("Labels from what people decided about verdicts, and a reader trained on them.")


@app.command()
def export(
    output: OutputFile = None,
    force: Force = False,
) -> None:
    """Write every decision on a verdict as a label: one JSON object per line, with message, question, answer and
    author.
    """
    from evaluation.workflows.own_reader import decided_labels
    from evaluation.writers import write_new_bytes

    lines = "".join(f"{json_text(label, indent=None)}\n" for label in decided_labels(open_store()))
    if output is None:
        say_data(lines)
        return
    write_new_bytes(output, lines.encode("utf-8"), overwrite=force)
    note(f"Wrote {safe(output)}.")


@app.command()
def train() -> None:
    """Train a reader on these decisions; it is kept only if it does better on games left out of the training.

    Choose it in Settings, or with: dramaturg settings --set reader=NAME. Then score games again: dramaturg reevaluate.
    """
    from evaluation.workflows.own_reader import train_own_reader

    name, words = train_own_reader(open_store())
    say(words)
    if name is not None:
        say(f"Stored as {name}. To use it: dramaturg settings --set reader={name}, then dramaturg reevaluate.")


@app.command("import")
def import_(
    transcript: TranscriptReference,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            readable=True,
            help="What 'dramaturg override list GAME --format json' of version 98ef06c wrote.",
        ),
    ],
) -> None:
    """Import a game's overrides that an earlier version exported, with authors and times; known ones are skipped."""
    from evaluation.overrides import parse_overrides

    store = open_store()
    with store.unit(write=True):
        found = store.transcripts.resolve(transcript)
        made = parse_overrides(file.read_text("utf-8-sig"), found)
        added = store.overrides.take_over(made)
        orphans = len(store.overrides.orphans(found))
    say(f"{added} new, {len(made) - added} known already.")
    if orphans:
        note(f"warning: {orphans} name rows that the ledger does not have; the game's Ledger lists them.")
