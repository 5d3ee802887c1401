"""Counts, enumerations, short lines and missing numbers."""

from __future__ import annotations

import math

import pytest

from evaluation.escaping import cut, lone_surrogate, well_formed
from evaluation.text.display import cost_text, counted, grouped, listed, number_or_none, quoted, shortened


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 games"), (1, "1 game"), (2, "2 games"), (12_000, "12,000 games"), (2.5, "2.5 games"), (3.0, "3 games")],
)
def test_a_count_has_its_noun(count: float, words: str) -> None:
    assert counted(count, "game") == words
    assert grouped(count) == words.split()[0]


@pytest.mark.parametrize(
    ("parts", "words"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_an_enumeration(parts: list[str], words: str) -> None:
    assert listed(parts) == words


def test_many_quoted_words_are_counted() -> None:
    assert quoted(["a", "b"]) == '"a" and "b"'
    assert quoted(["a", "b", "c"], most=2) == '"a", "b" and 1 more'


def test_a_short_line_has_no_line_ends_and_the_limit_counts_the_ellipsis() -> None:
    assert shortened("a\n b", 3) == "a b"
    assert shortened("a\n bcd", 4) == "a b…"
    assert cut("a\nbcd", 3) == "a\n…"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_nothing(value: float | None) -> None:
    assert number_or_none(value) is None


def test_half_of_a_pair_is_found_and_replaced() -> None:
    assert (lone_surrogate("café"), lone_surrogate("caf\udce9!")) == (None, 3)
    assert (well_formed("café 😀"), well_formed("caf\udce9!")) == ("café 😀", "caf?!")


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, "not known"),
        (0.0, "0 USD"),
        (0.0000123, "0.0000123 USD"),
        (0.00002, "0.00002 USD"),
        (0.5, "0.50 USD"),
        (0.99999, "1.00 USD"),
        (1.754, "1.75 USD"),
        (1234.5, "1,234.50 USD"),
        # An amount beside a limit of whole dollars: "$3.00 failed" for 3.004 reads like a mistake.
        (3.004, "3.004 USD"),
        (1.9996, "1.9996 USD"),
        (3.0, "3.00 USD"),
        (3.14159, "3.14 USD"),
    ],
)
def test_costs_have_significant_digits_and_cents(usd: float | None, text: str) -> None:
    assert cost_text(usd) == text
