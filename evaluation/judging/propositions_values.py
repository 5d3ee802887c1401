"""The values that a proposition file may hold, one function per kind: the value, or why it is none."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

from evaluation.judging.preconditions import registered
from evaluation.judging.propositions import Dimension, TargetType

LARGEST_WINDOW = 10_000
"""The most messages that a window may begin or end with."""

_LONGEST_ID = 100
_LONGEST_TEXT = 2_000
_LONGEST_SHOWN = 60
_Kind = TypeVar("_Kind", bound=StrEnum)


class WrongValueError(ValueError):
    """A value cannot be used; the message names it and the remedy."""

    def __init__(self, value: object, what: str) -> None:
        kind = "A mapping" if isinstance(value, dict) else "A list" if isinstance(value, list) else ""
        shown = kind or ascii(value)[:_LONGEST_SHOWN]
        super().__init__(f"{shown} is {what}")


def flag(value: Any) -> bool:
    """True or false, not a text that looks like it."""
    if isinstance(value, bool):
        return value
    raise WrongValueError(value, "neither true nor false. Write true or false, without quotes.")


def count(value: Any) -> int:
    """A number of messages."""
    if type(value) is int and 0 <= value <= LARGEST_WINDOW:
        return value
    raise WrongValueError(value, f"no number of messages. Give a whole number from 0 to {LARGEST_WINDOW:,}.")


def weight(value: Any) -> float:
    """A weight from 0 to 1."""
    if type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    raise WrongValueError(value, "no weight. Give a number from 0 (does not count) to 1.")


def text(value: Any) -> str:
    """A sentence or a few, without blanks around."""
    if isinstance(value, str) and value.strip() and len(value) <= _LONGEST_TEXT:
        return value.strip()
    what = f"no text of 1 to {_LONGEST_TEXT:,} characters. Write a sentence, in quotes where it holds a colon."
    raise WrongValueError(value, what)


def identifier(value: Any) -> str:
    """The id of an agent or a proposition: it becomes part of file names and addresses."""
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and all(map(_fits_an_id, value)):
        return value
    raise WrongValueError(value, f"no id. Use letters, digits, '-' and '_', at most {_LONGEST_ID}, as text.")


def _fits_an_id(character: str) -> bool:
    return character.isalnum() or character in "-_"


def dimension(value: Any) -> Dimension:
    """One of the dimensions."""
    return _one_of(value, Dimension)


def target_type(value: Any) -> TargetType:
    """An agent or a channel."""
    return _one_of(value, TargetType)


def _one_of(value: Any, kind: type[_Kind]) -> _Kind:
    if isinstance(value, str) and value in set(kind):
        return kind(value)
    raise WrongValueError(value, f"not known.{did_you_mean(value, kind)} Choose from {', '.join(kind)}.")


def precondition(value: Any) -> str:
    """The name of a registered precondition."""
    if isinstance(value, str) and value in registered():
        return value
    close = did_you_mean(value, registered())
    raise WrongValueError(value, f"no registered precondition.{close} Registered are {', '.join(registered())}.")


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """A sentence with the most similar of the known words, with a blank before it; empty when none is similar."""
    is_word = isinstance(value, str) and len(value) < _LONGEST_SHOWN
    close = difflib.get_close_matches(str(value), list(known), n=1) if is_word else []
    return f" Do you mean {str(close[0])!r}?" if close else ""
