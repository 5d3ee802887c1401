"""Separate untrusted text from a judge's instructions: fences, neutralised text, and flags for people.

A transcript cannot be trusted: a player may write to the judge instead of to the others. There are three protections.
Untrusted text stands between fences that cannot be guessed, because the client replaces ``FENCE`` by a new random
delimiter for every call. Text that looks like a fence, a role, a numbered message or a verdict is broken up without
losing its words. And ``flags`` shows people which messages tried it.

Every function takes time linear in the length of its text, whatever the text holds.
"""

from __future__ import annotations

import re
from functools import lru_cache

from evaluation.judging._injection import KINDS, Flag, flags, is_drawn

__all__ = ["FENCE", "KINDS", "Flag", "as_message", "as_name", "fenced", "flags", "neutralise", "quoted", "unnumbered"]

FENCE = "\u27e6fence\u27e7"
"""Stands where the client puts the delimiter of the call; cache keys are computed on this form."""

_QUOTE = "| "
_LONGEST_NAME = 200

# White brackets make the placeholder; nothing that looks like it may come from outside.
_BRACKETS = str.maketrans({"\u27e6": "[", "\u27e7": "]", "\u301a": "[", "\u301b": "]", "\uff3b": "[", "\uff3d": "]"})
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Every JSON object that is not empty has a quote before a colon.
_JSON_KEY = re.compile(r"([\"'])\s*:")
_CODE_FENCE = re.compile(r"`{3,}|~{3,}")
# Control tokens of chat templates, and tags that name a part of a prompt.
_CONTROL_TOKEN = re.compile(
    r"<(?=\||<sys|/?(?:s|system|assistant|user|human|developer|instructions?|transcript|fence|judge|verdict|answer)\b)"
    r"|\[(?=/?(?:inst|sys|system|end)\b)",
    re.IGNORECASE,
)
_STRUCTURAL_LINE = re.compile(
    r"""
    [^\S\n]* (?: [\#>*=_~+-] [\#>*=_~+\ \t-]{0,30} )? (?:
        (?: system | assistant | user | human | developer | judge | evaluator | grader | claim | rubric
          | (?:new\ )? instructions? ) [ \t*_]* :
      | ["'{(\[ ]{0,4} (?: score | reason | holds | confidence | citations | verdict | label | rating | answer )
        ["')\] ]{0,3} [:=]
      | (?: begin | end | start ) (?:\ of)? (?:\ the)?
        \ (?: transcript | conversation | fence | messages? | data | input | untrusted ) \b
      | fence \b
    )
    | [^\S\n]* (?: [-=\#*_~]{3,} [^\S\n]* \Z | \#{1,6}\  )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MESSAGE_NUMBER = re.compile(r"\[(?=M\s*\d)", re.IGNORECASE)


def neutralise(text: str) -> str:
    """``text`` with everything broken up that could pass for a part of the prompt or of an answer.

    Invisible and control characters go, tabs and line ends stay. The placeholder's brackets become square ones. No
    quote stands before a colon any more, so that no JSON object in an answer can be an echo of the transcript. Chat
    template tokens get a blank. A line that begins like a role, a fence, a heading or a verdict is marked as quoted
    with ``"| "``. Applying it twice changes nothing more.
    """
    plain = visible(_LINE_ENDS.sub("\n", text)).translate(_BRACKETS)
    plain = _JSON_KEY.sub(r"\1 =", _CODE_FENCE.sub("'''", plain))
    plain = _CONTROL_TOKEN.sub(lambda found: f"{found.group()} ", plain)
    return "\n".join(_QUOTE + line if _STRUCTURAL_LINE.match(line) else line for line in plain.split("\n"))


@lru_cache(maxsize=2048)
def as_message(text: str) -> str:
    """One message as it may stand behind its number ``[M12]``: neutralised, and no part of it passes for another one.

    Lines after the first are marked as quoted; a number in brackets like those of the prompt gets a blank.
    """
    first, *rest = neutralise(unnumbered(text)).split("\n")
    return "\n".join([first, *(line if line.startswith(_QUOTE) else _QUOTE + line for line in rest)])


@lru_cache(maxsize=2048)
def as_name(text: str) -> str:
    """A name, or other short untrusted text, as it may stand in a line: no line ends, at most 200 characters."""
    words = " ".join(unnumbered(text).split())
    return words.removeprefix(_QUOTE)[:_LONGEST_NAME]


def quoted(name: str) -> str:
    """An untrusted name in quotation marks, for one of our own sentences; inner quotation marks are replaced."""
    return '"' + as_name(name).replace('"', "'") + '"'


def unnumbered(text: str) -> str:
    """``text``, neutralised, without anything that passes for the number of a message: for personas and the like."""
    return _MESSAGE_NUMBER.sub("[ ", neutralise(text))


# Several claims in a row are put to the same trajectory.
@lru_cache(maxsize=128)
def fenced(text: str) -> str:
    """``text``, neutralised, between two fences on lines of their own."""
    return f"{FENCE}\n{neutralise(text)}\n{FENCE}"


def visible(text: str) -> str:
    """``text`` without characters that are not drawn: zero-width, direction and control characters, tags, selectors.

    Tabs and line feeds stay.
    """
    if text.isascii():
        return _ASCII_CONTROLS.sub("", text)
    return "".join(filter(is_drawn, text))
