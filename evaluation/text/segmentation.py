"""Find the words of languages in which spaces alone do not divide them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from evaluation.text.aliases import UNSPACED
from evaluation.text.normal import fold
from evaluation.text.tokens import Token

SEGMENTED = frozenset({"ja", "zh", "fr"})
"""ISO 639-1 codes of those languages: Janome finds the words of Japanese, jieba those of Chinese; French elides."""

_APOSTROPHES = re.compile("[^'\u2018\u2019\u02bc]+")


def words_of(text: str, tokens: Iterable[Token], language: str) -> tuple[Token, ...]:
    """``tokens`` with each that holds several words of the language cut into them.

    A run of characters of an unspaced script is cut by a dictionary, "j'accuse" at its apostrophe.

    Args:
        text: What they are tokens of.
        tokens: As :func:`~evaluation.text.tokens.tokenize` gives them.
        language: One of ``SEGMENTED``.
    """
    cut = _segmenter(language)
    is_whole = _has_no_apostrophe if language == "fr" else _is_spaced
    found: list[Token] = []
    for token in tokens:
        if is_whole(token.text):
            found.append(token)
        else:
            found += _words(text[token.start : token.end], token.start, cut)
    return tuple(found)


def _has_no_apostrophe(word: str) -> bool:
    return "'" not in word


def _is_spaced(word: str) -> bool:
    return UNSPACED.search(word) is None


def _words(run: str, start: int, cut: Callable[[str], Iterable[str]]) -> Iterator[Token]:
    for piece in cut(run):
        # A segmenter may leave characters out, or join what a hostile text holds between them.
        place = run.find(piece)
        if not piece or place < 0:
            continue
        first = start + place
        run, start = run[place + len(piece) :], first + len(piece)
        if any(character.isalnum() for character in piece):
            yield Token(fold(piece), first, start)


@cache
def _segmenter(language: str) -> Callable[[str], Iterable[str]]:
    if language == "fr":
        return _APOSTROPHES.findall
    # Both load a dictionary, which a discussion in English must not pay for.
    if language == "ja":
        from janome.tokenizer import Tokenizer

        tokenizer = Tokenizer(wakati=True)
        return lambda run: map(str, tokenizer.tokenize(run))
    import rjieba

    return lambda run: rjieba.cut(run)
