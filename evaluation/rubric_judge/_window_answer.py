"""Check a model's answer about a window of messages: what it names must be there, and what it quotes must be said."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, ValidationError

from evaluation.judging.answers import Answer, Citation
from evaluation.judging.fencing import as_name
from evaluation.rubric.speech import ActKind
from evaluation.text.names import NameIndex
from evaluation.transcript import Message, Transcript

_MOST_MESSAGES = 200
_MOST_ENTRIES = 50
_Word = Annotated[str, Field(max_length=300)]
_Sentence = Annotated[str, Field(max_length=2_000)]


class ActAnswer(Answer):
    """An act as the model names it."""

    act: _Word
    target: _Word | None = None


class ReferenceAnswer(Answer):
    """A reference to the past as the model quotes it."""

    quote: _Sentence
    kind: _Word = ""
    reason: _Sentence = ""
    verdict: _Word


class MessageAnswer(Answer):
    """The model's entry about one message."""

    message: Citation
    reason: _Sentence
    is_strategic: StrictBool
    answers: Annotated[list[Citation], Field(max_length=_MOST_ENTRIES)]
    acts: Annotated[list[ActAnswer], Field(max_length=_MOST_ENTRIES)]
    references: Annotated[list[ReferenceAnswer], Field(max_length=_MOST_ENTRIES)]


def _whole_ones(value: Any) -> Any:
    """The entries that can be used: one that is garbled must not cost the others."""
    if not isinstance(value, list):
        return value
    found = []
    for entry in value[:_MOST_MESSAGES]:
        try:
            found.append(MessageAnswer.model_validate(entry))
        except ValidationError:
            continue
    return found


_SHAPE = """\
[{"message": its number, "reason": one short sentence, "is_strategic": true or false, "answers": [numbers], \
"acts": [{"act": one of the eleven, "target": a player's name or null}], \
"references": [{"quote": exact words, "kind": its kind, "reason": a few words, "verdict": accurate, inaccurate or \
unsettled}]}, ...]"""


class WindowAnswer(Answer):
    """The usable entries of an answer about a window; at least one."""

    messages: Annotated[list[MessageAnswer], BeforeValidator(_whole_ones), Field(min_length=1, description=_SHAPE)]


@dataclass(frozen=True, slots=True)
class JudgedReference:
    """A reference to the past, as characters ``start`` to ``end`` (exclusive) of the message, with the verdict on it.

    ``verdict`` is accurate, inaccurate or unsettled.
    """

    start: int
    end: int
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    """A model's answer about one message, with all that could not be so left out.

    Attributes:
        reason: The model's; untrusted text.
        answers: Ids of the messages that it answers, all of them earlier ones by other players, the most direct first.
        acts: Kinds with their targets, each once.
        references: In the order of the message, each stretch of text once.
        notes: What was left out, in words.
    """

    message: Message
    reason: str
    is_strategic: bool
    answers: tuple[str, ...]
    acts: tuple[tuple[ActKind, str | None], ...]
    references: tuple[JudgedReference, ...]
    notes: tuple[str, ...] = ()


VERDICTS = ("accurate", "inaccurate", "unsettled")

NO_SUCH_ANSWERED = "an answered message was named that is not an earlier one by another player"
NO_SUCH_ACT = "an act was named that there is not"
NO_SUCH_TARGET = "an act was aimed at a player that there is not"
NO_SUCH_QUOTE = "a reference was quoted that does not stand in the message"
NO_SUCH_VERDICT = "a reference got a verdict that there is not"


def checked(
    answer: WindowAnswer, transcript: Transcript, shown: Mapping[int, str], asked: Collection[int]
) -> dict[int, JudgedMessage]:
    """The answer by the numbers of its messages; of several entries about one message the last counts.

    Args:
        answer: The model's.
        transcript: The game.
        shown: The number of each message that the model saw, with its id.
        asked: The numbers of those that it was asked about; entries about others are left out.
    """
    found = {}
    for entry in answer.messages:
        message = transcript.message(shown.get(entry.message, "")) if entry.message in asked else None
        if message is not None:
            found[entry.message] = _checked(entry, message, transcript, shown)
    return found


def _checked(entry: MessageAnswer, message: Message, transcript: Transcript, shown: Mapping[int, str]) -> JudgedMessage:
    notes: list[str] = []
    return JudgedMessage(
        message,
        " ".join(entry.reason.split()),
        entry.is_strategic,
        tuple(dict.fromkeys(_answered(entry, message, transcript, shown, notes))),
        tuple(dict.fromkeys(_acts(entry, transcript, notes))),
        tuple(sorted(_references(entry, message, notes), key=lambda one: one.start)),
        tuple(notes),
    )


def _answered(
    entry: MessageAnswer, message: Message, transcript: Transcript, shown: Mapping[int, str], notes: list[str]
) -> Iterator[str]:
    for number in entry.answers:
        other = transcript.message(shown.get(number, ""))
        if other is None or other.index >= message.index or other.speaker == message.speaker:
            notes.append(NO_SUCH_ANSWERED)
        else:
            yield other.id


def _acts(entry: MessageAnswer, transcript: Transcript, notes: list[str]) -> Iterator[tuple[ActKind, str | None]]:
    kinds = {str(kind): kind for kind in ActKind}
    for one in entry.acts:
        kind = kinds.get(one.act.strip().casefold().replace(" ", "_"))
        target = None if one.target is None else _player(one.target, transcript)
        if kind is None:
            notes.append(NO_SUCH_ACT)
        elif one.target is not None and target is None:
            notes.append(NO_SUCH_TARGET)
        else:
            yield kind, target


def _player(name: str, transcript: Transcript) -> str | None:
    """The player of that name, as prompts write it, or the only one whom the words name."""
    names = {as_name(one).casefold(): one for one in transcript.player_names}
    known = names.get(as_name(name).casefold())
    mentioned = {mention.player for mention in NameIndex.of(transcript.player_names).mentions(name)}
    return known or (mentioned.pop() if len(mentioned) == 1 else None)


def _references(entry: MessageAnswer, message: Message, notes: list[str]) -> Iterator[JudgedReference]:
    known: set[tuple[int, int]] = set()
    for one in entry.references:
        verdict = one.verdict.strip().casefold()
        span = _place(one.quote, message.text)
        if verdict not in VERDICTS:
            notes.append(NO_SUCH_VERDICT)
        elif span is None:
            notes.append(NO_SUCH_QUOTE)
        elif span not in known:
            known.add(span)
            yield JudgedReference(*span, verdict, " ".join(one.reason.split()))


_MARKS = {"'": "['\u2018\u2019]", '"': '["\u201c\u201d]'}
_MARKS |= {"\u2018": _MARKS["'"], "\u2019": _MARKS["'"], "\u201c": _MARKS['"'], "\u201d": _MARKS['"']}


# Marks that models put around what they quote.
_AROUND = " \"'\u2018\u2019\u201c\u201d\u2026."


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """The span of a quote in a message; all blanks and marks between lines are equal, and all quotation marks."""
    for words in (quote.split(), quote.strip(_AROUND).split()):
        signs = ("".join(_MARKS.get(sign) or re.escape(sign) for sign in word) for word in words if word != "|")
        pattern = r"[\s|]+".join(signs)
        if pattern and (found := re.search(pattern, text, re.IGNORECASE)):
            return found.span()
    return None
