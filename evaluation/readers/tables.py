"""Reads tables with one row a message: CSV, TSV, other separators, JSON and JSON Lines; Parquet through ``parquet``.

The columns are known by their names (``columns``), or as a person has mapped them. Several games in one table are told
apart by the game column. A column that is not mapped is kept in each message's metadata. A row is a message, a vote, an
elimination or an event of the game; any other is left out, with the reason.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from functools import partial
from itertools import islice, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

from dateutil.parser import parse as parse_date

from evaluation.errors import BrokenTranscriptError, InputError, LimitError, UnreadableFileError
from evaluation.escaping import cut
from evaluation.files.strict_json import parse_json, shorten, step
from evaluation.readers import _draft as draft
from evaluation.readers._exchanges import exchanges
from evaluation.readers._game_log import Find, ballots, departures, heading, winner
from evaluation.readers._line_shapes import part, remedy, shape
from evaluation.readers._who_could_hear import channel_named
from evaluation.readers._who_speaks import LEFT_OUT
from evaluation.readers.document import (
    SPLIT,
    Answers,
    Document,
    FileReader,
    Found,
    LeftOut,
    Limits,
    Node,
    Question,
    ReadResult,
    TableHead,
    Topic,
    content_id,
    first_record,
    leave_out,
    records,
)
from evaluation.text.aliases import seat_numbers, seat_of
from evaluation.text.display import counted
from evaluation.text.normal import fold

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The column for each thing that a message has; ``None`` where the table has none.

    Attributes:
        speaker: Who speaks. Needed.
        text: What is said. Needed.
        game: Which of several games a row belongs to.
        message_id: What ``reply_to`` refers to.
        round: A whole number, also inside words ("Day 2").
        phase: Any text.
        channel: public, team, private or system, or the channel's name, whose words decide who hears it.
        recipients: Those who hear it, separated by semicolons, commas or bars; who is only addressed does not count.
        sent_at: ISO 8601, or seconds or milliseconds since 1970.
        reply_to: The id of the message answered, or the name of the player.
        role: The speaker's role in the game.
        kind: What kind of row it is: speech, whisper, vote, elimination, an event.
        target: Whom a vote, an elimination or a private message is about.
    """

    speaker: str | None = None
    text: str | None = None
    game: str | None = None
    message_id: str | None = None
    round: str | None = None
    phase: str | None = None
    channel: str | None = None
    recipients: str | None = None
    sent_at: str | None = None
    reply_to: str | None = None
    role: str | None = None
    kind: str | None = None
    target: str | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of ``speaker`` and ``text`` that have no column; no table can be read without them."""
        return tuple(name for name in ("speaker", "text") if getattr(self, name) is None)

    @property
    def used(self) -> frozenset[str]:
        """The columns that are mapped; the others go into each message's metadata."""
        return frozenset(column for column in self.as_dict().values() if column is not None)

    def as_dict(self) -> dict[str, str | None]:
        """Column by field, in the order of the fields: what an editor shows."""
        return {name: getattr(self, name) for name in FIELDS}


ChooseColumns = Callable[[tuple[str, ...]], ColumnMapping | None]
"""Asked for the mapping of a table by its columns (those of its first rows); ``None`` leaves it to their names."""

FIELDS: tuple[str, ...] = tuple(one.name for one in fields(ColumnMapping))


def guess_mapping(columns: Iterable[str]) -> ColumnMapping:
    """The mapping that the columns' names suggest; each column is used once.

    Case, spaces and punctuation do not matter ("Player Name" is ``playername``). A plain ``id`` is a message's only
    where there are replies. Without a column for the speaker, the role speaks.
    """
    by_key: dict[str, str] = {}
    for column in columns:
        by_key.setdefault(draft.column_key(column), column)
    synonyms = draft.word_lists("columns")
    found = {name: by_key[key] for name in FIELDS for key in reversed(synonyms[name]) if key in by_key}
    if "reply_to" in found and "message_id" not in found and "id" in by_key:
        found["message_id"] = by_key["id"]
    if named := by_key.get(f"{draft.column_key(found.get('speaker', ''))}name"):
        # Beside a name stands an id.
        found["speaker"] = named
    if "speaker" not in found and "role" in found:
        found["speaker"] = found.pop("role")
    return ColumnMapping(**found)


RECORD = "number of the record"
"""The column, of rows inside the records of a file, of the record that each stands in."""
_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(rf'"?sep=([{_DELIMITERS}])"?(?=\n)', re.IGNORECASE)
_LONGEST_HEADING = 60
ROWS_SHOWN = 5
_LONGEST_CELL = 200
# A list of more texts is not a row.
_MOST_CELLS = 4
_FEWEST_SAID = 3
_LONGEST_LABEL = 12
_LONGEST_LINE = 100_000
_LINES_LOOKED_AT = 50
_MAGIC = b"PAR1"
_ROWS_AT_ONCE = 2000
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


def likely_mapping(table: ParsedTable) -> ColumnMapping | None:
    """The mapping that the columns' values suggest where their names do not, for a person to say yes or no to.

    What is said is the column with most letters; who speaks is a short value that comes again and changes from row to
    row. ``None`` where no two columns are like that.
    """
    rows = table.rows[:_ROWS_AT_ONCE]
    held = {column: [_short(row.cells.get(column)) for row in rows] for column in table.columns}
    known = guess_mapping(held)
    letters = {column: sum(map(len, values)) for column, values in held.items()}
    text = known.text or max(letters, key=letters.__getitem__, default=None)
    said = [value for value in held.get(text or "", ()) if value]
    if len(said) < _FEWEST_SAID or len("".join(said)) < _LONGEST_LABEL * len(said) or len({*said}) < len(said) / 2:
        return None
    assert text is not None
    people = {column: values for column, values in held.items() if column != text and _are_people(values, held[text])}
    # A name says more than a number.
    changes = {
        column: (any(map(str.isalpha, "".join(values))), sum(map(ne, values, values[1:])))
        for column, values in people.items()
    }
    speaker = known.speaker or max(changes, key=changes.__getitem__, default=None)
    is_each = len({*held.get(RECORD, ())}) * _FEWEST_SAID <= len(said)
    game = known.game or (RECORD if RECORD in table.columns and is_each else None)
    return None if speaker in (None, text) else replace(known, speaker=speaker, text=text, game=game)


