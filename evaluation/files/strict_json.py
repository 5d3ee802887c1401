"""Parse JSON strictly: values that Python's parser accepts but that cannot be stored are refused with their place."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isinf
from typing import Any, Protocol

from evaluation.errors import BrokenTranscriptError, InputError, LimitError
from evaluation.escaping import cut, lone_surrogate

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RIGHT_FILE = "No transcript is like that; check that this is the right file"
_LONGEST_SHOWN = 60
_MOST_DIGITS = 30


class JsonLimits(Protocol):
    """Limits on the nesting of lists and objects, and on the number of values in all."""

    @property
    def json_depth(self) -> int: ...

    @property
    def json_values(self) -> int: ...


class _Unusable:
    """Stands for a NaN, an infinite or an absurdly long number until its place is known."""

    def __init__(self, written: str) -> None:
        self.written = written


class _Doubled(dict[str, Any]):
    """An object in which ``key`` occurs twice."""

    def __init__(self, pairs: list[tuple[str, Any]], key: str) -> None:
        super().__init__(pairs)
        self.key = key


def parse_json(text: str, limits: JsonLimits, *, nan_is_null: bool = False) -> Any:
    """The value in a JSON text.

    Args:
        text: The JSON text.
        limits: Bounds for what is parsed.
        nan_is_null: Read NaN and the infinities as null instead of refusing them.

    Raises:
        BrokenTranscriptError: Not JSON (with line and column), a key twice in one object, a number that is not finite,
            or half of a surrogate pair (with the JSON path).
        LimitError: Nested too deep, or too many values in all.
    """
    constant = _null if nan_is_null else _Unusable
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=constant, parse_float=_float, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        # "Unterminated string starting at", "Invalid control character at": our place stands before the message.
        reason = error.msg.removesuffix(" at").removesuffix(" starting")
        raise BrokenTranscriptError(f"Not valid JSON: {reason}.", place=place, remedy=_mend(text)) from None
    except RecursionError:
        raise _too_deep(limits) from None
    if not _is_sound(value, limits, look_for_surrogates=_SURROGATE_ESCAPE.search(text) is not None):
        raise _first_fault(value)
    return value


def step(path: str, key: str | int) -> str:
    """The JSON path one level below ``path``."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _PLAIN_KEY.match(key):
        return f"{path}.{key}"
    return f"{path}[{shorten(key)!r}]"


def shorten(value: object) -> str:
    """A value for an error message, at most one short line long and always printable."""
    text = value if isinstance(value, str) else repr(value)
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: _LONGEST_SHOWN + 1])
    return cut(printable, _LONGEST_SHOWN)


def _null(_: str) -> None:
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) == len(pairs):
        return body
    ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
    return _Doubled(pairs, key)


def _float(written: str) -> Any:
    number = float(written)
    return _Unusable(written) if isinf(number) else number


def _integer(written: str) -> Any:
    return int(written) if len(written) <= _MOST_DIGITS else _Unusable(written)


def _mend(text: str) -> str:
    if not text.rstrip().endswith(("}", "]")):
        return "The file may be incomplete: export or copy it again."
    return "Correct the file at that place, or export it again."


def _too_deep(limits: JsonLimits) -> LimitError:
    message = f"The JSON is nested deeper than {limits.json_depth} levels."
    return LimitError.beyond("json_depth", message, advice=_RIGHT_FILE)


def _is_sound(root: Any, limits: JsonLimits, *, look_for_surrogates: bool) -> bool:
    """Whether nothing in the value stands in the way of storing it.

    Goes level by level: recursion would let a file exhaust the stack, and paths would cost most of the time.

    Raises:
        LimitError: Nested too deep, or too many values in all.
    """
    level, depth, count = [root], 0, 0
    while level:
        if any(isinstance(value, (_Unusable, _Doubled)) for value in level):
            return False
        objects = [value for value in level if isinstance(value, dict)]
        lists = [value for value in level if isinstance(value, list)]
        if look_for_surrogates:
            keys = "".join(key for body in objects for key in body)
            if _half_pair(keys + "".join(value for value in level if isinstance(value, str))):
                return False
        count += len(level)
        if count > limits.json_values:
            message = f"The JSON holds more than {limits.json_values:,} values."
            raise LimitError.beyond("json_values", message, advice=_RIGHT_FILE)
        if (objects or lists) and depth >= limits.json_depth:
            raise _too_deep(limits)
        level = [value for body in objects for value in body.values()]
        level += [value for items in lists for value in items]
        depth += 1
    return True


def _first_fault(root: Any) -> InputError:
    """The error for the first thing that ``_is_sound`` stumbled over, with its path."""
    waiting: list[tuple[Any, str]] = [(root, "$")]
    while waiting:
        value, path = waiting.pop()
        if fault := _fault(value, path):
            return fault
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        # What is taken next is at the end, so the children stand there in reverse: the first fault is the file's first.
        waiting.extend((child, step(path, key)) for key, child in reversed(list(children)))
    return BrokenTranscriptError("The JSON holds something that cannot be stored.", remedy="Export the file again.")


def _fault(value: Any, path: str) -> InputError | None:
    if isinstance(value, _Unusable):
        what = shorten(value.written)
        return BrokenTranscriptError(
            f"{what} is not a number that can be stored.", place=path, remedy="Use an ordinary number, or null."
        )
    if isinstance(value, _Doubled):
        return BrokenTranscriptError(
            f"The key {shorten(value.key)!r} occurs twice in one object.", place=path, remedy="Keep one of the two."
        )
    text = value if isinstance(value, str) else "".join(value) if isinstance(value, dict) else ""
    if half := _half_pair(text):
        message = f"The text holds half of a surrogate pair ({half}), which is not a character."
        return BrokenTranscriptError(message, place=path, remedy="Remove it, or export the file as UTF-8.")
    return None


def _half_pair(text: str) -> str | None:
    place = lone_surrogate(text)
    return None if place is None else f"U+{ord(text[place]):04X}"
