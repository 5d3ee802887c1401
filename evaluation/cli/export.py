"""``dramaturg export``: transcripts in formats that keep or exchange them, scores and people's answers as tables."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.options import Force, OfIteration, OutputFile, open_store
from evaluation.cli.terminal import note, safe, say_data
from evaluation.errors import NotFoundError
from evaluation.escaping import json_text
from evaluation.text.display import listed

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.store import Store
    from evaluation.transcript import Transcript


class Exported(StrEnum):
    """Kinds of things that can be exported."""

    TRANSCRIPTS = "transcripts"
    RESULTS = "results"
    RATINGS = "ratings"
    CHECKS = "checks"
    FINDINGS = "findings"


class ExportFormat(StrEnum):
    """File formats of what is exported."""

    CANONICAL = "canonical"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"


_TRANSCRIPT_FORMATS = (ExportFormat.CANONICAL, ExportFormat.CSV, ExportFormat.JSONL, ExportFormat.PARQUET)
_TABLE_FORMATS = (ExportFormat.CSV, ExportFormat.JSON, ExportFormat.PARQUET)
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_BY_ENDING = {f".{one}": one for one in ExportFormat} | {".zip": ExportFormat.CANONICAL}


def export(
    what: Annotated[
        Exported,
        typer.Argument(
            metavar="WHAT",
            help="transcripts; results (one row per transcript and metric); ratings (the sheet that 'rate import' "
            "takes); a judge's checks or findings.",
        ),
    ],
    transcript: Annotated[
        str | None, typer.Argument(metavar="[TRANSCRIPT]", help="Only this one of the transcripts, as JSON.")
    ] = None,
    kind: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            help="Of transcripts: canonical (a zip without loss; the default), csv, jsonl, parquet (one row per "
            "message). Of tables: csv (safe to open in a spreadsheet; the default), json or parquet.",
        ),
    ] = None,
    output: OutputFile = None,
    iteration: OfIteration = None,
    force: Force = False,
) -> None:
    """Write transcripts, scores or people's answers to a file, for import or for other programs."""
    allowed = _TRANSCRIPT_FORMATS if what is Exported.TRANSCRIPTS else _TABLE_FORMATS
    if output is not None and output.suffix.lower() in _WORKBOOKS:
        raise typer.BadParameter(
            f"Workbooks are not written. Spreadsheets open CSV; there is {listed(list(allowed))}.",
            param_hint="--output",
        )
    if kind is None and output is not None and transcript is None:
        kind = _BY_ENDING.get(output.suffix.lower())
    if kind is not None and kind not in allowed:
        raise typer.BadParameter(f"{what} cannot be written as {kind}.", param_hint="--format")
    if transcript is not None and what is not Exported.TRANSCRIPTS:
        raise typer.BadParameter("One of the transcripts can be named, nothing else.", param_hint="TRANSCRIPT")
    if what is Exported.TRANSCRIPTS:
        _transcripts(transcript, kind or ExportFormat.CANONICAL, output, iteration, force)
    else:
        _table(
            what,
            kind or (ExportFormat.JSON if what is Exported.FINDINGS else ExportFormat.CSV),
            output,
            iteration,
            force,
        )


def _transcripts(
    transcript: str | None, kind: ExportFormat, output: Path | None, iteration: str | None, force: bool
) -> None:
    if transcript is not None:
        store = open_store()
        with store.unit():
            found = store.transcripts.get(store.transcripts.resolve(transcript))
        _deliver(found.to_json(indent=2), output, force)
        return
    if output is None and kind not in (ExportFormat.CSV, ExportFormat.JSONL):
        raise typer.BadParameter(f"{kind} is not text: name a file to write.", param_hint="--output")
    store = open_store()
    with store.unit():
        ids = _ids(store, iteration)
        _write_transcripts((store.transcripts.get(each) for each in ids), kind, output, force)


def _ids(store: Store, iteration: str | None) -> list[str]:
    ids = list(store.transcripts.ids(iteration))
    if not ids:
        raise NotFoundError("There is no transcript to export.", remedy="Import some: dramaturg import PATH.")
    return ids


def _write_transcripts(found: Iterable[Transcript], kind: ExportFormat, output: Path | None, force: bool) -> None:
    from evaluation.writers import csv_text, json_lines, message_table, write_canonical, write_new_file

    if kind is ExportFormat.CSV:
        _deliver(csv_text(message_table(found)), output, force)
    elif kind is ExportFormat.JSONL:
        _deliver("".join(json_lines(found)), output, force)
    elif output is not None:

        def write(path: Path) -> None:
            with path.open("wb") as target:
                if kind is ExportFormat.PARQUET:
                    message_table(found).to_parquet(target, index=False)
                else:
                    write_canonical(found, target)

        write_new_file(output, write, overwrite=force)
        note(f"Wrote {safe(output)}.")


def _table(what: Exported, kind: ExportFormat, output: Path | None, iteration: str | None, force: bool) -> None:
    from evaluation.workflows.ratings import export_ratings
    from evaluation.writers import flat_controls

    store = open_store()
    if what is Exported.RATINGS and kind is ExportFormat.CSV:
        # With a mark in a file, so that spreadsheets take it for UTF-8.
        _deliver(export_ratings(store), output, force, encoding="utf-8-sig")
        return
    if what is Exported.RATINGS:
        table = store.ratings.all()
    elif what is Exported.CHECKS:
        table = store.insights.checks(iteration)
    elif what is Exported.FINDINGS:
        table = store.insights.findings(iteration)
        if kind is not ExportFormat.JSON:
            table["result"] = table["result"].map(json_text)
    else:
        from evaluation.workflows.scoring import stored_results_table

        table = stored_results_table(store, iteration)
        table = table if kind is ExportFormat.JSON else flat_controls(table)
    _write_table(table, kind, output, force)


def _write_table(table: pd.DataFrame, kind: ExportFormat, output: Path | None, force: bool) -> None:
    from evaluation.writers import csv_text, json_rows, write_new_file

    if kind is ExportFormat.CSV:
        _deliver(csv_text(table), output, force)
    elif kind is ExportFormat.JSON:
        _deliver(json_text(json_rows(table)), output, force)
    elif output is None:
        raise typer.BadParameter("Parquet is not text: name a file to write.", param_hint="--output")
    else:
        write_new_file(output, lambda path: table.to_parquet(path, index=False), overwrite=force)
        note(f"Wrote {safe(output)}.")


def _deliver(text: str, output: Path | None, force: bool, encoding: str = "utf-8") -> None:
    from evaluation.writers import write_new_bytes

    if output is None:
        say_data(text)
        return
    write_new_bytes(output, (text if text.endswith("\n") else f"{text}\n").encode(encoding), overwrite=force)
    note(f"Wrote {safe(output)}.")