def _are_people(values: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the values beside what is said may be who says it."""
    found = [value for value, text in zip(values, said, strict=True) if text]
    are_short = all(len(value) <= _LONGEST_HEADING and value.count(" ") < _MOST_CELLS for value in found)
    return are_short and "" not in found and 1 < len({*found}) <= len(found) / 2


def _short(cell: Any) -> str:
    return "" if cell is None or isinstance(cell, bool | float | dict | list) else str(cell).strip()


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
    is_json = first_record(document) is not None
    if not is_json:
        rows = list(delimited_rows(document))
    elif _is_nested(document):
        rows = _rows_inside(document)
    else:
        rows = [TableRow(node.path, _flattened(node.fields())) for node in records(document)]
    document.limits.check_rows(len(rows))
    columns = dict.fromkeys(column for row in rows for column in row.cells) if is_json else split_heading(document)[0]
    return ParsedTable(tuple(columns), tuple(rows))


def _is_nested(document: Document) -> bool:
    """Whether JSON is something else than a list of flat objects, so that its rows are looked for inside."""
    first = first_record(document)
    is_row = isinstance(first, dict) and (_is_flat(first) or not guess_mapping(first).missing)
    return isinstance(document.json, dict) or not is_row


def _rows_inside(document: Document) -> list[TableRow]:
    """The entries of the lists of JSON, under the keys where most text stands, as rows.

    An entry is an object, whose plain values are cells beside those of the objects around it, or a list of texts. Of
    several records, each tells the rows inside it which one it is.
    """
    are_several = next(islice(records(document), 1, None), None) is not None
    lists: dict[str, list[TableRow]] = {}
    sizes: Counter[str] = Counter()
    pending: deque[tuple[Node, str, Mapping[str, Any]]] = deque((node, "", {}) for node in records(document))
    while pending:
        node, keys, around = pending.popleft()
        value = node.value
        if isinstance(value, list) and 1 < len(value) <= _MOST_CELLS and all(isinstance(one, str) for one in value):
            value = {str(number): one for number, one in enumerate(value, start=1)}
        if isinstance(value, list):
            pending.extend((Node(one, step(node.path, place)), keys, around) for place, one in enumerate(value))
        elif isinstance(value, dict):
            cells = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
            lists.setdefault(keys, []).append(TableRow(node.path, {**around, **cells}))
            sizes[keys] += sum(
                min(len(one), _LONGEST_CELL)
                for one in cells.values()
                if isinstance(one, str) and len(one) > _LONGEST_LABEL
            )
            inner = ((key, one) for key, one in value.items() if isinstance(one, dict | list))
            own = {RECORD: str(len(lists[keys]))} if are_several and not keys else {}
            pending.extend(
                (Node(one, step(node.path, key)), f"{keys}.{key}", {**around, **cells, **own}) for key, one in inner
            )
    return lists[sizes.most_common(1)[0][0]] if sizes else []


def opened(cell: Any, limits: Limits) -> Any:
    """The value that a cell holds as JSON, or as Python prints it; any other cell as it is."""
    if not (isinstance(cell, str) and cell[:1] in ("[", "{") and cell[-1:] in ("]", "}")):
        return cell
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, InputError):
        return parse_json(json.dumps(ast.literal_eval(cell)), limits)
    with suppress(InputError):
        return parse_json(cell, limits)
    return cell


def _flattened(cells: Mapping[str, Any]) -> Mapping[str, Any]:
    """The cells with what stands in objects: a message's text, an author's name, a bot's flag, the id answered."""
    if not any(isinstance(cell, dict) for cell in cells.values()):
        return cells
    flat = dict(cells)
    for column, cell in cells.items():
        if isinstance(cell, dict) and draft.column_key(column) in {*draft.word_lists("columns")["text"]}:
            flat[column] = next((cell[key] for key in _INNER_TEXTS if isinstance(cell.get(key), str)), cell)
        elif isinstance(cell, dict) and draft.column_key(column) in {*draft.word_lists("columns")["speaker"]}:
            flat[column] = next((cell[key] for key in _AUTHOR_NAMES if isinstance(cell.get(key), str)), None)
            flat |= {"is_bot": True} if cell.get("bot") is True or cell.get("isBot") is True else {}
        elif isinstance(cell, dict) and draft.column_key(column) in {*draft.word_lists("columns")["reply_to"]}:
            flat[column] = cell.get("message_id") or cell.get("messageId") or cell.get("id")
    return flat


def split_heading(document: Document) -> tuple[tuple[str, ...], str]:
    """The headings and the delimiter under which the most of them are known; no headings when the text is not a table.

    A first line such as ``sep=;``, as Excel writes and reads it, names the delimiter.
    """
    named = _NAMED_DELIMITER.match(document.text)
    candidates = []
    for delimiter in named.group(1) if named else _DELIMITERS:
        first, second = [*_beginning(document, delimiter), [], []][:2]
        # Some programs end each line with a separator.
        headings = tuple(cell.strip() for cell in (first[:-1] if first[-1:] == [""] else first))
        if headings[:1] == ("",):
            # As R writes the numbers of rows.
            headings = ("row", *headings[1:])
        mapping = guess_mapping(headings)
        # With both columns that are needed, a table is one even if its first row is broken.
        is_cut = 1 < len(second) < len(headings) and len(second[-1]) > _LONGEST_CELL
        is_table = len(headings) > 1 and (len(headings) == len(second) or not mapping.missing or is_cut)
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


def _beginning(document: Document, delimiter: str) -> list[list[str]]:
    """The rows at the beginning; a quote that nobody closes would make each look at them read the whole file."""
    lines = delimited_text(document).lstrip("\n")[:_LONGEST_LINE].split("\n")[:_LINES_LOOKED_AT]
    try:
        return [cells for cells in csv.reader(lines, delimiter=delimiter) if cells]
    except csv.Error:
        return []


def _is_heading(cell: str) -> bool:
    return 0 < len(cell) <= _LONGEST_HEADING and any(map(str.isalpha, cell)) and not cell.startswith(("<", "{", "["))


def delimited_rows(document: Document) -> Iterator[TableRow]:
    """The rows of a text with a line of headings, in turn.

    Raises:
        InputError: A row is broken, or two columns have one name.
    """
    document.limits.check_lines(document.text)
    columns, delimiter = split_heading(document)
    if twice := next((column for place, column in enumerate(columns) if column in columns[:place]), None):
        message = f"The column {shorten(twice)!r} occurs twice."
        raise BrokenTranscriptError(message, place="line 1", remedy="Rename one of them.")
    numbered = _lines(document, delimiter)
    next(numbered)
    yield from (_row(number, cells, columns) for number, cells in numbered)


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
            reason = "a quote in it is never closed" if "unexpected end of data" in str(error) else str(error)
            message = f"The row cannot be read: {reason}."
            raise BrokenTranscriptError(message, place=f"line {number}", remedy=_QUOTE) from None
        if cells:
            yield number, cells


def _row(number: int, cells: list[str], columns: tuple[str, ...]) -> TableRow:
    cells = cells[:-1] if len(cells) == len(columns) + 1 and not cells[-1] else cells
    if len(cells) != len(columns):
        message = f"The row has {len(cells)} cells, the heading {len(columns)}."
        raise BrokenTranscriptError(message, place=f"line {number}", remedy=_QUOTE)
    return TableRow(f"line {number}", dict(zip(columns, cells, strict=True)))


def is_parquet(document: Document) -> bool:
    """Whether the file begins as a Parquet table does."""
    return document.data.startswith(_MAGIC)


def parquet_table(document: Document, most_rows: int | None = None) -> ParsedTable:
    """The table, or its first ``most_rows``.

    Raises:
        UnreadableFileError: It is damaged.
        LimitError: It has too many rows, or too much text.
        BrokenTranscriptError: Half of a surrogate pair, or a column twice.
    """
    import pyarrow as pa

    try:
        return _read(document.data, document.limits, most_rows)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, MemoryError) as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UnreadableFileError(
            f"The Parquet table is damaged: {reason.rstrip('.')}.", remedy="Export it again."
        ) from None


