"""Tables and transcripts as files for other programs."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

from evaluation.errors import ConflictError, InputError
from evaluation.escaping import spreadsheet_safe
from evaluation.readers.import_report import ImportOutcome, ImportReport
from evaluation.rubric.at_chance import control_words
from evaluation.rubric.controls import COMPANION_KEYS, CONTROL_KEYS
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Coverage
from evaluation.text.display import counted
from evaluation.transcript import Message, Player, Transcript

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
        ``status``, ``low_evidence`` (whether the score rests on too little), ``threshold``, ``method``, ``version``,
        ``control`` (as :meth:`MetricResult.as_dict` gives it; in
        columns of its own with :func:`flat_controls`), ``control_words``.
    """
    import pandas as pd

    origin = summaries[["transcript_id", "game_id", "source_format", "source_name", "iteration"]]
    columns = ["metric", "score", "numerator", "denominator", "status", "low_evidence", "threshold", "method"]
    columns += ["version", "control", "control_words"]
    told = [
        control_words(metric, None if math.isnan(score) else score, control)
        for metric, score, control in zip(scores["metric"], scores["score"], scores["control"], strict=True)
    ]
    controls = [{"status": "pending"} if control is None else control for control in scores["control"]]
    low = [
        not math.isnan(score) and not math.isnan(considered) and _is_low(metric, settled, considered)
        for metric, score, settled, considered in zip(
            scores["metric"], scores["score"], scores["denominator"], scores["considered"], strict=True
        )
    ]
    scores = scores.assign(low_evidence=low)
    scores = scores.assign(control=pd.Series(controls, index=scores.index, dtype=object), control_words=told)
    return origin.merge(scores[["transcript_id", *columns]], on="transcript_id", how="inner", validate="one_to_many")


def _is_low(metric: str, settled: float, considered: float) -> bool:
    rule = DEFINITIONS[metric].coverage
    return rule is not None and Coverage(rule, round(settled), round(considered)).is_low


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
    return [
        {str(name): value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
        for row in present.to_dict("records")
    ]


def write_new_file(path: Path, write: Callable[[Path], object], *, overwrite: bool = False) -> None:
    """Writes a file whole or not at all: ``write`` fills a neighbour, which then takes the name.

    Raises:
        ConflictError: The file exists, and ``overwrite`` was not asked for.
        InputError: Its folder does not exist.
    """
    if path.exists() and not overwrite:
        raise ConflictError("The file exists.", place=str(path), remedy="Choose another name, or say --force.")
    if not path.parent.is_dir():
        raise InputError("There is no such folder.", place=str(path.parent), remedy="Create it first.")
    neighbour = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        write(neighbour)
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)


_VALUES: Mapping[str, Callable[[Transcript, Message, Player | None], Any]] = {
    "transcript_id": lambda game, _, __: game.id,
    "game_id": lambda game, _, __: game.game_id,
    "source_format": lambda game, _, __: game.source_format,
    "message_id": lambda _, said, __: said.id,
    "index": lambda _, said, __: said.index,
    "round": lambda _, said, __: said.round,
    "phase": lambda _, said, __: said.phase,
    "channel": lambda _, said, __: said.channel,
    "channel_name": lambda _, said, __: said.channel_name,
    "speaker": lambda _, said, __: said.speaker,
    "role": lambda _, __, player: player and player.role,
    "alignment": lambda _, __, player: player and player.alignment,
    "recipients": lambda _, said, __: "; ".join(said.recipients) or None,
    "text": lambda _, said, __: said.text,
    "sent_at": lambda _, said, __: said.sent_at and said.sent_at.isoformat(),
    "reply_to": lambda _, said, __: said.reply_to,
}
COLUMNS = tuple(_VALUES)


def message_rows(transcripts: Iterable[Transcript]) -> Iterator[dict[str, Any]]:
    """One row per message, in order.

    Yields:
        ``transcript_id``, ``game_id``, ``source_format``; ``message_id``, ``index`` (from 0), ``round``, ``phase``,
        ``channel``, ``channel_name``, ``speaker``, the speaker's ``role`` and ``alignment``, ``recipients`` (names
        separated by "; "), ``text``, ``sent_at`` (ISO 8601), ``reply_to`` (a message id); ``None`` for what is unknown.
    """
    for transcript in transcripts:
        for message in transcript.messages:
            is_player = message.speaker in transcript.player_names
            player = transcript.player(message.speaker) if is_player else None
            yield {name: value(transcript, message, player) for name, value in _VALUES.items()}


def message_table(transcripts: Iterable[Transcript]) -> pd.DataFrame:
    """The rows of ``message_rows`` as a table; ``index`` and ``round`` are whole numbers, the others text."""
    import pandas as pd

    table = pd.DataFrame(message_rows(transcripts), columns=list(COLUMNS))
    # Without this, a missing round would turn the others into fractions.
    return table.astype({column: "Int64" if column in ("index", "round") else "string" for column in COLUMNS})


_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60


def write_canonical(transcripts: Iterable[Transcript], target: IO[bytes]) -> int:
    """Writes a zip with one file per transcript, and returns how many are in it.

    A file's name begins with the game's id, as far as any system takes it, and ends with the transcript's.
    """
    count = 0
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for transcript in transcripts:
            count += 1
            archive.writestr(_file_name(transcript), transcript.to_json(indent=2) + "\n")
    return count


def _file_name(transcript: Transcript) -> str:
    # No leading dot: hidden files are passed over when the zip is read.
    name = _NOT_FOR_NAMES.sub("-", transcript.game_id)[:_LONGEST_NAME].strip("-.")
    return f"{name or 'game'}-{transcript.id}.json"


def counts_words(report: ImportReport) -> str:
    """The outcomes in one sentence, zero counts left out: "4 games: 3 stored, 1 known. 1 refused."."""
    refused = report.counts[ImportOutcome.REFUSED]
    parts = [
        f"{count:,} {outcome}"
        for outcome, count in report.counts.items()
        if count and outcome is not ImportOutcome.REFUSED
    ]
    games = [f"{counted(len(report.lines) - refused, 'game')}: {', '.join(parts)}."] if parts else []
    # A file that was not read, or one game of several in it: a line does not tell which.
    rest = [f"{refused:,} refused."] if refused else []
    return " ".join(games + rest) or "No file."
