"""Tell English from other languages, by script and by the share of English words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evaluation.text.aliases import UNSPACED
from evaluation.text.normal import english_words, word_list
from evaluation.text.tokens import Token, tokenize

UNDETERMINED = "und"
"""The code of ISO 639 for a language that is not told more closely: one that is not English."""

# A sample of this many words settles the question; longer texts only cost time.
_SAMPLE_WORDS = 400
# Fewer different words tell nothing, of a discussion and of a message.
_FEWEST_WORDS = 3
_FEWEST_WORDS_OF_MESSAGE = 8
# Words that are frequent in English and in no other language. English prose and chat have 15 to 30 %, others under 3 %.
_MARK_SHARE = 0.08
# Of the words of a text in another language with the same alphabet, up to half are English words, too ("was", "in").
_ENGLISH_SHARE = 0.6
# A message with this share of words of function is English, whatever else it holds.
_FUNCTION_SHARE = 0.15
_FOREIGN_SHARE = 0.4
_FEWEST_LETTERS = 4
# First and last letter of an alphabet, and the commonest language that is written with it.
_ALPHABETS = {
    ("\u0370", "\u03ff"): "el",
    ("\u0400", "\u04ff"): "ru",
    ("\u0590", "\u05ff"): "he",
    ("\u0600", "\u06ff"): "ar",
    ("\u0900", "\u097f"): "hi",
    ("\u0e00", "\u0e7f"): "th",
    ("\u0e80", "\u0eff"): "lo",
    ("\u1000", "\u109f"): "my",
    ("\u1780", "\u17ff"): "km",
    ("\u3040", "\u30ff"): "ja",
    ("\u3400", "\u9fff"): "zh",
    ("\uac00", "\ud7af"): "ko",
}
_OTHER_LETTER = re.compile(f"[{''.join(f'{first}-{last}' for first, last in _ALPHABETS)}]")
_CODES = {"english": "en", "eng": "en"}


def language_code(language: str) -> str:
    """The code of a language named by a person or a file: "en" for "en-US" and for "English"."""
    code = language.strip().lower().replace("_", "-").partition("-")[0].partition("(")[0].strip()
    return _CODES.get(code, code)


def detect_language(texts: Iterable[str]) -> str:
    """The language of ``texts`` taken together: "en", the code that its script stands for, or ``UNDETERMINED``.

    "en" where fewer than three different words tell nothing else.
    """
    words: list[str] = []
    sample: list[str] = []
    for text in texts:
        words += _telling_words(text, tokenize(text))
        sample.append(text)
        if len(words) >= _SAMPLE_WORDS:
            break
    if script := _script_language("".join(sample)):
        return script
    different = sorted(set(words))
    if len(different) < _FEWEST_WORDS or _share(words, word_list("english_marks.txt")) >= _MARK_SHARE:
        return "en"
    return "en" if _share(different, english_words()) >= _ENGLISH_SHARE else UNDETERMINED


def message_language(text: str, tokens: Sequence[Token], function_words: frozenset[str]) -> str:
    """The language of one message of an English discussion; "en" where the message cannot tell.

    Args:
        text: The message.
        tokens: Its words.
        function_words: Those of English.

    A script tells by itself. Otherwise eight different words or more must hold hardly any words of English.
    """
    if script := _script_language(text):
        return script
    # Most messages need no look at their other words.
    of_function = _telling_words(text, [token for token in tokens if token[0] in function_words])
    if len(of_function) >= _FUNCTION_SHARE * len(tokens):
        return "en"
    words = _telling_words(text, tokens)
    if (
        len(of_function) >= _FUNCTION_SHARE * len(words)
        or len(set(words)) < _FEWEST_WORDS_OF_MESSAGE
        or _share(words, english_words()) >= _FOREIGN_SHARE
    ):
        return "en"
    return UNDETERMINED


def _telling_words(text: str, tokens: Sequence[Token]) -> list[str]:
    """The words that may tell a language: neither names, which begin with a capital, nor single letters and numbers."""
    return [
        word
        for word, start, end in tokens
        if end - start > 1 and text[start].islower() and (word.isalpha() or not any(map(str.isdigit, word)))
    ]


def _share(words: Sequence[str], of: frozenset[str]) -> float:
    return sum(map(of.__contains__, words)) / max(1, len(words))


def _script_language(text: str) -> str:
    """The language that the script of most letters stands for; empty for the Latin one, and for too few letters."""
    # Most texts that are not ASCII hold Latin letters beside curly quotes.
    others = [] if text.isascii() else [one for one in _OTHER_LETTER.findall(text) if one.isalpha()]
    if not others:
        return ""
    letters = sum(map(str.isalpha, text))
    if any("\u3040" <= one <= "\u30ff" for one in others) and _is_most(len(UNSPACED.findall(text)), letters):
        return "ja"
    for (first, last), language in _ALPHABETS.items():
        if _is_most(sum(first <= one <= last for one in others), letters):
            return language
    return ""


def _is_most(count: int, letters: int) -> bool:
    return count >= _FEWEST_LETTERS and 2 * count >= letters
