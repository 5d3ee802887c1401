"""Find the players that a message names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz, process

from evaluation.text._contexts import Context
from evaluation.text.aliases import (
    UNSPACED,
    Alias,
    aliases,
    name_words,
    needs_literal_search,
    seat_numbers,
    words_of,
)
from evaluation.text.lexicon import english_words
from evaluation.text.normal import fold, normalise
from evaluation.text.tokens import Token, tokenize

_WIDE_COLON = "\uff1a"
# Markdown, quotes and brackets in which the name may be wrapped.
_OPENERS = " \t\r\n*_[(<\"'`~#>-\u201c"
_CLOSERS = " \t*_])>\"'`~\u201d"
_LONGEST_WRAPPING = 40


def prefix_end(text: str, spellings: tuple[str, ...]) -> int:
    """The start of the message after one or more prefixes of these ``spellings``; 0 without one."""
    head = text[: len(spellings[0]) * 2 + _LONGEST_WRAPPING] if spellings else ""
    if ":" not in head and _WIDE_COLON not in head:
        return 0
    copy = normalise(text)
    position = 0
    while (end := _after_prefix(copy.text, position, spellings)) is not None:
        position = end
    if position >= len(copy.text):
        return len(text)
    return copy.original_span(position, position)[0] if position else 0


def prefix_spellings(name: str) -> tuple[str, ...]:
    """Spellings of the speaker's own name before a message, longest first."""
    folded = fold(name).strip()
    words = words_of(name)
    parts = [alias.words for alias in aliases([name]) if not alias.is_full]
    spellings = {folded, " ".join(words), "".join(words), *(" ".join(part) for part in parts)}
    return tuple(sorted(filter(None, spellings), key=len, reverse=True))


def _after_prefix(text: str, position: int, spellings: tuple[str, ...]) -> int | None:
    start = position
    # A name may itself begin with what else only opens: "[Bot]", "(a)".
    while (spelling := _spelling_at(text, start, spellings)) is None:
        if start >= len(text) or text[start] not in _OPENERS:
            return None
        start += 1
    end = _skip_closers(text, start + len(spelling))
    return _skip_closers(text, end + 1) if text[end : end + 1] == ":" else None


def _spelling_at(text: str, start: int, spellings: tuple[str, ...]) -> str | None:
    return next((spelling for spelling in spellings if text.startswith(spelling, start)), None)


def _skip_closers(text: str, position: int) -> int:
    while position < len(text) and text[position] in _CLOSERS:
        position += 1
    return position


# Names shorter than this are never mended, and words must be at least one letter shorter than that.
_SHORTEST_MENDED_NAME = 5
_LONGEST_MENDED_WORD = 40
# Among hundreds of names a misspelling could be anybody's.
_MOST_MENDED_NAMES = 300
_LEAST_SIMILARITY = 80.0
_REMEMBERED_WORDS = 20_000
_JOINS = frozenset({"and", "or", "vs", "versus", "nor", "&"})


class Mention(NamedTuple):
    """A player named in a text. ``start`` and ``end`` are code points of the original, without a possessive ending.

    ``kind`` is "full" for the whole name, "part" for a first name, last name or suffix, "fuzzy" for a misspelling.
    """

    player: str
    start: int
    end: int
    kind: str


class _Candidate(NamedTuple):
    alias: Alias
    kind: str
    needs_context: bool


# What a word may begin: candidates by the word that follows, "" for names of one word; longer names stand first.
_Continuations = Mapping[str, list[_Candidate]]
_NOTHING: _Continuations = {}


