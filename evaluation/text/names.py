"""Find the players that a message names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz, process

from evaluation.text.aliases import (
    UNSPACED,
    Alias,
    aliases,
    name_words,
    needs_literal_search,
    seat_numbers,
    words_of,
)
from evaluation.text.normal import english_words, fold, normalise, word_groups
from evaluation.text.tokens import STOP_WORDS, Token, tokenize

_ENDS_A_SENTENCE = frozenset(".!?\u2026\n\r\u3002\uff01\uff1f")
_OPENS_A_QUOTE = frozenset('"\u201c(')
_CALLS = (",", ":", " -", " \u2014", "\u2014")
_LIST_JOINS = frozenset({"and", "or", "vs", "versus", "nor"})
# How far a predicate may stand from the name it describes, in words: "seems to be a bit quiet", "made a good point".
_STATE_REACH = 5
_SENTENCE_REACH = 14
# And how far what only a thing can be or do: "Winter is going to be cold".
_THING_REACH = 5
_MOST_ADVERBS = 3
_SHORTEST_PAST_FORM = 5


@dataclass(frozen=True)
class Context:
    """A word among the words of its text.

    Attributes:
        text: The original text.
        tokens: Its words.
        index: Which of them is in question.
        end: Where the name ends in the text, before a possessive ending.
        word: The name, normalised.
        follows_mention: Whether the word before, or before an "and", was found to be a mention.
        is_code_name: Whether it is what tells apart names that share the rest ("Alpha" of "Agent-Alpha").
    """

    text: str
    tokens: Sequence[Token]
    index: int
    end: int
    word: str
    follows_mention: bool
    is_code_name: bool = False

    def is_name(self) -> bool:
        """Whether a reader would take the word for the player.

        It needs a capital inside a sentence, to be called ("Winter, ...", "hey winter", "@winter"), or to be the
        subject or object of a verb of speech, voting or killing. At a sentence's start, where every word has a
        capital, it may also be the subject of any statement that does not sound like one about the thing ("Winter
        should explain", but not "Winter is coming"), and a code name needs the capital only. In small letters inside a
        sentence it may be the subject of a statement about the game ("i think winter is suspicious").
        """
        return (
            self._before.endswith("@")
            or self.follows_mention
            or self._is_called()
            or self._has_telling_capital()
            or self._is_object()
            or (self._can_be_subject and (self._is_subject() or self._is_described() or self._opens_statement()))
        )

    @cached_property
    def _before(self) -> str:
        previous_end = self.tokens[self.index - 1].end if self.index else 0
        return self.text[previous_end : self.tokens[self.index].start]

    @cached_property
    def _after(self) -> str:
        last = self.index + 1 == len(self.tokens)
        return self.text[self.tokens[self.index].end : len(self.text) if last else self.tokens[self.index + 1].start]

    @cached_property
    def _starts_sentence(self) -> bool:
        gap = self._before
        return self.index == 0 or not _ENDS_A_SENTENCE.isdisjoint(gap) or gap[-1:] in _OPENS_A_QUOTE

    @cached_property
    def _ends_sentence(self) -> bool:
        return self.index + 1 == len(self.tokens) or not _ENDS_A_SENTENCE.isdisjoint(self._after)

    @cached_property
    def _is_possessive(self) -> bool:
        return self.end < self.tokens[self.index].end

    def _word(self, offset: int) -> str:
        """The normalised word that stands ``offset`` words away with only white space between; empty if none."""
        position = self.index + offset
        if not 0 <= position < len(self.tokens):
            return ""
        left, right = sorted((position, self.index))
        between = self.text[self.tokens[left].end : self.tokens[right].start]
        if offset in (-1, 1):
            return self.tokens[position].text if not between.strip("*_ \t") else ""
        return self.tokens[position].text if _ENDS_A_SENTENCE.isdisjoint(between) and "," not in between else ""

    def _original(self, index: int) -> str:
        return self.text[self.tokens[index].start : self.tokens[index].end]

    def _is_called(self) -> bool:
        if self._is_possessive:
            return False
        groups = word_groups("name_contexts.yaml")
        set_off_after = self._after.startswith(_CALLS)
        if self._starts_sentence:
            is_modal = self.word in groups["called_too"] and self._word(1) == "you"
            asks_on = self._can_be_subject and not is_modal and self._word(1) in groups["after_call"]
            return self._ends_sentence or set_off_after or asks_on or self._is_short_list()
        if self._can_be_subject and self._word(-1) in groups["greetings"]:
            return True
        if self._can_be_subject and self._ends_sentence and self._word(-1) in groups["before_call"]:
            return True
        set_off_before = self._before.strip() == ","
        closes_list = self.index + 1 < len(self.tokens) and self.tokens[self.index + 1].text in _LIST_JOINS
        return set_off_before and (self._ends_sentence or (set_off_after and not closes_list))

    def _is_short_list(self) -> bool:
        """Whether the sentence is this word and another one: "brook or bailey?"."""
        if self._word(1) not in _LIST_JOINS or self.index + 2 >= len(self.tokens):
            return False
        last = self.index + 3 == len(self.tokens)
        gap = "." if last else self.text[self.tokens[self.index + 2].end : self.tokens[self.index + 3].start]
        return not _ENDS_A_SENTENCE.isdisjoint(gap)

    def _has_telling_capital(self) -> bool:
        original = self._original(self.index)
        if not self._has_capital or self.word == "i":
            return False
        if self._starts_sentence:
            return self.is_code_name and not self._is_function_word
        if len(original) > 1 and not original.isupper():
            return True
        neighbours = [self._original(i) for i in (self.index - 1, self.index + 1) if 0 <= i < len(self.tokens)]
        is_shouted = any(len(neighbour) > 1 and neighbour.isupper() for neighbour in neighbours)
        return not is_shouted

    @cached_property
    def _has_capital(self) -> bool:
        return self._original(self.index)[:1].isupper()

    @cached_property
    def _is_function_word(self) -> bool:
        return self.word in STOP_WORDS

    @cached_property
    def _can_be_subject(self) -> bool:
        return not self._is_function_word or self.word in word_groups("name_contexts.yaml")["called_too"]

    def _is_object(self) -> bool:
        groups = word_groups("name_contexts.yaml")
        verb, before = self._word(-1), self._word(-2)
        if verb in groups["pointers"] and self._ends_sentence and not self._is_function_word:
            return before in groups["opinions"]
        if self._word(1) == "out" and verb in groups["out_verbs"]:
            return not self._is_function_word
        if verb in groups["particles"]:
            return before in groups["object_verbs"]
        is_verb = verb in groups["object_verbs"] and verb not in groups["particle_verbs"]
        return is_verb and not self._is_function_word

    def _is_subject(self) -> bool:
        if self._is_possessive:
            return False
        groups = word_groups("name_contexts.yaml")
        if (
            not self._is_function_word
            and self._word(-1) in groups["auxiliaries"]
            and self._word(1) in groups["base_verbs"]
        ):
            return True
        offset = 1
        while offset < 3 and self._word(offset) in groups["adverbs"]:
            offset += 1
        return self._word(offset) in groups["subject_verbs"]

    def _is_described(self) -> bool:
        groups = word_groups("name_contexts.yaml")
        if self._is_possessive:
            return self._reaches(groups["discussion_words"], 1, 4 if self._has_capital else 2)
        return self._word(1) in groups["states"] and self._reaches(groups["state_words"], 2, _STATE_REACH)

    def _opens_statement(self) -> bool:
        """Whether it is the subject of a sentence that begins with it and does not sound like one about a thing."""
        if not self._starts_sentence:
            return False
        groups = word_groups("name_contexts.yaml")
        offset = 1
        while offset <= _MOST_ADVERBS and self._word(offset) in groups["plain_adverbs"]:
            offset += 1
        verb = self._word(offset)
        if verb in groups["person_verbs"] and not self._is_possessive:
            return True
        if not self._has_capital:
            return False
        if self._word(1) in _LIST_JOINS:
            return self.index + 2 < len(self.tokens) and self._original(self.index + 2)[:1].isupper()
        if not self._is_possessive and not self._is_finite(offset):
            return verb in groups["base_verbs"] and not self._is_function_word
        is_about_game = self._reaches(groups["discussion_words"], offset + 1, _SENTENCE_REACH)
        return is_about_game or not self._reaches(groups["thing_words"], offset, offset + _THING_REACH)

    def _is_finite(self, offset: int) -> bool:
        """Whether the word that stands so far away can only be a verb whose subject this word is."""
        groups = word_groups("name_contexts.yaml")
        verb = self._word(offset)
        is_past_form = len(verb) >= _SHORTEST_PAST_FORM and verb.endswith("ed") and verb not in groups["no_past_forms"]
        has_object = verb.endswith("s") and self._word(offset + 1) in groups["objects"]
        return verb in groups["finite_verbs"] or is_past_form or has_object

    def _reaches(self, words: frozenset[str], first: int, last: int) -> bool:
        """Whether one of ``words`` stands ``first`` to ``last`` words after the name, in its sentence."""
        for position in range(self.index + first, min(self.index + last + 1, len(self.tokens))):
            gap = self.text[self.tokens[position - 1].end : self.tokens[position].start]
            if not _ENDS_A_SENTENCE.isdisjoint(gap):
                return False
            if self.tokens[position].text in words:
                return True
        return False


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
    the word (:class:`~evaluation.text.names.Context`). Misspellings of names of five letters or more are mended,
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
