"""The normalised copy: what it unifies, and the way back to the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.text.normal import fold, normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello THERE", "hello there"),
        ("don’t", "don't"),
        ("Agent‑Alpha and Agent\u2010B", "agent-alpha and agent-b"),
        ("ﬁne…", "fine..."),
        ("Straße", "strasse"),
        ("e\u0301cole", "\u00e9cole"),
        ("ＡＢＣ", "abc"),
        ("so\u00adft\u200bly", "softly"),
        ("가", "가"),
        ("", ""),
    ],
)
def test_what_is_unified(text: str, expected: str) -> None:
    assert normalise(text).text == expected


def test_spans_lead_back_to_the_original() -> None:
    # "fine" stands at 2 to 6 in the copy "e fine"; in the original the ligature is one character: 2 to 5.
    text = "é ﬁne 👩‍💻 x"
    copy = normalise(text)
    start = copy.text.index("fine")
    assert copy.original_span(start, start + 4) == (2, 5)
    position = copy.text.index("x")
    first, last = copy.original_span(position, position + 1)
    assert text[first:last] == "x"


def test_an_empty_span_stays_empty() -> None:
    copy = normalise("aé")
    assert copy.original_span(1, 1) == (1, 1)
    assert copy.original_span(2, 2) == (2, 2)
    assert normalise("").original_span(0, 0) == (0, 0)


@given(st.text(max_size=60))
def test_every_character_leads_to_a_span_whose_normal_form_holds_it(text: str) -> None:
    copy = normalise(text)
    previous = 0
    for position, character in enumerate(copy.text):
        start, end = copy.original_span(position, position + 1)
        assert previous <= start < end <= len(text)
        assert character in normalise(text[start:end]).text
        previous = start


@given(st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "Zs"]), max_size=20))
def test_pieces_are_normalised_like_the_whole(text: str) -> None:
    if max((len(run) for run in _mark_runs(text)), default=0) < 30:
        assert normalise(text).text == fold(text)


def _mark_runs(text: str) -> list[str]:
    return "".join("m" if unicodedata.combining(c) else " " for c in text).split()


def test_long_runs_of_marks_stay_linear() -> None:
    # Canonical ordering of 200,000 marks in one run would take minutes.
    copy = normalise("a" + "\u0301\u0323" * 100_000)
    assert len(copy.text) > 100_000
