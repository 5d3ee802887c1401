"""Read files, folders and zips: each readable game as a transcript, each other file with the reason."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

from evaluation.errors import (
    BrokenTranscriptError,
    InputError,
    LimitError,
    OpenQuestionError,
    UnknownFormatError,
    UnreadableFileError,
)
from evaluation.files.locations import Location, is_url
from evaluation.files.strict_json import shorten
from evaluation.progress import ProgressCallback, no_progress
from evaluation.readers import _sources as sources
from evaluation.readers import tables
from evaluation.readers._cross_check import NOT_READ, cross_checked, understood
from evaluation.readers._format_detection import ARCHIVE_READERS, FOLDER_READERS, choose_reader
from evaluation.readers._line_shapes import remedy
from evaluation.readers._who_speaks import BROKEN_OFF, settle
from evaluation.readers.document import (
    NO_ANSWERS,
    Answers,
    Document,
    Found,
    Limits,
    Question,
    ReadResult,
    Topic,
)
from evaluation.readers.formats import nested_json, plain_text
from evaluation.readers.tables import ChooseColumns, table_head
from evaluation.text.display import counted, shortened
from evaluation.transcript import CANONICAL_FORMAT, Transcript

_MOST_ASKED, _LONGEST_SHOWN = 5, 60
_OF_ONE_FILE = re.compile(r'\d+|"[^"]*"')


def broken_off(metadata: Mapping[str, object]) -> str | None:
    """Why a run ended before its end, as the metadata of its transcript say; ``None`` where it did not."""
    reason = metadata.get(BROKEN_OFF)
    return None if reason is None else str(reason)


def _asked(result: ReadResult, answers: Answers) -> ReadResult:
    """The result, refused where it holds a question that nobody has answered and that no answer is assumed for."""
    assert result.transcript is not None
    reason = broken_off(result.transcript.metadata)
    # A canonical file was written from a game that somebody had taken in.
    if result.format == CANONICAL_FORMAT and BROKEN_OFF in result.transcript.metadata:
        reason = None
    questions = [*result.questions]
    if reason is not None and not answers.incomplete:
        questions.append(Question(Topic.INCOMPLETE, "", f"The run was broken off by {reason}. Take it as it is?"))
    # Files of one form lack the same: the keys that were not read, and what is doubted but for its figures and names.
    lacks = _OF_ONE_FILE.sub("", " ".join((result.not_understood, *(one for one in result.remarks if NOT_READ in one))))
    form = hashlib.sha256(f"{result.format} {lacks}".encode()).hexdigest()[:8]
    if result.not_understood and not (answers.as_read or form in answers.forms):
        words = f"{result.not_understood} Understood: {understood(result.transcript)}"
        ends = result.transcript.discussion[:1] + result.transcript.discussion[-1:]
        shown = " to ".join(f'{shorten(one.speaker)} "{shortened(one.text, _LONGEST_SHOWN)}"' for one in ends)
        said = f" It goes from {shown}." if shown else ""
        questions.append(Question(Topic.AS_READ, form, f"{words}{said} Is that what the file holds?"))
    result = replace(result, questions=tuple(questions))
    open_questions = [question for question in result.questions if question.taken is None]
    if not open_questions:
        return result
    error = OpenQuestionError(
        " ".join(question.words for question in open_questions[:_MOST_ASKED]),
        remedy=f"Answer it where the files are added, or with {' '.join(one.option for one in open_questions)}."
        + (f" {remedy('otherwise')}" if open_questions[-1].topic is Topic.AS_READ else ""),
    )
    asked = ((question.topic, question.name or _OF_ONE_FILE.sub("", question.words)) for question in open_questions)
    error.asked = frozenset(asked)
    return replace(result, transcript=None, error=error, preview=result.transcript)


_DEFAULT = Limits()
_FOLDER_FORMATS = frozenset(reader.format for reader in FOLDER_READERS)


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
    return list(_Reading(limits, choose_columns, answers).place(path))


def read_transcripts(path: str | PathLike[str]) -> list[Transcript]:
    """The transcripts in a file or folder.

    Raises:
        InputError: A file cannot be read.
    """
    results = read_path(Path(path))
    for result in results:
        if result.error is not None:
            raise result.error
    return [result.transcript for result in results if result.transcript is not None]


def iter_paths(
    paths: Iterable[Path | str],
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    answers: Answers = NO_ANSWERS,
) -> Iterator[ReadResult]:
    """Like ``read_path`` for each, one game at a time, so that a large folder need not fit into memory.

    Files of one folder that are parts of one game are read as that game. A path may be a URL of a file, zip or folder
    (:mod:`evaluation.files.locations`).
    """
    reading = _Reading(limits, choose_columns, answers)
    given = list(paths)
    places = dict.fromkeys(Path(path) for path in given if not is_url(str(path)))
    files: defaultdict[Path, list[sources.FileEntry]] = defaultdict(list)
    for place in places:
        if not os.path.isdir(place):
            files[place.parent].append((place.name, partial(sources.load_file, place, limits)))
    for parent, entries in files.items():
        rest = list(entries)
        yield from reading.games_of_several(rest, _label_of(entries))
        for name, _ in set(entries).difference(rest):
            del places[parent / name]
    urls = dict.fromkeys(str(path) for path in given if is_url(str(path)))
    for path in [str(place) for place in places] + list(urls):
        yield from reading.place(path)


def read_upload(
    name: str,
    data: bytes | str,
    limits: Limits = _DEFAULT,
    choose_columns: ChooseColumns | None = None,
    answers: Answers = NO_ANSWERS,
) -> list[ReadResult]:
    """The games in one uploaded file, a zip included; never raises for its content.

    Args:
        name: What the file is called.
        data: Its bytes, or its text.
        limits: Bounds for what is read.
        choose_columns: As for ``read_path``.
        answers: As for ``read_path``.
    """
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return read_uploads([(name, data)], limits, choose_columns, answers=answers)


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

    def uploaded(data: bytes) -> bytes:
        limits.check_size(len(data), is_zip=sources.is_zip(data))
        return data

    reading = _Reading(limits, choose_columns, answers)
    given: list[sources.FileEntry] = [(sources.printable(name), partial(uploaded, data)) for name, data in files]
    rest = list(given)
    progress(0, 0)
    results = list(reading.games_of_several(rest, _label_of(given)))
    for done, entry in enumerate(given):
        for result in reading.file(entry[0] or "upload", entry[1]) if entry in rest else ():
            results.append(result)
            progress(done, len(results))
        progress(done + 1, len(results))
    return results


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _label_of(entries: Sequence[sources.FileEntry]) -> str:
    return f"{_name(entries[0][0])} and {len(entries) - 1} more" if entries else "upload"


@dataclass(frozen=True, slots=True)
class _Reading:
    """One call's limits and choices, and the zips around what is read.

    Attributes:
        limits: Bounds for what is read.
        choose_columns: Asked for the columns of tables; ``None`` where their names decide.
        answers: A person's answers to open questions.
        budget: What the outermost zip may still unpack; ``None`` outside of zips.
        depth: How many zips stand around it.
    """

    limits: Limits
    choose_columns: ChooseColumns | None
    answers: Answers
    budget: sources.UnpackBudget | None = None
    depth: int = 0

    def place(self, path: Path | str) -> Iterator[ReadResult]:
        """The games at a path or URL."""
        if is_url(str(path)):
            location = Location.of(str(path))
            label = sources.printable(location.name or str(path))
            is_folder, load = location.is_folder, partial(sources.load_location, location, self.limits)
            entries = partial(sources.list_location, location, self.limits)
        else:
            place = Path(path)
            # Path("..").name is not what the person calls the folder.
            label = sources.printable(place.name or place.resolve().name or str(place))
            is_folder, load = partial(os.path.isdir, place), partial(sources.load_file, place, self.limits)
            entries = partial(sources.list_folder, place, self.limits)
        try:
            yield from self.entries(entries(), label) if is_folder() else self.file(label, load)
        except InputError as error:
            yield ReadResult(label, error=error)

    def file(self, label: str, load: Callable[[], bytes]) -> Iterator[ReadResult]:
        """The games in a file, a zip included; a refusal where it cannot be loaded."""
        document: Document | None = None
        try:
            data = load()
            if sources.is_zip(data):
                yield from self._zip(label, data)
                return
            document = Document(data, self.limits, self.answers, may_doubt=True)
            for result in self._document(label, document):
                is_lost = document.undecoded is not None and result.error is not None and result.preview is None
                yield replace(result, error=document.undecoded) if is_lost else result
        except InputError as error:
            yield ReadResult(label, error=(document and document.undecoded) or error)

    def _opened(self, load: Callable[[], bytes]) -> Document:
        return Document(load(), self.limits, self.answers)

    def _zip(self, label: str, data: bytes) -> Iterator[ReadResult]:
        if self.depth > self.limits.archive_nesting:
            message = f"Zips stand inside each other more than {self.limits.archive_nesting + 1} deep."
            raise LimitError.beyond("archive_nesting", message, advice="Unpack the inner ones")
        # Each outermost zip has a budget of its own, however many lie in one folder.
        budget = self.budget or sources.UnpackBudget(self.limits.archive_bytes, self.limits.files)
        inside = replace(self, budget=budget, depth=self.depth + 1)
        with sources.unpack(data, self.limits, budget) as entries:
            for reader in ARCHIVE_READERS:
                if reader.recognises({path for path, _ in entries}):
                    files = {path: partial(self._opened, load) for path, load in entries}
                    yield from self._results(label, reader.format, partial(reader.read, files))
                    return
            yield from inside.entries(entries, label)

    def _results(
        self,
        label: str,
        format_name: str,
        read: Callable[[], Found],
        document: Document | None = None,
        *,
        mapped: frozenset[str] = frozenset(),
        doubt: str = "",
    ) -> Iterator[ReadResult]:
        """The result of each game that ``read`` finds, one that is alone in its document held against it; one result
        when it refuses the whole.
        """
        count = 0
        try:
            found = read()
            if isinstance(found, Transcript | ReadResult):
                yield self._result(ReadResult(label, format=format_name), found, document, mapped=mapped, doubt=doubt)
                return
            for name, game in found:
                count += 1
                self.limits.check_games(count)
                empty = ReadResult(sources.printable(f"{label}/{name}") if name else label, format=format_name)
                try:
                    yield self._result(empty, game(), mapped=mapped, doubt=doubt)
                except InputError as error:
                    yield replace(empty, error=error)
        except InputError as error:
            yield ReadResult(label, error=error, format=format_name)
            return
        if count == 0:
            nothing = BrokenTranscriptError("There is no game in it.", remedy="Export it again.")
            yield ReadResult(label, error=nothing, format=format_name)

    def _result(
        self,
        about: ReadResult,
        found: Transcript | ReadResult,
        document: Document | None = None,
        *,
        mapped: frozenset[str] = frozenset(),
        doubt: str = "",
    ) -> ReadResult:
        read = found if isinstance(found, ReadResult) else ReadResult(transcript=found)
        read = replace(read, not_understood=f"{doubt} {read.not_understood}".strip())
        settled = settle(replace(read, name=about.name, format=about.format), self.answers)
        assert settled.transcript is not None
        self.limits.check_texts(settled.transcript)
        if at_night := sum(vote.phase == "night" for vote in settled.transcript.votes):
            remark = f"{counted(at_night, 'vote')} of one side at night among the votes."
            settled = replace(settled, remarks=(*settled.remarks, remark))
        return _asked(cross_checked(settled, document, mapped), self.answers)

    def entries(self, entries: Sequence[sources.FileEntry], label: str) -> Iterator[ReadResult]:
        """The games among the files of a folder or zip and of the folders below it."""
        folders: defaultdict[str, list[sources.FileEntry]] = defaultdict(list)
        of_games: list[str] = []
        for path, load in sorted(entries, key=lambda entry: entry[0]):
            if not sources.is_clutter(path):
                folders[path.rpartition("/")[0]].append((path, load))
        found_any = False
        for folder, inside in sorted(folders.items()):
            results = self._folder(inside, f"{label}/{folder}" if folder else label)
            if any(folder.startswith(f"{game}/") for game in of_games):
                # What lies below a game's folder is the game's: only what a reader knows is another one.
                results = (result for result in results if not _is_unknown(result))
            for result in results:
                found_any = True
                if result.transcript is not None and result.format in _FOLDER_FORMATS:
                    of_games.append(folder)
                yield result
        if not found_any:
            remedy = "Put the games into it."
            yield ReadResult(label, error=UnknownFormatError("The zip or folder holds no transcript.", remedy=remedy))

    def _folder(self, entries: Sequence[sources.FileEntry], name: str) -> Iterator[ReadResult]:
        """The games among the files of one folder, without the folders below it.

        Where some of the files are a game together, the others that no reader knows belong to it
        and do not count as refused.
        """
        rest = list(entries)
        games = list(self.games_of_several(rest, sources.printable(name)))
        single = (
            (sources.printable(f"{name}/{_name(path)}"), load) for path, load in rest if not sources.is_companion(path)
        )
        others = (result for label, load in single for result in self.file(label, load))
        if not any(game.transcript is not None for game in games):
            yield from games
            yield from others
            return
        found = list(others)
        prefix = len(sources.printable(f"{name}/"))
        aside = tuple(result.name[prefix:] for result in found if _is_unknown(result))
        yield replace(games[0], left_aside=aside)
        yield from games[1:]
        yield from (result for result in found if not _is_unknown(result))

    def games_of_several(self, rest: list[sources.FileEntry], label: str) -> Iterator[ReadResult]:
        """The games that consist of several of the files, which are taken out of ``rest``."""
        for reader in FOLDER_READERS:
            parts = [entry for entry in rest if reader.takes(_name(entry[0]))]
            if not reader.recognises({_name(path) for path, _ in parts}):
                continue
            try:
                documents: dict[str, Document] = {}
                for path, load in parts:
                    if (name := _name(path)) in documents:
                        raise UnreadableFileError(f"It holds {name} twice.", remedy="Pack it again.")
                    documents[name] = self._opened(load)
            except InputError as error:
                yield ReadResult(label, error=error, format=reader.format)
            else:
                yield from self._results(label, reader.format, partial(reader.read, documents))
            rest[:] = [entry for entry in rest if entry not in parts]

    def _document(self, label: str, document: Document) -> Iterator[ReadResult]:
        """The games in one file; of an unknown format as a table, where columns of speaker and text were chosen."""
        reader, error = None, None
        try:
            reader = choose_reader(document)
        except UnknownFormatError as found:
            error = found
        # Columns that seem to be people may be something else.
        is_open = reader is nested_json.READER
        is_table = reader in (None, tables.READER, tables.BINARY_READER)
        is_seen = is_table or is_open or (reader is not None and reader.format == tables.FORMAT)
        head = table_head(document) if is_seen else None
        mapping = self.choose_columns(head.columns) if head and self.choose_columns else None
        lacking = sorted(mapping.used.difference(head.columns)) if mapping and head else []
        is_chosen = mapping is not None and not mapping.missing and not lacking
        if error is None or is_chosen:
            name, read = tables.FORMAT, partial(tables.table_games, document, mapping)
            if reader is not None and not (is_table or is_chosen):
                name, read = reader.format, partial(reader.read, document)
            mapped = mapping.used if mapping and is_chosen else frozenset()
            for result in self._results(label, name, read, document, mapped=mapped, doubt=document.doubt):
                yield replace(result, head=head)
            return
        if head is not None and error.remedy in (remedy("table"), remedy("known")):
            columns = ", ".join(map(shorten, head.columns[:20]))
            words = f" There is no column {shorten(lacking[0])!r}." if lacking else ""
            error = UnknownFormatError(error.message + words, remedy=f"{remedy('columns')} There are {columns}.")
        yield ReadResult(label, error=error, head=head)


def _is_unknown(result: ReadResult) -> bool:
    """Whether a file holds notes, or is in no known format."""
    return isinstance(result.error, UnknownFormatError) or result.format == plain_text.FORMAT
