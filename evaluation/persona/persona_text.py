"""Personas as text: what a judge reads of a persona that a transcript, a file or a person gave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from evaluation.errors import InputError

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


def read_agent_file(content: bytes, file: str) -> tuple[str, JsonValue]:
    """Name and persona in an agent file of TinyTroupe, or in a plain JSON object with a ``name``.

    Args:
        content: The file.
        file: Its name, for errors.

    Raises:
        InputError: Not JSON, or without a persona or a name.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"This is not JSON: {error}.", place=file, remedy=_REMEDY) from None
    persona = body.get("persona", body) if isinstance(body, dict) else None
    if not isinstance(persona, dict) or not persona:
        raise InputError("The file describes no persona.", place=f"{file}: $.persona", remedy=_REMEDY)
    name = persona.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise InputError("The persona has no name.", place=f"{file}: $.persona.name", remedy="Give it one, as text.")
    return name.strip(), persona
