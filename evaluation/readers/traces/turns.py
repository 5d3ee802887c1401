"""One message of a call to a model, whatever the provider's shape: texts, thoughts, tool calls and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.errors import InputError
from evaluation.files.strict_json import parse_json
from evaluation.readers.base.limits import Limits

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model asks for.

    Attributes:
        name: The tool.
        arguments: As the file gives them: an object, or text.
        call_id: Joins it with its result; empty where the file gives none.
    """

    name: str
    arguments: Any
    call_id: str = ""

    @property
    def key(self) -> str:
        """The call's id, else its name and arguments, to find the same call again in a history."""
        return self.call_id or self.text

    @property
    def text(self) -> str:
        """The call as it is read: ``search({"query": "wolves"})``."""
        return f"{self.name}({'' if self.arguments in (None, '') else as_text(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool; ``name`` is empty where only the call tells it."""

    text: str
    call_id: str = ""
    name: str = ""


@dataclass(slots=True)
class ChatTurn:
    """One message of a model's input or output.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        name: The speaker where the message names one.
        texts: Its texts in their order; ``[image]`` and the like in the place of what is not text.
        thoughts: Reasoning that the others did not hear.
        calls: Tools that it asks for.
        results: Results of tools that it brings.
    """

    role: str
    name: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts, one after the other on lines of their own."""
        return "\n".join(text for text in self.texts if text.strip())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it that anybody could read."""
        return not (self.text or self.thoughts or self.calls or self.results)

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same message as a model's output and in the history of a later call.

        Calls and results are known by their ids, since their form differs between the two; thoughts are left out of
        many histories.
        """
        if self.calls or self.results:
            return ("tool", *(call.key for call in self.calls), *(one.call_id or one.text for one in self.results))
        return (self.role, normalised(self.text))


def normalised(text: str) -> str:
    """The text for comparing: runs of white space as one space."""
    return " ".join(text.split())


def as_text(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def unpacked(value: Any) -> Any:
    """The value in JSON text, also where that was encoded twice; any other value as it is."""
    for _ in range(2):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            break
        try:
            value = parse_json(value, _LIMITS)
        except InputError:
            break
    return value


def text_in(fields: Mapping[str, Any], *keys: str) -> str:
    """The first text that is not empty under one of the keys; else an empty text."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
