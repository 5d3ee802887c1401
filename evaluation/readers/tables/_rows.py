"""The rows of CSV, TSV, JSON and JSON Lines tables, each with its place in the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document, first_record, records
from evaluation.readers.tables.columns import guess_mapping

_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(rf'"?sep=([{_DELIMITERS}])"?(?=\n)', re.IGNORECASE)
_LONGEST_HEADING = 60
_QUOTE = 'Put a text that holds the separator or a line break into quotes ("), and double the quotes inside it.'


class TableRow(NamedTuple):
    """One row: where it stands ("line 7"), and its cells by column."""

    place: str
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """A table's columns and rows, in the file's order."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


def table_columns(document: Document) -> tuple[str, ...]:
    """The columns of the table that the text seems to be; none when it seems to be no table."""
    first = first_record(document)
    if first is not None:
        return tuple(first) if isinstance(first, dict) else ()
    return () if document.json_error else split_heading(document)[0]


def text_table(document: Document) -> ParsedTable:
    """The table in a text.

    Raises:
        InputError: A row is broken; says which.
    """
    return _json_table(document) if first_record(document) is not None else _delimited_table(document)


def _json_table(document: Document) -> ParsedTable:
    nodes = list(records(document))
    document.limits.check_rows(len(nodes))
    columns = dict.fromkeys(column for node in nodes for column in node.fields())
    return ParsedTable(tuple(columns), tuple(TableRow(node.path, node.fields()) for node in nodes))


def split_heading(document: Document) -> tuple[tuple[str, ...], str]:
    """The headings and the delimiter under which the most of them are known; no headings when the text is not a table.

    A first line such as ``sep=;``, as Excel writes and reads it, names the delimiter.
    """
    named = _NAMED_DELIMITER.match(document.text)
    beginning = delimited_text(document).lstrip("\n")
    candidates = []
    for delimiter in named.group(1) if named else _DELIMITERS:
        headings, second = _first_two(beginning, delimiter)
        mapping = guess_mapping(headings)
        # With both columns that are needed, a table is one even if its first row is broken.
        is_table = len(headings) > 1 and (len(headings) == len(second) or not mapping.missing)
        if is_table and all(map(_is_heading, headings)):
            candidates.append((len(mapping.used), len(headings), headings, delimiter))
    if not candidates:
        return (), ","
    _, _, headings, delimiter = max(candidates, key=lambda each: each[:2])
    return headings, delimiter


def delimited_text(document: Document) -> str:
    """The text with an empty line in the place of one that names the delimiter, so that lines keep their numbers."""
    named = _NAMED_DELIMITER.match(document.text)
    return document.text[named.end() :] if named else document.text


def _first_two(text: str, delimiter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # Only the beginning is looked at: a quote that nobody closes would make each guess read the whole file.
    lines = csv.reader(text[:100_000].split("\n")[:50], delimiter=delimiter)
    try:
        return tuple(cell.strip() for cell in next(lines, [])), tuple(next((line for line in lines if line), []))
    except csv.Error:
        return (), ()


def _is_heading(cell: str) -> bool:
    return 0 < len(cell) <= _LONGEST_HEADING and any(map(str.isalpha, cell)) and not cell.startswith(("<", "{", "["))


def _delimited_table(document: Document) -> ParsedTable:
    document.limits.check_lines(document.text)
    columns, delimiter = split_heading(document)
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise BrokenTranscriptError(
                f"The column {shorten(column)!r} occurs twice.", place="line 1", remedy="Give each its own name."
            )
        seen.add(column)
    numbered = _lines(document, delimiter)
    next(numbered)
    rows = tuple(_row(number, cells, columns) for number, cells in numbered)
    document.limits.check_rows(len(rows))
    return ParsedTable(columns, rows)


def _lines(document: Document, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records with the line that each begins in; quoted texts may go over several. Empty lines are passed over."""
    # str.splitlines would also end lines where Unicode does, which csv does not.
    reader = csv.reader(io.StringIO(delimited_text(document)), delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BrokenTranscriptError(
                f"The row cannot be read: {_reason(error)}.", place=f"line {number}", remedy=_QUOTE
            ) from None
        if cells:
            yield number, cells


def _reason(error: csv.Error) -> str:
    return "a quote in it is never closed" if "unexpected end of data" in str(error) else str(error)


def _row(number: int, cells: list[str], columns: tuple[str, ...]) -> TableRow:
    if len(cells) != len(columns):
        message = f"The row has {len(cells)} cells, the heading {len(columns)}."
        raise BrokenTranscriptError(message, place=f"line {number}", remedy=_QUOTE)
    return TableRow(f"line {number}", dict(zip(columns, cells, strict=True)))
