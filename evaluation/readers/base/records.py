"""The objects in a JSON list or in JSON Lines, one after the other, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evaluation.errors import InputError, LimitError
from evaluation.files.strict_json import parse_json
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node

# Every JSON value but the first of a line stands behind one of these.
_BEFORE_VALUES = ",[:"


def first_record(document: Document) -> Any:
    """The first entry of a JSON list, the value in the first of several lines, or the only value."""
    if document.json_error is not None:
        return document.first_line
    if isinstance(document.json, list):
        return document.json[0] if document.json else None
    return document.json


def records(document: Document) -> Iterator[Node]:
    """The entries of a JSON list, the value in each line of JSON Lines, or the only value.

    Raises:
        InputError: A line is not JSON or holds what cannot be stored; or there are too many.
    """
    if document.json_error is None:
        root = Node(document.json)
        yield from root.entries() if isinstance(document.json, list) else (root,)
        return
    document.limits.check_lines(document.text)
    _check_values(document)
    lines = [(number, line) for number, line in enumerate(document.text.split("\n"), start=1) if line.strip()]
    values = _all_at_once([line for _, line in lines], document.limits)
    for position, (number, line) in enumerate(lines):
        value = values[position] if values else _one(number, line, document.limits)
        yield Node(value, f"line {number}: $")


def _all_at_once(lines: list[str], limits: Limits) -> list[Any] | None:
    """The values of all lines, several times faster than one by one; ``None`` when one of them is at fault."""
    try:
        values = parse_json("[" + ",\n".join(lines) + "]", replace(limits, json_depth=limits.json_depth + 1))
    except InputError:
        return None
    return values if len(values) == len(lines) else None


def _one(number: int, line: str, limits: Limits) -> Any:
    try:
        return parse_json(line, limits)
    except InputError as error:
        raise _placed(error, number) from None


def _check_values(document: Document) -> None:
    """Refuses more values than one JSON may hold, by a bound: commas inside texts count too."""
    if sum(document.text.count(mark) for mark in _BEFORE_VALUES) > document.limits.json_values:
        raise LimitError(
            f"The lines hold more than {document.limits.json_values:,} JSON values.",
            remedy="Split the file into several.",
        )


def _placed(error: InputError, number: int) -> InputError:
    """The error of one line, with the line's number in the file."""
    inside = error.place.removeprefix("line 1, ")
    place = (
        f"line {number}: {inside}" if inside.startswith("$") else ", ".join(filter(None, (f"line {number}", inside)))
    )
    return type(error)(error.message, place=place, remedy=error.remedy)
