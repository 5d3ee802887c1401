"""A public message as word classes, with its sentences and clauses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Set

from evaluation.rubric.coding import Coded, encode
from evaluation.rubric.discussion import PreparedMessage
from evaluation.rubric.grammar import Grammar
from evaluation.transcript import Message

# Nobody writes sentences of more words; hostile ones would make every look around them expensive.
_LONGEST_SENTENCE = 150


class CodedMessage:
    """One message of a discussion, coded by a grammar.

    Args:
        prepared: The message with its tokens and mentions.
        grammar: The language's word classes.
    """

    def __init__(self, prepared: PreparedMessage, grammar: Grammar) -> None:
        self.message: Message = prepared.message
        self.speaker = prepared.message.speaker
        self.grammar = grammar
        self.coded: Coded = encode(grammar, prepared.message.text, prepared.tokens, prepared.mentions)
        self.code = self.coded.code
        self.symbols = set(self.code)
        self._classes = grammar.classes
        self._length = len(self.code)
        self._present: dict[str, Set[str]] = {}
        self.sentence_ends = _sentence_ends(self.code, grammar.classes["full_stop"])
        """The positions of the marks that end the sentences; endless ones are cut."""

    def has(self, position: int, name: str) -> bool:
        """Whether the word at ``position`` is of the class or set ``name``; false outside the message."""
        return 0 <= position < self._length and self.code[position] in self._classes[name]

    def any_of(self, name: str, first: int, last: int) -> bool:
        """Whether a word from ``first`` to ``last``, both included, is of the class or set ``name``."""
        present = self._present.get(name)
        if present is None:
            present = self._present[name] = self._classes[name] & self.symbols
        return bool(present) and not present.isdisjoint(self.code[max(first, 0) : last + 1])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of the original text from word ``first`` to word ``last``, both included."""
        return self.coded.starts[first], self.coded.ends[last]

    def text(self, first: int, last: int) -> str:
        start, end = self.span(first, last)
        return self.message.text[start:end]

    def sentence(self, position: int) -> tuple[int, int]:
        """First word of the sentence around ``position``, and the mark that ends it."""
        number = bisect_left(self.sentence_ends, position)
        start = self.sentence_ends[number - 1] + 1 if number else 0
        return start, self.sentence_ends[number] if number < len(self.sentence_ends) else self._length - 1

    def clause(self, position: int) -> tuple[int, int]:
        """First and last word of the stretch around ``position`` without a boundary inside."""
        start, end = self.sentence(position)
        first = position
        while first > start and not self.has(first - 1, "stop quote but because"):
            first -= 1
        last = position
        while last + 1 < end and not self.has(last + 1, "stop quote but because"):
            last += 1
        return first, last


def _sentence_ends(code: str, stops: Set[str]) -> list[int]:
    ends = [position for position, character in enumerate(code) if character in stops]
    if len(code) <= _LONGEST_SENTENCE:
        return ends
    cut: list[int] = []
    last = -1
    for end in (*ends, len(code)):
        cut.extend(range(last + _LONGEST_SENTENCE + 1, end, _LONGEST_SENTENCE + 1))
        last = end
        if end < len(code):
            cut.append(end)
    return cut
