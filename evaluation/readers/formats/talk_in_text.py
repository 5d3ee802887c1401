"""Reads records that each hold a whole talk as one text, lines of "Name: text" under a key such as "conversation"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from evaluation.errors import InputError
from evaluation.files.strict_json import shorten
from evaluation.readers import tables
from evaluation.readers._draft import column_key, word_lists, word_set, words_in
from evaluation.readers.document import NO_PROGRAM, Document, FileReader, Found, ReadResult, first_record
from evaluation.readers.document import records as records_of
from evaluation.readers.formats import nested_json, plain_text

_LINE = re.compile(r"^[\W_]{0,4}(?P<name>[^\W_][^:\n]{0,40}?)\W{0,3}:\W{0,3}\s", re.MULTILINE)
_LOOKED_AT = 5


def _is_talk(cell: object) -> bool:
    """Whether several lines of a text begin with the names of at least two who speak more than once."""
    names = Counter(_LINE.findall(cell)) if isinstance(cell, str) and "\n" in cell else Counter[str]()
    return sum(count > 1 for count in names.values()) > 1


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with what the objects inside it hold."""
    inner = [_flat(one) for one in record.values() if isinstance(one, dict)]
    return {key: one for held in (*inner, record) for key, one in held.items()}


def _key_of_talks(records: Sequence[Mapping[str, Any]]) -> str | None:
    """The key of the texts that are talks; of several, that with a name for talks."""
    inner = word_set("calls") | word_set("thought_columns")
    found = {column_key(key): key for record in records for key, one in record.items() if _is_talk(one)}
    known = (found[key] for key in word_lists("words")["talk_keys"] if key in found)
    return next(known, next((found[key] for key in found if key not in inner), None))


def _first_records(document: Document) -> Iterator[Mapping[str, Any]]:
    """The first records of JSON or of a table; what is neither is a talk by itself."""
    with suppress(InputError):
        if first_record(document) is not None:
            held = (node.value for node in islice(records_of(document), _LOOKED_AT))
            yield from (_flat(one) for one in held if isinstance(one, dict))
        elif tables.table_columns(document):
            yield from (row.cells for row in islice(tables.delimited_rows(document), _LOOKED_AT))


def _talks(document: Document) -> tuple[str, list[Mapping[str, Any]]]:
    """The key of the talks and the records that hold them; nothing where others say more of who speaks."""
    if FORMAT not in document.kept:
        key = _key_of_talks(list(_first_records(document)))
        is_told = key is None or nested_json.READER.recognises(document)
        values = [] if is_told else nested_json.values_of(document)
        document.kept[FORMAT] = (key if values else "", [_flat(value) for value in values if isinstance(value, dict)])
    found: Any = document.kept[FORMAT]
    return found[0], found[1]


def _read(document: Document) -> Found:
    key, records = _talks(document)
    others = Counter(one for record in records for one, text in record.items() if one != key and text)
    unread = ", ".join(f'"{shorten(one)}" ({count})' for one, count in others.most_common(2 * _LOOKED_AT)) or "none"
    remark = f'The talk is the text under "{shorten(key)}"; what is not read: {unread}.'
    votes = next((one for one in others if {*words_in(one)} & word_set("vote_kinds")), None)
    lost = f'What stands under "{shorten(votes)}" could not be read as votes.' if votes else ""

    def talk(text: str) -> ReadResult:
        found = plain_text.read_text(Document(text.encode(), document.limits, document.answers))
        return replace(
            found,
            remarks=(*found.remarks, remark),
            not_understood=" ".join(filter(None, (found.not_understood or lost, NO_PROGRAM))),
        )

    talks = [text for record in records if isinstance(text := record.get(key), str) and text.strip()]
    if len(talks) == 1:
        return talk(talks[0])
    return [(str(number), partial(talk, text)) for number, text in enumerate(talks, start=1)]


FORMAT = "talk-in-text"
READER = FileReader(FORMAT, lambda document: bool(_talks(document)[0]), _read)
