"""Answers of a judge: their forms, the words that ask for each form, and tolerant parsers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    create_model,
    model_validator,
)

from evaluation.errors import own_words

LOWEST_SCORE = 0
HIGHEST_SCORE = 9

_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
_CITATION = re.compile(r"\s*\[?\s*[Mm]?\s*([0-9]{1,9})\s*\]?\s*")


def _message_number(value: Any) -> Any:
    """Models write 12, "12", "M12" or "[M12]"; all of them mean message 12."""
    found = _CITATION.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(found[1]) if found else value


_WHOLE_NUMBER = re.compile(r"\s*([0-9]{1,3})(?:\.0{1,9})?\s*")


def _whole_number(value: Any) -> Any:
    """Models write 7, 7.0, "7" or "7.0"; all of them mean 7. What has a fraction stays, and is refused."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _WHOLE_NUMBER.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(found[1]) if found else value


# The descriptions are what models read in the place of a value; see ``formats``.
Reason = Annotated[str, Field(max_length=_LONGEST_TEXT, description="two or three sentences")]
Confidence = Annotated[
    float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False, description="how sure you are, 0.0 to 1.0")
]
Citation = Annotated[StrictInt, BeforeValidator(_message_number)]
Citations = Annotated[
    list[Citation],
    Field(max_length=_MOST_ITEMS, description="[numbers N of messages [MN] that bear it out]"),
]


class Answer(BaseModel):
    """Base of all answers. Fields that were not asked for are left out, wrong types are refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The answer in what a model wrote; raises as ``parse_answer``."""
        return parse_answer(text, cls.model_validate)


Entry = TypeVar("Entry", bound=Answer)


