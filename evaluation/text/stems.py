"""Word stems and stop words for comparing topics."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import snowballstemmer

from evaluation.text.lexicon import word_list

STOP_WORDS: frozenset[str] = word_list("stop_words.txt")
"""Function words of English and of chat, contractions with and without their apostrophe."""


@lru_cache(maxsize=65_536)
def stem(word: str, algorithm: str = "english") -> str:
    """The Snowball stem of a normalised word; an English possessive ending is dropped first.

    Args:
        word: As :func:`~evaluation.text.tokens.tokenize` gives it.
        algorithm: One of Snowball's: "english", "german", "french" and so on; empty leaves the word as it is.

    Raises:
        KeyError: Snowball has no such algorithm.
    """
    return str(_stemmer(algorithm).stemWord(word.removesuffix("'s"))) if algorithm else word


@cache
def _stemmer(algorithm: str) -> Any:
    return snowballstemmer.stemmer(algorithm)
