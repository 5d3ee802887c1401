"""Files for others: tables, JSON and zips, with cells that no spreadsheet runs."""

import csv
import io
import zipfile
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ConflictError
from evaluation.escaping import spreadsheet_safe
from evaluation.readers import read_path, read_upload
from evaluation.transcript import Message, Player, Transcript
from evaluation.writers import (
    COLUMNS,
    csv_text,
    json_rows,
    message_rows,
    message_table,
    write_canonical,
    write_new_file,
)

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def real_games() -> list[list[Transcript]]:
    """The games of each source."""
    results = [read_path(folder) for folder in sorted(DATA.iterdir())]
    found = [[result.transcript for result in folder if result.transcript] for folder in results]
    return [games for games in found if games]


HOSTILE = Transcript(
    game_id="../=cmd|' /C calc'!A0",
    source_format="native",
    players=(Player(name="=Ann", role="seer", alignment="town"), Player(name='B"ob')),
    messages=(
        Message(id="a", index=0, round=1, speaker="=Ann", text="+1\r\n<b>\u2028x\0", reply_to="gone"),
        Message(id="b", index=1, speaker='B"ob', text="", channel="team", channel_name="mafia", recipients=("=Ann",)),
        Message(id="c", index=2, speaker="host", text="@SUM(1)", channel="system"),
    ),
)


def zipped(write: object, transcripts: list[Transcript]) -> bytes:
    buffer = io.BytesIO()
    assert callable(write)
    assert write(iter(transcripts), buffer) == len(transcripts)
    return buffer.getvalue()


def test_canonical_json_loses_nothing(real_games: list[list[Transcript]]) -> None:
    given = [HOSTILE, *chain(*real_games)]
    results = read_upload("x.zip", zipped(write_canonical, given))
    assert [str(result.error) for result in results if result.error] == []
    found = {result.transcript.id: result.transcript for result in results if result.transcript}
    assert found == {transcript.id: transcript for transcript in given}


def test_names_of_files_stay_inside_the_zip() -> None:
    with zipfile.ZipFile(io.BytesIO(zipped(write_canonical, [HOSTILE]))) as archive:
        assert archive.namelist() == [f"cmd-C-calc-A0-{HOSTILE.id}.json"]


def held_by_a_table(transcript: Transcript) -> list[tuple[object, ...]]:
    return [
        (m.id, m.round, m.phase, m.channel, m.speaker, m.recipients, m.text, m.sent_at, m.reply_to)
        for m in transcript.messages
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_come_back_with_what_they_hold(kind: str, real_games: list[list[Transcript]]) -> None:
    for transcript in chain(*(games[:3] for games in real_games)):
        if all(message.channel == "system" for message in transcript.messages):
            # A run of Autobox that failed before anybody spoke: a table holds no player who is silent.
            continue
        data = table_bytes([transcript], kind)
        (result,) = read_upload(f"x.{kind}", data)
        assert result.error is None
        assert result.transcript.game_id == transcript.game_id
        assert result.transcript.player_names == tuple(
            dict.fromkeys(m.speaker for m in transcript.messages if m.channel != "system")
        )
        expected = held_by_a_table(transcript)
        if kind == "csv":
            # Line ends are one newline wherever text is read, and a cell that a spreadsheet would run is disarmed.
            assert len(result.transcript.messages) == len(expected)
        else:
            assert held_by_a_table(result.transcript) == expected


def table_bytes(transcripts: list[Transcript], kind: str) -> bytes:
    table = message_table(transcripts)
    if kind == "csv":
        return csv_text(table).encode()
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def test_a_table_for_spreadsheets_has_all_columns_and_numbers_as_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(message_table([HOSTILE])), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert (rows[0]["index"], rows[0]["round"], rows[1]["round"]) == ("0", "1", "")


def test_rows_say_who_and_what() -> None:
    first, second, third = message_rows([HOSTILE])
    assert (first["role"], first["alignment"], first["recipients"]) == ("seer", "town", None)
    team = {"role": None, "channel": "team", "channel_name": "mafia", "recipients": "=Ann"}
    assert {name: second[name] for name in team} == team
    assert (third["speaker"], third["role"], third["transcript_id"]) == ("host", None, HOSTILE.id)


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        *((f"{start}1+1", f"'{start}1+1") for start in ("=", "+", "-", "@", "\t", "\n", "＝", "  =")),
        *((cell, cell) for cell in ("Agent-A", "✓ 84.0 %", "", 5, None, 3.2, "1-2")),
        ("\r1+1\x1b[31m\x1f", "'\n1+1"),
    ],
)
def test_what_begins_like_a_formula_gets_an_apostrophe_and_no_control_character_stays(cell: Any, safe: Any) -> None:
    assert spreadsheet_safe(cell) == safe


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1))
def test_every_cell_comes_back_from_csv_with_at_most_an_apostrophe_more(cells: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(pd.DataFrame({"cell": cells})), newline="")))[1:]
    assert [row[0].removeprefix("'") for row in rows] == [cell.removeprefix("'") for cell in cells]


def test_json_rows_hold_nothing_that_json_has_not() -> None:
    table = pd.DataFrame(
        {
            "score": [1.5, float("nan")],
            "name": ["Ann", None],
            "when": pd.to_datetime(["2026-01-01", None], utc=True),
            "yes": pd.array([True, None], dtype="boolean"),
        }
    )
    assert json_rows(table) == [
        {"score": 1.5, "name": "Ann", "when": "2026-01-01T00:00:00+00:00", "yes": True},
        {"score": None, "name": None, "when": None, "yes": None},
    ]


def test_a_failed_export_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("kept", encoding="utf-8")

    def fail(neighbour: Path) -> None:
        neighbour.write_text("half", encoding="utf-8")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_new_file(path, fail, overwrite=True)
    assert path.read_text("utf-8") == "kept"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ConflictError):
        write_new_file(path, fail)
