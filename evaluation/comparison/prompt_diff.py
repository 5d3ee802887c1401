"""Difference of two prompts, line by line."""

from __future__ import annotations

import difflib

MOST_LINES = 1000
"""Matching lines takes time that grows with their square; longer prompts are compared up to here."""


_CONTEXT = 2


def prompt_diff(before: str, after: str) -> str:
    """The changed lines, "-" before what went and "+" before what came, with two lines around them.

    Empty when both are the same. Between distant changes stands a line of three dots.
    """
    old, new = before.splitlines()[:MOST_LINES], after.splitlines()[:MOST_LINES]
    # The first two lines of a unified diff name the files.
    changed = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
    lines = ["..." if line.startswith("@@") else f"{line[:1]} {line[1:]}" for line in changed]
    return "\n".join(lines[1:] if lines[:1] == ["..."] else lines)


def is_cut(before: str, after: str) -> bool:
    """Whether one of the two has more lines than are compared."""
    return max(len(before.splitlines()), len(after.splitlines())) > MOST_LINES
