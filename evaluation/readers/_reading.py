"""Read files, folders and zips: each readable game as a transcript, each other file with the reason."""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from evaluation.errors import InputError, LimitError, UnknownFormatError, UnreadableFileError
from evaluation.files.locations import Location, is_url
from evaluation.files.strict_json import shorten
from evaluation.progress import ProgressCallback, no_progress
from evaluation.readers._file_entries import (
    FileEntry,
    is_zip,
    list_folder,
    list_location,
    load_file,
    load_location,
    printable,
)
from evaluation.readers._format_detection import ARCHIVE_READERS, FOLDER_READERS, choose_reader
from evaluation.readers._zip_archive import UnpackBudget, unpack
from evaluation.readers.base.answers import NO_ANSWERS, Answers
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.results import ReadResult, results_of
from evaluation.readers.formats import plain_text
from evaluation.readers.tables import table
from evaluation.readers.tables.columns import ColumnMapping
from evaluation.readers.tables.preview import ChooseColumns, TableHead, table_head

_DEFAULT = Limits()

_NAME_COLUMNS = (
    "If it is a table of messages, say which column holds the speaker and which the text: on the Games page, or with "
    "--map speaker=COLUMN --map text=COLUMN."
)


def read_path(
    path: Path | str,
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    answers: Answers = NO_ANSWERS,
) -> list[ReadResult]:
    """The games in a file, a zip, the folder of one game, or a folder of any of these; never raises for its content.

    Hidden files, licences and readmes inside folders are passed over. The order is that of the paths.

    Args:
        path: The file or folder.
        limits: Bounds for what is read.
        choose_columns: Asked which column of a table holds what; without it, or where it answers ``None``, the columns'
            names decide.
        answers: A person's answers to what files leave open about who speaks, to whom and when.
    """
    return list(iter_path(path, limits, choose_columns, answers))


def iter_path(
    path: Path | str,
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    answers: Answers = NO_ANSWERS,
) -> Iterator[ReadResult]:
    """Like ``read_path``, one game at a time, so that a large folder need not fit into memory."""
    job = _Job(limits, choose_columns, answers)
    place = Path(path)
    # Path("..").name is not what the person calls the folder.
    label = printable(place.name or place.resolve().name or str(place))
    try:
        if os.path.isdir(place):
            yield from _read_entries(list_folder(place, limits), label, job)
        else:
            yield from _read_bytes(label, load_file(place, limits), job)
    except InputError as error:
        yield ReadResult(label, error=error)


def iter_paths(
    paths: Iterable[Path | str],
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    answers: Answers = NO_ANSWERS,
) -> Iterator[ReadResult]:
    """Like ``iter_path`` for each; files of one folder that are parts of one game are read as that game.

    A path may be a URL of a file, zip or folder (:mod:`evaluation.files.locations`).
    """
    given_paths = list(paths)
    places = dict.fromkeys(Path(path) for path in given_paths if not is_url(str(path)))
    urls = dict.fromkeys(str(path) for path in given_paths if is_url(str(path)))
    files: defaultdict[Path, list[FileEntry]] = defaultdict(list)
    for place in places:
        if not os.path.isdir(place):
            files[place.parent].append(FileEntry(place.name, partial(load_file, place, limits)))
    for parent, given in files.items():
        rest = list(given)
        yield from _folder_games(rest, _first_of(given), _Job(limits, answers=answers))
        for entry in given:
            if entry not in rest:
                del places[parent / entry.name]
    for place in places:
        yield from iter_path(place, limits, choose_columns, answers)
    for url in urls:
        yield from _iter_url(url, _Job(limits, choose_columns, answers))


def _iter_url(url: str, job: _Job) -> Iterator[ReadResult]:
    location = Location.of(url)
    label = printable(location.name or url)
    try:
        if location.is_folder():
            yield from _read_entries(list_location(location, job.limits), label, job)
        else:
            yield from _read_bytes(label, load_location(location, job.limits), job)
    except InputError as error:
        yield ReadResult(label, error=error)


def read_upload(
    name: str,
    data: bytes,
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    on_result: Callable[[], None] | None = None,
    answers: Answers = NO_ANSWERS,
) -> list[ReadResult]:
    """The games in one uploaded file, a zip included; never raises for its content.

    Args:
        name: What the file is called.
        data: Its bytes.
        limits: Bounds for what is read.
        choose_columns: As for ``read_path``.
        on_result: Called after each game of it; an exception that it raises stops the reading.
        answers: As for ``read_path``.
    """
    label = printable(name) or "upload"
    results: list[ReadResult] = []
    try:
        limits.check_size(len(data), is_zip=is_zip(data))
        for result in _read_bytes(label, data, _Job(limits, choose_columns, answers)):
            results.append(result)
            if on_result is not None:
                on_result()
        return results
    except InputError as error:
        return [ReadResult(label, error=error)]


