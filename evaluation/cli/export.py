"""``dramaturg export``: transcripts in formats that keep or exchange them, scores and people's answers as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from evaluation.cli.options import Force, OfIteration, OutputFile, open_store
from evaluation.cli.terminal import note, say_data
from evaluation.errors import NotFoundError
from evaluation.escaping import json_text, safe
from evaluation.text.display import listed

Exported = Literal["transcripts", "results", "ratings"]
"""Kinds of things that can be exported."""

ExportFormat = Literal["canonical", "csv", "json"]
"""File formats of what is exported."""

_TRANSCRIPT_FORMATS = ("canonical", "csv")
_TABLE_FORMATS = ("csv", "json")
_NOT_WRITTEN = (".xlsx", ".xlsm", ".xls", ".ods", ".parquet", ".jsonl")
_BY_ENDING = {f".{one}": one for one in get_args(ExportFormat)} | {".zip": "canonical"}


def export(
    what: Annotated[
        Exported,
        typer.Argument(
            metavar="WHAT",
            help="transcripts; results (one row per transcript and metric); ratings (the sheet that 'rate import' "
            "takes).",
        ),
    ],
    transcript: Annotated[
        str | None, typer.Argument(metavar="[TRANSCRIPT]", help="Only this one of the transcripts, as JSON.")
    ] = None,
    kind: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            help="Of transcripts: canonical (a zip without loss; the default) or csv (one row per message). Of tables: "
            "csv (safe to open in a spreadsheet; the default) or json.",
        ),
    ] = None,
    output: OutputFile = None,
    iteration: OfIteration = None,
    force: Force = False,
) -> None:
    """Write transcripts, scores or people's answers to a file, for import or for other programs."""
    allowed = _TRANSCRIPT_FORMATS if what == "transcripts" else _TABLE_FORMATS
    if output is not None and output.suffix.lower() in _NOT_WRITTEN:
        raise typer.BadParameter(
            f"{output.suffix} is not written. Spreadsheets and data frames read CSV; there is {listed(list(allowed))}.",
            param_hint="--output",
        )
    if kind is None and output is not None and transcript is None:
        kind = _BY_ENDING.get(output.suffix.lower())
    if kind is not None and kind not in allowed:
        words = f"{what} cannot be written as {kind}; there is {listed(list(allowed))}."
        raise typer.BadParameter(words, param_hint="--format")
    if transcript is not None and what != "transcripts":
        raise typer.BadParameter("One of the transcripts can be named, nothing else.", param_hint="TRANSCRIPT")
    if what == "transcripts":
        _transcripts(transcript, kind or "canonical", output, iteration, force)
    else:
        _table(what, kind or "csv", output, iteration, force)


def _transcripts(
    transcript: str | None, kind: ExportFormat, output: Path | None, iteration: str | None, force: bool
) -> None:
    from evaluation.writers import csv_text, message_table, write_canonical, write_new_file

    if transcript is not None:
        store = open_store()
        with store.unit():
            game = store.transcripts.get(store.transcripts.resolve(transcript))
        _deliver(game.to_json(indent=2), output, force)
        return
    if output is None and kind == "canonical":
        raise typer.BadParameter("A zip is not text: name a file to write.", param_hint="--output")
    store = open_store()
    with store.unit():
        ids = store.transcripts.ids(iteration)
        if not ids:
            raise NotFoundError("There is no transcript to export.", remedy="Import some: dramaturg import PATH.")
        found = (store.transcripts.get(each) for each in ids)
        if output is None or kind == "csv":
            _deliver(csv_text(message_table(found)), output, force)
            return

        def write(path: Path) -> None:
            with path.open("wb") as target:
                write_canonical(found, target)

        write_new_file(output, write, overwrite=force)
        note(f"Wrote {safe(output)}.")


def _table(what: Exported, kind: ExportFormat, output: Path | None, iteration: str | None, force: bool) -> None:
    from evaluation.workflows.ratings import export_ratings, rating_rows
    from evaluation.workflows.scoring import stored_results_table
    from evaluation.writers import csv_text, flat_controls, json_rows

    store = open_store()
    is_json = kind == "json"
    if what == "ratings":
        # With a mark in a file, so that spreadsheets take it for UTF-8.
        text = json_text(rating_rows(store)) if is_json else export_ratings(store)
        _deliver(text, output, force, encoding="utf-8" if is_json else "utf-8-sig")
        return
    table = stored_results_table(store, iteration)
    _deliver(json_text(json_rows(table)) if is_json else csv_text(flat_controls(table)), output, force)


def _deliver(text: str, output: Path | None, force: bool, encoding: str = "utf-8") -> None:
    from evaluation.writers import write_new_file

    if output is None:
        say_data(text)
        return
    data = (text if text.endswith("\n") else f"{text}\n").encode(encoding)
    write_new_file(output, lambda path: path.write_bytes(data), overwrite=force)
    note(f"Wrote {safe(output)}.")
