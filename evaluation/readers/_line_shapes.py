"""Tables in files beside this module: the shapes of lines of plain text, and files that are known and not read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from evaluation.errors import UnknownFormatError
from evaluation.files.bundled import parse_yaml

_BEGINNING = 4000
_PART = re.compile(r"%(\w+)%")


@cache
def yaml_table(name: str) -> dict[str, Any]:
    """The content of the file of that name beside this module."""
    content: dict[str, Any] = parse_yaml(files("evaluation.readers").joinpath(f"{name}.yaml").read_text("utf-8"))
    return content


def known_by_sight(text: str, kind: str) -> UnknownFormatError | None:
    """The refusal of a text that is known by its beginning and not read; ``kind`` is ``logs`` or ``texts``."""
    rows = (row for row in yaml_table("unread")[kind] if re.compile(row["pattern"]).search(text[:_BEGINNING]))
    row = next(rows, None)
    return None if row is None else UnknownFormatError(row["words"], remedy=remedy(row["remedy"]))


def remedy(name: str) -> str:
    """A remedy that several refusals share, by its name; other text as it is."""
    shared: Mapping[str, str] = yaml_table("unread")["remedies"]
    return shared.get(name, name).replace("{table}", shared["table"])


def _compiled(pattern: str) -> re.Pattern[str]:
    while _PART.search(pattern):
        pattern = _PART.sub(lambda match: yaml_table("line_shapes")["parts"][match[1]], pattern)
    return re.compile(pattern, re.IGNORECASE)


@cache
def shape(name: str) -> re.Pattern[str]:
    """The pattern of a shape."""
    return _compiled(yaml_table("line_shapes")["shapes"][name]["pattern"])


@cache
def part(name: str) -> re.Pattern[str]:
    """The pattern of a part of shapes, such as a date."""
    return _compiled(yaml_table("line_shapes")["parts"][name])
