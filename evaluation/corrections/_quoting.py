"""Quote others' words in feedback, on one line, of limited length, and so that they cannot end the quotation."""

from __future__ import annotations

import re

from evaluation.escaping import safe

_QUOTES = re.compile('["\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02\u2033\u2036]')


def one_line(text: str, limit: int) -> str:
    """The text on one line without control characters; cut behind a word, with an ellipsis, to ``limit`` characters."""
    line = " ".join(safe(" ".join(text.split())).split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    # A word without an end is cut itself.
    return (kept.rpartition(" ")[0] or kept) + "…"


def without_quotes(text: str) -> str:
    """The text with apostrophes in place of double quotation marks of all kinds."""
    return _QUOTES.sub("'", text)


def quotation(text: str, limit: int) -> str:
    """The text as of :func:`one_line`, in quotation marks that stand nowhere inside of it."""
    return f'"{one_line(without_quotes(text), limit)}"'


def inner_quotation(text: str, limit: int) -> str:
    """The same for a quotation inside another one."""
    return f"\u201c{one_line(without_quotes(text), limit)}\u201d"
