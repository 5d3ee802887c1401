"""Word classes and patterns over them: how clauses are found without a parser.

A message becomes a string with one character per word, the character standing for the word's class ("name", "voted",
"not"). Patterns are regular expressions over class names, kept in data files. They are fast, readable, and
bounded: no quantifier is without a limit, so no text makes them backtrack out of hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evaluation.files.bundled import parse_yaml

OTHER = "other"
BUILT_IN = (
    "other",
    "other_past",
    "name",
    "name_poss",
    "number",
    "at",
    "comma",
    "stop",
    "quote",
    "end",
    "end_question",
    "end_exclaim",
)
"""Classes that come from names, digits and punctuation instead of word lists."""

_FIRST_CHARACTER = 0x4E00
_IDENTIFIER = re.compile(r"(?<!\?P<)(?<![\w<])([a-z][a-z_]*)(?![\w>])")
_LONGEST_NUMBER = 3
# Shorter words with the ending of a past tense or an adverb are mostly neither (need, bed, ally).
_SHORTEST_WITH_ENDING = 5
_KEPT_WORDS = 1 << 14


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled pattern with the attributes that its data file gives it.

    Attributes:
        regex: The compiled form.
        attributes: What its entry holds besides the form and the anchor.
        anchor: Characters of which one must occur for the form to match.
    """

    regex: re.Pattern[str]
    attributes: Mapping[str, Any]
    anchor: Set[str]


class PatternSet(tuple[Pattern, ...]):
    """Patterns in the order of their file, which are tried only on messages with one of their anchors."""

    def tried_on(self, symbols: Set[str]) -> list[Pattern]:
        """The patterns that can match what holds these symbols and no others."""
        return [pattern for pattern in self if not pattern.anchor.isdisjoint(symbols)]


