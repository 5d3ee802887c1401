"""What a clause does with its content: states, asks, supposes, guesses, quotes or reports it."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from evaluation.rubric.coded_message import CodedMessage
from evaluation.rubric.discussion import PreparedMessage
from evaluation.rubric.grammar import Grammar

# Shorter words on "-ed" are no past tenses (bed, red, need).
_SHORTEST_PAST_TENSE = 4


class MoodReader(CodedMessage):
    """A coded message of which every clause can be asked for its mood.

    Args:
        prepared: The message with its tokens and mentions.
        grammar: The language's word classes.
    """

    def __init__(self, prepared: PreparedMessage, grammar: Grammar) -> None:
        super().__init__(prepared, grammar)
        self._asking: dict[int, list[int]] = {}

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
        marks, code = self._classes["comma stop"], self.code
        starts = [start, *[at + 1 for at in range(start, end) if code[at] in marks]]
        return [at for at in starts if self.asks(at, end)]

    def asks(self, position: int, end: int) -> bool:
        """Whether a question begins at ``position``, after a greeting or a name; its sentence ends at ``end``."""
        while position < end and self.code[position] in self._classes["opening"]:
            position += 1
        # Nearly every clause opens with something else.
        if not self.has(position, "who why which wh when auxiliary"):
            return False
        if self.has(position, "who"):
            before = position - 2 if self.has(position - 1, "comma stop") else position - 1
            return self.has(end, "end_question") or not self.has(before, "listable third")
        if self.has(position, "why"):
            return True
        if self.has(position, "which") and self.has(position - 1, "comma") and not self.has(end, "end_question"):
            # "..., which is suspicious" comments on what stands before.
            return False
        if self.has(position, "wh when"):
            return self.has(position + 1, "auxiliary")
        if self.has(position + 1, "it") and self.has(position - 1, "name") and not self.has(end, "end_question"):
            # "Alpha did it" states.
            return False
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
        if word in self.grammar.past_words:
            return not self.has(position - 1, "to the")
        is_verb = self.has(position, "other seem believe")
        return is_verb and len(word) > _SHORTEST_PAST_TENSE and word.endswith(self.grammar.past_ending)

    def is_quoted(self, position: int) -> bool:
        """Whether ``position`` lies between quotation marks that do not enclose the whole message."""
        before = bisect_left(self._quotations, (position, position)) - 1
        return before >= 0 and self._quotations[before][0] < position < self._quotations[before][1]

    @cached_property
    def _quotations(self) -> list[tuple[int, int]]:
        marks = self._classes["quote"]
        if marks.isdisjoint(self.symbols):
            return []
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
        while at >= start and self.has(at, "skip have did do not never modal"):
            is_denied |= self.has(at, "not never")
            at -= 1
        if self.has(at, "and"):
            # "Alpha claimed Seer and says that ...": the subject stands before the first of the two verbs.
            at = next((before for before in range(start, at) if self.has(before, "subject")), at)
        if at < start or self.has(at, "i we"):
            # "I never said that Alpha is Mafia" says nothing of Alpha; "I don't think that" does.
            return is_denied and not self.has(verb, "think believe")
        return self.has(at, "subject that who anothers")
