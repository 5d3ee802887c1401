import csv
import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.readers import ColumnMapping, Limits, TableHead, guess_mapping, read_path, read_upload, read_uploads
from evaluation.readers.document import Document
from evaluation.readers.tables import ROWS_SHOWN, table_head
from evaluation.transcript import Transcript
from tests.unit.readers.reading import read, refusal, result, results

CSV = """Speaker,Message,Day,Timestamp,Role,Mood
Ann,"Hello, all",Day 1,2025-01-01 10:00:00,Villager,calm
Moderator,Night falls.,1,,,
Bob,"She said ""no""
and left",2,1735725600,Werewolf,
Ann,=1+1,2,1735725600000,,
"""


def test_a_table_with_quotes_line_breaks_and_a_moderator() -> None:
    transcript = read(CSV)
    assert [(m.speaker, m.channel, m.round, m.text) for m in transcript.messages] == [
        ("Ann", "public", 1, "Hello, all"),
        ("Moderator", "system", 1, "Night falls."),
        ("Bob", "public", 2, 'She said "no"\nand left'),
        ("Ann", "public", 2, "=1+1"),
    ]
    assert [(p.name, p.role, p.alignment) for p in transcript.players] == [
        ("Ann", "Villager", "town"),
        ("Bob", "Werewolf", "mafia"),
    ]
    # 1735725600 is 2025-01-01 10:00 UTC, in seconds and in milliseconds.
    assert {m.sent_at for m in transcript.discussion} == {datetime(2025, 1, 1, 10, tzinfo=UTC)}
    assert [m.metadata for m in transcript.messages] == [{"Mood": "calm"}, {}, {}, {}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_delimiter_with_the_others_in_the_text(delimiter: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows([["player", "text"], ["Ann", 'a,b;c\td|e "f"']])
    assert read(buffer.getvalue()).messages[0].text == 'a,b;c\td|e "f"'


@pytest.mark.parametrize("first", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_a_first_line_of_excel_names_the_delimiter(first: str) -> None:
    (message,) = read(f"{first}name;text\nAnn;one, two\n").messages
    assert (message.speaker, message.text) == ("Ann", "one, two")
    # Lines keep the numbers that an editor shows; the delimiter named holds, whatever else the heading could be.
    assert refusal(f"{first}name;text\nAnn\n").startswith("line 3: The row has 1 cells, the heading 2.")
    assert "No known format begins like that." in refusal(f"{first}a;name,text\n1;Ann,Hi\n")
    unknown = result(f"{first}wer;was\nAnn;Hi, all\n")
    assert (unknown.head.columns, unknown.head.rows) == (("wer", "was"), (("Ann", "Hi, all"),))


def test_a_line_separator_of_unicode_ends_no_row() -> None:
    assert read("name,text\nAnn,one\u2028two\x0bthree\n").messages[0].text == "one\u2028two\x0bthree"


def test_several_games_in_one_table() -> None:
    data = "game_id,name,text\nb,Ann,1\na,Bob,2\nb,Cid,3\n,Dan,4\n"
    found = results(data, "all.csv")
    assert [(r.name, r.transcript and r.transcript.player_names) for r in found] == [
        ("all.csv/b", ("Ann", "Cid")),
        ("all.csv/a", ("Bob",)),
        ("all.csv/rows without a game", ("Dan",)),
    ]
    assert [r.transcript.game_id for r in found if r.transcript][:2] == ["b", "a"]


def test_replies_by_id_and_by_player() -> None:
    by_id = read("id,name,text,reply_to\na,Ann,1,\nb,Bob,2,a\nc,Ann,3,z\n")
    assert [(m.id, m.reply_to) for m in by_id.messages] == [("a", None), ("b", "a"), ("c", "z")]
    by_player = read("name,text,in_reply_to\nAnn,1,\nAnn,2,\nBob,3,Ann\n")
    assert by_player.messages[2].reply_to == "m2"


def test_channels_and_recipients() -> None:
    transcript = read("name,text,channel,to\nAnn,1,Public,\nBob,2,mafia,Ann; Cid\nAnn,3,#lobby,\nGod,4,System,\n")
    assert [(m.channel, m.channel_name, m.recipients) for m in transcript.messages] == [
        ("public", None, ()),
        ("team", "mafia", ("Ann", "Cid")),
        ("public", "#lobby", ()),
        ("system", None, ()),
    ]
    assert transcript.player_names == ("Ann", "Bob")


def test_guesses() -> None:
    assert guess_mapping(["Player Name", "Msg", "GAME-ID", "x"]) == ColumnMapping("Player Name", "Msg", "GAME-ID")
    assert guess_mapping(["from", "to", "value"]) == ColumnMapping("from", "value", recipients="to")
    # Without a speaker, the role speaks; an id belongs to a message only where there are replies.
    assert guess_mapping(["role", "text", "id"]) == ColumnMapping("role", "text")
    assert guess_mapping(["id", "parent_id"]) == ColumnMapping(message_id="id", reply_to="parent_id")
    assert guess_mapping([]).missing == ("speaker", "text")


def mapped(data: bytes, mapping: ColumnMapping) -> Transcript:
    return read(data, choose_columns=lambda _: mapping)


def test_a_mapping_chosen_by_a_person() -> None:
    data = b"a,b,c\nAnn,Hi,2\nBob,Ho,3\n"
    transcript = mapped(data, ColumnMapping(speaker="a", text="b", round="c"))
    assert [(m.speaker, m.text, m.round) for m in transcript.messages] == [("Ann", "Hi", 2), ("Bob", "Ho", 3)]
    assert mapped(data, ColumnMapping(speaker="b", text="a")).messages[0].metadata == {"c": "2"}


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


def test_a_parquet_table_of_every_type() -> None:
    time = datetime(2025, 1, 1, 10, tzinfo=UTC)
    data = parquet(
        {
            "speaker": ["Ann", "Bob", "Ann"],
            "text": [b"Hi", b"Ho", b"\xff"],
            "round": [1.0, None, 2.0],
            "timestamp": [time, None, time],
            "score": [0.5, float("nan"), 1.0],
            "flag": [True, None, False],
            "nested": [[1], [2], None],
        }
    )
    transcript = read(data)
    assert [(m.speaker, m.text, m.round, m.sent_at) for m in transcript.messages] == [
        ("Ann", "Hi", 1, time),
        ("Bob", "Ho", None, None),
    ]
    assert transcript.metadata == {"rows_without_message": 1}
    assert [m.metadata for m in transcript.messages] == [{"score": 0.5, "flag": True}, {}]


def test_a_parquet_table_that_unpacks_to_too_much() -> None:
    many = parquet({"speaker": ["A"] * 300_000, "text": ["x" * 1000] * 300_000})
    assert len(many) < 50_000
    assert refusal(many).startswith("The table has 300,000 rows, more than 200,000. Check that it is one game")
    assert "raise limit.lines" in refusal(many)
    long = parquet({"speaker": ["A"] * 50_000, "text": ["x" * 1000] * 50_000})
    assert refusal(long).startswith("The table holds more than 20,971,520 characters. Split it into several, or raise")
    wide = parquet({"speaker": ["A"] * 1000, "text": ["x" * 200_000] * 1000})
    assert "A cell holds 200,000 characters, more than 100,000." in refusal(wide)


def test_columns_of_a_parquet_table_are_looked_at_before_they_are_unpacked() -> None:
    import pyarrow as pa

    said = {"speaker": ["Ann", "Bob"] * 2_000, "text": ["Hi", "Ho"] * 2_000}
    blob = pa.array([b"x" * 1_000_000], pa.binary(1_000_000))
    with_blob = {**said, "blob": pa.DictionaryArray.from_arrays([0] * 4_000, blob)}
    data = parquet(with_blob, compression="zstd", store_schema=False)
    assert len(data) < 50_000
    assert [m.metadata for m in read(data).messages] == [{}] * 4_000
    cells = {**said, **{f"c{number}": [1] * 4_000 for number in range(600)}}
    assert refusal(parquet(cells)).startswith("The table has 2,408,000 cells, more than 2,000,000.")


def test_a_small_parquet_table_unpacks_to_no_gigabyte() -> None:
    import pyarrow as pa

    said = {"speaker": ["Ann"] * 200, "text": ["Hi"] * 200}
    blobs = {**said, "blob": pa.array([b"\xff" * 1_000_000] * 200, pa.large_binary())}
    packed = parquet(blobs, compression="zstd", use_dictionary=False)
    assert len(packed) < 50_000
    assert refusal(packed).startswith("The table unpacks to 200,0")
    ways = {"text": "DELTA_BYTE_ARRAY", "speaker": "PLAIN"}
    assert "packed as differences" in refusal(parquet(said, use_dictionary=False, column_encoding=ways))


FAULTS = {
    "a row too short, after a text of two lines": (
        'name,text\nAnn,"a\nb"\n\nBob\n',
        "line 5: The row has 1 cells, the heading 2. Put a text that holds the separator or a line break into quotes",
    ),
    "text behind a closing quote": (
        'name,text\nAnn,"Hi" all\n',
        "line 2: The row cannot be read: ',' expected after '\"'.",
    ),
    "a round that is none": (
        "name,text,day\nAnn,Hi,Monday\n",
        "line 2: Found \"Monday\" in the column 'day', expected a round's number.",
    ),
    "a time that is none": (
        "name,text,time\nAnn,Hi,noon\n",
        "line 2: Found \"noon\" in the column 'time', expected a time as in 2025-01-31T18:05:00Z.",
    ),
    "an id twice": (
        "message_id,name,text\na,Ann,Hi\na,Bob,Ho\n",
        "line 3: The message id 'a' occurs twice, first at line 2.",
    ),
    "only the moderator": ("name,text\nModerator,Hi\n", "Nobody speaks but the system and moderators."),
    "a list for a speaker": (
        '{"name": "Ann", "text": "Hi"}\n{"name": [1], "text": "Hi"}\n',
        "line 2: $: Found \"[1]\" in the column 'name', expected one value.",
    ),
    "a line that is no object": (
        '{"name": "Ann", "text": "Hi"}\n7\n',
        "line 2: $: Found the number 7, expected an object.",
    ),
}


@pytest.mark.parametrize(("data", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_broken_table_names_the_row(data: str, expected: str) -> None:
    assert refusal(data).startswith(expected)


def test_one_broken_game_leaves_the_others_standing() -> None:
    first, second = results(b"game,name,text,day\n1,Ann,Hi,1\n2,Cid,Ho,x\n1,Bob,He,1\n")
    assert first.error is None
    assert str(second.error).startswith("line 3: Found \"x\" in the column 'day'")


@pytest.mark.parametrize(
    "text",
    ["Dear all, hello\nhow are, you\n", "1,2\n3,4\n", "a,b\n1,2\n", "name\nAnn\n", '{"name": "x", "version": 2}', "[]"],
)
def test_what_is_no_table_of_messages(text: str) -> None:
    assert result(text).format is None


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
    assert "choose it" in before.error.remedy or "--map speaker=COLUMN" in before.error.remedy
    assert before.head == TableHead(("wer", "was", "tag"), (("Ann", "Hallo, Ben", "1"), ("Ben", "Guten Tag", "2")))
    (after,) = read_upload("x", data, Limits(), german)
    assert [(m.speaker, m.text, m.round) for m in after.transcript.messages] == [
        ("Ann", "Hallo, Ben", 1),
        ("Ben", "Guten Tag", 2),
    ]
    assert after.head == before.head


def test_a_choice_goes_before_the_names_and_what_it_does_not_fit_is_refused() -> None:
    chosen = mapped(b"speaker,text,note\nAnn,one,two\n", ColumnMapping(speaker="speaker", text="note"))
    assert chosen.messages[0].text == "two"
    for data, mapping, said in (
        (
            csv_bytes(),
            ColumnMapping(speaker="wer", text="was", round="was"),
            'line 2: Found "Hallo, Ben" in the column',
        ),
        (b"speaker,text\nAnn,Hi\n", GERMAN, "There is no column 'wer' for the speaker; there are speaker, text."),
        # Columns that the file lacks leave it unknown, and half a choice leaves it refused with its head.
        (b"a,b\n1,2\n", GERMAN, "No known format begins like that"),
        (csv_bytes(), ColumnMapping(speaker="wer"), "No known format begins like that"),
    ):
        found = result(data, choose_columns=lambda _, mapping=mapping: mapping)
        assert said in str(found.error)
        assert found.head is not None


def test_one_choice_is_for_all_tables_of_that_heading_also_in_zips() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("day1.csv", csv_bytes())
        archive.writestr("other.csv", "speaker,text\nAnn,Hi\n")
    results = read_uploads([("a.zip", buffer.getvalue()), ("b.csv", csv_bytes(";"))], Limits(), german)
    assert [one.error for one in results] == [None] * 3
    chosen = ("wer", "was", "tag")
    assert [(one.name, one.head and one.head.columns) for one in results] == [
        ("a.zip/day1.csv", chosen), ("a.zip/other.csv", ("speaker", "text")), ("b.csv", chosen),
    ]  # fmt: skip


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
    assert len(head.rows) == ROWS_SHOWN
    assert len(head.rows[0][1]) == 200


def test_games_of_other_formats_have_no_head(data_root) -> None:
    for folder in ("aiwolf", "inspect_logs", "llmafia", "werewolf_gpt"):
        assert {result.head for result in read_path(data_root / folder)} == {None}


@given(st.binary(max_size=400) | st.text(alphabet='ab,;"\n\t|{}[]:1', max_size=200).map(str.encode))
def test_no_file_breaks_it(data: bytes) -> None:
    head = table_head(Document(data, Limits()))
    assert head is None or all(len(row) == len(head.columns) for row in head.rows)
