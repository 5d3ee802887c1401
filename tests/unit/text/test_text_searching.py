"""What a search field understands, and the excerpt that shows what was found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.text.searching import excerpt, pattern, phrases


def test_words_and_phrases_in_quotes() -> None:
    assert phrases('doctor "voted for"') == ("doctor", "voted for")
    assert phrases("“voted   for” «the mayor»") == ("voted for", "the mayor")
    assert phrases('he said "vote now') == ("he", "said", "vote now")
    assert phrases('Vote vote "VOTE"') == ("Vote",)


@pytest.mark.parametrize("query", ["", "   ", '"', '"" ""', "x" * 501, " ".join(f"w{n}" for n in range(21))])
def test_what_cannot_be_searched_for_is_refused(query: str) -> None:
    with pytest.raises(InputError):
        phrases(query)


@given(st.text(max_size=60))
def test_every_pattern_finds_its_own_phrase(text: str) -> None:
    try:
        wanted = phrases(text)
    except InputError:
        return
    for phrase in wanted:
        assert re.search(pattern(phrase), f"before {phrase} after")


def test_a_pattern_takes_text_literally_in_any_case_over_line_ends() -> None:
    assert re.search(pattern("voted for (me)"), "VOTED\n  for (ME)")
    assert not re.search(pattern("a.c"), "abc")


def test_an_excerpt_shows_the_place_that_was_found() -> None:
    text = "x" * 300 + " she Voted for Bob " + "y" * 300
    shown = excerpt(text, ("voted for",), 60)
    # "Voted" starts at character 305; a third of 60 stands before it, so the excerpt runs from 285 to 345.
    assert shown == "…" + "x" * 14 + " she Voted for Bob " + "y" * 25 + "…"
    assert excerpt("short\ntext", ("text",), 60) == "short text"
    assert excerpt("x" * 90, ("nothing",), 10) == "x" * 9 + "…"
    assert excerpt("x" * 90 + "end", ("end",), 10) == "…xxxxxxend"


@given(st.text(max_size=400), st.text(min_size=1, max_size=5), st.integers(3, 80))
def test_an_excerpt_is_never_longer_than_allowed(text: str, wanted: str, length: int) -> None:
    assert len(excerpt(text, (wanted,), length)) <= length