def _read(data: bytes, limits: Limits, most_rows: int | None) -> ParsedTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = pq.ParquetFile(pa.BufferReader(data))
    limits.check_rows(plain.metadata.num_rows)
    schema = plain.schema_arrow
    columns = [field.name for field in schema if _holds_values(field.type)]
    limits.check_cells(plain.metadata.num_rows * len(columns))
    if len(set(schema.names)) < len(schema.names):
        raise BrokenTranscriptError("Two columns have the same name.", remedy="Rename one of them.")
    is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    texts = [field.name for field in schema if any(is_one(field.type) for is_one in is_text)]
    _check_unpacked(plain.metadata, columns, limits)
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    rows: list[TableRow] = []
    size = 0
    for batch in file.iter_batches(most_rows or _ROWS_AT_ONCE, columns=columns):
        _check_bytes(batch.nbytes, limits)
        # A damaged file may hold indices and offsets that point anywhere.
        batch.validate(full=True)
        cells = [list(_cells(batch.column(name), limits)) for name in columns]
        size += sum(len(cell) for column in cells for cell in column if isinstance(cell, str))
        if size > limits.file_bytes:
            message = f"The table holds more than {limits.file_bytes:,} characters."
            raise LimitError.beyond("file_bytes", message, advice=SPLIT)
        limits.check_rows(len(rows) + batch.num_rows)
        for values in zip(*cells, strict=True):
            rows.append(TableRow(f"row {len(rows) + 1}", dict(zip(columns, values, strict=True))))
        if most_rows is not None:
            break
    return ParsedTable(tuple(columns), tuple(rows))


_BY_DIFFERENCE = "DELTA_BYTE_ARRAY"
_BYTES_A_CHARACTER = 4


def _check_unpacked(metadata: pq.FileMetaData, columns: Collection[str], limits: Limits) -> None:
    """Refuse what would take much memory before any of it is unpacked: packed well, a kilobyte may hold a gigabyte."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    read = [chunk for chunk in chunks if chunk.path_in_schema in columns]
    if any(_BY_DIFFERENCE in chunk.encodings for chunk in read):
        # A few bytes a row repeat the row before, however long that is.
        message = f"The table's texts are packed as differences ({_BY_DIFFERENCE})."
        raise UnreadableFileError(message, remedy="Export it with plain or dictionary encoding.")
    _check_bytes(sum(chunk.total_uncompressed_size for chunk in read), limits)


def _check_bytes(size: int, limits: Limits) -> None:
    if size > _BYTES_A_CHARACTER * limits.file_bytes:
        raise LimitError.beyond("file_bytes", f"The table unpacks to {size:,} bytes.", advice=SPLIT)


_WIDEST = 64
"""Bytes of a value of fixed size; what is wider is unpacked once a row, however seldom it is stored."""


def _holds_values(kind: pa.DataType) -> bool:
    """Whether a column can be part of a transcript: neither lists nor blobs of a fixed size."""
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(kind):
        return bool(kind.byte_width <= _WIDEST)
    return not pa.types.is_nested(kind)


def _cells(column: pa.Array, limits: Limits) -> Iterator[Any]:
    """The values of a column as Python's; equal texts are one object."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        indices = column.indices.to_pylist()
        # Of a dictionary only what these rows hold: each batch brings all of it.
        values = {index: _plain(column.dictionary[index].as_py(), limits) for index in {*indices} - {None}}
        return (values.get(index) for index in indices)
    if pa.types.is_timestamp(column.type):
        # Python's times end at microseconds.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return (_plain(value, limits) for value in column.to_pylist())


