"""The table of line shapes: what a line of plain text may be, by a pattern, with an example and a counter-example."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evaluation.files.bundled import parse_yaml

_PART = re.compile(r"%(\w+)%")


@dataclass(frozen=True, slots=True)
class LineShape:
    """One shape: ``pattern`` matches the whole line; ``yields`` says what such a line becomes."""

    name: str
    pattern: re.Pattern[str]
    yields: str
    example: str
    counter: str


@cache
def _content() -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = parse_yaml(
        files("evaluation.readers").joinpath("line_shapes.yaml").read_text(encoding="utf-8")
    )
    return content


def _compiled(pattern: str) -> re.Pattern[str]:
    while _PART.search(pattern):
        pattern = _PART.sub(lambda match: _content()["parts"][match[1]], pattern)
    return re.compile(pattern, re.IGNORECASE)


@cache
def line_shapes() -> dict[str, LineShape]:
    """The shapes by name, in the order of the table."""
    return {
        name: LineShape(name, _compiled(row["pattern"]), row["yields"], row["example"], row["counter"])
        for name, row in _content()["shapes"].items()
    }


@cache
def shape(name: str) -> re.Pattern[str]:
    """The pattern of a shape."""
    return line_shapes()[name].pattern


@cache
def part(name: str) -> re.Pattern[str]:
    """The pattern of a part of shapes, such as a date."""
    return _compiled(_content()["parts"][name])