class Grammar:
    """The word classes of English.

    Attributes:
        characters: Class -> its character.
        words: Word -> the character of its class, or those of a contraction.
        phrases: First word -> second word -> (the words after these two, character), longest first.
        past_ending: What most past tenses end in.
        past_words: Past tenses that end otherwise.
        codes: Word -> the character of its class, or those of a contraction, also for a word that is in no list.

    Args:
        data: The parsed data file: ``classes``, ``contractions``, ``sets``, ``numbers``, ``round_prefixes``,
            ``past_ending``, ``past_words``, ``adverb_ending`` and ``without_ending``.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        names = [*BUILT_IN, *data["classes"]]
        self.characters = {name: chr(_FIRST_CHARACTER + position) for position, name in enumerate(names)}
        # Forms that name "other" mean every word in no list, whatever its ending.
        self._sets: dict[str, str] = {OTHER: self.characters[OTHER] + self.characters["other_past"]}
        for name, members in data["sets"].items():
            self._sets[name] = self._members(members.split())
        self.words: dict[str, str] = {}
        self.phrases: dict[str, dict[str, list[tuple[tuple[str, ...], str]]]] = {}
        self._read_words(data)
        self._numbers = {word: int(value) for value, words in data["numbers"].items() for word in words.split()}
        for word in self._numbers:
            self.words.setdefault(word, self.characters["number"])
        self._round_words = re.compile(rf"(?:{'|'.join(data['round_prefixes'].split())})(\d{{1,3}})")
        self.past_ending: str = data["past_ending"]
        self._endings = ((self.past_ending, "other_past"), (data["adverb_ending"], "adverb"))
        self._without_ending = frozenset(data["without_ending"].split())
        self.past_words = frozenset(data["past_words"].split())
        self.classes = _Classes(self)
        self.codes = _Codes(self)

    def _members(self, names: Iterable[str]) -> str:
        found: dict[str, None] = {}
        for name in names:
            found.update(dict.fromkeys(self._sets.get(name) or self.characters[name]))
        return "".join(found)

    def _read_words(self, data: Mapping[str, Any]) -> None:
        listed = [(words, self.characters[name]) for name, words in data["classes"].items()]
        listed += [(words, "".join(map(self.chars, names.split()))) for names, words in data["contractions"].items()]
        for words, code in listed:
            for word in words.split():
                self._add(word.split("_"), code)
        for followers in self.phrases.values():
            for candidates in followers.values():
                candidates.sort(key=lambda candidate: -len(candidate[0]))

    def _add(self, parts: list[str], code: str) -> None:
        if len(parts) == 1:
            self.words[parts[0]] = code
        else:
            first, second, *rest = parts
            self.phrases.setdefault(first, {}).setdefault(second, []).append((tuple(rest), code))

    def chars(self, name: str) -> str:
        """The characters of a class or set, or of several separated by white space."""
        return self._members(name.split())

    def unlisted(self, word: str) -> str:
        """The class of a word that is in no list: by its ending, a number, a round in one word ("r2"), or other."""
        if word.isalpha():
            if len(word) >= _SHORTEST_WITH_ENDING:
                for ending, name in self._endings:
                    if word.endswith(ending) and word not in self._without_ending:
                        return self.characters[name]
            return self.characters[OTHER]
        if word.isdecimal():
            return self.characters["number"]
        is_round = word[-1].isdecimal() and self._round_words.fullmatch(word)
        return self.characters["ordinal" if is_round else OTHER]

    def number(self, word: str) -> int | None:
        """The value of a number word, of up to three digits, or of a round written in one word ("r2")."""
        if word.isdecimal() and len(word) <= _LONGEST_NUMBER:
            return int(word)
        in_one_word = self._round_words.fullmatch(word)
        return int(in_one_word[1]) if in_one_word else self._numbers.get(word)

    def pattern(self, source: str) -> re.Pattern[str]:
        """Compiles a pattern: a regular expression in which class and set names stand for one word each.

        White space is free. ``any`` is every word but no punctuation.
        """
        return re.compile(re.sub(r"\s+", "", _IDENTIFIER.sub(self._as_characters, source)))

    def _as_characters(self, match: re.Match[str]) -> str:
        if match[1] == "any":
            return f"[^{self.chars('break')}]"
        characters = self.chars(match[1])
        return characters if len(characters) == 1 else f"[{characters}]"


class _Classes(dict[str, frozenset[str]]):
    """Class, set or several of them -> their characters, resolved at the first use."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar = grammar

    def __missing__(self, name: str) -> frozenset[str]:
        self[name] = found = frozenset(self._grammar.chars(name))
        return found


class _Codes(dict[str, str]):
    """Word -> the characters of its classes; fills itself as words are met, with a bound."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar = grammar

    def __missing__(self, word: str) -> str:
        if len(self) >= _KEPT_WORDS:
            self.clear()
        self[word] = found = self._grammar.words.get(word) or self._grammar.unlisted(word)
        return found


def read_data(name: str) -> Any:
    """The parsed YAML file ``name`` of the rubric's keyword folder."""
    return parse_yaml((files("evaluation.rubric") / "keywords" / name).read_text("utf-8"))


@cache
def grammar() -> Grammar:
    """The word classes of English."""
    return Grammar(read_data("grammar_en.yaml"))


@cache
def patterns_for(name: str, section: str = "patterns") -> PatternSet:
    """The compiled patterns of a section of ``<name>_en.yaml``, in the file's order, its macros expanded.

    A pattern's attributes are whatever its entry holds besides ``form`` and ``anchor``; ``anchor`` names the classes of
    which one must occur for the pattern to be tried.
    """
    data = read_data(f"{name}_en.yaml")
    macros = data.get("macros", {})
    return PatternSet(
        Pattern(
            grammar().pattern(_expand(entry["form"], macros)),
            {key: value for key, value in entry.items() if key not in ("form", "anchor")},
            frozenset(grammar().chars(entry["anchor"])),
        )
        for entry in data[section]
    )


def _expand(form: str, macros: Mapping[str, str]) -> str:
    for name in macros:
        form = re.sub(rf"\b{name}\b", f"(?:{macros[name]})", form)
    return form
