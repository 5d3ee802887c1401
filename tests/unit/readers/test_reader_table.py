import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evaluation.readers import ColumnMapping, Limits, ReadResult, guess_mapping, read_upload
from evaluation.transcript import Transcript

CSV = """Speaker,Message,Day,Timestamp,Role,Mood
Ann,"Hello, all",Day 1,2025-01-01 10:00:00,Villager,calm
Moderator,Night falls.,1,,,
Bob,"She said ""no""
and left",2,1735725600,Werewolf,
Ann,=1+1,2,1735725600000,,
"""


def read(data: str | bytes) -> Transcript:
    (result,) = read_upload("game.csv", data.encode() if isinstance(data, str) else data)
    assert result.error is None
    assert result.format == "table"
    assert result.transcript is not None
    return result.transcript


def refusal(data: str) -> str:
    results: list[ReadResult] = read_upload("game.csv", data.encode())
    return str(results[-1].error)


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
    (unknown,) = read_upload("game.csv", f"{first}wer;was\nAnn;Hi, all\n".encode())
    assert unknown.head is not None
    assert (unknown.head.columns, unknown.head.rows) == (("wer", "was"), (("Ann", "Hi, all"),))


def test_a_line_separator_of_unicode_ends_no_row() -> None:
    assert read("name,text\nAnn,one\u2028two\x0bthree\n").messages[0].text == "one\u2028two\x0bthree"


@pytest.mark.parametrize(
    "data",
    [
        '{"player": "Ann", "utterance": "Hi", "turn": 3}\n{"player": "Bob", "utterance": "Ho", "turn": null}\n',
        '[{"player": "Ann", "utterance": "Hi", "turn": 3.0}, {"player": "Bob", "utterance": "Ho"}]',
        "player\tutterance\tturn\nAnn\tHi\t3\nBob\tHo\t\n",
    ],
    ids=["json lines", "json", "tsv"],
)
def test_json_and_tsv_rows(data: str) -> None:
    assert [(m.speaker, m.text, m.round) for m in read(data).messages] == [("Ann", "Hi", 3), ("Bob", "Ho", None)]


def test_several_games_in_one_table() -> None:
    data = "game_id,name,text\nb,Ann,1\na,Bob,2\nb,Cid,3\n,Dan,4\n"
    results = read_upload("all.csv", data.encode())
    assert [(r.name, r.transcript and r.transcript.player_names) for r in results] == [
        ("all.csv/b", ("Ann", "Cid")),
        ("all.csv/a", ("Bob",)),
        ("all.csv/rows without a game", ("Dan",)),
    ]
    assert [r.transcript.game_id for r in results if r.transcript][:2] == ["b", "a"]


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


def mapped(data: bytes, mapping: ColumnMapping) -> list[ReadResult]:
    return read_upload("x.csv", data, choose_columns=lambda _: mapping)


def test_a_mapping_chosen_by_a_person() -> None:
    data = b"a,b,c\nAnn,Hi,2\nBob,Ho,3\n"
    (result,) = mapped(data, ColumnMapping(speaker="a", text="b", round="c"))
    assert result.transcript is not None
    assert [(m.speaker, m.text, m.round) for m in result.transcript.messages] == [("Ann", "Hi", 2), ("Bob", "Ho", 3)]
    (swapped,) = mapped(data, ColumnMapping(speaker="b", text="a"))
    assert swapped.transcript is not None
    assert swapped.transcript.messages[0].metadata == {"c": "2"}
    (wrong,) = mapped(data, ColumnMapping(speaker="a", text="z"))
    assert "There is no column 'z'; there are a, b, c." in str(wrong.error)


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
    assert [m.metadata for m in transcript.messages] == [
        {"score": 0.5, "flag": True},
        {},
    ]


def test_a_parquet_table_that_unpacks_to_too_much() -> None:
    many = parquet({"speaker": ["A"] * 300_000, "text": ["x" * 1000] * 300_000})
    assert len(many) < 50_000
    assert refusal_of(many) == "The table has 300,000 rows, more than 200,000. Split it into several."
    long = parquet({"speaker": ["A"] * 50_000, "text": ["x" * 1000] * 50_000})
    assert refusal_of(long) == "The table holds more than 20,971,520 characters. Split it into several."
    wide = parquet({"speaker": ["A"] * 1000, "text": ["x" * 200_000] * 1000})
    assert "A cell holds 200,000 characters, more than 100,000." in refusal_of(wide)


def refusal_of(data: bytes) -> str:
    (result,) = read_upload("x.parquet", data, Limits())
    return str(result.error)


FAULTS = {
    "a row too short, after a text of two lines": (
        'name,text\nAnn,"a\nb"\n\nBob\n',
        "line 5: The row has 1 cells, the heading 2. Put a text that holds the separator or a line break into quotes "
        '("), and double the quotes inside it.',
    ),
    "text behind a closing quote": (
        'name,text\nAnn,"Hi" all\n',
        "line 2: The row cannot be read: ',' expected after '\"'. Put a text that holds the separator or a line break "
        'into quotes ("), and double the quotes inside it.',
    ),
    "a round that is none": (
        "name,text,day\nAnn,Hi,Monday\n",
        "line 2: Found \"Monday\" in the column 'day', expected a round's number. "
        "Correct the cell, or choose another column.",
    ),
    "a time that is none": (
        "name,text,time\nAnn,Hi,noon\n",
        "line 2: Found \"noon\" in the column 'time', expected a time as in 2025-01-31T18:05:00Z. "
        "Correct the cell, or choose another column.",
    ),
    "an id twice": (
        "message_id,name,text\na,Ann,Hi\na,Bob,Ho\n",
        "line 3: The message id 'a' occurs twice, first at line 2. Correct the cell, or choose another column.",
    ),
    "only the moderator": (
        "name,text\nModerator,Hi\n",
        "Nobody speaks but the system and moderators. Export the whole chat, or say who plays (--speaker NAME=player).",
    ),
    "a list for a speaker": (
        '{"name": "Ann", "text": "Hi"}\n{"name": [1], "text": "Hi"}\n',
        "line 2: $: Found \"[1]\" in the column 'name', expected one value. "
        "Correct the cell, or choose another column.",
    ),
    "a line that is no object": (
        '{"name": "Ann", "text": "Hi"}\n7\n',
        "line 2: $: Found the number 7, expected an object. Correct that value and try again.",
    ),
}


@pytest.mark.parametrize(("data", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_broken_table_names_the_row(data: str, expected: str) -> None:
    assert refusal(data) == expected


def test_one_broken_game_leaves_the_others_standing() -> None:
    first, second = read_upload("x.csv", b"game,name,text,day\n1,Ann,Hi,1\n2,Cid,Ho,x\n1,Bob,He,1\n")
    assert first.error is None
    assert str(second.error).startswith("line 3: Found \"x\" in the column 'day'")


@pytest.mark.parametrize(
    "text",
    ["Dear all, hello\nhow are, you\n", "1,2\n3,4\n", "a,b\n1,2\n", "name\nAnn\n", '{"name": "x", "version": 2}', "[]"],
)
def test_what_is_no_table_of_messages(text: str) -> None:
    (result,) = read_upload("x.csv", text.encode())
    assert result.format is None


def test_a_table_of_50_000_rows() -> None:
    rows = [json.dumps({"speaker": f"P{number % 9}", "text": f"Message {number}"}) for number in range(50_000)]
    assert len(read("\n".join(rows)).messages) == 50_000
