"""Decide whether a word that is a player's name and an English word stands for the player ("Winter")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluation.text.lexicon import word_groups
from evaluation.text.tokens import STOP_WORDS, Token

_ENDS_A_SENTENCE = frozenset(".!?\u2026\n\r\u3002\uff01\uff1f")
_OPENS_A_QUOTE = frozenset('"\u201c(')
_CALLS = (",", ":", " -", " \u2014", "\u2014")
_JOINS = frozenset({"and", "or", "vs", "versus", "nor"})
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
        closes_list = self.index + 1 < len(self.tokens) and self.tokens[self.index + 1].text in _JOINS
        return set_off_before and (self._ends_sentence or (set_off_after and not closes_list))

    def _is_short_list(self) -> bool:
        """Whether the sentence is this word and another one: "brook or bailey?"."""
        if self._word(1) not in _JOINS or self.index + 2 >= len(self.tokens):
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
        if self._word(1) in _JOINS:
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