def _plain(value: Any, limits: Limits) -> Any:
    if isinstance(value, bytes):
        # Texts stand in binary columns too; what is none there is no part of a transcript.
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if isinstance(value, str) and len(value) > limits.message_characters:
        message = f"A cell holds {len(value):,} characters, more than {limits.message_characters:,}."
        advice = "Check that the table keeps one message apart from the next"
        raise LimitError.beyond("message_characters", message, advice=advice)
    return value


def table_head(document: Document) -> TableHead | None:
    """The first rows of a possible table of messages; ``None`` for other content, or too much damage to choose from.

    A table is two columns or more with names of their own, and one row at least that has as many cells.
    """
    try:
        rows = _first_rows(document)
    except InputError:
        return None
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    if len(columns) < 2 or not all(column.strip() for column in columns):
        return None
    shown = [row for _, row in zip(range(ROWS_SHOWN), rows, strict=False)]
    return TableHead(columns, tuple(tuple(_shown(row.get(column)) for column in columns) for row in shown))


def _first_rows(document: Document) -> Iterable[Mapping[str, Any]]:
    if is_parquet(document):
        return [row.cells for row in parquet_table(document, most_rows=ROWS_SHOWN).rows]
    if first_record(document) is not None:
        if _is_nested(document):
            # One object is not a table, even where all that it holds is plain.
            is_notebook = isinstance(document.json, dict) and "nbformat" in document.json
            inside = [] if is_notebook else _rows_inside(document)
            return [row.cells for row in inside] if len(inside) > 1 else ()
        return [record.fields() for record in islice(records(document), ROWS_SHOWN)]
    columns, delimiter = split_heading(document)
    rows = _beginning(document, delimiter)[1 : ROWS_SHOWN + 1] if len(set(columns)) == len(columns) else []
    return [dict(zip(columns, cells, strict=True)) for cells in rows if len(cells) == len(columns)]


def _is_flat(record: object) -> bool:
    return not isinstance(record, dict) or not any(isinstance(value, dict | list) for value in record.values())


def _shown(value: object) -> str:
    if value is None or isinstance(value, dict | list):
        return "" if value is None else "…"
    text = value if isinstance(value, str) else str(value)
    return cut(text, _LONGEST_CELL)


FORMAT = "table"

_NUMBER = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"-?\d{1,20}(\.\d{1,15})?\Z")
_CLOCK = re.compile(r"\d{1,3}(?::\d\d){1,2}(?:[.,]\d{1,6})?")
_BETWEEN_NAMES = re.compile(r"[;,|]")
# In a row of votes fewer words say it than in a line of talk.
_VOTED = re.compile(r"(?:i )?votes?d?(?: to \w+)?(?: for| against|:)? (?P<target>.{1,60}?)[.!]?", re.IGNORECASE)
_AUTHOR_NAMES = ("global_name", "nickname", "display_name", "displayName", "real_name", "username", "name", "id")
_INNER_TEXTS = ("text", "body", "content")
_NARRATOR = "System"
_KEYS_OF_COLUMNS = ("thought_columns", "voter_columns", "gone_keys")
_LONGEST_NAME = 200
_LEAST_COUNTED, _COUNTED_SHARE = 5, 0.6
_CHOOSE = "Correct the cell, or choose another column."


def _recognises(document: Document) -> bool:
    columns = table_columns(document)
    missing = guess_mapping(columns).missing
    if len(columns) < 2 or len(missing) == 2 or isinstance(document.json, dict):
        return False
    if not missing:
        return True
    # One of the two columns is enough to ask for the other, where no others tell who speaks.
    first = next(iter(_first_rows(document)), {})
    holds_more = any(isinstance(opened(cell, document.limits), list) for cell in first.values())
    said = exchanges(first)
    is_told = holds_more or any(one.side != one.key for one in said)
    return _is_flat(first_record(document)) and not is_told


