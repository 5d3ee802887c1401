"""What a person sees of a table when choosing its columns, and that the choice is kept to."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.readers import ColumnMapping, Limits, TableHead, guess_mapping, read_path, read_upload, read_uploads
from evaluation.readers.document import Document
from evaluation.readers.tables import ROWS_SHOWN, table_head

ROWS = [{"wer": "Ann", "was": "Hallo, Ben", "tag": 1}, {"wer": "Ben", "was": "Guten Tag", "tag": 2}]
GERMAN = ColumnMapping(speaker="wer", text="was", round="tag")


def csv_bytes(separator: str = ",") -> bytes:
    return pd.DataFrame(ROWS).to_csv(index=False, sep=separator).encode()


def parquet_bytes() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(ROWS).to_parquet(buffer, index=False)
    return buffer.getvalue()


KINDS = {
    "csv": csv_bytes(),
    "tsv": csv_bytes("\t"),
    "semicolons": csv_bytes(";"),
    "json": json.dumps(ROWS).encode(),
    "jsonl": "\n".join(map(json.dumps, ROWS)).encode(),
    "parquet": parquet_bytes(),
}


def german(columns: tuple[str, ...]) -> ColumnMapping | None:
    return GERMAN if columns == ("wer", "was", "tag") else None


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)
def test_a_table_of_unknown_columns_is_refused_with_its_head_and_read_once_they_are_chosen(data: bytes) -> None:
    (before,) = read_upload("x", data)
    assert before.error is not None
    assert "choose it" in before.error.remedy or "--map speaker=COLUMN" in before.error.remedy
    assert before.head == TableHead(("wer", "was", "tag"), (("Ann", "Hallo, Ben", "1"), ("Ben", "Guten Tag", "2")))
    (after,) = read_upload("x", data, Limits(), german)
    assert after.transcript is not None
    assert [(m.speaker, m.text, m.round) for m in after.transcript.messages] == [
        ("Ann", "Hallo, Ben", 1),
        ("Ben", "Guten Tag", 2),
    ]
    assert after.head == before.head


def test_the_choice_goes_before_the_names() -> None:
    data = b"speaker,text,note\nAnn,one,two\n"
    (result,) = read_upload("x", data, Limits(), lambda columns: ColumnMapping(speaker="speaker", text="note"))
    assert result.transcript is not None
    assert result.transcript.messages[0].text == "two"
    assert guess_mapping(("speaker", "text", "note")) == ColumnMapping(speaker="speaker", text="text")


def test_one_choice_is_for_all_tables_of_that_heading_also_in_zips() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("day1.csv", csv_bytes())
        archive.writestr("other.csv", "speaker,text\nAnn,Hi\n")
    results = read_uploads([("a.zip", buffer.getvalue()), ("b.csv", csv_bytes(";"))], Limits(), german)
    assert [(result.name, result.error) for result in results] == [
        ("a.zip/day1.csv", None),
        ("a.zip/other.csv", None),
        ("b.csv", None),
    ]
    assert [result.head.columns for result in results if result.head] == [
        ("wer", "was", "tag"),
        ("speaker", "text"),
        ("wer", "was", "tag"),
    ]


def test_a_wrong_choice_is_refused_with_the_row_or_the_columns() -> None:
    (wrong,) = read_upload("x", csv_bytes(), Limits(), lambda _: ColumnMapping(speaker="wer", text="was", round="was"))
    assert wrong.error is not None
    assert str(wrong.error).startswith("line 2: Found \"Hallo, Ben\" in the column 'was', expected")
    (missing,) = read_upload("x", b"speaker,text\nAnn,Hi\n", Limits(), lambda _: GERMAN)
    assert missing.error is not None
    assert missing.error.message == "There is no column 'wer' for the speaker; there are speaker, text."


def test_a_choice_for_columns_that_the_file_lacks_leaves_an_unknown_file_unknown() -> None:
    (result,) = read_upload("x", b"a,b\n1,2\n", Limits(), lambda _: GERMAN)
    assert result.error is not None
    assert "No known format begins like that" in result.error.message


def test_half_a_choice_leaves_an_unknown_table_refused() -> None:
    (result,) = read_upload("x", csv_bytes(), Limits(), lambda _: ColumnMapping(speaker="wer"))
    assert result.error is not None
    assert result.head is not None


@pytest.mark.parametrize(
    "data",
    [
        b"Shopping: milk, bread.\n",
        b"one column\nonly\n",
        b"a,a\n1,2\n",
        b"a,b\n",
        b'{"a": 1, "b": 2',
        b'[{"a": {"b": 1}, "c": 2}]',
        b"[[1, 2], [3, 4]]",
        b'["a", "b"]',
        b'{"a": 1, "b": 2}',
        b"PAR1 but nothing else",
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_what_is_no_table_has_no_head(data: bytes) -> None:
    assert table_head(Document(data, Limits())) is None


def test_a_head_is_short_whatever_the_table_holds() -> None:
    data = b"who,what\n" + b"Ann," + b"x" * 50_000 + b"\n" + b"Ben,Hi\n" * 1000
    head = table_head(Document(data, Limits()))
    assert head is not None
    assert len(head.rows) == ROWS_SHOWN
    assert len(head.rows[0][1]) == 200


def test_games_of_other_formats_have_no_head(data_root) -> None:
    for folder in ("aiwolf", "inspect_logs", "llmafia", "werewolf_gpt"):
        assert {result.head for result in read_path(data_root / folder)} == {None}


@given(st.binary(max_size=400) | st.text(alphabet='ab,;"\n\t|{}[]:1', max_size=200).map(str.encode))
def test_no_file_breaks_it(data: bytes) -> None:
    head = table_head(Document(data, Limits()))
    assert head is None or all(len(row) == len(head.columns) for row in head.rows)
