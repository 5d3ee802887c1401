"""Tools left out and agents renamed, at reading."""

import json
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.readers import ReadResult, read_upload
from evaluation.readers.edits import EditCounts, TranscriptEdits, agent_names, edit_words, parse_renames
from tests.unit.readers.trace_samples import SAMPLES


def read(data: bytes) -> list[ReadResult]:
    return read_upload("file", data)


def edited(data: bytes, **edits: Any) -> tuple[ReadResult, EditCounts]:
    counts = EditCounts()
    [result] = TranscriptEdits(**edits).applied(read(data), counts)
    return result, counts


def test_tools_are_left_out_and_the_rest_stays() -> None:
    data = SAMPLES["langgraph"][1]
    result, counts = edited(data, leaves_out_tools=True)
    assert result.transcript is not None
    assert [(one.index, one.speaker) for one in result.transcript.messages] == [(0, "user"), (1, "assistant")]
    assert result.transcript.metadata["tool_entries_left_out"] == counts.tool_entries == 2
    # Without tools in it, a game is the same game.
    plain = SAMPLES["autogen, console"][1]
    assert edited(plain, leaves_out_tools=True)[0] == read(plain)[0]


@pytest.mark.parametrize(("name", "count"), [("otlp, newer", 2), ("langfuse", 4), ("langgraph", 2), ("autogen", 2)])
def test_tools_of_formats_that_have_them(name: str, count: int) -> None:
    _, counts = edited(SAMPLES[name][1], leaves_out_tools=True)
    assert (counts.tool_entries > 0) == (count > 0)


def test_agents_are_renamed_wherever_they_speak_hear_and_vote() -> None:
    game = {
        "game_id": "g",
        "players": [{"name": "Ann"}, {"name": "Bob"}],
        "messages": [
            {"id": "m1", "index": 0, "speaker": "Ann", "text": "Bob, is it you?", "recipients": ["Bob"]},
            {"id": "m2", "index": 1, "speaker": "Bob", "text": "No.", "recipients": ["Ann"]},
        ],
        "votes": [{"round": 1, "voter": "Ann", "target": "Bob"}, {"round": 1, "voter": "Bob", "target": None}],
        "eliminations": [{"round": 1, "player": "Bob"}],
        "winner": "Bob",
        "source_format": "x",
        "format": "dramaturg-transcript",
        "version": 1,
    }
    result, counts = edited(json.dumps(game).encode(), renames={"Bob": "Rob", "Nobody": "X"})
    made = result.transcript
    assert made is not None
    assert made.player_names == ("Ann", "Rob")
    assert [(one.speaker, one.recipients, one.text) for one in made.messages] == [
        ("Ann", ("Rob",), "Bob, is it you?"),
        ("Rob", ("Ann",), "No."),
    ]
    assert [(one.voter, one.target) for one in made.votes] == [("Ann", "Rob"), ("Rob", None)]
    assert [one.player for one in made.eliminations] == ["Rob"]
    assert made.winner == "Rob"
    # Nobody in the game is called town: it is a side.
    side, _ = edited(json.dumps({**game, "winner": "town"}).encode(), renames={"Bob": "Rob", "town": "X"})
    assert side.transcript is not None
    assert side.transcript.winner == "town"
    assert made.metadata == {"renamed": {"Bob": "Rob"}}
    assert edit_words(TranscriptEdits(renames={"Bob": "Rob"}), counts) == "Bob is called Rob in 1 game."
    refused, _ = edited(json.dumps(game).encode(), renames={"Bob": "Ann"})
    assert "Ann and Bob would both be called 'Ann'" in str(refused.error)
    swapped, _ = edited(json.dumps(game).encode(), renames={"Bob": "Ann", "Ann": "Bob"})
    assert swapped.transcript is not None
    assert swapped.transcript.player_names == ("Bob", "Ann")


def test_names_that_do_not_occur_and_pairs_that_are_none_are_refused() -> None:
    names = agent_names(read(SAMPLES["autogen, console"][1]))
    assert names == ["user", "Ann"]
    with pytest.raises(InputError, match="No agent is called 'Bob'; there are user, Ann"):
        TranscriptEdits(renames={"Bob": "Rob"}).check_names(names)
    assert parse_renames([" a = b ", "", "c=d=e"]) == {"a": "b", "c": "d=e"}
    for wrong in (["a"], ["=b"], ["a="], ["a=b", "a=c"], [f"a={'b' * 201}"]):
        with pytest.raises(InputError):
            parse_renames(wrong)
    for wrong in ("Ann=Z\udcff", "Ann\udcff=Z"):
        with pytest.raises(InputError, match=r"not valid UTF-8") as refused:
            parse_renames([wrong])
        # What is printed can be encoded.
        str(refused.value).encode()
        assert refused.value.place == wrong.replace("\udcff", "?")
        assert refused.value.remedy