def read_uploads(
    files: Sequence[tuple[str, bytes]],
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    progress: ProgressCallback = no_progress,
    answers: Answers = NO_ANSWERS,
) -> list[ReadResult]:
    """The games in files uploaded together, as name and content; those that are parts of one game are read as that.

    So the files of one LLMafia folder need not be zipped first.

    Args:
        files: Name and content of each.
        limits: Bounds for what is read.
        choose_columns: As for ``read_path``.
        progress: Told the number of files read and, in place of a total, of the games and refusals found in them:
            before the first file and after every game and file. An exception that it raises stops the reading.
        answers: As for ``read_path``.
    """
    given = [FileEntry(printable(name), partial(_uploaded, data, limits)) for name, data in files]
    rest = list(given)
    progress(0, 0)
    results = list(_folder_games(rest, _first_of(given), _Job(limits, answers=answers)))
    for done, (entry, (name, data)) in enumerate(zip(given, files, strict=True)):
        if any(entry is one for one in rest):
            found = itertools.count(len(results) + 1)
            results += read_upload(name, data, limits, choose_columns, partial(_count, progress, done, found), answers)
        progress(done + 1, len(results))
    return results


def _count(report: ProgressCallback, done: int, found: Iterator[int]) -> None:
    report(done, next(found))


def read_table(
    data: bytes, mapping: ColumnMapping | None = None, *, name: str = "table", limits: Limits = _DEFAULT
) -> list[ReadResult]:
    """The games in a table of messages (CSV, TSV, JSON, JSON Lines, Parquet) with the columns that a person chose.

    Args:
        data: The file's bytes.
        mapping: Which column holds what; without one, what ``guess_mapping`` makes of the columns' names.
        name: What the results are called.
        limits: Bounds for the file.
    """
    document = Document(data, limits)
    return list(results_of(printable(name), table.FORMAT, partial(table.table_games, document, mapping), limits))


def _uploaded(data: bytes, limits: Limits) -> bytes:
    limits.check_size(len(data))
    return data


def _first_of(entries: Sequence[FileEntry]) -> str:
    return f"{entries[0].name} and {len(entries) - 1} more" if entries else "upload"


def _by_their_names(_: tuple[str, ...]) -> None:
    """Default choice of columns: none, so that they are recognised by their names."""


class _Job:
    """One call's limits and what it has used of them, and whom it asks for the columns of tables."""

    def __init__(
        self, limits: Limits, choose_columns: ChooseColumns | None = None, answers: Answers = NO_ANSWERS
    ) -> None:
        self.limits = limits
        self.answers = answers
        self.choose_columns = choose_columns or _by_their_names
        self.budget = UnpackBudget.of(limits)
        self.depth = 0

    @contextmanager
    def one_deeper(self) -> Iterator[None]:
        if self.depth == 0:
            # Each outermost zip has a budget of its own, however many lie in one folder.
            self.budget = UnpackBudget.of(self.limits)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def _read_bytes(label: str, data: bytes, job: _Job) -> Iterator[ReadResult]:
    if not is_zip(data):
        yield from _read_file(label, Document(data, job.limits, job.answers), job)
        return
    if job.depth > job.limits.archive_nesting:
        raise LimitError(
            f"Zips stand inside each other more than {job.limits.archive_nesting + 1} deep.",
            remedy="Unpack the inner ones.",
        )
    with job.one_deeper(), unpack(data, job.limits, job.budget) as entries:
        paths = {entry.path for entry in entries}
        for reader in ARCHIVE_READERS:
            if reader.recognises(paths):
                files = {entry.path: partial(_document, entry, job) for entry in entries}
                yield from results_of(label, reader.format, partial(reader.read, files), job.limits, job.answers)
                return
        yield from _read_entries(entries, label, job)


def _document(entry: FileEntry, job: _Job) -> Document:
    return Document(entry.load(), job.limits, job.answers)


def _read_entries(entries: Sequence[FileEntry], label: str, job: _Job) -> Iterator[ReadResult]:
    folders: defaultdict[str, list[FileEntry]] = defaultdict(list)
    of_games: list[str] = []
    for entry in sorted(entries, key=lambda entry: entry.path):
        if not entry.is_clutter:
            folders[entry.folder].append(entry)
    found_any = False
    for folder, inside in sorted(folders.items()):
        name = f"{label}/{folder}" if folder else label
        if any(folder.startswith(f"{game}/") for game in of_games):
            # What lies below a game's folder is the game's: only what a reader knows is another one.
            results = _without_unknown(_read_folder(inside, name, job), [])
        else:
            results = _read_folder(inside, name, job)
        for result in results:
            found_any = True
            if result.transcript is not None and result.format in _FOLDER_FORMATS:
                of_games.append(folder)
            yield result
    if not found_any:
        remedy = "Put the games into it."
        yield ReadResult(label, error=UnknownFormatError("There is no transcript in it.", remedy=remedy))


