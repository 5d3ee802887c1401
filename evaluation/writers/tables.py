"""Tables and transcripts as files for other programs."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError
from evaluation.escaping import spreadsheet_safe
from evaluation.rubric.control_words import control_words
from evaluation.rubric.controls import COMPANION_KEYS, CONTROL_KEYS

if TYPE_CHECKING:
    import pandas as pd


def results_table(summaries: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Every score as it stands, with where it comes from.

    Args:
        summaries: Of the transcripts, as ``Store.transcripts.summaries`` returns them.
        scores: Of the same, as ``Store.results.scores`` returns them.

    Returns:
        One row per transcript and metric, in the order in which the transcripts were added and in the rubric's:
        ``transcript_id``, ``game_id``, ``source_format``, ``source_name``, ``iteration`` (empty for none), ``metric``,
        ``score`` (percent, or 1 to 5 for engagement; empty where there is none), ``numerator``, ``denominator``,
        ``status``, ``threshold``, ``method``, ``version``, ``control`` (as :meth:`MetricResult.as_dict` gives it; in
        columns of its own with :func:`flat_controls`), ``control_words``.
    """
    import pandas as pd

    origin = summaries[["transcript_id", "game_id", "source_format", "source_name", "iteration"]]
    columns = ["metric", "score", "numerator", "denominator", "status", "threshold", "method", "version"]
    columns += ["control", "control_words"]
    told = [
        control_words(metric, None if math.isnan(score) else score, control)
        for metric, score, control in zip(scores["metric"], scores["score"], scores["control"], strict=True)
    ]
    controls = [{"status": "pending"} if control is None else control for control in scores["control"]]
    scores = scores.assign(control=pd.Series(controls, index=scores.index, dtype=object), control_words=told)
    return origin.merge(scores[["transcript_id", *columns]], on="transcript_id", how="inner", validate="one_to_many")


def flat_controls(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`results_table` with every key of ``control`` in a column: ``control_chance``, ``control_companion_value``.

    The columns are always all there; empty for what was not computed.
    """
    import pandas as pd

    controls = list(table["control"])
    companions = [control.get("companion") or {} for control in controls]
    sources = [("control", CONTROL_KEYS, controls), ("control_companion", COMPANION_KEYS, companions)]
    flat = table.drop(columns=["control", "control_words"])
    for name, keys, held in sources:
        for key in keys:
            kind = _KINDS.get(key, "float64")
            flat[f"{name}_{key}"] = pd.Series([one.get(key) for one in held], index=table.index, dtype=kind)
    return flat.assign(control_words=table["control_words"])


_KINDS = {"draws": "Int64", "reason": "string", "name": "string"}


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV with a header; empty cells for what is missing, and no cell that a spreadsheet would run."""
    harmless = table.rename(columns=spreadsheet_safe).apply(
        lambda column: column if column.dtype.kind in "bif" else column.map(spreadsheet_safe)
    )
    # Without quotes, a carriage return in a name would end its row.
    return str(harmless.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))


def json_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The table as JSON-compatible rows; ``None`` for what is missing, times in ISO 8601."""
    present = table.astype(object).where(table.notna(), None)
    return [{str(name): _plain(value) for name, value in row.items()} for row in present.to_dict("records")]


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def write_new_file(path: Path, write: Callable[[Path], None], *, overwrite: bool = False) -> None:
    """Writes a file whole or not at all: ``write`` fills a neighbour, which then takes the name.

    Raises:
        ConflictError: The file exists, and ``overwrite`` was not asked for.
        InputError: Its folder does not exist.
    """
    if path.exists() and not overwrite:
        raise ConflictError("The file exists.", place=str(path), remedy="Choose another name, or say --force.")
    if not path.parent.is_dir():
        raise InputError("There is no such folder.", place=str(path.parent), remedy="Create it first.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    neighbour = Path(name)
    try:
        write(neighbour)
        # mkstemp keeps the file to its owner; an export is as readable as any other new file.
        neighbour.chmod(0o666 & ~_umask())
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)


def write_new_bytes(path: Path, data: bytes, *, overwrite: bool = False) -> None:
    """Writes a file of that content as :func:`write_new_file` does."""

    def write(neighbour: Path) -> None:
        neighbour.write_bytes(data)

    write_new_file(path, write, overwrite=overwrite)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