def table_games(
    document: Document,
    mapping: ColumnMapping | None = None,
    table: ParsedTable | None = None,
    about: Mapping[str, Any] | None = None,
) -> Found:
    """The games in a table; without a mapping, as its columns' names suggest, or by a question as their values do.

    Args:
        document: The file.
        mapping: The columns for what a message has.
        table: The rows, where they are not those of the file itself.
        about: The players and the winner, where the file tells them beside the rows.

    Raises:
        InputError: The table is broken, or a column that is needed is missing.
    """
    table = table or (parquet_table(document) if is_parquet(document) else text_table(document))
    guessed = mapping is None
    mapping = _by_person(guess_mapping(table.columns), table) if mapping is None else mapping
    doubts = []
    if guessed and mapping.missing and (likely := likely_mapping(table)):
        mapping = likely
        shown = f'"{shorten(str(mapping.speaker))}" who speaks, and "{shorten(str(mapping.text))}" what is said'
        doubts.append(f"No column is named after who speaks and what is said; by their values {shown}.")
    if guessed and (rival := _rival(mapping, table)):
        doubts.append(f'"{shorten(rival)}" may say who speaks in place of "{shorten(str(mapping.speaker))}".')
    if guessed and (odd := _no_times(mapping.sent_at, table)):
        doubts.append(f'"{shorten(str(mapping.sent_at))}" holds no times that are known, such as "{odd}".')
        mapping = replace(mapping, sent_at=None)
    doubt = " ".join(doubts)
    _check(mapping, table)
    games: dict[str, list[TableRow]] = {}
    for row in table.rows:
        games.setdefault(_cell_text(row, mapping.game) or "", []).append(row)
    if len(games) > 1:
        read = partial(_transcript, mapping=mapping, document=document, about=about or {}, doubt=doubt)
        return ((game_id or "rows without a game", partial(read, game_id, rows)) for game_id, rows in games.items())
    if not games:
        way = remedy("table") if about else "Export it again."
        raise BrokenTranscriptError("The table has no row.", remedy=way)
    ((game_id, rows),) = games.items()
    return _transcript(game_id, rows, mapping, document, about or {}, doubt)


def _check(mapping: ColumnMapping, table: ParsedTable) -> None:
    shown = ", ".join(shorten(column) for column in table.columns[:20])
    if mapping.missing:
        wanted = mapping.missing[0]
        choose = f"choose it when you upload the file, or use --map {wanted}=COLUMN."
        remedy = f'Rename the right one to "{wanted}", {choose}'
        raise BrokenTranscriptError(f"No column holds the {wanted}; there are {shown}.", remedy=remedy)
    for name, column in mapping.as_dict().items():
        if column is not None and column not in table.columns:
            message = f"There is no column {shorten(column)!r} for the {name}; there are {shown}."
            raise BrokenTranscriptError(message, remedy="Choose one of them.")
    if mapping.speaker == mapping.text:
        message = f"The column {shorten(str(mapping.text))!r} cannot hold both speaker and text; there are {shown}."
        raise BrokenTranscriptError(message, remedy="Choose two of them.")


