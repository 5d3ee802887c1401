"""Detect the language of a discussion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from evaluation.text.aliases import UNSPACED
from evaluation.text.lexicon import word_list
from evaluation.text.normal import fold
from evaluation.text.tokens import Token, tokenize

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Below this many words no detector is to be trusted.
FEWEST_WORDS = 50
# A sample of this many words settles the question; longer texts only cost time.
_SAMPLE_WORDS = 400
# Words that are frequent in English and in no other language. English prose and chat have 15 to 30 %, others under 3 %.
_ENGLISH_SHARE = 0.08
_LEAST_PROBABILITY = 0.9
# A message of fewer words tells no language of its own, and one with this share of frequent words is not foreign.
_FEWEST_WORDS_OF_MESSAGE = 12
_FEWEST_DISTINCT_WORDS = 8
_FOREIGN_SHARE = 0.15
_OWN_SHARE = 0.35
_SURE_PROBABILITY = 0.99
_FEWEST_UNSPACED = 4
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
    code = language.strip().lower().replace("_", "-").partition("-")[0].partition("(")[0].strip()
    return _CODES.get(code, code)


_CODES = {
    "english": "en",
    "español": "es",
    "castellano": "es",
    "français": "fr",
    "português": "pt",
    "日本語": "ja",
    "中文": "zh",
    "汉语": "zh",
    "漢語": "zh",
    "普通话": "zh",
    "eng": "en",
    "german": "de",
    "deutsch": "de",
    "deu": "de",
    "ger": "de",
    "french": "fr",
    "fra": "fr",
    "fre": "fr",
    "spanish": "es",
    "spa": "es",
    "portuguese": "pt",
    "por": "pt",
    "japanese": "ja",
    "jpn": "ja",
    "chinese": "zh",
    "mandarin": "zh",
    "zho": "zh",
    "chi": "zh",
    "cmn": "zh",
}


def message_language(text: str, tokens: Sequence[Token], of_discussion: str, frequent: frozenset[str]) -> str:
    """The ISO 639-1 code of the language of one message; that of the discussion where the message cannot tell.

    Args:
        text: The message.
        tokens: Its words.
        of_discussion: The language of the discussion taken together.
        frequent: The words of function of that language; empty where they are not known.

    A script that the discussion's language is not written in tells by itself. Otherwise twelve words or more must hold
    hardly any of ``frequent``, and either many words of function of another language or what the detector is sure of.
    """
    if not text.isascii():
        if script := _foreign_script(text, of_discussion):
            return script
        unspaced = UNSPACED.findall(text)
        if len(unspaced) >= _FEWEST_UNSPACED and 2 * len(unspaced) >= sum(map(str.isalpha, text)):
            return _unspaced_language(unspaced, of_discussion)
    words = [token[0] for token in tokens]
    # Laughter goes on for as long as it likes.
    if len(words) < _FEWEST_WORDS_OF_MESSAGE or len(set(words)) < _FEWEST_DISTINCT_WORDS:
        return of_discussion
    if frequent and _share(words, frequent) >= _FOREIGN_SHARE:
        return of_discussion
    share, nearest = max((_share(words, stop_words), language) for language, stop_words in _function_words().items())
    if share >= _OWN_SHARE:
        return nearest
    language, probability = _detector().classify(text)
    # "zxx" stands for no language at all, such as lists of paths.
    return str(language) if probability >= _SURE_PROBABILITY and language != "zxx" else of_discussion


def _share(words: Sequence[str], frequent: frozenset[str]) -> float:
    return sum(word in frequent for word in words) / len(words)


@cache
def _function_words() -> dict[str, frozenset[str]]:
    """The words of function of languages with an alphabet, by code."""
    lists = {language: word_list(f"stop_words_{language}.txt") for language in ("de", "es", "fr", "pt")}
    return {language: frozenset(map(fold, words)) for language, words in lists.items()}


def _foreign_script(text: str, of_discussion: str) -> str:
    """The language of a message mostly in an alphabet that the discussion is not written in; empty for none such."""
    letters = [one for one in text if one.isalpha()]
    for (first, last), languages in _ALPHABETS.items():
        if sum(first <= one <= last for one in letters) > max(_FEWEST_UNSPACED - 1, len(letters) // 2):
            if of_discussion in languages:
                return ""
            language, probability = _detector().classify(text)
            return str(language) if language in languages and probability >= _LEAST_PROBABILITY else languages[0]
    return ""


# First and last letter, and the languages that are written with them, the most common first: it stands for the others
# where a message is too short to tell.
_ALPHABETS = {
    ("\u0370", "\u03ff"): ("el",),
    ("\u0400", "\u04ff"): ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn"),
    ("\u0590", "\u05ff"): ("he",),
    ("\u0600", "\u06ff"): ("ar", "fa", "ur", "ps", "ug"),
    ("\u0900", "\u097f"): ("hi", "mr", "ne"),
    ("\uac00", "\ud7af"): ("ko",),
}


def _unspaced_language(characters: Sequence[str], of_discussion: str) -> str:
    """Told by the script; ideographs alone are Japanese in a Japanese discussion only."""
    if any("\u3040" <= one <= "\u30ff" for one in characters):
        return "ja"
    for language, first, last in _SCRIPTS:
        if sum(first <= one <= last for one in characters) > len(characters) // 2:
            return language
    return of_discussion if of_discussion in ("ja", "zh") else "zh"


_SCRIPTS = (
    ("th", "\u0e00", "\u0e7f"),
    ("lo", "\u0e80", "\u0eff"),
    ("my", "\u1000", "\u109f"),
    ("km", "\u1780", "\u17ff"),
)


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
