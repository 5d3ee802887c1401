"""A message as a string of word classes, on which a grammar's patterns are matched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from evaluation.rubric.clauses.grammar import Grammar
from evaluation.text.names import Mention
from evaluation.text.tokens import Token, sentence_ends

# Between the words of a phrase none of these stands.
_PARTING = frozenset(".!?;:,\n\u2026\u2014")
_TERMINAL = re.compile(r"[.!?\n\u2026\u3002\uff01\uff1f]")
_CLOSING = ".!?\u2026 \n"
_STOPS = frozenset(";:()[]{}\u2014\u2013\u2026|/\\>")
_QUOTES = frozenset('"\u201c\u201d\u00ab\u00bb')


@dataclass(frozen=True, slots=True)
class Coded:
    """A message as a string of word classes.

    ``code[i]`` is the class of word or punctuation mark ``i``; ``starts[i]`` and ``ends[i]`` its span in the original
    text; ``words`` the normalised words, empty for punctuation; ``players`` the player that a name stands for.
    """

    code: str
    starts: Sequence[int]
    ends: Sequence[int]
    words: Sequence[str]
    players: Mapping[int, str]


def encode(grammar: Grammar, text: str, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Coded:
    """``text`` as word classes; contractions become several, punctuation between words becomes boundaries."""
    writer = _Writer(grammar, text)
    if not tokens:
        return writer.finish(-1)
    codes = [grammar.codes[token[0]] for token in tokens]
    named = {mention.start: mention for mention in mentions}
    phrases = grammar.phrases
    index = 0
    # Most words have one class and a space before them; runs of them are written at once.
    for special in _specials(grammar, text, tokens, named.keys()):
        if special < index:
            continue
        writer.codes += codes[index:special]
        writer.places += tokens[index:special]
        token = tokens[special]
        word, start, _ = token
        position = tokens[special - 1][2] if special else -1
        if start - position != 1 or text[position] != " ":
            writer.gap(position, start)
        index = special + 1
        if start in named:
            index = writer.name(named[start], tokens, index)
            continue
        code = codes[special]
        if word in phrases and index < len(tokens):
            length, code = _phrase(text, phrases[word], tokens, index, code)
            if length:
                index += length
                token = Token(word, start, tokens[index - 1][2])
        writer.codes += code
        writer.places += [token] * len(code)
    writer.codes += codes[index:]
    writer.places += tokens[index:]
    return writer.finish(tokens[-1][2])


def _specials(grammar: Grammar, text: str, tokens: Sequence[Token], names: Set[int]) -> list[int]:
    """The words that are not one word of one class right behind a space: where something else has to be written."""
    special_words, phrases = grammar.special_words, grammar.phrases
    found: list[int] = []
    position = -1
    for index, (word, start, end) in enumerate(tokens):
        if start - position != 1 or text[position] != " " or start in names:
            found.append(index)
        elif word in special_words:
            followers = phrases.get(word)
            is_phrase = followers and index + 1 < len(tokens) and tokens[index + 1][0] in followers
            if is_phrase or len(grammar.codes[word]) > 1:
                found.append(index)
        position = end
    return found


def _phrase(
    text: str,
    followers: Mapping[str, Sequence[tuple[tuple[str, ...], str]]],
    tokens: Sequence[Token],
    index: int,
    single: str,
) -> tuple[int, str]:
    """Number of words from ``index`` on that continue a phrase, and its class; 0 and ``single`` for none."""
    for rest, code in followers.get(tokens[index].text, ()):
        last = index + len(rest)
        if last < len(tokens) and all(tokens[index + step].text == word for step, word in enumerate(rest, start=1)):
            gap = text[tokens[index - 1].end : tokens[last].start]
            if _PARTING.isdisjoint(gap):
                return 1 + len(rest), code
    return 0, single


class _Writer:
    """Collects the classes of one message from left to right."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self.codes: list[str] = []
        self.places: list[tuple[str, int, int]] = []
        self._players: dict[int, str] = {}
        self._characters = grammar.characters
        self._text = text
        # Most chat messages are one sentence, and need no look at its boundaries.
        is_single = _TERMINAL.search(text.rstrip(_CLOSING)) is None
        self._sentence_ends = [] if is_single else sentence_ends(text)
        self._next_sentence = 0

    def gap(self, position: int, until: int) -> None:
        """Writes the punctuation between the end of the last word, -1 before the first one, and ``until``."""
        if position < 0:
            self._sentence_end(until)
            position = max(0, until - 1)
        gap = self._text[position:until]
        ending = self._sentence_end(until)
        if ending is not None:
            ending = max(ending, position)
            self._append(_ending(gap), position, ending)
            position = ending
        for name in _marks(gap, ending is not None):
            self._append(name, position, until)

    def _sentence_end(self, until: int) -> int | None:
        """The end of the sentence that ends before ``until``; ``None`` when it goes on."""
        found: int | None = None
        while self._next_sentence < len(self._sentence_ends) and self._sentence_ends[self._next_sentence] <= until:
            found = self._sentence_ends[self._next_sentence]
            self._next_sentence += 1
        return found

    def name(self, mention: Mention, tokens: Sequence[Token], index: int) -> int:
        """Writes a player's name that begins before ``index``; returns the index of the token after it."""
        while index < len(tokens) and tokens[index].start < mention.end:
            index += 1
        last = tokens[index - 1]
        self._players[len(self.codes)] = mention.player
        is_possessive = last.text.endswith("'s")
        self._append("name_poss" if is_possessive else "name", mention.start, last.end, last.text)
        return index

    def _append(self, name: str, start: int, end: int, word: str = "") -> None:
        self.codes.append(self._characters[name])
        self.places.append((word, start, end))

    def finish(self, position: int) -> Coded:
        """The coded message, closed by the mark that ends its last sentence."""
        start = max(position, 0)
        rest = self._text[start:]
        end = start + len(rest.rstrip())
        for name in (*_marks(rest, True), _ending(rest)):
            self._append(name, start, end)
        words, starts, ends = zip(*self.places, strict=True)
        return Coded("".join(self.codes), starts, ends, words, self._players)


@lru_cache(maxsize=4096)
def _ending(marks: str) -> str:
    """The kind of sentence end in a run of punctuation; "?!" is astonished, and asks only where the words do."""
    if "!" in marks or "\uff01" in marks:
        return "end_exclaim"
    return "end_question" if "?" in marks or "\uff1f" in marks else "end"


@lru_cache(maxsize=4096)
def _marks(gap: str, is_sentence_end: bool) -> tuple[str, ...]:
    """The boundary classes of the punctuation in ``gap``."""
    found: list[str] = []
    characters = set(gap)
    if not is_sentence_end:
        if characters & _STOPS or " - " in gap or "--" in gap or ".." in gap:
            found.append("stop")
        elif "," in characters:
            found.append("comma")
    if characters & _QUOTES:
        found.append("quote")
    if "=" in characters:
        found.append("be_now")
    if "@" in characters:
        found.append("at")
    return tuple(found)
