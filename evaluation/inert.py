"""Other people's text made harmless, for terminals and for Markdown.

Transcripts, names and file names are other people's text. Written raw, their control characters could move the cursor,
colour the screen or reorder what is read, and their Markdown could become links, pictures and mentions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# Control characters (Cc), what reorders or hides text (Cf, but for the joiners of scripts and emoji), lone halves of
# pairs (Cs), and the two Unicode line ends (Zl, Zp).
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = frozenset("\u200c\u200d")
_ELLIPSIS = "…"


def safe(text: object) -> str:
    """The text on one line, without escape sequences, control characters and marks that reorder it."""
    line = _ESCAPE_SEQUENCE.sub("", str(text)).replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if line.isascii() and line.isprintable():
        return line
    return "".join(c for c in line if c in JOINERS or unicodedata.category(c) not in _HARMFUL)


def shortened(text: object, limit: int) -> str:
    """:func:`safe` text of at most ``limit`` characters."""
    line = safe(text)
    return line if len(line) <= limit else line[: limit - 1] + _ELLIPSIS


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table. Cells are plain words of ours, or other people's text through :func:`code`."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def code(text: object) -> str:
    """Other people's text for Markdown: inside a code span nothing is a link, a picture, a mention or a table cell."""
    # A backslash before the one that escapes the bar would take that one's effect away.
    inner = safe(text).replace("\\|", "/|").replace("`", "'").replace("|", "\\|").strip()
    return f"`{inner}`" if inner else ""
