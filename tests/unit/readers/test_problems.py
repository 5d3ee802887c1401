"""Every problem of a broken file is told with its own place, and none that is not there."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evaluation.readers import ColumnMapping, read_upload
from evaluation.readers.every_problem import MOST_PROBLEMS, every_problem


def native(*messages: Any, players: Any = ({"name": "Ann"},), votes: Any = ()) -> bytes:
    return json.dumps({"gameId": "g", "players": players, "messages": messages, "votes": votes}).encode()


def said(who: Any = "Ann", what: Any = "Hi", **more: Any) -> dict[str, Any]:
    return {"playerName": who, "message": what, **more}


def places(data: bytes) -> list[str]:
    return [problem.place for problem in every_problem(data)]


def test_a_good_file_has_none() -> None:
    assert every_problem(native(said())) == ()


def test_each_fault_is_told_where_it_stands_in_the_file() -> None:
    data = native(
        said(),
        said(what=7),
        said("Zoe"),
        said(),
        said(timestamp="soon"),
        votes=[{"voterName": "Bob", "targetName": "Ann"}],
    )
    assert places(data) == [
        "$.messages[1].message",
        "$.messages[2].playerName",
        "$.messages[4].timestamp",
        "$.votes[0].voterName",
    ]
    assert all(problem.remedy for problem in every_problem(data))


def test_a_fault_in_a_player_ends_the_search() -> None:
    assert places(native(said(), said(what=7), players=[{"name": 3}, {"name": "Ann"}])) == ["$.players[0].name"]


def test_the_rows_of_tables_keep_their_numbers() -> None:
    data = b"speaker,text,day\nAnn,Hi,1\n,Hi,1\nBen,Ho,soon\nAnn,Hi,2\nAnn,Hi,never\n"
    assert places(data) == ["line 3", "line 4", "line 6"]


def test_columns_that_somebody_chose_count() -> None:
    data = b"speaker,text,day\nAnn,Hi,soon\n"
    assert every_problem(data, None, lambda _: ColumnMapping(speaker="speaker", text="text")) == ()


def test_half_of_a_quoted_text_is_not_left_out() -> None:
    assert places(b'speaker,text,day\nAnn,"Hi\nthere",soon\nBen,Ho,never\n') == ["line 2"]


def test_no_fault_is_made_by_leaving_everything_out() -> None:
    assert places(native(said(what=1), said(what=2))) == ["$.messages[0].message", "$.messages[1].message"]
    assert places(b"speaker,text\n,Hi\n") == ["line 2"]


def test_lines_of_json() -> None:
    data = b'{"speaker": "Ann", "text": "Hi"}\n{"speaker": null}\n{"speaker": "", "text": "Ho"}\n'
    assert [place.partition(":")[0] for place in places(data)] == ["line 2", "line 3"]


def test_twenty_are_enough() -> None:
    assert len(every_problem(native(*[said("Zoe")] * 50))) == MOST_PROBLEMS


def test_what_is_no_single_game_has_the_first_problem_only() -> None:
    assert len(every_problem(b"nothing")) == 1
    assert len(every_problem(b"")) == 1
    assert len(every_problem(b"\xff\xfe\xff")) == 1
    assert len(every_problem(b'{"gameId": ')) == 1


@given(st.lists(st.sampled_from(["Ann", "Zoe", None, 3]), min_size=1, max_size=12))
def test_every_bad_message_is_found_and_no_good_one(speakers: list[Any]) -> None:
    bad = [f"$.messages[{place}].playerName" for place, who in enumerate(speakers) if who != "Ann"]
    assert places(native(*map(said, speakers))) == bad


@given(st.binary(max_size=300) | st.text(alphabet='speakrtx,"\n{}[]:1', max_size=200).map(str.encode))
def test_the_first_is_always_what_the_reader_says(data: bytes) -> None:
    error = read_upload("file", data)[0].error
    found = every_problem(data)
    assert [str(problem) for problem in found[:1]] == ([] if error is None else [str(error)])
