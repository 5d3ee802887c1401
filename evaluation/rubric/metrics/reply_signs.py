"""Find signs that a message answers somebody: reply phrases, the first person, questions, repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from evaluation.rubric._language_pack import LanguagePack
from evaluation.rubric.discussion import PreparedMessage
from evaluation.text.tokens import Token

# What stands later opens nothing.
_OPENING_WORDS = 12
_MOST_FILLERS = 2
# "why?", "to who?", "how so?" ask back.
_SHORT_QUESTION = 2
# A message of fewer words is easily said twice.
_FEWEST_REPEATED_WORDS = 5
_REPEATED_SHARE = 0.7


def is_first_person(prepared: PreparedMessage, pack: LanguagePack) -> bool:
    """Whether the speaker speaks of themselves: "it was me", but not "I think it is Bob"."""
    words = prepared.bare_words
    if pack.first_person.isdisjoint(words):
        return False
    position = 0
    while position < len(words):
        frame = _phrase_at(words, position, pack.opinion_frames)
        if not frame and words[position] in pack.first_person:
            return True
        position += max(1, len(frame))
    return False


def opens_as_answer(prepared: PreparedMessage, pack: LanguagePack) -> bool:
    """Whether the first word is one of an answer ("yes", "because")."""
    return not pack.answer_words.isdisjoint(prepared.bare_words[:1])


def is_question(prepared: PreparedMessage, pack: LanguagePack) -> bool:
    """Whether it holds a question mark, or opens with a word of question."""
    opening = prepared.bare_words[:1]
    return "?" in prepared.message.text or not pack.question_words.isdisjoint(opening)


def reply_phrase(prepared: PreparedMessage, pack: LanguagePack) -> Sequence[Token]:
    """The words of the reply phrase with which a message opens, names and fillers before it left aside; or none."""
    tokens = prepared.plain_tokens[:_OPENING_WORDS]
    words = prepared.bare_words[:_OPENING_WORDS]
    if len(words) <= _SHORT_QUESTION and is_question(prepared, pack):
        return tokens
    for start in range(min(_MOST_FILLERS + 1, len(words))):
        if phrase := _phrase_at(words, start, pack.reply_phrases):
            return tokens[start : start + len(phrase)]
        if words[start] not in pack.fillers:
            break
    return ()


def addresses(prepared: PreparedMessage, pack: LanguagePack) -> Sequence[Token]:
    """The first word that speaks to somebody ("you", "your"), or none."""
    found = (token for token in prepared.plain_tokens if token[0].replace("'", "") in pack.second_person)
    return tuple(islice(found, 1))


def is_introduction(prepared: PreparedMessage, pack: LanguagePack) -> bool:
    """Whether the speaker gives the own name ("Hi, I'm Ann"): a word of the first person stands right before it."""
    for mention in prepared.mentions:
        if mention.player == prepared.message.speaker:
            before = [token for token in prepared.tokens if token.end <= mention.start][-3:]
            if any(token[0].replace("'", "") in pack.first_person for token in before):
                return True
    return False


def repeats(prepared: PreparedMessage, earlier: Sequence[PreparedMessage]) -> bool:
    """Whether it says once more, nearly word for word, what one of the ``earlier`` messages says."""
    words = prepared.all_words
    if len(words) < _FEWEST_REPEATED_WORDS:
        return False
    for one in earlier:
        other = one.all_words
        # Sets of very different sizes cannot share so much.
        if len(other) >= _REPEATED_SHARE * len(words) and len(words) >= _REPEATED_SHARE * len(other):
            common = len(words & other)
            if common >= _REPEATED_SHARE * (len(words) + len(other) - common):
                return True
    return False


def _phrase_at(words: Sequence[str], start: int, phrases: Mapping[str, tuple[tuple[str, ...], ...]]) -> tuple[str, ...]:
    """The longest of ``phrases`` that stands at ``start``; empty without one."""
    for phrase in phrases.get(words[start], ()):
        if tuple(words[start : start + len(phrase)]) == phrase:
            return phrase
    return ()
