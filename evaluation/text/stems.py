"""Word stems and stop words for comparing topics."""

from __future__ import annotations

from functools import lru_cache

import snowballstemmer

from evaluation.text.lexicon import word_list

STOP_WORDS: frozenset[str] = word_list("stop_words.txt")
"""Function words of English and of chat, contractions with and without their apostrophe."""

_ENGLISH = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball English stem of a normalised word; a possessive ending is dropped first."""
    return str(_ENGLISH.stemWord(word.removesuffix("'s")))