@dataclass
class _Game:
    """The rows of one game while they become its parts.

    Attributes:
        others: Columns that name a speaker where the mapped one is empty.
        thoughts: Columns that hold what the speaker thinks beside what is said.
        voters: Columns that name who votes.
        victims: Columns that name who leaves the game.
        targets: Columns that name whom a row is about where the mapped one is empty.
        cast: Columns that hold a vote beside what is said.
        names: Everybody who speaks, votes, leaves or is listed, folded, with the seats of their names.
        said: Speaker and text by id: a row for each reaction tells its message again.
    """

    mapping: ColumnMapping
    answers: Answers
    others: Sequence[str]
    thoughts: Sequence[str]
    voters: Sequence[str]
    victims: Sequence[str]
    targets: Sequence[str]
    cast: Sequence[str]
    names: Set[str]
    roles: dict[str, str | None] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    votes: list[dict[str, Any]] = field(default_factory=list)
    eliminations: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)
    said: dict[str | None, tuple[str, str]] = field(default_factory=dict)
    carried: int = 0
    lost_votes: int = 0
    last: str | None = None

    def add(self, row: TableRow) -> None:
        """Takes the row as a message, a vote, an elimination or an event, or leaves it out."""
        mapping = self.mapping
        first = _cell_text(row, mapping.speaker)
        # "?" is nobody.
        first = first if first and any(map(str.isalnum, first)) else None
        speaker = first or _first(row, self.others)
        if speaker is not None and len(speaker) > _LONGEST_NAME:
            raise _wrong(row, mapping.speaker, speaker, "a name of 1 to 200 characters")
        value = row.cells.get(mapping.text or "")
        # As it stands, but for what is not text: space around a message is part of it.
        text = value if isinstance(value, str) else _cell_text(row, mapping.text) or ""
        said, target = text.strip(), _cell_text(row, mapping.target) or _first(row, self.targets)
        words = {*draft.words_in(_cell_text(row, mapping.kind) or "")}
        voter = _first(row, self.voters) or speaker
        victim = _first(row, self.victims) or target
        is_bare = not words and not said
        # What a vote was cast for is told apart from the vote.
        is_vote = ("reason" not in words and words & draft.word_set("vote_kinds")) or (is_bare and voter and target)
        leaves = not is_vote and (words & draft.word_set("leave_kinds") or (is_bare and not speaker))
        if is_vote and self._vote(row, voter, target, said):
            return
        is_hidden = channel_named(_cell_text(row, mapping.channel) or "") in ("team", "private")
        if not (is_vote or is_hidden) and (cast := _first(row, self.cast)) and not draft.is_approval(cast):
            self.lost_votes += not self._vote(row, voter, cast, "")
        gone = victim or speaker
        if leaves and gone and not (draft.is_moderator(gone) or (victim and speaker and said)):
            role = _cell_text(row, mapping.role)
            self.eliminations.append({"player": gone, "role": role} | self._when(row))
            self.kinds["elimination"] += 1
            return
        is_of_game = any(words & draft.word_set(f"{kind}_kinds") for kind in ("told", "vote", "leave"))
        if speaker is None and said and is_of_game:
            self._say(row, _NARRATOR, text, "system")
        elif speaker is None and said and self.last is not None and self._is_carried(row):
            self.carried += 1
            self._say(row, self.last, text)
        elif speaker is None or not said:
            reason = "no text" if speaker else "no speaker" if said else "neither speaker nor text"
            reason = "a vote for no player of the game" if is_vote else reason
            self.lost_votes += bool(is_vote) and not draft.is_approval(target or said)
            shown = (
                said or (speaker if not is_vote else None) or " ".join(filter(None, map(_shown, row.cells.values())))
            )
            leave_out(self.kinds, self.left_out, row.place, shown, reason)
        elif self.said.get(_cell_text(row, mapping.message_id)) == (speaker, text):
            leave_out(self.kinds, self.left_out, row.place, said, "the same message again")
        else:
            is_letter = first is None or any(channel_named(word) in ("private", "team") for word in words)
            self.last = speaker
            self._say(row, speaker, text, recipients=(target,) if is_letter and target else ())

    def _is_carried(self, row: TableRow) -> bool:
        """Whether the cell of the speaker may be merged with the one above: it is there and empty."""
        is_empty = self.mapping.speaker in row.cells and _cell_text(row, self.mapping.speaker) is None
        is_merged = self.mapping.kind is None and is_empty
        return is_merged and self.answers.merged_cells != "leave"

    def _vote(self, row: TableRow, voter: str | None, target: str | None, said: str) -> bool:
        """Takes the row as a vote, where it says who votes for a player or for nobody; "approve" does not count."""
        why = said if target else None
        if target is None and said:
            match = _VOTED.fullmatch(said) or shape("vote said").fullmatch(said)
            target, why = (match["target"] if match else said), None
        voter, target = self._known(voter), self._known(target)
        is_choice = target is not None and (fold(target).strip() in self.names or draft.is_abstention(target))
        if voter is None or not is_choice:
            return False
        when = self._when(row) | {"sent_at": _time(row, self.mapping.sent_at)}
        when |= {"phase": "night"} if is_ballot_at_night(_cell_text(row, self.mapping.kind) or "") else {}
        self.votes.append({"voter": voter, "target": target, "justification": why} | when)
        self.kinds["vote"] += 1
        return True

    def _known(self, name: str | None) -> str | None:
        """The name without a role in brackets or a full stop behind it, where it is somebody's so."""
        bare = part("last note").sub("", name or "").strip(" .")
        return bare if fold(bare) in self.names else name

    def _when(self, row: TableRow) -> dict[str, Any]:
        return {"round": _round(row, self.mapping.round), "phase": _cell_text(row, self.mapping.phase)}

    def _say(
        self, row: TableRow, speaker: str, text: str, channel: str = "public", recipients: tuple[str, ...] = ()
    ) -> None:
        mapping = self.mapping
        named = _cell_text(row, mapping.channel)
        is_system = channel == "system" or (named or "").casefold() == "system"
        if not is_system and not self.roles.get(speaker):
            self.roles[speaker] = _cell_text(row, mapping.role)
        self.kinds["event" if is_system else "message"] += 1
        cells = {column: _storable(cell) for column, cell in row.cells.items() if column not in self.thoughts}
        free = {column for column in cells if column not in mapping.used or column == mapping.kind}
        # A place in a recording is not a moment.
        free |= {column for column in (mapping.sent_at,) if column in cells and _CLOCK.fullmatch(str(cells[column]))}
        message: dict[str, Any] = {"id": _id(row, mapping.message_id, len(self.messages), self.places)}
        message |= self._when(row) | {"channel": "system" if is_system else "public", "speaker": speaker, "text": text}
        message |= {"channel_name": None if is_system else named, "reply_to": _cell_text(row, mapping.reply_to)}
        message |= {"recipients": _recipients(row, mapping.recipients) or recipients}
        message |= {"sent_at": _time(row, mapping.sent_at)}
        message["metadata"] = {column: cell for column, cell in cells.items() if column in free and cell is not None}
        for number, column in enumerate(() if is_system else self.thoughts):
            if thought := _cell_text(row, column):
                self.messages.append(
                    message
                    | {"id": f"{message['id'][:180]}-thought-{number + 1}", "channel": "private", "text": thought}
                    | {"channel_name": draft.THOUGHTS_CHANNEL, "recipients": (), "index": len(self.messages)}
                )
        self.said[message["id"]] = (speaker, text)
        self.messages.append(message | {"index": len(self.messages)})

    def told(self, find: Find) -> str | None:
        """Takes in what the game's own messages tell, line by line: rounds, votes and who leaves; returns the winner.

        What columns say goes before it.
        """
        has_rounds, has_phases = (any(one[key] is not None for one in self.messages) for key in ("round", "phase"))
        # A night that nothing ends is a figure of speech.
        starts_told = (heading(line) for one in self.messages for line in _told_lines(one))
        has_phases = has_phases or len({starts[1] for starts in starts_told if starts} - {None}) < 2
        number = phase = side = None
        votes: list[dict[str, Any]] = []
        for message in self.messages:
            for line in _told_lines(message):
                if starts := heading(line):
                    number, phase = number if starts[0] is None else starts[0], starts[1]
                about = {"round": message["round"] if has_rounds else number}
                about["phase"] = message["phase"] if has_phases else phase
                for voter, target, why in ballots(line, find, is_list=False, is_told=True):
                    votes.append({"voter": voter, "target": target, "justification": why} | about)
                gone = {one["player"] for one in self.eliminations}
                told = ({"player": player, "role": role} | about for player, role, _ in departures(line, find))
                self.eliminations += [one for one in told if one["player"] not in gone]
                side = winner(line) or side
            message |= {} if has_rounds else {"round": number}
            message |= {} if has_phases else {"phase": phase}
        if votes and all(vote["round"] is None for vote in self.votes):
            # What is listed without a round may be the ballot that nothing tells.
            pairs = {(vote["voter"], vote["target"]) for vote in votes}
            listed = [vote for vote in self.votes if (find(vote["voter"]), find(vote["target"] or "")) not in pairs]
            self.votes = [*votes, *listed]
        counts = {"vote": len(self.votes), "elimination": len(self.eliminations)}
        self.kinds.update({kind: count - self.kinds[kind] for kind, count in counts.items() if count})
        return side


