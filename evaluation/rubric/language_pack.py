"""The words that the keyword metrics look for, one YAML file per language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evaluation.data_file import parse_yaml
from evaluation.text.lexicon import word_list


@dataclass(frozen=True, slots=True)
class LanguagePack:
    """The keywords of one language.

    Attributes:
        language: ISO 639-1 code.
        strategic_forms: Every form of every strategic keyword, with the keyword it is a form of.
        game_terms: Words whose repetition a game makes unavoidable.
        stop_words: Words that make no topic.
        stemmer: The Snowball algorithm by which topics are compared.
    """

    language: str
    strategic_forms: Mapping[str, str]
    game_terms: frozenset[str]
    stop_words: frozenset[str]
    stemmer: str


@cache
def language_pack(language: str) -> LanguagePack | None:
    """The pack of a language; ``None`` where none ships, which makes the language unsupported."""
    # A code from a transcript is hostile until it is known to be two or three letters.
    if not (language.isascii() and language.isalpha() and len(language) <= 3):
        return None
    path = files("evaluation.rubric") / "keywords" / f"{language}.yaml"
    if not path.is_file():
        return None
    content = parse_yaml(path.read_text("utf-8"))
    forms = {
        form: keyword
        for keywords in content["strategic_keywords"].values()
        for keyword, inflected in keywords.items()
        for form in inflected
    }
    return LanguagePack(
        language, forms, frozenset(content["game_terms"]), word_list(content["stop_words_file"]), content["stemmer"]
    )