def usable_entries(kind: type[Entry], most: int) -> BeforeValidator:
    """Keeps the entries of a list that are of that kind, ``most`` at most: a garbled one must not cost the others."""

    def keep(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        kept = []
        for entry in value[:most]:
            with suppress(ValidationError):
                kept.append(kind.model_validate(entry))
        if value and not kept:
            raise ValueError("none of its entries can be used")
        return kept

    return BeforeValidator(keep)


class ScoreAnswer(Answer):
    """The truth of a claim: 0 (certainly false) to 9 (certainly true).

    Attributes:
        reason: Why, written before the score.
        score: A whole number; 7.0 and "7" are 7, while 7.5 and 12 are refused. Where data is missing it is 9, whatever
            the model wrote in its place.
        confidence: 0 to 1.
        citations: Numbers N of the messages ``[MN]`` that bear the score out.
        data_missing: Whether the 9 says no more than that there was nothing to judge.
    """

    reason: Reason
    score: Annotated[
        StrictInt,
        BeforeValidator(_whole_number),
        Field(ge=LOWEST_SCORE, le=HIGHEST_SCORE, description="whole number, 0 to 9"),
    ]
    confidence: Confidence
    citations: Citations = Field(default_factory=list)
    data_missing: Annotated[StrictBool, Field(description="true or false")] = False

    @model_validator(mode="before")
    @classmethod
    def _highest_score_without_data(cls, body: Any) -> Any:
        """Models leave the score out, or write null or "n/a", where there was nothing to judge."""
        is_missing = isinstance(body, dict) and body.get("data_missing") is True
        return {**body, "score": HIGHEST_SCORE} if is_missing else body


class CheckAnswer(Answer):
    """Whether a claim holds."""

    reason: Reason
    holds: Annotated[StrictBool, Field(description="true or false")]
    confidence: Confidence
    citations: Citations = Field(default_factory=list)


class Idea(Answer):
    """One idea and the messages that voice it."""

    text: Annotated[str, Field(max_length=_LONGEST_TEXT, description="the idea in one sentence")]
    citations: Citations = Field(default_factory=list)


class IdeasAnswer(Answer):
    """The distinct ideas of a conversation."""

    ideas: Annotated[
        list[Idea], Field(max_length=_MOST_ITEMS, description='a list of {"text": the idea, "citations": as [1, 2]}')
    ]


FORMAT_VERSION = "format-2"
"""Part of every cache key: change it with any wording below."""

ANSWER = """Answer with one JSON object and nothing else:
{shape}"""

BATCH = """Answer every item on its own, with one JSON object and nothing else:
{{"answers": [{shape}, ...]}}"""

RECHECK = """Are you sure? Look at the evidence once more, be strict with your own first answer, and give your final
answer, the same or another, in the same form."""

CORRECTION = """Your answer could not be used: {problem}. Answer again, in the form that was asked for and with nothing
around it."""


def answer_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks one question."""
    return ANSWER.format(shape=_shape(answer))


def batch_format(answer: type[Answer]) -> str:
    """The end of a prompt that asks several questions."""
    return BATCH.format(shape=_shape(answer, '"item": its number, '))


def batch_questions(questions: Sequence[str]) -> str:
    """The questions of a batch, numbered from ``[P1]``."""
    return "\n\n".join(f"[P{number}] {question}" for number, question in enumerate(questions, start=1))


def _shape(answer: type[Answer], before: str = "") -> str:
    fields = ", ".join(f'"{name}": {field.description or "..."}' for name, field in answer.model_fields.items())
    return f"{{{before}{fields}}}"


LONGEST_ANSWER = 200_000
"""Characters; what is longer is not an answer, and must not cost time."""

_MOST_TRIES = 300
_MOST_READ_IN_VAIN = 3 * LONGEST_ANSWER
_MOST_ERRORS_NAMED = 3

Value = TypeVar("Value")

Validate = Callable[[dict[str, Any]], Value]
"""Makes something of a JSON object, or raises ``ValidationError`` or ``AnswerError``; a model's ``model_validate``."""


class AnswerError(ValueError):
    """A model's text is not a valid answer; the message tells the model what is wrong."""


def parse_answer(text: str, validate: Validate[Value]) -> Value:
    """The validated form of the one JSON object in ``text`` that ``validate`` accepts, which may stand there twice.

    Objects inside other objects, and inside their strings, do not count.

    Raises:
        AnswerError: There is none, and then tells what is wrong with the last object; or there are several that differ.
    """
    found: list[Value] = []
    problem = "there is no complete JSON object in it" if text.strip() else "it is empty"
    for body in json_objects(text):
        try:
            value = validate(body)
            if value not in found:
                found.append(value)
        except ValidationError as error:
            problem = describe(error)
        except AnswerError as error:
            problem = str(error)
    if not found:
        raise AnswerError(problem)
    if len(found) > 1:
        raise AnswerError(f"it holds {len(found)} complete answers that differ; give one")
    return found[0]


def parse_items(text: str, models: Sequence[type[Answer]]) -> dict[int, Answer]:
    """The answers of a batch by position (from 0); positions without a valid answer are left out.

    Takes ``{"answers": [{"item": 1, ...}, ...]}``, a bare list, or single objects with an ``item``, which also saves
    the whole items of an answer that breaks off. An item with several valid answers that differ has none.
    """
    found: dict[int, list[Answer]] = {}
    for item in _items(text):
        number = item.get("item")
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(models):
            with suppress(ValidationError):
                answer = models[number - 1].model_validate(item)
                found.setdefault(number - 1, []).append(answer)
    return {position: answers[0] for position, answers in found.items() if answers.count(answers[0]) == len(answers)}


def _items(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        for body in json_objects(text):
            inside = body.get("answers")
            yield from [one for one in inside if isinstance(one, dict)] if isinstance(inside, list) else [body]
    except AnswerError:
        return


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in ``text``, in order, in time linear in the text, whatever it holds.

    Raises:
        AnswerError: The text is too long, or so full of braces that nobody can tell what is meant.
    """
    yield from (body for body, _, _ in _objects(text))


def object_spans(text: str) -> Iterator[tuple[int, int]]:
    """Beginning and end of each of those objects; raises as ``json_objects``."""
    yield from ((start, end) for _, start, end in _objects(text))


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    if len(text) > LONGEST_ANSWER:
        raise AnswerError(f"it has {len(text):,} characters, more than the {LONGEST_ANSWER:,} that are read")
    position = text.find("{")
    tries = read_in_vain = 0
    while position >= 0:
        tries += 1
        if tries > _MOST_TRIES:
            raise AnswerError(f"it holds more than {_MOST_TRIES:,} braces")
        if read_in_vain > _MOST_READ_IN_VAIN:
            raise AnswerError("its braces open again and again without an object that ends")
        body, end = _object_at(text, position)
        if body is None:
            read_in_vain += end - position
            position = text.find("{", position + 1)
        else:
            yield body, position, end
            position = text.find("{", end)


_Found = tuple[dict[str, Any] | None, int]
"""An object and where it ends, or ``None`` and how far the text was read in vain."""


def _object_at(text: str, start: int) -> _Found:
    """The object that begins at ``start``, with trailing commas in it passed over and wrong escapes taken literally."""
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        # The place of a string without an end is its beginning.
        read = len(text) if error.msg.startswith("Unterminated") else error.pos
        # Python versions point at a trailing comma or at the bracket behind it.
        is_comma = text[error.pos : error.pos + 1] in {",", "}", "]"}
        if not is_comma and not error.msg.startswith("Invalid \\"):
            return None, read
    except (ValueError, RecursionError):
        return None, len(text)
    return _mended_object(text, start)


def _mended_object(text: str, start: int) -> _Found:
    """The same, when a comma stands before a closing bracket or a string has an escape of no meaning.

    Reads the text once.
    """
    parts: list[str] = []
    kept = start
    depth = 0
    for token in _TOKEN.finditer(text, start):
        first = token.group()[0]
        depth += (first in "{[") - (first in "}]")
        if first == '"' and "\\" in token.group():
            parts += (text[kept : token.start()], _ESCAPE.sub(_valid_escape, token.group()))
            kept = token.end()
        elif first == "," and text[token.end() : token.end() + 1] in {"}", "]"}:
            parts.append(text[kept : token.start()])
            kept = token.end()
        if depth == 0:
            parts.append(text[kept : token.end()])
            return _decoded("".join(parts)), token.end()
    return None, len(text)


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


def _valid_escape(escape: re.Match[str]) -> str:
    """An escape that JSON does not know stands for its sign (``\\'``, ``\\_``), before a letter for a backslash."""
    after = escape[1]
    if len(after) > 1 or after in '"\\/bfnrt':
        return escape[0]
    return rf"\\{after}" if after.isalnum() else after


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        body, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) and end == len(text) else None


# What decides where brackets close: whole strings (also one without an end), runs of commas, and brackets. No part is
# ever read twice.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*(?:"|\\?\Z)|,[\s,]*+|[\[\]{}]', re.DOTALL)


def describe(error: ValidationError) -> str:
    """The faults of an answer, field by field, without repeating the model's text."""
    problems = [
        f"{'.'.join(map(str, one['loc'])) or 'the object'}: {own_words(one['msg'])}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = len(problems) - _MOST_ERRORS_NAMED
    return "; ".join(problems[:_MOST_ERRORS_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key stands twice")
    return body


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# Line breaks inside strings are common in models' JSON and harmless.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, strict=False)


def with_fields(schema: Mapping[str, Any]) -> Validate[dict[str, Any]]:
    """Checks an object against a schema, strictly: true is not a number, and "7" not one either.

    Args:
        schema: ``{"required": {field: type}}`` or ``{"required": [field]}`` as in ADR-010.
    """
    required = schema.get("required", {})
    types = required if isinstance(required, Mapping) else dict.fromkeys(required, Any)
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in types.items()}
    model = create_model("Fields", __config__=ConfigDict(strict=True), **fields)

    def validate(body: dict[str, Any]) -> dict[str, Any]:
        model.model_validate(body)
        return body

    return validate
