"""The table of line shapes: each matches its example and not its counter-example; docs/formats.md shows the examples.

``python -m tests.unit.readers.test_line_shapes`` writes the table into the page.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from evaluation.readers._line_shapes import shape, yaml_table

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
BEGIN, END = "<!-- line shapes -->\n", "<!-- end of line shapes -->"


SHAPES = yaml_table("line_shapes")["shapes"]


def printed() -> str:
    """The table as the page has it."""
    examples: dict[str, list[str]] = {}
    for row in SHAPES.values():
        examples.setdefault(row["yields"], []).append(_code(row["example"]))
    rows = [f"| {', '.join(lines)} | {yields} |" for yields, lines in examples.items()]
    return "\n".join(["| a line such as | yields |", "|---|---|", *rows]) + "\n"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_matches_its_example_alone(name: str) -> None:
    assert shape(name).fullmatch(SHAPES[name]["example"])
    assert not shape(name).fullmatch(SHAPES[name]["counter"])


@pytest.mark.parametrize("name", SHAPES)
def test_a_long_run_of_one_sign_is_told_at_once(name: str) -> None:
    for sign in ("-", "=", "~", "*", "_", "#", " ", "\t", "(", "[", ":", "a ", "1 ", "->", "vote "):
        for begins in ("", "Ann: ", "[", "votes for "):
            start = time.process_time()
            shape(name).fullmatch(f"{begins}{sign * 1500}\0")
            assert time.process_time() - start < 0.3, (begins, sign)


def test_the_table_stands_in_the_documentation() -> None:
    inside = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert inside == printed()


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(f"{BEGIN}.*{END}", lambda _: BEGIN + printed() + END, page, flags=re.DOTALL), encoding="utf-8"
    )
