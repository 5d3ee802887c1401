"""Blocks that a model writes for itself inside its message: reasoning in tags, and calls of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

PartKind = Literal["speech", "thought", "tool"]

_REASONING_NAMES = (
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
    "monologue",
    "deliberation",
    "cot",
)
"""The names of what a model writes before or beside its answer, as its tags have them."""

# Tags have words before the name (begin_of_, inner_, seed:, ant) and behind it (_content, _start), and attributes.
_JOIN = r"[_:\u2581-]"
_ATTRIBUTES = r"""(?:\s{1,9}[\w:-]{1,30}=(?:"[^"<>{}]{0,80}"|'[^'<>{}]{0,80}'|[^\s<>{}"'|]{1,80})){0,5}\s{0,9}"""
REASONING_TAG = re.compile(
    rf"(?:<|&lt;|\u25c1)[|\uff5c]?(?P<slash>/?)"
    rf"(?:(?P<word_before>end{_JOIN}(?:of{_JOIN})?)|(?:[a-z]{{1,12}}{_JOIN}){{0,2}}|ant)"
    rf"(?:{'|'.join(_REASONING_NAMES)})(?:(?P<word_behind>{_JOIN}end)|{_JOIN}(?:content|process|block|start|begin))?"
    rf"{_ATTRIBUTES}[|\uff5c]?(?:>|&gt;|\u25b7)"
    r"|\[(?P<slash_in_brackets>/?)THINK(?:ING)?\]"
    r"|<\|channel\|>(?:analysis|commentary|(?P<final_channel>final))[^<{]{0,40}<\|message\|>"
    r"|<\|channel>thought\b|(?P<channel_end><channel\|>)"
    r"|<details\b[^<>{}]{0,200}\b(?:reasoning|thinking)\b[^<>{}]{0,200}>|(?P<details_end></details>)",
    re.IGNORECASE,
)
"""A tag of any of the kinds that models and servers write around reasoning (``ends_reasoning``: its end)."""

_ENDS = ("slash", "word_before", "word_behind", "slash_in_brackets", "final_channel", "channel_end", "details_end")
_TOOL_TAG = re.compile(
    r"<(?P<slash>/?)(?:tool_?calls?|function_?calls?|tool_code|tool_response)(?:\s[^<>\n]{0,100})?\s?>", re.IGNORECASE
)


def ends_reasoning(tag: re.Match[str]) -> bool:
    """Whether a match of ``REASONING_TAG`` closes a block."""
    return any(tag[name] for name in _ENDS)


class Part(NamedTuple):
    """A stretch of a message, without the tags and the space around it."""

    kind: PartKind
    text: str


def parts_of(text: str) -> list[Part]:
    """The message as speech, thoughts and tool calls in their order; none of the parts is empty.

    A block without an end reaches to the end of the text, one without a beginning from its start. A tag in backticks is
    talk about the tag.
    """
    if not any(mark in text for mark in "<[&\u25c1"):
        return [Part("speech", text)]
    return [part for part in _parts(text) if part.text] or [Part("thought", text.strip())]


def _parts(text: str) -> Iterator[Part]:
    position = 0
    inside: PartKind | None = None
    for tag, kind, is_end in _tags(text):
        if text[tag.start() - 1 : tag.start()] == "`" or (inside and (kind != inside or not is_end)):
            continue
        if is_end and not inside and (position or tag.lastgroup == "details_end"):
            # An end without a beginning counts only where nothing was closed before it. Other details end so, too.
            continue
        before = text[position : tag.start()].strip()
        yield Part(kind if is_end else "speech", before)
        inside = None if is_end else kind
        position = tag.end()
    # A message without blocks stays as it was written, with the space around it.
    yield Part(inside or "speech", text[position:].strip() if position else text)


def _tags(text: str) -> list[tuple[re.Match[str], PartKind, bool]]:
    found: list[tuple[re.Match[str], PartKind, bool]] = [
        *((tag, "thought", ends_reasoning(tag)) for tag in REASONING_TAG.finditer(text)),
        *((tag, "tool", bool(tag["slash"])) for tag in _TOOL_TAG.finditer(text)),
    ]
    return sorted(found, key=lambda each: each[0].start())
