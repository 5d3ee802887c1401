"""Words and sentences, with their places in the original text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.text.normal import normalise
from evaluation.text.tokens import sentences, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don’t know.", ["i", "don't", "know"]),
        ("Agent-Alpha's vote", ["agent", "alpha's", "vote"]),
        ("snake_case _Bob_ **bold**", ["snake", "case", "bob", "bold"]),
        ("3.5 in round 2", ["3", "5", "in", "round", "2"]),
        ("'quoted' rock 'n' roll", ["quoted", "rock", "n", "roll"]),
        ("École ﬁne Straße", ["école", "fine", "strasse"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("😀 🤔!", []),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [token.text for token in tokenize(text)] == words


def test_spans_are_code_points_of_the_original() -> None:
    # 0 is the woman's head, 1 the joiner, 2 the computer, 3 the space: "vote" stands at 4 to 8, "DON’T" at 10 to 15.
    text = "👩‍💻 vote… DON’T"
    assert [(token.text, token.start, token.end) for token in tokenize(text)] == [("vote", 4, 8), ("don't", 10, 15)]


@given(st.text(max_size=200))
def test_tokens_are_ordered_and_stand_where_they_say(text: str) -> None:
    previous = 0
    for token in tokenize(text):
        assert previous <= token.end
        assert token.start < token.end <= len(text)
        assert token.text in normalise(text[token.start : token.end]).text.replace("_", " ")
        previous = token.start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who? Me! Fine.", ["Who?", "Me!", "Fine."]),
        ("Wait... what", ["Wait...", "what"]),
        ("Dr. Smith said e.g. that. Yes", ["Dr. Smith said e.g. that.", "Yes"]),
        ("He said no. Then left", ["He said no.", "Then left"]),
        ('"Sure." she said', ['"Sure."', "she said"]),
        ("version 3.5 is out", ["version 3.5 is out"]),
        ("first line\n\n- second", ["first line", "- second"]),
        ("私は村人です。本当？はい", ["私は村人です。", "本当？", "はい"]),
        ("  ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="ab .!?\n\"'…。", max_size=80))
def test_sentences_hold_everything_but_white_space(text: str) -> None:
    inside = "".join(text[start:end] for start, end in sentences(text))
    assert "".join(inside.split()) == "".join(text.split())


def test_long_runs_stay_linear() -> None:
    # A pattern that retries from every full stop would need ten billion steps.
    assert sentences("." * 100_000 + "x") == ((0, 100_001),)
    assert len(sentences(".!" * 50_000)) == 1
    assert len(tokenize("a'" * 100_000)) == 1