def _told_lines(message: Mapping[str, Any]) -> list[str]:
    """The lines of a message that the game itself tells; none of what players say."""
    is_told = message["channel"] == "system" or draft.is_moderator(message["speaker"])
    return message["text"].split("\n") if is_told else []


def is_ballot_at_night(name: str) -> bool:
    """Whether a key or a kind of row means what one side alone chooses at night, and no vote by day: "kill_vote"."""
    words = {*draft.words_in(name)}
    return bool(words & draft.word_set("vote_kinds")) and (
        bool(words & {"attack", "kill"}) or channel_named(name) == "team"
    )


def is_turn(column: str | None) -> bool:
    """Whether a column may count messages as well as rounds, by its name."""
    return draft.column_key(column or "") in ("turn", "turnnumber", "step")


def counts_messages(values: Sequence[Any]) -> bool:
    """Whether the values of such a column are numbers of messages, or of who speaks, and not of rounds.

    Most of them stand at one message alone, or they go down again.
    """
    held = [value for value in values if value is not None]
    numbers = [int(value) for value in map(str, held) if value.isdecimal()]
    if any(later < earlier for earlier, later in pairwise(numbers)):
        return True
    return len(held) >= _LEAST_COUNTED and len(set(map(str, held))) > _COUNTED_SHARE * len(held)


def _rival(mapping: ColumnMapping, table: ParsedTable) -> str | None:
    """Another column that is named after who speaks, and neither is the name of each speaker nor an id for it."""
    known = {*draft.word_lists("columns")["speaker"]}
    free = [one for one in table.columns if one not in mapping.used and draft.column_key(one) in known]
    for column in free:
        pairs = {(_cell_text(row, mapping.speaker), _cell_text(row, column)) for row in table.rows}
        pairs = {pair for pair in pairs if None not in pair}
        if len(pairs) > max(len({one[0] for one in pairs}), len({one[1] for one in pairs}), 1):
            return column
    return None


def _no_times(column: str | None, table: ParsedTable) -> str:
    """One of a column's values, of which most are not times; else empty."""
    odd, count = "", 0
    for row in table.rows[:_ROWS_AT_ONCE] if column is not None else ():
        if written := _cell_text(row, column):
            count += 1
            try:
                _time(row, column)
                count -= 2
            except BrokenTranscriptError:
                odd = odd or shorten(written)
    return odd if count > 1 else ""


def _by_day(rows: Sequence[TableRow], mapping: ColumnMapping) -> ColumnMapping:
    """The mapping with the day as round, where rounds begin again with each day; without one, where the column of
    rounds holds dates or counts the messages.
    """
    held = [_cell_text(row, mapping.round) for row in rows]
    if (is_turn(mapping.round) and counts_messages(held)) or any(one and part("date").match(one) for one in held):
        return replace(mapping, round=None)
    columns = (column for row in rows for column in row.cells)
    days = next((column for column in columns if draft.column_key(column) in ("day", "daynumber")), None)
    if days is None or mapping.round is None or days == mapping.round:
        return mapping
    counted_in = [(_cell_text(row, days) or "", _cell_text(row, mapping.round) or "") for row in rows]
    pairs = [(int(day), int(number)) for day, number in counted_in if day.isdecimal() and number.isdecimal()]
    falls = any(later[0] > earlier[0] and later[1] <= earlier[1] for earlier, later in pairwise(pairs))
    is_day = falls and all(day.isdecimal() or not day for day, _ in counted_in)
    return replace(mapping, round=days) if is_day else mapping


def _by_person(mapping: ColumnMapping, table: ParsedTable) -> ColumnMapping:
    """The mapping with a column of people's codes as speaker, where the one so called holds one word for all."""
    known = tuple(draft.word_lists("columns")["speaker"])
    free = [one for one in table.columns if one not in mapping.used and draft.column_key(one).startswith(known)]
    values = {one: {str(row.cells.get(one) or "") for row in table.rows} for one in (*free, mapping.speaker) if one}
    codes = [one for one in free if 1 < len(values[one]) <= len(table.rows) / 2 and "" not in values[one]]
    return replace(mapping, speaker=codes[-1]) if codes and len(values.get(mapping.speaker or "", ())) == 1 else mapping


def _first(row: TableRow, columns: Sequence[str]) -> str | None:
    """The first cell of these columns that holds something."""
    return next((text for column in columns if (text := _cell_text(row, column))), None)