_FOLDER_FORMATS = frozenset(reader.format for reader in FOLDER_READERS)


def _read_folder(entries: Sequence[FileEntry], name: str, job: _Job) -> Iterator[ReadResult]:
    """The games among the files of one folder, without the folders below it.

    Where some of the files are a game together, the others that no reader knows belong to it
    and do not count as refused.
    """
    rest = list(entries)
    games = list(_folder_games(rest, printable(name), job))
    others = _each(rest, name, job)
    if any(game.transcript is not None for game in games):
        left_aside: list[str] = []
        others = iter(list(_without_unknown(others, left_aside)))
        prefix = len(printable(f"{name}/"))
        games[0] = replace(games[0], left_aside=tuple([one[prefix:] for one in left_aside]))
    yield from games
    yield from others


def _without_unknown(results: Iterator[ReadResult], left_aside: list[str]) -> Iterator[ReadResult]:
    """The results without notes and files in no known format, whose names are added to ``left_aside``."""
    for result in results:
        if isinstance(result.error, UnknownFormatError) or result.format == plain_text.FORMAT:
            left_aside.append(result.name)
        else:
            yield result


def _each(entries: Sequence[FileEntry], name: str, job: _Job) -> Iterator[ReadResult]:
    for entry in entries:
        if not entry.is_companion:
            label = printable(f"{name}/{entry.name}")
            try:
                yield from _read_bytes(label, entry.load(), job)
            except InputError as error:
                yield ReadResult(label, error=error)


def _folder_games(rest: list[FileEntry], label: str, job: _Job) -> Iterator[ReadResult]:
    """The games that consist of several of the files, which are taken out of ``rest``."""
    for reader in FOLDER_READERS:
        parts = [entry for entry in rest if reader.takes(entry.name)]
        if not reader.recognises({entry.name for entry in parts}):
            continue
        try:
            documents = _documents(parts, job)
            if not reader.confirms(documents):
                continue
        except InputError as error:
            yield ReadResult(label, error=error, format=reader.format)
        else:
            yield from results_of(label, reader.format, partial(reader.read, documents), job.limits, job.answers)
        rest[:] = [entry for entry in rest if not any(entry is part for part in parts)]


def _documents(parts: Sequence[FileEntry], job: _Job) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for part in parts:
        if part.name in documents:
            raise UnreadableFileError(f"It holds {part.name} twice.", remedy="Pack it again.")
        documents[part.name] = _document(part, job)
    return documents


def _read_file(label: str, document: Document, job: _Job) -> Iterator[ReadResult]:
    try:
        reader = choose_reader(document)
    except UnknownFormatError as error:
        yield from _read_unknown(label, document, job, error)
    except InputError as error:
        yield ReadResult(label, error=error)
    else:
        if reader.format == table.FORMAT:
            yield from _read_rows(label, document, job)
        else:
            yield from results_of(label, reader.format, partial(reader.read, document), document.limits, job.answers)


def _read_rows(label: str, document: Document, job: _Job) -> Iterator[ReadResult]:
    head = table_head(document)
    mapping = job.choose_columns(head.columns) if head else None
    read = partial(table.table_games, document, mapping)
    for result in results_of(label, table.FORMAT, read, document.limits, job.answers):
        yield replace(result, head=head)


def _lacking(head: TableHead, mapping: ColumnMapping | None) -> str:
    """Which of the columns that somebody named are not in the file, and which are."""
    lacking = sorted(mapping.used.difference(head.columns)) if mapping else []
    if not lacking:
        return ""
    return f" There is no column {shorten(lacking[0])!r}; there are {', '.join(map(shorten, head.columns[:20]))}."


def _read_unknown(label: str, document: Document, job: _Job, error: UnknownFormatError) -> Iterator[ReadResult]:
    """Read content of an unknown format as a table, where the columns of speaker and text were chosen."""
    head = table_head(document)
    mapping = job.choose_columns(head.columns) if head else None
    if head and mapping and not mapping.missing and mapping.used <= set(head.columns):
        yield from _read_rows(label, document, job)
    else:
        known = UnknownFormatError(error.message + _lacking(head, mapping), remedy=_NAME_COLUMNS) if head else error
        yield ReadResult(label, error=known, head=head)
