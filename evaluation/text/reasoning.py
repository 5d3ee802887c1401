"""Blocks that a model writes for itself inside its message: reasoning in tags, and calls of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

PartKind = Literal["speech", "thought", "tool"]

_TAG = re.compile(
    r"<(?P<end>/?)(?:(?P<thought>(?:seed:)?think(?:ing)?|thoughts?|reasoning|scratchpad|inner_?monologue)"
    r"|(?P<tool>tool_?calls?|function_?calls?|tool_code|tool_response))(?:\s[^<>\n]{0,100})?\s?>",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """A stretch of a message, without the tags and the space around it."""

    kind: PartKind
    text: str


def parts_of(text: str) -> list[Part]:
    """The message as speech, thoughts and tool calls in their order; none of the parts is empty.

    A block without an end reaches to the end of the text, one without a beginning from its start. A tag in backticks is
    talk about the tag.
    """
    if "<" not in text:
        return [Part("speech", text)]
    return [part for part in _parts(text) if part.text] or [Part("thought", text.strip())]


def _parts(text: str) -> Iterator[Part]:
    position = 0
    inside: PartKind | None = None
    for tag in _TAG.finditer(text):
        kind: PartKind = "thought" if tag["thought"] else "tool"
        if text[tag.start() - 1 : tag.start()] == "`" or (inside and (kind != inside or not tag["end"])):
            continue
        if tag["end"] and not inside and position:
            # An end without a beginning counts only where nothing was closed before it.
            continue
        before = text[position : tag.start()].strip()
        yield Part(kind if tag["end"] else "speech", before)
        inside = None if tag["end"] else kind
        position = tag.end()
    # A message without blocks stays as it was written, with the space around it.
    yield Part(inside or "speech", text[position:].strip() if position else text)
