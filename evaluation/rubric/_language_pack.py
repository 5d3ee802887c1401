"""The words that the keyword metrics look for, one YAML file per language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evaluation.files.bundled import parse_yaml
from evaluation.text.lexicon import word_list
from evaluation.text.normal import fold

_WORD_LISTS = (
    "bare_keywords",
    "introduction_words",
    "answer_words",
    "first_person",
    "second_person",
    "question_words",
    "fillers",
)


@dataclass(frozen=True, slots=True, eq=False)
class LanguagePack:
    """The keywords of one language.

    Attributes:
        language: ISO 639-1 code.
        strategic_forms: Every form of every strategic keyword, with the keyword it is a form of.
        bare_keywords: Those of the forms that alone say little ("vote", "think", "trust").
        signs_of_depth: Words that point to reasoning although they are not keywords, by kind.
        game_terms: Words whose repetition a game makes unavoidable.
        function_words: Words of function: the stop words, and verbs like "need" and "want".
        personality_marks: Words and phrases that mark each of the rubric's personalities, as tuples of words.
        stop_words: Words that make no topic.
        stemmer: The Snowball algorithm by which topics are compared; empty in a language whose words do not change.
        shortest_keyword: Letters of the shortest word that can be a topic; 5 after the rubric, fewer for ideographs.
        introduction_words: Words of greetings and introductions, which make no topic either.
        reply_phrases: Phrases with which an explicit reply opens, by their first word, longer ones first.
        opinion_frames: Phrases in which the first person says nothing of the speaker ("I think"), in the same way.
        answer_words: Words with which an answer opens.
        first_person: Words by which the speaker is meant.
        second_person: Words that mean the person spoken to ("you").
        question_words: Words with which a question opens.
        fillers: Words that may stand before the opening of a message.
    """

    language: str
    strategic_forms: Mapping[str, str]
    bare_keywords: frozenset[str]
    signs_of_depth: Mapping[str, frozenset[str]]
    game_terms: frozenset[str]
    function_words: frozenset[str]
    personality_marks: Mapping[str, frozenset[tuple[str, ...]]]
    stop_words: frozenset[str]
    stemmer: str
    shortest_keyword: int
    introduction_words: frozenset[str]
    reply_phrases: Mapping[str, tuple[tuple[str, ...], ...]]
    opinion_frames: Mapping[str, tuple[tuple[str, ...], ...]]
    answer_words: frozenset[str]
    first_person: frozenset[str]
    second_person: frozenset[str]
    question_words: frozenset[str]
    fillers: frozenset[str]


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
        for form in map(fold, inflected)
    }
    stop_words = _words(word_list(content["stop_words_file"]))
    return LanguagePack(
        language=language,
        strategic_forms=forms,
        signs_of_depth={kind: _words(words.split()) for kind, words in content["signs_of_depth"].items()},
        game_terms=_words(content["game_terms"]),
        stop_words=stop_words,
        function_words=stop_words | _words(content["function_words"].split()),
        personality_marks={
            name: frozenset(tuple(fold(mark).split("_")) for mark in marks.split())
            for name, marks in content["personality_marks"].items()
        },
        stemmer=content["stemmer"],
        shortest_keyword=int(content["shortest_keyword"]),
        reply_phrases=_by_first_word(content["reply_phrases"].split()),
        opinion_frames=_by_first_word(content["opinion_frames"].split()),
        **{key: _words(str(content[key]).split()) for key in _WORD_LISTS},
    )


def _words(written: Iterable[str]) -> frozenset[str]:
    """Words as they are compared: an "ß" is "ss" then."""
    return frozenset(map(fold, written))


def _by_first_word(phrases: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The phrases as words, by their first word, longer ones first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted((tuple(fold(phrase).split("_")) for phrase in phrases), key=lambda words: -len(words)):
        found.setdefault(words[0], []).append(words)
    return {first: tuple(longer) for first, longer in found.items()}
