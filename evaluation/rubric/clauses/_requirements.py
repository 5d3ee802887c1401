"""Find words that a text must contain for a regular expression to match: a fast test before a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Required = tuple[frozenset[str], ...]
"""Sets of characters; of each, at least one must occur."""

# Look-arounds, groups, sets, repetitions and single characters: all that the forms of a grammar are made of.
_PIECE = re.compile(
    r"(?P<open>\((?:\?(?:P<\w+>|:|=|!|<=|<!))?)|(?P<set>\[[^\]]+\])|\{(?P<fewest>\d+)(?:,(?P<most>\d+))?\}|.", re.DOTALL
)
_NEGATIVE = ("(?!", "(?<!")


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of an expression.

    Attributes:
        required: Sets of which one character each must occur, the smallest set first.
        longest: How many characters a match covers at most, together with what its look-arounds see.
        pivot: Finds the characters of the smallest set, for expressions that are slow to search for: those that begin
            with something optional or with alternatives, so that no first character tells where to try. ``None`` for
            the others, and where nothing is required.
    """

    required: Required
    longest: int
    pivot: re.Pattern[str] | None

    @classmethod
    def of(cls, expression: str) -> Needs:
        """The needs of an expression of characters, sets, groups, alternatives, look-arounds and limited repetitions.

        Raises:
            ValueError: Another construct.
        """
        if "\\" in expression or "*" in expression or "+" in expression:
            raise ValueError(f"escapes and repetitions without a limit are not supported: {expression!r}")
        whole, _ = _alternatives(list(_PIECE.finditer(expression)), 0)
        least = [one for one in whole.required if not any(other < one for other in whole.required)]
        required = tuple(sorted(dict.fromkeys(least), key=lambda one: (len(one), sorted(one))))
        is_slow = required and not whole.is_quick
        pivot = re.compile(f"[{''.join(sorted(required[0]))}]") if is_slow else None
        return cls(required, whole.longest, pivot)


class _Part(NamedTuple):
    """A part of an expression: what it requires, how many characters it covers at most, whether few can begin it."""

    required: Sequence[frozenset[str]]
    longest: int
    is_quick: bool = True


def _alternatives(pieces: Sequence[re.Match[str]], at: int) -> tuple[_Part, int]:
    """All branches from piece ``at`` on together, and where the group around them closes."""
    branches: list[list[_Part]] = [[]]
    while at < len(pieces) and pieces[at][0] != ")":
        if pieces[at][0] == "|":
            branches.append([])
            at += 1
        else:
            part, at = _item(pieces, at)
            fewest, most = _repetition(pieces[at]) if at < len(pieces) else (1, 1)
            at += (fewest, most) != (1, 1)
            is_quick = bool(fewest) and part.is_quick
            branches[-1].append(_Part(part.required if fewest else (), part.longest * most, is_quick))
    required = [[one for part in branch for one in part.required] for branch in branches]
    longest = max(sum(part.longest for part in branch) for branch in branches)
    is_quick = (len(branches) == 1 and branches[0][:1] != [] and branches[0][0].is_quick) or longest == 1
    return _Part(list(_of_any(required)), longest, is_quick), at


def _item(pieces: Sequence[re.Match[str]], at: int) -> tuple[_Part, int]:
    """One group, set or character, and the place after it."""
    piece = pieces[at]
    if piece["open"]:
        inside, closes = _alternatives(pieces, at + 1)
        return (_Part((), inside.longest) if piece["open"] in _NEGATIVE else inside), closes + 1
    if piece["set"]:
        return _Part(() if piece[0].startswith("[^") else (frozenset(piece[0][1:-1]),), 1), at + 1
    return _Part((frozenset(piece[0]),), 1), at + 1


def _repetition(piece: re.Match[str]) -> tuple[int, int]:
    """The number of times that the piece before may occur; once where ``piece`` does not say."""
    if piece[0] == "?":
        return 0, 1
    if piece["fewest"] is None:
        return 1, 1
    return int(piece["fewest"]), int(piece["most"] or piece["fewest"])


def _of_any(branches: Sequence[Sequence[frozenset[str]]]) -> Iterator[frozenset[str]]:
    """The requirements that hold whichever branch matches: for several, the narrowest of each together."""
    if len(branches) == 1:
        yield from branches[0]
    elif all(branches):
        yield frozenset().union(*(min(branch, key=len) for branch in branches))
