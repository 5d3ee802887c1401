"""Detect the language of a discussion."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from evaluation.text.aliases import UNSPACED
from evaluation.text.lexicon import word_list
from evaluation.text.tokens import tokenize

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Below this many words no detector is to be trusted.
FEWEST_WORDS = 50
# A sample of this many words settles the question; longer texts only cost time.
_SAMPLE_WORDS = 400
# Words that are frequent in English and in no other language. English prose and chat have 15 to 30 %, others under 3 %.
_ENGLISH_SHARE = 0.08
_LEAST_PROBABILITY = 0.9
# Ideographs and kana stand for about half a word each.
_CHARACTERS_PER_WORD = 2


def detect_language(texts: Iterable[str]) -> str:
    """The ISO 639-1 code of the language of ``texts`` taken together.

    "en" under about 50 words and when the detector is unsure. The detector is loaded only for texts that a count of
    frequent English words does not settle: it needs half a second and 100 MB.
    """
    words: list[str] = []
    sample: list[str] = []
    weight = 0
    for text in texts:
        tokens = tokenize(text)
        words.extend(token.text for token in tokens)
        sample.append(text)
        unspaced = 0 if text.isascii() else len(UNSPACED.findall(text))
        weight += len(tokens) + unspaced // _CHARACTERS_PER_WORD
        if weight >= _SAMPLE_WORDS:
            break
    if weight < FEWEST_WORDS or _looks_english(words):
        return "en"
    return _ask_detector("\n".join(sample))


def language_code(language: str) -> str:
    """The ISO 639-1 code of a language named by a person or a file: "en" for "en-US" and for "English"."""
    code = language.strip().lower().replace("_", "-").partition("-")[0]
    return _CODES.get(code, code)


_CODES = {
    "english": "en",
    "eng": "en",
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "spanish": "es",
    "japanese": "ja",
}


def _looks_english(words: list[str]) -> bool:
    frequent = word_list("english_marks.txt")
    return sum(word in frequent for word in words) >= _ENGLISH_SHARE * len(words)


def _ask_detector(text: str) -> str:
    language, probability = _detector().classify(text)
    return str(language) if probability >= _LEAST_PROBABILITY else "en"


@cache
def _detector() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
