"""Files, folders and zips to transcripts: each game that can be read, and each file that cannot with the reason."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import InputError, LimitError, UnknownFormatError, UnreadableFileError
from evaluation.readers.archive import Budget, unpack
from evaluation.readers.document import Document
from evaluation.readers.entries import Entry, is_zip, list_folder, load_file, printable
from evaluation.readers.formats import FILE_READERS, FOLDER_READERS
from evaluation.readers.json_text import shorten
from evaluation.readers.limits import Limits
from evaluation.readers.reader import FileReader, FolderReader
from evaluation.transcript import Transcript

_DEFAULT = Limits()
_KNOWN = ", ".join([reader.format for reader in FILE_READERS] + [reader.format for reader in FOLDER_READERS])


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What became of one game: its transcript, or the error that says what to do.

    Attributes:
        name: The file or game folder as the person knows it, with the folder or zip that it came from.
        transcript: The game; ``None`` when it was refused.
        error: Why it was refused; ``None`` when it was read.
        format: The format recognised; ``None`` when none was.
    """

    name: str
    transcript: Transcript | None = None
    error: InputError | None = None
    format: str | None = None


def read_path(path: Path | str, limits: Limits = _DEFAULT) -> list[ReadResult]:
    """The games in a file, a zip, the folder of one game, or a folder of any of these; never raises for its content.

    Hidden files, licences and readmes inside folders are passed over. The order is that of the paths.
    """
    return list(iter_path(path, limits))


def iter_path(path: Path | str, limits: Limits = _DEFAULT) -> Iterator[ReadResult]:
    """As ``read_path``, one game at a time, so that a large folder does not have to fit into memory."""
    place = Path(path)
    # Path("..").name is not what the person calls the folder.
    label = printable(place.name or place.resolve().name or str(place))
    try:
        if os.path.isdir(place):
            yield from _read_entries(list_folder(place, limits), label, _Job(limits))
        else:
            yield from _read_bytes(label, load_file(place, limits), _Job(limits))
    except InputError as error:
        yield ReadResult(label, error=error)


def read_upload(name: str, data: bytes, limits: Limits = _DEFAULT) -> list[ReadResult]:
    """The games in one uploaded file, a zip included; never raises for its content."""
    label = printable(name) or "upload"
    try:
        limits.check_size(len(data), is_zip=is_zip(data))
        return list(_read_bytes(label, data, _Job(limits)))
    except InputError as error:
        return [ReadResult(label, error=error)]


class _Job:
    """One call's limits and what it has used of them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.budget = Budget.of(limits)
        self.depth = 0

    @contextmanager
    def one_deeper(self) -> Iterator[None]:
        if self.depth == 0:
            # Each outermost zip has a budget of its own, however many lie in one folder.
            self.budget = Budget.of(self.limits)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def _read_bytes(label: str, data: bytes, job: _Job) -> Iterator[ReadResult]:
    if not is_zip(data):
        yield _read_file(label, Document(data, job.limits))
        return
    if job.depth > job.limits.archive_nesting:
        raise LimitError(
            f"Zips stand inside each other more than {job.limits.archive_nesting + 1} deep.",
            remedy="Unpack the inner ones.",
        )
    with job.one_deeper(), unpack(data, job.limits, job.budget) as entries:
        yield from _read_entries(entries, label, job)


def _read_entries(entries: Sequence[Entry], label: str, job: _Job) -> Iterator[ReadResult]:
    folders: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.path):
        if not entry.is_clutter:
            folders[entry.folder].append(entry)
    found_any = False
    for folder, inside in sorted(folders.items()):
        name = f"{label}/{folder}" if folder else label
        for result in _read_folder(inside, name, job):
            found_any = True
            yield result
    if not found_any:
        remedy = "Put the games into it."
        yield ReadResult(label, error=UnknownFormatError("There is no transcript in it.", remedy=remedy))


def _read_folder(entries: Sequence[Entry], name: str, job: _Job) -> Iterator[ReadResult]:
    """The games among the files of one folder, without the folders below it."""
    rest = list(entries)
    for reader in FOLDER_READERS:
        parts = [entry for entry in rest if reader.takes(entry.name)]
        if reader.recognises({entry.name for entry in parts}):
            yield _read_game_folder(name, reader, parts, job)
            rest = [entry for entry in rest if entry not in parts]
    for entry in rest:
        if not entry.is_companion:
            label = printable(f"{name}/{entry.name}")
            try:
                yield from _read_bytes(label, entry.load(), job)
            except InputError as error:
                yield ReadResult(label, error=error)


def _read_game_folder(name: str, reader: FolderReader, parts: Sequence[Entry], job: _Job) -> ReadResult:
    def read() -> Transcript:
        documents: dict[str, Document] = {}
        for part in parts:
            if part.name in documents:
                raise UnreadableFileError(f"It holds {part.name} twice.", remedy="Pack it again.")
            documents[part.name] = Document(part.load(), job.limits)
        return reader.read(documents)

    return _attempt(printable(name), reader.format, read, job.limits)


def _read_file(label: str, document: Document) -> ReadResult:
    try:
        reader = _choose(document)
    except InputError as error:
        return ReadResult(label, error=error)
    return _attempt(label, reader.format, lambda: reader.read(document), document.limits)


def _attempt(label: str, format_name: str, read: Callable[[], Transcript], limits: Limits) -> ReadResult:
    """The one place where a refusal becomes a result."""
    try:
        transcript = read()
        limits.check_transcript(transcript)
    except InputError as error:
        return ReadResult(label, error=error, format=format_name)
    return ReadResult(label, transcript=transcript, format=format_name)


def _choose(document: Document) -> FileReader:
    """The reader that recognises the content.

    Raises:
        InputError: None does; says what was found instead.
    """
    for folder_reader in FOLDER_READERS:
        if folder_reader.recognises_part(document):
            raise UnknownFormatError(
                f"This is one file of a game in the format {folder_reader.format}, which consists of several.",
                remedy="Hand in the whole folder, or a zip of it.",
            )
    for reader in FILE_READERS:
        if reader.recognises(document):
            return reader
    if document.json_error:
        raise document.json_error
    raise UnknownFormatError(f"{_described(document)} No reader knows this shape.", remedy=f"Known are {_KNOWN}.")


def _described(document: Document) -> str:
    if isinstance(document.json, dict):
        keys = ", ".join(shorten(key) for key in list(document.json)[:8])
        return f"The JSON object has the keys {keys}." if keys else "The JSON object is empty."
    if isinstance(document.json, list):
        return f"The JSON is a list of {len(document.json)}."
    return f'The text begins "{shorten(document.text.lstrip().partition(chr(10))[0])}".'
