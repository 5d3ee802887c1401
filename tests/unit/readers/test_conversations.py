"""Conversations that a program has at hand, and results that show themselves."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from evaluation import evaluate_transcript, read_upload, transcript_of
from evaluation.errors import InputError

SAID: list[dict[str, Any]] = [
    {"speaker": "Ann", "text": "I suspect Bob because he is quiet.", "round": 1, "mood": "calm"},
    {"speaker": "Bob", "text": "Why me, <b>Ann</b>?", "round": 1, "mood": None},
    {"speaker": "Ann", "text": "Because you asked.", "round": 2, "mood": math.nan},
]


def test_a_list_and_a_table_of_messages_are_the_same_transcript() -> None:
    game = transcript_of(SAID)
    assert [(one.speaker, one.text, one.round) for one in game.messages] == [
        (one["speaker"], one["text"], one["round"]) for one in SAID
    ]
    assert [one.metadata for one in game.messages] == [{"mood": "calm"}, {}, {}]
    assert transcript_of(game) is game
    table = pd.DataFrame(SAID)
    assert transcript_of(table) == game
    assert transcript_of(table.astype({"round": "Int64"})) == game
    assert evaluate_transcript(table).as_dict() == evaluate_transcript(game).as_dict()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "There is no message"),
        ([{"who": "x", "size": 1}], r"There is no column for the .*; there are who, size"),
        (pd.DataFrame({"speaker": ["a"]}), "There is no column for the text; there are speaker"),
        ("Ann: hello", "str is not a conversation"),
        ({"speaker": "a", "text": "b"}, "dict is not a conversation"),
        ([SAID[0], "Bob: hello"], "Message 2 is str, not a mapping"),
        (None, "NoneType is not a conversation"),
    ],
)
def test_what_is_missing_is_named(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate_transcript(given)


def test_an_upload_may_be_text() -> None:
    text = "speaker,text\nZoë,hi\nBob,ho\n"
    assert read_upload("a.csv", text)[0].transcript == read_upload("a.csv", text.encode())[0].transcript
