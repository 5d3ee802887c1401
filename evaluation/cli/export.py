"""``dramaturg export``: transcripts as canonical JSON, scores and ratings as tables."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exits import CommandGroup
from evaluation.cli.options import Database, TranscriptReference, open_store
from evaluation.cli.terminal import note, safe

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Write transcripts, scores or ratings to files."
)


class TableFormat(StrEnum):
    """How a table is written."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, show_default=False, help="The file to write; else standard output."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Kind = Annotated[TableFormat, typer.Option("--format", help="CSV is safe to open in a spreadsheet.")]


@app.command()
def transcript(
    transcript: TranscriptReference, output: Output = None, force: Force = False, db: Database = None
) -> None:
    """Write a stored transcript as canonical JSON, from which it can be imported again without loss."""
    store = open_store(db)
    with store.unit():
        found = store.transcripts.get(store.transcripts.resolve(transcript))
    _deliver(found.to_json(indent=2), output, force)


@app.command()
def results(
    output: Output = None,
    kind: Kind = TableFormat.CSV,
    iteration: Annotated[
        str | None, typer.Option(metavar="NAME", show_default=False, help="Only the games of this iteration.")
    ] = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write every score: one row per transcript and metric."""
    from evaluation.exporting import results_table

    _write_table(results_table(open_store(db), iteration), kind, output, force)


@app.command()
def ratings(output: Output = None, kind: Kind = TableFormat.CSV, force: Force = False, db: Database = None) -> None:
    """Write every rating ever given, revised ones included."""
    _write_table(open_store(db).ratings.all(), kind, output, force)


def _write_table(table: pd.DataFrame, kind: TableFormat, output: Path | None, force: bool) -> None:
    from evaluation.exporting import csv_text, json_rows, write_new_file

    if kind is TableFormat.CSV:
        _deliver(csv_text(table), output, force)
    elif kind is TableFormat.JSON:
        from evaluation.cli.rendering import json_text

        _deliver(json_text(json_rows(table)), output, force)
    elif output is None:
        raise typer.BadParameter("Parquet is no text: name a file to write.", param_hint="--output")
    else:
        write_new_file(output, lambda path: table.to_parquet(path, index=False), overwrite=force)
        note(f"Wrote {safe(output)}.")


def _deliver(text: str, output: Path | None, force: bool) -> None:
    from evaluation.exporting import write_new_file

    if output is None:
        shown = "\n".join(map(safe, text.split("\n"))) if sys.stdout.isatty() else text
        typer.echo(shown, nl=not shown.endswith("\n"))
        return
    write_new_file(output, lambda path: _write_text(path, text), overwrite=force)
    note(f"Wrote {safe(output)}.")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
