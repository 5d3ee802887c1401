"""Escape untrusted text for terminals, Markdown, XML, JSON and spreadsheets; templates escape what stands in HTML.

Transcripts, names and file names are untrusted text. Written raw, their control characters could move the cursor,
colour the screen or reorder what is read, their Markdown or HTML could become links, pictures and scripts, and a
spreadsheet could run their formulas. Imports nothing outside the standard library.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# Control characters (Cc), what reorders or hides text (Cf, but for the joiners of scripts and emoji), lone halves of
# pairs (Cs), and the two Unicode line ends (Zl, Zp).
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = frozenset("\u200c\u200d")
_ELLIPSIS = "…"
_BARE_BAR = re.compile(r"(?<!\\)\|")
# What a spreadsheet takes for the beginning of a formula, after blanks, in ASCII and in full width.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# JSON escapes the first 32 control characters. A terminal also acts on these, and half of a pair is not UTF-8.
_JSON_ESCAPES = {
    number: f"\\u{number:04x}"
    for first, end in (
        (0x7F, 0xA0),
        (0x61C, 0x61D),
        (0x200E, 0x2010),
        (0x2028, 0x202F),
        (0x2066, 0x206A),
        (0xD800, 0xE000),
    )
    for number in range(first, end)
}


def safe(text: object) -> str:
    """The text on one line, without escape sequences, control characters and marks that reorder it."""
    line = _ESCAPE_SEQUENCE.sub("", str(text)).replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if line.isascii() and line.isprintable():
        return line
    return "".join(c for c in line if c in JOINERS or unicodedata.category(c) not in _HARMFUL)


def shortened(text: object, limit: int) -> str:
    """:func:`safe` text of at most ``limit`` characters."""
    return cut(safe(text), limit)


def cut(text: str, limit: int) -> str:
    """The text, cut to ``limit`` characters with an ellipsis at its end. Nothing else is changed."""
    return text if len(text) <= limit else text[: limit - 1] + _ELLIPSIS


def lone_surrogate(text: str) -> int | None:
    """The place of the first half of a surrogate pair, which no UTF-8 file or database can hold; ``None`` for none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None


def well_formed(text: str) -> str:
    """The text with every half of a surrogate pair (a file name in another encoding) replaced by a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def without_controls(text: str) -> str:
    """The text as it is stored: well formed, line ends as "\\n", without other control characters but tabs.

    Marks that turn text around stay, since right-to-left scripts need them.
    """
    lines = _ESCAPE_SEQUENCE.sub("", well_formed(text)).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in lines if c in "\n\t" or unicodedata.category(c) != "Cc")


def reading_fault(error: Exception) -> str:
    """Why a text file cannot be read: the byte that is not UTF-8, else what the system or the parser says."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02X} (number {error.start + 1}) is not UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table. Cells are our own plain words, or untrusted text through :func:`code`; bars are escaped."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(_BARE_BAR.sub(r"\|", str(cell)) for cell in line) + " |" for line in lines)


def code(text: object) -> str:
    """Untrusted text for Markdown: inside a code span nothing is a link, a picture, a mention or a table cell."""
    # A backslash before the one that escapes the bar would take that one's effect away.
    inner = safe(text).replace("\\|", "/|").replace("`", "'").replace("|", "\\|").strip()
    return f"`{inner}`" if inner else ""


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON that keeps letters of all languages readable and cannot steer a terminal."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False).translate(_JSON_ESCAPES)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run the text as a formula."""
    return text.lstrip(" ").startswith(_FORMULA_STARTS)


def spreadsheet_safe(value: Any) -> Any:
    """A cell without control characters that no spreadsheet runs as a formula, by an apostrophe before such a text."""
    if not isinstance(value, str):
        return value
    whole = without_controls(value)
    return f"'{whole}" if is_formula(whole) else whole
