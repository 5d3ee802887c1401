"""Strict JSON: what Python's parser lets pass and a transcript must not hold is refused with its place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from math import isinf
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError, LimitError

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LONGEST_SHOWN = 60
_MOST_DIGITS = 30


class _Unusable:
    """Stands for a NaN, an infinite or an absurdly long number until its place is known."""

    def __init__(self, written: str) -> None:
        self.written = written


class _Doubled(dict[str, Any]):
    """An object in which ``key`` occurs twice."""

    def __init__(self, pairs: list[tuple[str, Any]], key: str) -> None:
        super().__init__(pairs)
        self.key = key


def parse_json(text: str, *, max_depth: int) -> Any:
    """The value in a JSON text.

    Raises:
        BrokenTranscriptError: Not JSON (with line and column), a key twice in one object, a number that is not finite,
            or half of a surrogate pair (with the JSON path).
        LimitError: Nested deeper than ``max_depth``.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_Unusable, parse_float=_float, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        # "Unterminated string starting at", "Invalid control character at": our place stands before the message.
        reason = error.msg.removesuffix(" at").removesuffix(" starting")
        raise BrokenTranscriptError(f"Not valid JSON: {reason}.", place=place, remedy=_mend(text)) from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    _inspect(value, max_depth, look_for_surrogates=_SURROGATE_ESCAPE.search(text) is not None)
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
    cut = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")


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
        return "The end of the file seems to be missing; export or copy it again."
    return "Correct the file at that place, or export it again."


def _too_deep(max_depth: int) -> LimitError:
    return LimitError(
        f"The JSON is nested deeper than {max_depth} levels.",
        remedy="No transcript is; check that this is the right file.",
    )


def _inspect(root: Any, max_depth: int, *, look_for_surrogates: bool) -> None:
    """Refuses what stands in the way of storing the value; without recursion, since the value may be hostile."""
    kinds = (dict, list, _Unusable, str) if look_for_surrogates else (dict, list, _Unusable)
    waiting: list[tuple[Any, str, int]] = [(root, "$", 0)]
    while waiting:
        value, path, depth = waiting.pop()
        if fault := _fault(value, path, look_for_surrogates=look_for_surrogates):
            raise fault
        if isinstance(value, (dict, list)):
            if depth >= max_depth:
                raise _too_deep(max_depth)
            waiting.extend(
                (child, step(path, key), depth + 1) for key, child in _children(value) if isinstance(child, kinds)
            )


def _children(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | int, Any]]:
    return iter(value.items()) if isinstance(value, dict) else iter(enumerate(value))


def _fault(value: Any, path: str, *, look_for_surrogates: bool) -> InputError | None:
    if isinstance(value, _Unusable):
        what = shorten(value.written)
        return BrokenTranscriptError(f"{what} is no usable number.", place=path, remedy="Use a finite number or null.")
    if isinstance(value, _Doubled):
        return BrokenTranscriptError(
            f"The key {shorten(value.key)!r} occurs twice in one object.", place=path, remedy="Keep one of the two."
        )
    if look_for_surrogates:
        for text in value if isinstance(value, dict) else (value,):
            if isinstance(text, str) and (half := _half_pair(text)):
                return BrokenTranscriptError(
                    f"The text holds half of a surrogate pair ({half}), which is no character.",
                    place=path,
                    remedy="Remove it, or export the file as UTF-8.",
                )
    return None


def _half_pair(text: str) -> str | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"U+{ord(text[error.start]):04X}"
    return None
