"""Personas as text for a judge, from a transcript, a file or a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import JsonValue

from evaluation.errors import InputError, LimitError
from evaluation.files.strict_json import parse_json

LONGEST_PERSONA = 20_000
"""Characters of a persona that a judge sees."""

_DEEPEST = 12
_INDENT = "  "
_REMEDY = "Hand in an agent file of TinyTroupe (*.agent.json), or a JSON object that describes the persona."


def persona_text(persona: JsonValue) -> str:
    """A persona as lines: a text as it is, a mapping as "name: value" lines, empty for nothing.

    JSON would cost a third more tokens, and its quotes and colons are what an answer consists of.
    """
    text = persona.strip() if isinstance(persona, str) else "\n".join(_lines(persona, 0))
    if len(text) <= LONGEST_PERSONA:
        return text
    return f"{text[:LONGEST_PERSONA]}\n(cut: {len(text) - LONGEST_PERSONA:,} more characters)"


def _lines(value: Any, depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    if depth > _DEEPEST:
        yield f"{indent}(more)"
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = str(key).replace("_", " ")
            if isinstance(inner, dict | list) and inner:
                yield f"{indent}{name}:"
                yield from _lines(inner, depth + 1)
            elif inner not in (None, "", [], {}):
                yield f"{indent}{name}: {inner}"
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _lines(inner, depth + 1)
            else:
                yield f"{indent}- {inner}"
    elif value is not None:
        yield f"{indent}{value}"


class _Bounds(NamedTuple):
    """Far above any persona: a judge sees twelve levels, and 20,000 characters."""

    json_depth: int = 100
    json_values: int = 500_000


def read_persona_json(content: bytes, file: str, *, remedy: str) -> Any:
    """The value in a file of a persona, with nothing in it that could not be stored.

    Args:
        content: The file.
        file: Its name, for errors.
        remedy: What to hand in instead of what is no such file.

    Raises:
        InputError: Not JSON, nested too deep, a number that is not finite, half of a surrogate pair, or a key twice.
    """
    try:
        return parse_json(content.decode(json.detect_encoding(content)), _Bounds())
    except UnicodeDecodeError:
        raise InputError("The text is not UTF-8.", place=file, remedy="Save the file as UTF-8.") from None
    except LimitError as error:
        raise InputError(error.message, place=file, remedy=remedy) from None
    except InputError as error:
        raise InputError(error.message, place=f"{file}: {error.place}", remedy=error.remedy or remedy) from None


def read_agent_file(content: bytes, file: str) -> tuple[str, JsonValue]:
    """Name and persona in an agent file of TinyTroupe, or in a plain JSON object with a ``name``.

    Args:
        content: The file.
        file: Its name, for errors.

    Raises:
        InputError: As ``read_persona_json``, or without a persona or a name.
    """
    body = read_persona_json(content, file, remedy=_REMEDY)
    persona = body.get("persona", body) if isinstance(body, dict) else None
    if not isinstance(persona, dict) or not persona:
        raise InputError("The file describes no persona.", place=f"{file}: $.persona", remedy=_REMEDY)
    name = persona.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise InputError("The persona has no name.", place=f"{file}: $.persona.name", remedy="Give it one, as text.")
    return name.strip(), persona
