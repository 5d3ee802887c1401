"""Write ``bad_inputs.md``, every bad input with its message: ``python -m tests.faults.bad_input_table``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evaluation.readers import ReadResult, read_path, read_upload
from tests.faults.bad_inputs import PLACES, SECTIONS, BadInput

PAGE = Path(__file__).with_name("bad_inputs.md")
_HEAD = """# Bad input

What becomes of files that are broken, too large, hostile or not transcripts at all: written by
`python -m tests.faults.bad_input_table` from the cases of the tests (`tests/faults/bad_inputs.py`), which hand each of
them in and check that the message names the value, the place and a remedy.
"""


def render(read: Callable[[BadInput], Sequence[ReadResult]]) -> str:
    """The page, from what ``read`` finds in each bad input."""
    parts = [_HEAD]
    for title, cases in SECTIONS.items():
        rows = [_row(case.title, read(case), case.file) for case in cases]
        parts.append(_section(title, rows))
    parts.append(_section("Paths", list(_place_rows())))
    return "\n".join(parts)


def _place_rows() -> Iterator[str]:
    for place in PLACES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "games"
            folder.mkdir()
            results = read_path(place.make(folder))
            yield _row(place.title, results, "games").replace(f"{folder}/", "")


def _section(title: str, rows: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", "| Handed in | What becomes of it |", "|---|---|", *rows, ""])


def _row(title: str, results: Sequence[ReadResult], file: str) -> str:
    said = [_refusal(result, file) for result in results if result.error is not None]
    read = sum(result.error is None for result in results)
    if read:
        said.append("Read" if read == 1 and not said else f"{read} {'game' if read == 1 else 'games'} read")
    return f"| {title} | {'<br>'.join(said)} |"


def _refusal(result: ReadResult, file: str) -> str:
    inside = result.name.removeprefix(file).lstrip("/")
    return (f"{_code(inside)}: " if inside else "") + _code(str(result.error))


def _code(text: str) -> str:
    """Text of anybody as Markdown that is shown as it is, in a cell of a table."""
    shown = text.replace("|", "\\|").replace("\n", " ")
    return f"``{shown}``" if "`" in shown else f"`{shown}`"


if __name__ == "__main__":
    PAGE.write_text(render(lambda case: read_upload(case.file, case.make())), encoding="utf-8")
