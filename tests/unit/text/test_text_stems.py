"""Stems and stop words."""

from __future__ import annotations

import pytest

from evaluation.text.normal import english_words
from evaluation.text.tokens import STOP_WORDS, stem


@pytest.mark.parametrize(
    ("left", "right"), [("voting", "votes"), ("accused", "accusing"), ("patterns", "pattern"), ("player's", "players")]
)
def test_forms_of_a_word_share_a_stem(left: str, right: str) -> None:
    assert stem(left) == stem(right)


def test_function_words_are_stop_words_with_and_without_apostrophe() -> None:
    assert {"about", "would", "doesn't", "doesnt", "everyone"} <= STOP_WORDS
    assert STOP_WORDS.isdisjoint({"evidence", "suspicious", "vote", "think"})


def test_the_dictionary_knows_words_that_look_like_names() -> None:
    assert {"charming", "winter", "angel", "gray", "lee", "echo", "sus"} <= english_words()
    assert english_words().isdisjoint({"charlie", "kai", "remi"})
