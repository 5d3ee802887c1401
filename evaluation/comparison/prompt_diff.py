"""Difference of two prompts, line by line, with the words that differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

MOST_LINES = 1000
"""Matching lines takes time that grows with their square; longer prompts are compared up to here."""

_CONTEXT = 2
_LONGEST_LINE = 5000
_WORD = re.compile(r"\w+|\W")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference.

    Attributes:
        text: The line behind "- " where it went, "+ " where it came, two blanks where it stayed; "..." for a gap.
        marks: Begin and end in ``text`` of what is not in the line that stands in its place.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def prompt_diff(before: str, after: str) -> list[DiffLine]:
    """The changed lines, those that went before those that came, with two lines around them.

    Empty when both are the same. Between distant changes stands a line of three dots.
    """
    old, new = before.splitlines()[:MOST_LINES], after.splitlines()[:MOST_LINES]
    # The first two lines of a unified diff name the files.
    changed = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
    lines: list[DiffLine] = []
    for is_change, group in groupby(changed[1:] if changed else [], key=lambda line: line[:1] in "+-"):
        if is_change:
            held = list(group)
            lines += _changes(
                [line[1:] for line in held if line[0] == "-"], [line[1:] for line in held if line[0] == "+"]
            )
        else:
            lines += [DiffLine("..." if line.startswith("@@") else f"  {line[1:]}") for line in group]
    return lines


def _changes(gone: Sequence[str], come: Sequence[str]) -> list[DiffLine]:
    """Lines that went and came in one place; the first of each stand for one another, and so on."""
    pairs = list(zip_longest(gone, come))
    marked = [_marks(old, new) if old is not None and new is not None else ((), ()) for old, new in pairs]
    before = [DiffLine(f"- {old}", marks[0]) for (old, _), marks in zip(pairs, marked, strict=True) if old is not None]
    after = [DiffLine(f"+ {new}", marks[1]) for (_, new), marks in zip(pairs, marked, strict=True) if new is not None]
    return [*before, *after]


def _marks(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    if max(len(old), len(new)) > _LONGEST_LINE:
        return (), ()
    words = [_WORD.findall(line) for line in (old, new)]
    matcher = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple(_spans(words[0], [code[1:3] for code in codes])), tuple(
        _spans(words[1], [code[3:5] for code in codes])
    )


def _spans(words: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Begin and end in a line, behind its two signs, of each range of words."""
    for first, last in ranges:
        if first < last:
            begin = 2 + sum(map(len, words[:first]))
            yield begin, begin + sum(map(len, words[first:last]))


def is_cut(before: str, after: str) -> bool:
    """Whether one of the two has more lines than are compared."""
    return max(len(before.splitlines()), len(after.splitlines())) > MOST_LINES
