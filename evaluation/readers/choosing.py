"""Which reader a file's content is for."""

from __future__ import annotations

from typing import Any

from evaluation.errors import UnknownFormatError
from evaluation.json_text import shorten
from evaluation.readers.document import Document
from evaluation.readers.formats import ARCHIVE_READERS, BINARY_READERS, FILE_READERS, FOLDER_READERS
from evaluation.readers.reader import FileReader

# A format that has a reader for its files and one for its folders is named once.
_FILE_FORMATS = [reader.format for reader in (*FILE_READERS, *BINARY_READERS)]
_FOLDER_FORMATS = [reader.format for reader in FOLDER_READERS] + [reader.format for reader in ARCHIVE_READERS]
_KNOWN = ", ".join(dict.fromkeys(_FILE_FORMATS + _FOLDER_FORMATS))
_REMEDY = f"Known are {_KNOWN}; a table with the columns speaker and text is enough."


def choose_reader(document: Document) -> FileReader:
    """The reader that recognises the content.

    Raises:
        InputError: None does; says what was found instead.
    """
    for reader in BINARY_READERS:
        if reader.recognises(document):
            return reader
    for folder_reader in FOLDER_READERS:
        if folder_reader.recognises_part(document):
            raise UnknownFormatError(
                f"This is one file of a game in the format {folder_reader.format}, which consists of several.",
                remedy="Hand in the whole folder, or a zip of it.",
            )
    for reader in FILE_READERS:
        if reader.recognises(document):
            return reader
    if document.json_error and not isinstance(document.first_line, dict):
        raise document.json_error
    raise UnknownFormatError(f"{_described(document)} No reader knows this shape.", remedy=_REMEDY)


def _described(document: Document) -> str:
    if isinstance(document.first_line, dict):
        return f"The first line is JSON with the keys {_keys(document.first_line)}."
    if isinstance(document.json, dict):
        return f"The JSON object has the keys {_keys(document.json)}." if document.json else "The JSON object is empty."
    if isinstance(document.json, list):
        return f"The JSON is a list of {len(document.json)}."
    return f'The text begins "{shorten(document.text.lstrip().partition(chr(10))[0])}".'


def _keys(record: dict[str, Any]) -> str:
    return ", ".join(shorten(key) for key in list(record)[:8])
