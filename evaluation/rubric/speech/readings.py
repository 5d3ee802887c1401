"""The messages of a discussion parsed once: claims about the past, and speech acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.rubric.claims.parsing import Claim, find_claims
from evaluation.rubric.clauses.grammar import grammar_for, patterns_for
from evaluation.rubric.clauses.passage import Passage
from evaluation.rubric.clauses.scene import SCENE, Scene
from evaluation.rubric.discussion import Discussion, PreparedMessage, kept_with_discussion
from evaluation.rubric.speech._act_detection import find_acts
from evaluation.rubric.speech.act_types import SpeechAct
from evaluation.transcript import Message

# What makes a message one about the game -> the word classes that show it.
_MARKS = {
    "vote": "vote voted voting",
    "role": "role innocent suspicious lied",
    "past act": "said claimed accused defended past_verb talked eliminated",
    "question": "end_question",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A public message with its claims about the past, its speech acts and the players it names.

    Attributes:
        message: The message itself.
        claims: Its references to the past, in order.
        acts: Its speech acts, in order.
        named: The players that it names, and the one that it replies to.
        takes_a_stance: Whether it holds any word of suspicion or defence.
        tells_result: Whether it speaks of a result of a night, such as a divination.
        claims_sight: Whether the speaker tells what they divined, as only a Seer or the like could.
        roles: The names of roles in it, as normalised words.
        marks: What it says about the game beside a player's name ("vote", "role", "past act", "question"); empty for a
            message that names nobody.
    """

    message: Message
    claims: tuple[Claim, ...]
    acts: tuple[SpeechAct, ...]
    named: frozenset[str]
    takes_a_stance: bool
    tells_result: bool
    claims_sight: bool
    roles: frozenset[str]
    marks: tuple[str, ...] = ()


def has_grammar(language: str) -> bool:
    """Whether claims and speech acts can be found in a language."""
    return grammar_for(language) is not None


@kept_with_discussion
def read(discussion: Discussion) -> tuple[Reading, ...]:
    """The public messages of ``discussion``, read in order; none in a language without a grammar."""
    if not has_grammar(discussion.language):
        return ()
    messages = discussion.messages
    return tuple(
        [_read(prepared, discussion, messages[max(0, at - SCENE) : at]) for at, prepared in enumerate(messages)]
    )


def _read(prepared: PreparedMessage, discussion: Discussion, before: Sequence[PreparedMessage]) -> Reading:
    message = prepared.message
    answered = None if message.reply_to is None else discussion.transcript.message(message.reply_to)
    author = None if answered is None or answered.channel == "system" else answered.speaker
    return read_message(prepared, discussion.language, author, Scene(message.speaker, message.round, before))


def read_message(prepared: PreparedMessage, language: str, author: str | None, scene: Scene) -> Reading:
    """One message read; what it holds follows from these arguments alone.

    Args:
        prepared: The message.
        language: ISO 639-1 code of a language that has a grammar.
        author: Who wrote the message that it replies to; ``None`` for no reply, or one to the moderator.
        scene: The conversation before it, which remembers what was asked of it.
    """
    grammar = grammar_for(language)
    assert grammar is not None
    message = prepared.message
    passage = Passage(prepared, grammar, None if author == message.speaker else author, scene)
    claims = find_claims(passage, language)
    acts = find_acts(passage, claims, language)
    named = prepared.named | {author} if author else prepared.named
    stance = not grammar.classes["stance"].isdisjoint(passage.symbols)
    tells_result = "=" in message.text or not grammar.classes["divined result"].isdisjoint(passage.symbols)
    sights = patterns_for("memory", language, "sights").tried_on(passage.symbols)
    sees = any(pattern.regex.search(passage.code) for pattern in sights)
    marks = _marks(prepared, passage) if not acts else ()
    return Reading(message, claims, acts, named, stance, tells_result, sees, _roles(passage), marks)


def _roles(passage: Passage) -> frozenset[str]:
    roles = passage.grammar.classes["role"]
    if passage.symbols.isdisjoint(roles):
        return frozenset()
    return frozenset([word for code, word in zip(passage.code, passage.coded.words, strict=True) if code in roles])


def _marks(prepared: PreparedMessage, passage: Passage) -> tuple[str, ...]:
    """Marks of statements about the game in a message without acts, with "name" where it names a player."""
    if not prepared.mentions and not passage.symbols & passage.grammar.classes["you your"]:
        return ()
    found = tuple(mark for mark, names in _MARKS.items() if passage.symbols & passage.grammar.classes[names])
    return ("name", *found) if prepared.mentions and found else found
