"""Word classes and patterns over them: how clauses are found without a parser.

A message becomes a string with one character per word, the character standing for the word's class ("name", "voted",
"not"). Patterns are regular expressions over class names, kept in data files per language. They are fast, readable, and
bounded: the loader refuses any quantifier without a limit, so no text makes them backtrack out of hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from evaluation.files.yaml_data import parse_yaml

Required = tuple[frozenset[str], ...]
"""Sets of characters; of each, at least one must occur."""

# Look-arounds, groups, sets, repetitions and single characters: all that the forms of a grammar are made of.
_PIECE = re.compile(
    r"(?P<open>\((?:\?(?:P<\w+>|:|=|!|<=|<!))?)|(?P<set>\[[^\]]+\])|\{(?P<fewest>\d+)(?:,(?P<most>\d+))?\}|.", re.DOTALL
)
_NEGATIVE = ("(?!", "(?<!")


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of an expression.

    Attributes:
        required: Sets of which one character each must occur, the smallest set first.
        longest: How many characters a match covers at most, together with what its look-arounds see.
        pivot: Finds the characters of the smallest set, for expressions that are slow to search for: those that begin
            with something optional or with alternatives, so that no first character tells where to try. ``None`` for
            the others, and where nothing is required.
    """

    required: Required
    longest: int
    pivot: re.Pattern[str] | None

    @classmethod
    def of(cls, expression: str) -> Needs:
        """The needs of an expression of characters, sets, groups, alternatives, look-arounds and limited repetitions.

        Raises:
            ValueError: Another construct.
        """
        if "\\" in expression or "*" in expression or "+" in expression:
            raise ValueError(f"escapes and repetitions without a limit are not supported: {expression!r}")
        whole, _ = _alternatives(list(_PIECE.finditer(expression)), 0)
        least = [one for one in whole.required if not any(other < one for other in whole.required)]
        required = tuple(sorted(dict.fromkeys(least), key=lambda one: (len(one), sorted(one))))
        is_slow = required and not whole.is_quick
        pivot = re.compile(f"[{''.join(sorted(required[0]))}]") if is_slow else None
        return cls(required, whole.longest, pivot)


class _Part(NamedTuple):
    """A part of an expression: what it requires, how many characters it covers at most, whether few can begin it."""

    required: Sequence[frozenset[str]]
    longest: int
    is_quick: bool = True


def _alternatives(pieces: Sequence[re.Match[str]], at: int) -> tuple[_Part, int]:
    """All branches from piece ``at`` on together, and where the group around them closes."""
    branches: list[list[_Part]] = [[]]
    while at < len(pieces) and pieces[at][0] != ")":
        if pieces[at][0] == "|":
            branches.append([])
            at += 1
        else:
            part, at = _item(pieces, at)
            fewest, most = _repetition(pieces[at]) if at < len(pieces) else (1, 1)
            at += (fewest, most) != (1, 1)
            is_quick = bool(fewest) and part.is_quick
            branches[-1].append(_Part(part.required if fewest else (), part.longest * most, is_quick))
    required = [[one for part in branch for one in part.required] for branch in branches]
    longest = max(sum(part.longest for part in branch) for branch in branches)
    is_quick = (len(branches) == 1 and branches[0][:1] != [] and branches[0][0].is_quick) or longest == 1
    return _Part(list(_of_any(required)), longest, is_quick), at


def _item(pieces: Sequence[re.Match[str]], at: int) -> tuple[_Part, int]:
    """One group, set or character, and the place after it."""
    piece = pieces[at]
    if piece["open"]:
        inside, closes = _alternatives(pieces, at + 1)
        return (_Part((), inside.longest) if piece["open"] in _NEGATIVE else inside), closes + 1
    if piece["set"]:
        return _Part(() if piece[0].startswith("[^") else (frozenset(piece[0][1:-1]),), 1), at + 1
    return _Part((frozenset(piece[0]),), 1), at + 1


def _repetition(piece: re.Match[str]) -> tuple[int, int]:
    """The number of times that the piece before may occur; once where ``piece`` does not say."""
    if piece[0] == "?":
        return 0, 1
    if piece["fewest"] is None:
        return 1, 1
    return int(piece["fewest"]), int(piece["most"] or piece["fewest"])