class NameIndex:
    """Finds the names of a fixed set of players in texts. Building it is cheap; it remembers the words it has met.

    Full names count in any case. First names, last names and suffixes count when only one player has them, from three
    letters on. A name that is also an English word, a single letter or a bare number needs a context that tells it from
    the word (:class:`~evaluation.text._contexts.Context`). Misspellings of names of five letters or more are mended,
    unless the word is an English one. The longest name wins. Names that differ only in case are told apart by it.

    Attributes:
        names: The names of all players, as the transcript spells them.
        words: The words of which these names are made.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.words = name_words(self.names)
        self._by_first_word: dict[str, dict[str, list[_Candidate]]] = {}
        self._literals = [(name, fold(name).strip()) for name in self.names if needs_literal_search(name)]
        self._literals += [(name, f"#{number}") for number, name in seat_numbers(self.names).items()]
        self._spellings = {name: prefix_spellings(name) for name in self.names}
        self._add_aliases()
        self._mendable = self._names_to_mend()
        self._known: dict[str, _Continuations] = {}

    @classmethod
    def of(cls, names: tuple[str, ...]) -> NameIndex:
        """A shared index of these names."""
        return _shared_index(names)

    def _add_aliases(self) -> None:
        same_words: dict[tuple[str, ...], list[str]] = {}
        for name in self.names:
            if not needs_literal_search(name):
                same_words.setdefault(words_of(name), []).append(name)
        self._told_by_case = {words: players for words, players in same_words.items() if len(players) > 1}
        twins = [Alias(words, players[0], True, " ") for words, players in self._told_by_case.items()]
        for alias in [*aliases(self.names), *twins]:
            kind = "full" if alias.is_full else "part"
            candidate = _Candidate(alias, kind, len(alias.words) == 1 and _is_ordinary(alias.words[0]))
            second = alias.words[1] if len(alias.words) > 1 else ""
            self._by_first_word.setdefault(alias.words[0], {}).setdefault(second, []).append(candidate)
        for continuations in self._by_first_word.values():
            for candidates in continuations.values():
                candidates.sort(key=lambda candidate: -len(candidate.alias.words))

    def _names_to_mend(self) -> dict[str, Alias]:
        """The single words that misspellings are compared with; names that resemble each other are left out."""
        single = {
            word: continuations[""][0].alias
            for word, continuations in self._by_first_word.items()
            if "" in continuations and (word,) not in self._told_by_case
        }
        words = sorted(word for word in single if len(word) >= _SHORTEST_MENDED_NAME and word.isalpha())
        similar: set[str] = set()
        if len(words) > _MOST_MENDED_NAMES:
            return {}
        if len(words) > 1:
            scores = process.cdist(words, words, scorer=fuzz.ratio, score_cutoff=_LEAST_SIMILARITY)
            for row, column in zip(*scores.nonzero(), strict=True):
                if single[words[row]].player != single[words[column]].player:
                    similar |= {words[row], words[column]}
        return {word: single[word] for word in words if word not in similar}

    def mentions(self, text: str, start: int = 0) -> tuple[Mention, ...]:
        """The players named in ``text`` from code point ``start`` on, in order of appearance, without overlaps."""
        found = self._by_words(text, start)
        if not self._literals:
            return tuple(found)
        symbols = (mention for mention in self._by_characters(text) if mention.start >= start)
        candidates = sorted([*found, *symbols], key=lambda mention: (mention.start, -mention.end))
        kept: list[Mention] = []
        for mention in candidates:
            if not kept or mention.start >= kept[-1].end:
                kept.append(mention)
        return tuple(kept)

    def _by_words(self, text: str, start: int) -> Iterator[Mention]:
        tokens = tokenize(text)
        if start:
            tokens = tuple([token for token in tokens if token.start >= start])
        known = self._known
        # Most words begin no name. Those met for the first time come through with ``None`` and are looked up below.
        beginnings = [i for i, token in enumerate(tokens) if known.get(token[0]) is not _NOTHING]
        free_from = 0
        last_of_mention = -1
        for index in beginnings:
            continuations = known.get(tokens[index].text) or self._look_up(tokens[index].text)
            if not continuations or index < free_from:
                continue
            follows = last_of_mention >= 0 and _joins(text, tokens, last_of_mention, index)
            for candidate in _candidates(tokens, index, continuations):
                mention = self._match(text, tokens, index, candidate, follows)
                if mention is not None:
                    free_from = index + len(candidate.alias.words)
                    last_of_mention = free_from - 1
                    yield mention
                    break

    def _look_up(self, word: str) -> _Continuations:
        found: _Continuations = self._by_first_word.get(word, _NOTHING)
        if not found:
            base = word.removesuffix("'s")
            single = self._by_first_word.get(base, _NOTHING).get("") if base != word else None
            if single is None and (mended := self._mend(base)):
                single = [mended]
            found = {"": single} if single else _NOTHING
        if len(self._known) > _REMEMBERED_WORDS:
            self._known.clear()
        self._known[word] = found
        return found

    def _mend(self, word: str) -> _Candidate | None:
        if not _SHORTEST_MENDED_NAME - 1 <= len(word) <= _LONGEST_MENDED_WORD or not word.isalpha():
            return None
        if not self._mendable or word in english_words():
            return None
        best = process.extract(word, self._mendable.keys(), scorer=fuzz.ratio, score_cutoff=_LEAST_SIMILARITY, limit=2)
        players = {self._mendable[name].player for name, score, _ in best if score == best[0][1]}
        if len(players) != 1:
            return None
        return _Candidate(Alias((word,), players.pop(), False), "fuzzy", False)

    def _match(
        self, text: str, tokens: Sequence[Token], index: int, candidate: _Candidate, follows_mention: bool
    ) -> Mention | None:
        alias = candidate.alias
        last = index + len(alias.words) - 1
        if last >= len(tokens) or not _same_words(text, tokens, index, alias):
            return None
        possessive = tokens[last].text != alias.words[-1]
        end = tokens[last].end - (2 if possessive else 0)
        start = tokens[index].start
        if candidate.needs_context:
            context = Context(text, tokens, index, end, alias.words[0], follows_mention, alias.is_code_name)
            if not context.is_name():
                return None
        twins = self._told_by_case.get(alias.words)
        if twins is None:
            return Mention(alias.player, start, end, candidate.kind)
        player = text[start:end]
        return Mention(player, start, end, candidate.kind) if player in twins else None

    def _by_characters(self, text: str) -> Iterator[Mention]:
        copy = normalise(text)
        for player, needle in self._literals:
            position = copy.text.find(needle) if needle else -1
            while position >= 0:
                end = position + len(needle)
                if _stands_alone(copy.text, position, end):
                    yield Mention(player, *copy.original_span(position, end), "full")
                position = copy.text.find(needle, end)

    def body_start(self, text: str, speaker: str) -> int:
        """The start of the message after the speaker's own name as a prefix ("Agent-E: ..."); 0 without one.

        Markdown and brackets around the name are part of the prefix, and so is a repetition of it.
        """
        return prefix_end(text, self._spellings.get(speaker) or prefix_spellings(speaker))


@lru_cache(maxsize=64)
def _shared_index(names: tuple[str, ...]) -> NameIndex:
    return NameIndex(names)


def _candidates(tokens: Sequence[Token], index: int, continuations: _Continuations) -> Iterator[_Candidate]:
    """The names that may begin at a word, longer ones first."""
    if index + 1 < len(tokens):
        following = tokens[index + 1].text
        yield from continuations.get(following, ())
        if following.endswith("'s"):
            yield from continuations.get(following[:-2], ())
    yield from continuations.get("", ())


def _is_ordinary(word: str) -> bool:
    return len(word) == 1 or word.isdigit() or word in english_words()


def _same_words(text: str, tokens: Sequence[Token], index: int, alias: Alias) -> bool:
    words = alias.words
    last = len(words) - 1
    for offset, word in enumerate(words):
        found = tokens[index + offset].text
        if found != word and not (offset == last and found == word + "'s"):
            return False
    span = tokens[index : index + len(words)]
    return all(_may_separate(text, left, right, alias) for left, right in pairwise(span))


def _may_separate(text: str, left: Token, right: Token, alias: Alias) -> bool:
    """Whether what stands between two words of a name may stand there: its own separator, or a space or hyphen."""
    gap = text[left.end : right.start]
    if normalise(gap).text == alias.separator:
        return True
    # "agent a" in small letters is an article after a noun, not a player called "Agent-A".
    is_telling = len(right.text) > 1 or right.text.isdigit() or text[right.start].isupper()
    return len(gap) <= 3 and not gap.strip(" \t-_\u2010\u2011") and is_telling


def _joins(text: str, tokens: Sequence[Token], last_of_mention: int, index: int) -> bool:
    """Whether a word is listed right after a mention: "Winter and gray", "winter, gray"."""
    between = tokens[last_of_mention + 1 : index]
    gap = text[tokens[last_of_mention].end : tokens[index].start].strip()
    if not between:
        return gap in {",", "&", "/"}
    return len(between) == 1 and between[0].text in _JOINS and gap.strip(", ").lower() == between[0].text


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    needle = text[start:end]
    if needle.isascii() and not any(character.isalnum() for character in needle):
        return (not before.strip() or before == "@") and not after.strip()
    cut_before = before.isalnum() and needle[0].isalnum() and not UNSPACED.match(needle[0])
    cut_after = after.isalnum() and needle[-1].isalnum() and not UNSPACED.match(needle[-1])
    return not (cut_before or cut_after)
