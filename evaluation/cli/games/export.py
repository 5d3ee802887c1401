"""``dramaturg export``: transcripts in formats that keep or exchange them, scores and people's answers as tables."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import command_group
from evaluation.cli.shared.options import Database, Force, OfIteration, TranscriptReference, open_store
from evaluation.cli.shared.terminal import note, safe, say_data
from evaluation.errors import NotFoundError

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.store import Store
    from evaluation.transcript import Transcript

app = command_group("Write transcripts, scores or people's answers to files.")


class TranscriptFormat(StrEnum):
    """File formats of exported transcripts."""

    CANONICAL = "canonical"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class AnnotationTool(StrEnum):
    """Tools in which people rate games."""

    ARGILLA = "argilla"
    LABEL_STUDIO = "label-studio"


class TableFormat(StrEnum):
    """File formats of exported tables."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, show_default=False, help="The file to write; else standard output."),
]
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
def transcripts(
    kind: Annotated[
        TranscriptFormat,
        typer.Option(
            "--format",
            help="Without loss: canonical (a zip of one file each). One row per message: csv (safe to open in a "
            "spreadsheet), jsonl and parquet.",
        ),
    ] = TranscriptFormat.CANONICAL,
    output: Output = None,
    iteration: OfIteration = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write all stored transcripts, or those of one iteration, for import or for other programs."""
    if output is None and kind not in (TranscriptFormat.CSV, TranscriptFormat.JSONL):
        raise typer.BadParameter(f"{kind} is not text: name a file to write.", param_hint="--output")
    store = open_store(db)
    with store.unit():
        ids = _ids(store, iteration)
        _write_transcripts((store.transcripts.get(each) for each in ids), kind, output, force)


def _ids(store: Store, iteration: str | None) -> list[str]:
    ids = list(store.transcripts.ids(iteration))
    if not ids:
        raise NotFoundError("There is no transcript to export.", remedy="Import some: dramaturg import PATH.")
    return ids


def _write_transcripts(found: Iterable[Transcript], kind: TranscriptFormat, output: Path | None, force: bool) -> None:
    from evaluation.writers.canonical import write_canonical
    from evaluation.writers.messages import json_lines, message_table
    from evaluation.writers.tables import csv_text, write_new_file

    if kind is TranscriptFormat.CSV:
        _deliver(csv_text(message_table(found)), output, force)
    elif kind is TranscriptFormat.JSONL:
        _deliver("".join(json_lines(found)), output, force)
    elif output is not None:

        def write(path: Path) -> None:
            with path.open("wb") as target:
                if kind is TranscriptFormat.PARQUET:
                    message_table(found).to_parquet(target, index=False)
                else:
                    write_canonical(found, target)

        write_new_file(output, write, overwrite=force)
        note(f"Wrote {safe(output)}.")


@app.command("annotations")
def annotation_tasks(
    tool: Annotated[AnnotationTool, typer.Option("--tool", show_default=False, help="The tool that takes the file.")],
    output: Output = None,
    iteration: OfIteration = None,
    settings: Annotated[
        bool,
        typer.Option(
            "--settings",
            help="Write instead what the tool must be set up with: the labelling configuration of a project of Label "
            "Studio, the settings of a dataset of Argilla.",
        ),
    ] = False,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write games and their ratings for Argilla or Label Studio; 'rate import' reads what comes back."""
    from evaluation.escaping import json_text
    from evaluation.rating_desk.annotation_tools import annotation_export, annotation_settings

    if settings:
        _deliver(annotation_settings(tool.value), output, force)
        return
    store = open_store(db)
    with store.unit():
        games = (store.transcripts.get(one) for one in _ids(store, iteration))
        exported = annotation_export(tool.value, games, store.ratings.every())
    _deliver(json_text(exported), output, force)


@app.command()
def results(
    output: Output = None,
    kind: Kind = TableFormat.CSV,
    iteration: OfIteration = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write every score: one row per transcript and metric."""
    from evaluation.workflows.scoring import stored_results_table
    from evaluation.writers.tables import flat_controls

    table = stored_results_table(open_store(db), iteration)
    _write_table(table if kind is TableFormat.JSON else flat_controls(table), kind, output, force)


@app.command()
def checks(
    output: Output = None,
    kind: Kind = TableFormat.CSV,
    iteration: OfIteration = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write the checks of messages by a judge: those of the latest sample of every transcript, one row each."""
    _write_table(open_store(db).insights.checks(iteration), kind, output, force)


@app.command()
def findings(
    output: Output = None,
    kind: Kind = TableFormat.JSON,
    iteration: OfIteration = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write the opinions, themes and quotes that a judge found: one row per transcript and question."""
    found = open_store(db).insights.findings(iteration)
    if kind is not TableFormat.JSON:
        from evaluation.escaping import json_text

        found["result"] = found["result"].map(json_text)
    _write_table(found, kind, output, force)


@app.command()
def ratings(output: Output = None, kind: Kind = TableFormat.CSV, force: Force = False, db: Database = None) -> None:
    """Write every rating ever given, revised ones included."""
    _write_table(open_store(db).ratings.all(), kind, output, force)


def _write_table(table: pd.DataFrame, kind: TableFormat, output: Path | None, force: bool) -> None:
    from evaluation.writers.tables import csv_text, json_rows, write_new_file

    if kind is TableFormat.CSV:
        _deliver(csv_text(table), output, force)
    elif kind is TableFormat.JSON:
        from evaluation.escaping import json_text

        _deliver(json_text(json_rows(table)), output, force)
    elif output is None:
        raise typer.BadParameter("Parquet is not text: name a file to write.", param_hint="--output")
    else:
        write_new_file(output, lambda path: table.to_parquet(path, index=False), overwrite=force)
        note(f"Wrote {safe(output)}.")


def _deliver(text: str, output: Path | None, force: bool) -> None:
    from evaluation.writers.tables import write_new_bytes

    if output is None:
        say_data(text)
        return
    write_new_bytes(output, (text if text.endswith("\n") else f"{text}\n").encode(), overwrite=force)
    note(f"Wrote {safe(output)}.")