def _of_any(branches: Sequence[Sequence[frozenset[str]]]) -> Iterator[frozenset[str]]:
    """The requirements that hold whichever branch matches: for several, the narrowest of each together."""
    if len(branches) == 1:
        yield from branches[0]
    elif all(branches):
        yield frozenset().union(*(min(branch, key=len) for branch in branches))


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
_UNLIMITED = re.compile(r"(?<!\()[*+]|\{\d*,\}")
_LONGEST_NUMBER = 3
# Shorter words with the ending of a past tense or an adverb are mostly neither (need, bed, ally).
_SHORTEST_WITH_ENDING = 5
_KEPT_WORDS = 1 << 14


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled pattern with the attributes that its data file gives it.

    Attributes:
        rank: Its place in the file.
        regex: The compiled form.
        attributes: What its entry holds besides the form and the anchor.
        needs: What a text must hold for the form to match, and how far a match can reach.
    """

    rank: int
    regex: re.Pattern[str]
    attributes: Mapping[str, Any]
    needs: Needs

    def find(self, code: str) -> Iterator[re.Match[str]]:
        """The matches in a coded message, in order, as ``regex.finditer`` finds them.

        Forms that begin with optional words are slow to search for; in a long message they are tried only around the
        word that they cannot do without.
        """
        pivot, reach = self.needs.pivot, self.needs.longest
        if pivot is None or len(code) <= 2 * reach:
            return self.regex.finditer(code)
        return chain.from_iterable(
            [self.regex.finditer(code, start, end) for start, end in _windows(pivot, code, reach)]
        )


def _windows(pivot: re.Pattern[str], code: str, reach: int) -> list[tuple[int, int]]:
    """The stretches of ``code`` in which a match that holds a pivot lies, those that overlap joined."""
    found: list[tuple[int, int]] = []
    for match in pivot.finditer(code):
        start, end = max(0, match.start() - reach), match.end() + reach
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


class PatternSet:
    """Patterns that are tried only on messages with one of their anchors and everything that they require.

    Args:
        patterns: Each with the characters of its anchor, in order of rank.
    """

    def __init__(self, patterns: Iterable[tuple[Pattern, str]]) -> None:
        self._by_anchor: dict[str, set[int]] = {}
        self._patterns: list[tuple[Pattern, Required]] = []
        for pattern, anchor in patterns:
            others = tuple(one for one in pattern.needs.required if not one.issuperset(anchor))
            self._patterns.append((pattern, others))
            for character in anchor:
                self._by_anchor.setdefault(character, set()).add(pattern.rank)
        self._anchors = frozenset(self._by_anchor)

    def __len__(self) -> int:
        return len(self._patterns)

    def tried_on(self, symbols: Set[str]) -> list[Pattern]:
        """The patterns that can match what holds these symbols and no others, in the order of the file."""
        anchors = self._anchors & symbols
        if not anchors:
            return []
        ranks = set().union(*[self._by_anchor[character] for character in anchors])
        is_absent = symbols.isdisjoint
        found = [self._patterns[rank] for rank in sorted(ranks)]
        return [pattern for pattern, required in found if not any(map(is_absent, required))]


class Grammar:
    """The word classes of one language.

    Attributes:
        characters: Class -> its character.
        words: Word -> the character of its class, or those of a contraction.
        phrases: First word -> second word -> (the words after these two, character), longest first.
        special_words: Words that may begin a phrase, and those of several classes.
        past_ending: What most past tenses end in.
        past_words: Past tenses that end otherwise.
        codes: Word -> the character of its class, or those of a contraction, also for a word that is in no list.

    Args:
        data: The parsed data file: ``classes``, ``contractions``, ``sets``, ``numbers``, ``round_prefixes``,
            ``past_ending``, ``past_words``, ``adverb_ending`` and ``without_ending``.

    Raises:
        ValueError: A word in two classes, or a set that names an unknown class.
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
        self.special_words = self.phrases.keys() | {word for word, code in self.words.items() if len(code) > 1}
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
            characters = self._sets.get(name) or self.characters.get(name)
            if characters is None:
                raise ValueError(f"unknown word class {name!r}")
            found.update(dict.fromkeys(characters))
        return "".join(found)

    def _read_words(self, data: Mapping[str, Any]) -> None:
        listed = [(words, self.characters[name]) for name, words in data["classes"].items()]
        listed += [(words, "".join(map(self.chars, names.split()))) for names, words in data["contractions"].items()]
        seen: set[str] = set()
        for words, code in listed:
            for word in words.split():
                if word in seen:
                    raise ValueError(f"{word!r} stands in two word classes")
                seen.add(word)
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

    def pattern(self, source: str, attributes: Mapping[str, Any], rank: int = 0) -> Pattern:
        """Compiles a pattern: a regular expression in which class and set names stand for one word each.

        White space is free. ``any`` is every word but no punctuation.

        Raises:
            ValueError: An unknown name, or a quantifier without a limit.
        """
        if _UNLIMITED.search(source):
            raise ValueError(f"quantifier without a limit in {source!r}")
        expression = re.sub(r"\s+", "", _IDENTIFIER.sub(self._as_characters, source))
        return Pattern(rank, re.compile(expression), attributes, Needs.of(expression))

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
def grammar_for(language: str) -> Grammar | None:
    """The grammar of a language (ISO 639-1), ``None`` when no data file for it ships."""
    # A code from a transcript is hostile until it is known to be two or three letters.
    if not (language.isascii() and language.isalpha() and len(language) <= 3):
        return None
    path = files("evaluation.rubric") / "keywords" / f"grammar_{language}.yaml"
    return Grammar(read_data(path.name)) if path.is_file() else None


@cache
def patterns_for(name: str, language: str, section: str = "patterns") -> PatternSet:
    """The compiled patterns of a section of ``<name>_<language>.yaml``, in the file's order, its macros expanded.

    A pattern's attributes are whatever its entry holds besides ``form`` and ``anchor``; ``anchor`` names the classes of
    which one must occur for the pattern to be tried. Empty for a language without a grammar.
    """
    grammar = grammar_for(language)
    if grammar is None:
        return PatternSet(())
    data = read_data(f"{name}_{language}.yaml")
    macros = data.get("macros", {})
    found: list[tuple[Pattern, str]] = []
    for rank, entry in enumerate(data[section]):
        attributes = {key: value for key, value in entry.items() if key not in ("form", "anchor")}
        found.append(
            (grammar.pattern(_expand(entry["form"], macros), attributes, rank), grammar.chars(entry["anchor"]))
        )
    return PatternSet(found)


def _expand(form: str, macros: Mapping[str, str]) -> str:
    for name in macros:
        form = re.sub(rf"\b{name}\b", f"(?:{macros[name]})", form)
    return form