def _transcript(
    game_id: str,
    rows: Sequence[TableRow],
    mapping: ColumnMapping,
    document: Document,
    about: Mapping[str, Any],
    doubt: str,
) -> ReadResult:
    """One game: speakers outside the system channel are players, with the first role given.

    What an answer refers to stands as in the table: an id, or a player's name.
    """
    mapping = _by_day(rows, mapping)
    columns = dict.fromkeys(column for row in rows for column in row.cells)
    free = [column for column in columns if column not in mapping.used]
    speakers = {*draft.word_lists("columns")["speaker"]}

    def named(keys: Collection[str]) -> list[str]:
        return [column for column in free if draft.column_key(column) in keys]

    thoughts, voters, victims = (named(draft.word_set(keys)) for keys in _KEYS_OF_COLUMNS)
    cast = named(draft.word_set("vote_kinds"))
    targets = named({*draft.word_lists("columns")["target"]})
    people = (mapping.speaker, *(others := named(speakers)), *voters, *victims)
    found = {name for row in rows for column in people if (name := _cell_text(row, column))}
    found |= {player["name"] for player in about.get("players", ())}
    sitting = seat_numbers(list(found))
    names = {fold(name).strip() for name in found} | sitting.keys() | {f"p{number}" for number in sitting}
    game = _Game(mapping, document.answers, others, thoughts, voters, victims, targets, cast, names)
    for row in rows:
        game.add(row)
    if not game.roles:
        # What stands in JSON at any depth has no columns to choose.
        way = remedy("table") if about else "Choose other columns for the speaker and the text."
        raise BrokenTranscriptError("No row has a speaker and a text.", place=rows[0].place, remedy=way)
    if len(game.roles) > 2 and len(same := {*game.roles.values()}) == 1 and draft.alignment_of(*same):
        # One game role in every row is that of the one who wrote the rows.
        game.roles = dict.fromkeys(game.roles)
    listed = [{"name": name, "role": role, "alignment": draft.alignment_of(role)} for name, role in game.roles.items()]
    players = {player["name"]: player for player in [*listed, *about.get("players", ())]}
    roster = draft.Roster(players)
    seats = seat_numbers(list(players))

    def find(name: str) -> str | None:
        return roster.find(name) or roster.find(name.removeprefix("Player ")) or seats.get(seat_of(name))

    told = game.told(find)
    for results, key in ((game.votes, "voter"), (game.votes, "target"), (game.eliminations, "player")):
        for result in results:
            name = result[key]
            known = name and (roster.find(name) or seats.get(seat_of(name)))
            result[key] = known or (None if key == "target" and draft.is_abstention(name) else name)
            if result[key] is not None and not draft.is_moderator(result[key]):
                players.setdefault(result[key], {"name": result[key]})
    # Of several, the first counts.
    once = {one["player"]: one for one in reversed(game.eliminations)}
    game_id = game_id or content_id(FORMAT, repr([tuple(row.cells.items()) for row in rows]))
    metadata = {LEFT_OUT: game.kinds["left out"]} if game.kinds["left out"] else {}
    fields: dict[str, Any] = {
        "game_id": game_id,
        "source_format": FORMAT,
        "players": list(players.values()),
        "metadata": metadata,
    }
    fields |= {"messages": game.messages, "votes": game.votes}
    fields["eliminations"] = [one for one in game.eliminations if once[one["player"]] is one]
    fields["winner"] = draft.winning_side(about.get("winner") or told)
    questions: tuple[Question, ...] = ()
    if game.carried and document.answers.merged_cells is None:
        rows_carried = counted(game.carried, "row")
        words = f"{rows_carried} without a speaker below one that has it: taken as said by the speaker above."
        questions = (Question(Topic.MERGED, "", words, "carry"),)
    transcript = document.limits.build(fields)
    lost = f"{counted(game.lost_votes, 'row')} of votes could not be read." if game.lost_votes else ""
    about = {"kinds": dict(game.kinds), "left_out": tuple(game.left_out), "questions": questions}
    return ReadResult(transcript=transcript, not_understood=" ".join(filter(None, (doubt, lost))), **about)


def _cell_text(row: TableRow, column: str | None) -> str | None:
    """The cell as text without the space around it; ``None`` when it is empty or there is no such column."""
    value = row.cells.get(column) if column is not None else None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        # A column of ids with gaps arrives as floats.
        value = int(value)
    if isinstance(value, (dict, list)):
        raise _wrong(row, column, value, "one value")
    return str(value).strip() or None


def _wrong(row: TableRow, column: str | None, value: object, expected: str) -> BrokenTranscriptError:
    message = f'Found "{shorten(str(value))}" in the column {shorten(column)!r}, expected {expected}.'
    return BrokenTranscriptError(message, place=row.place, remedy=_CHOOSE)


def _id(row: TableRow, column: str | None, index: int, places: dict[str, str]) -> str:
    message_id = _cell_text(row, column) or f"m{index + 1}"
    if len(message_id) > _LONGEST_NAME:
        raise _wrong(row, column, message_id, "an id of 1 to 200 characters")
    if message_id in places:
        message = f"The message id {shorten(message_id)!r} occurs twice, first at {places[message_id]}."
        raise BrokenTranscriptError(message, place=row.place, remedy=_CHOOSE)
    places[message_id] = row.place
    return message_id


def _round(row: TableRow, column: str | None) -> int | None:
    written = _cell_text(row, column)
    if written is None:
        return None
    numbers = _NUMBER.findall(written)
    if len(numbers) != 1 or "-" in written:
        raise _wrong(row, column, written, "a round's number")
    return int(numbers[0])


def _recipients(row: TableRow, column: str | None) -> tuple[str, ...]:
    if column is None:
        return ()
    value = row.cells.get(column)
    names = value if isinstance(value, list) else _BETWEEN_NAMES.split(_cell_text(row, column) or "")
    for name in names:
        if not isinstance(name, str) or len(name) > _LONGEST_NAME:
            raise _wrong(row, column, name, "names")
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _time(row: TableRow, column: str | None) -> datetime | None:
    value = row.cells.get(column or "")
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    written = _cell_text(row, column)
    if written and _CLOCK.fullmatch(written):
        return None
    try:
        if written and part("month").search(written):
            # With a month in letters: "06-Dec-19 05:16 AM".
            moment: datetime = parse_date(written, default=datetime(1970, 1, 1, tzinfo=UTC))
            return moment.astimezone(UTC)
        return Node(float(written) if written and _DECIMAL.match(written) else written).time_or_none()
    except (BrokenTranscriptError, ValueError, OverflowError):
        raise _wrong(row, column, written, "a time as in 2025-01-31T18:05:00Z") from None


def _storable(cell: Any) -> Any:
    """A cell as JSON; ``None`` when it is empty."""
    if cell is None or cell == "" or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    if isinstance(cell, (str, int, float, bool, dict, list)):
        return cell
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)


READER = FileReader(FORMAT, _recognises, table_games)
BINARY_READER = FileReader(FORMAT, is_parquet, table_games)
