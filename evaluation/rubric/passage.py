"""A public message as word classes, and what a reader knows about a place in it: mood, people, sentence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from evaluation.rubric.coding import Coded, encode
from evaluation.rubric.discussion import PreparedMessage
from evaluation.rubric.grammar import Grammar
from evaluation.transcript import Message

_LONGEST_LIST = 24
# A pronoun looks for its antecedent in its own sentence and the one before.
_SENTENCES_BACK = 2
# Shorter words on "-ed" are no past tenses (bed, red, need).
_SHORTEST_PAST_TENSE = 4


class Passage:
    """One message of a discussion, coded by a grammar.

    Args:
        prepared: The message with its tokens and mentions.
        grammar: The language's word classes.
        replied_to: The author of the message that it answers, if that is another player.
    """

    def __init__(self, prepared: PreparedMessage, grammar: Grammar, replied_to: str | None) -> None:
        self.message: Message = prepared.message
        self.speaker = prepared.message.speaker
        self.grammar = grammar
        self.replied_to = replied_to
        self.coded: Coded = encode(grammar, prepared.message.text, prepared.tokens, prepared.mentions)
        self.code = self.coded.code
        self.symbols = set(self.code)
        self._classes = grammar.classes
        self._asking: dict[int, list[int]] = {}
        self._length = len(self.code)

    def has(self, position: int, name: str) -> bool:
        """Whether the word at ``position`` is of the class or set ``name``; false outside the message."""
        return 0 <= position < self._length and self.code[position] in self._classes[name]

    def any_of(self, name: str, first: int, last: int) -> bool:
        """Whether a word from ``first`` to ``last``, both included, is of the class or set ``name``."""
        return not self._classes[name].isdisjoint(self.code[max(first, 0) : last + 1])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of the original text from word ``first`` to word ``last``, both included."""
        return self.coded.starts[first], self.coded.ends[last]

    def text(self, first: int, last: int) -> str:
        start, end = self.span(first, last)
        return self.message.text[start:end]

    @cached_property
    def sentence_ends(self) -> list[int]:
        """The positions of the marks that end the sentences."""
        stops = self._classes["full_stop"]
        return [position for position, character in enumerate(self.code) if character in stops]

    def sentence_number(self, position: int) -> int:
        """Which sentence the word at ``position`` stands in, from 0."""
        return bisect_left(self.sentence_ends, position)

    def sentence(self, position: int) -> tuple[int, int]:
        """First word of the sentence around ``position``, and the mark that ends it."""
        number = bisect_left(self.sentence_ends, position)
        start = self.sentence_ends[number - 1] + 1 if number else 0
        return start, self.sentence_ends[number] if number < len(self.sentence_ends) else self._length - 1

    def is_question(self, position: int) -> bool:
        """Whether the clause at ``position`` asks instead of stating.

        In a sentence with a question mark only a clause before the interrogative one states something: "Bravo, you
        voted for Alpha; why?" states, "You voted for Alpha?" asks. Without the mark, word order decides ("why did you
        vote").
        """
        start, end = self.sentence(position)
        asking = self._asking.get(start)
        if asking is None:
            asking = self._asking[start] = self._interrogative_clauses(start, end)
        if asking:
            return asking[0] <= position
        return self.has(end, "end_question")

    def _interrogative_clauses(self, start: int, end: int) -> list[int]:
        if not self.any_of("interrogative", start, end):
            return []
        starts = [start, *(at + 1 for at in range(start, end) if self.has(at, "comma stop"))]
        return [at for at in starts if self._asks(at, end)]

    def _asks(self, position: int, end: int) -> bool:
        while position < end and self.has(position, "opening"):
            position += 1
        if self.has(position, "who"):
            return self.has(end, "end_question") or not self.has(position - 1, "name comma")
        if self.has(position, "why"):
            return True
        if self.has(position, "wh when"):
            return self.has(position + 1, "auxiliary")
        return self.has(position, "auxiliary") and self.has(position + 1, "asked")

    def is_conditional(self, position: int) -> bool:
        """Whether the clause at ``position`` stands under "if", "unless", "whether" and the like."""
        start, _ = self.sentence(position)
        if not self.any_of("if", start, position):
            return False
        for at in range(position, start - 1, -1):
            if self.has(at, "if"):
                return True
            if self.has(at, "clause_break") and at < position:
                return False
        return False

    def is_guess(self, position: int) -> bool:
        """Whether the clause at ``position`` is marked as a guess: "maybe", "probably", "I don't think that"."""
        start, _ = self.sentence(position)
        for at in range(position, start - 1, -1):
            if self.has(at, "hedge"):
                return True
            if self.has(at, "clause_break") and at < position:
                break
        return self._is_disbelieved(position)

    def is_doubted(self, position: int) -> bool:
        """Whether the words before ``position`` deny what follows: "I don't think that", "I doubt", "let's not"."""
        at = position - 1
        while self.has(at, "skip modal to be"):
            at -= 1
        return self.has(at, "not never") or self._is_disbelieved(position)

    def _is_disbelieved(self, position: int) -> bool:
        start, _ = self.sentence(position)
        if not self.any_of("doubt think believe", start, position - 1):
            return False
        for at in range(position - 1, start - 1, -1):
            if self.has(at, "doubt") or (self.has(at, "think believe") and self.has(at - 1, "not never")):
                return True
            if self.has(at, "clause_break"):
                return False
        return False

    def follows_condition(self, position: int) -> bool:
        """Whether the sentence up to ``position`` holds an "if": what comes after depends on it."""
        start, _ = self.sentence(position)
        return self.any_of("if", start, position - 1)

    def tells_of_the_past(self, position: int) -> bool:
        """Whether the clause at ``position`` states something about the past: a past tense, no modal, no question."""
        if self.is_quoted(position) or self.is_question(position) or self.is_conditional(position):
            return False
        first, last = self.clause(position)
        words = range(first, last + 1)
        if self.any_of("modal must lets please", first, last):
            return False
        return self.any_of("past", first, last) or any(self._looks_past(at) for at in words)

    def _looks_past(self, position: int) -> bool:
        word = self.coded.words[position]
        return (
            self.has(position, "other") and len(word) > _SHORTEST_PAST_TENSE and word.endswith(self.grammar.past_ending)
        )

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

    def is_quoted(self, position: int) -> bool:
        """Whether ``position`` lies between quotation marks that do not enclose the whole message."""
        return any(opening < position < closing for opening, closing in self._quotations)

    @cached_property
    def _quotations(self) -> list[tuple[int, int]]:
        marks = self.grammar.chars("quote")
        quotes = [at for at, character in enumerate(self.code) if character in marks]
        return [(start, end) for start, end in zip(quotes[::2], quotes[1::2], strict=False) if start > 0]

    def is_reported(self, position: int) -> bool:
        """Whether the clause at ``position`` is what somebody else says or thinks ("Alpha claims that I voted")."""
        start, _ = self.sentence(position)
        if not self.any_of("reporting", start, position - 1):
            return False
        before = position - 1
        while self.has(before, "skip have"):
            before -= 1
        if self.has(before, "joint then"):
            # "You claimed Seer and voted for Bravo": a second verb of the same subject.
            return False
        for at in range(position - 1, start - 1, -1):
            if self.has(at, "clause_break") or (self.has(at, "and") and self.has(at + 1, "subject")):
                return False
            if self.has(at, "reporting"):
                return self._speaks_for_another(at, start)
        return False

    def _speaks_for_another(self, verb: int, start: int) -> bool:
        at = verb - 1
        is_denied = False
        while at >= start and self.has(at, "skip have did do not never modal and"):
            is_denied |= self.has(at, "not never")
            at -= 1
        if at < start or self.has(at, "i we"):
            # "I never said that Alpha is Mafia" says nothing of Alpha; "I don't think that" does.
            return is_denied and not self.has(verb, "think believe")
        return self.has(at, "subject that who anothers")

    def person(self, position: int, other: Sequence[str] = ()) -> str | None:
        """The player that the word at ``position`` stands for, ``None`` when that cannot be told.

        ``other`` are the clause's other people, whom "he", "she" or "they" does not mean.
        """
        if position in self.coded.players:
            return self.coded.players[position]
        if self.has(position, "i my"):
            return self.speaker
        if self.has(position, "you your"):
            return self.addressee(position)
        return self.antecedent(position, other) if self.has(position, "third their her") else None

    def addressee(self, position: int) -> str | None:
        """Who "you" is: the player addressed by name in the sentence, else the one replied to."""
        start, end = self.sentence(position)
        called = {name for at, name in self.coded.players.items() if start <= at <= end and self.is_vocative(at)}
        if not called and start > 0:
            called = self._called_out_before(start)
        called.discard(self.speaker)
        if len(called) == 1:
            return called.pop()
        return None if called else self.replied_to

    def _called_out_before(self, start: int) -> set[str]:
        """The names in the sentence before, when it holds nothing but a call: "Bravo! Why did you ..."."""
        before, end = self.sentence(start - 1)
        words = range(before, end)
        if any(not self.has(at, "name opening at comma") for at in words):
            return set()
        return {self.coded.players[at] for at in words if at in self.coded.players}

    def last_called(self, position: int) -> str | None:
        """The player addressed last before ``position``, in whatever sentence, else the one replied to."""
        called = [
            name
            for at, name in sorted(self.coded.players.items())
            if at <= position and name != self.speaker and self.is_vocative(at)
        ]
        return called[-1] if called else self.replied_to

    def is_vocative(self, position: int) -> bool:
        """Whether the word at ``position`` is the name of somebody addressed."""
        if not self.has(position, "name"):
            return False
        start, _ = self.sentence(position)
        if self.has(position - 1, "at"):
            return True
        follows = position + 1
        closes = self.has(follows, "break") or self.has(follows, "you your")
        if self.has(position - 1, "comma stop") and closes:
            return True
        opens = all(self.has(at, "opening name") for at in range(start, position))
        return opens and (closes or self._asks(follows, self._length) or self.has(follows, "please demand"))

    def antecedent(self, position: int, other: Sequence[str] = ()) -> str | None:
        """Who "he", "she" or "they" is: the only other player named before it, in this sentence or the one before."""
        current = self.sentence_number(position)
        named = {
            name
            for at, name in self.coded.players.items()
            if at < position
            and name != self.speaker
            and name not in other
            and current - self.sentence_number(at) < _SENTENCES_BACK
        }
        return named.pop() if len(named) == 1 else None

    def listed(self, position: int) -> tuple[int, ...]:
        """The positions of the people enumerated up to ``position``: "Alpha, Bravo and Charlie"; itself at least."""
        found = [position]
        at = position - 1
        while at > 0 and len(found) < _LONGEST_LIST:
            joint = at
            while self.has(at, "joint both"):
                at -= 1
            if joint == at or not self.has(at, "listable"):
                break
            found.append(at)
            at -= 1
        ordered = tuple(reversed(found))
        # A comma alone lists nothing ("Alpha, you voted"); somewhere an "and" must stand.
        joined = any(self._has_and(first, second) for first, second in pairwise(ordered))
        return ordered if joined else (position,)

    def _has_and(self, first: int, second: int) -> bool:
        return any(self.has(at, "and or") for at in range(first + 1, second))

    def listed_after(self, position: int) -> tuple[int, ...]:
        """The positions of the people enumerated from ``position`` on: "for Alpha and Bravo"."""
        found = [position]
        at = position + 1
        while self.has(at, "and") and self.has(at + 1, "listable") and len(found) < _LONGEST_LIST:
            found.append(at + 1)
            at += 2
        # "voted for Bravo and Charlie defended Delta": the last one opens the next clause.
        if len(found) > 1 and self.has(at, "verbal"):
            found.pop()
        return tuple(found)
