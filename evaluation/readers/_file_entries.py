"""Files to read from a folder or a zip, and files that no reader is meant for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from evaluation.errors import LimitError, NotFoundError, UnreadableFileError
from evaluation.escaping import well_formed
from evaluation.files.locations import Location
from evaluation.readers.base.limits import Limits
from evaluation.recorder import is_left_to_its_recorder

_CLUTTER = frozenset({"__macosx", "thumbs.db", "desktop.ini"})
_COMPANIONS = frozenset({"license", "licence", "copying", "notice", "readme", "changelog", "manifest"})
_WORD_BREAK = re.compile(r"[-_. ]")
_RATINGS = "ratings.csv"
_COMPANION_SUFFIXES = frozenset({"", ".md", ".rst", ".txt", ".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file: its path below the folder or zip, with slashes, and how to get its bytes (raises ``InputError``)."""

    path: str
    load: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder that it lies in; empty at the top."""
        return self.path.rpartition("/")[0]

    @property
    def is_clutter(self) -> bool:
        """Whether an operating system left it there: hidden files, ``__MACOSX`` and the like."""
        return any(
            (part.startswith(".") and part != "..") or part.casefold() in _CLUTTER for part in self.path.split("/")
        )

    @property
    def is_companion(self) -> bool:
        """Whether it accompanies transcripts without being one: a licence, a readme, a manifest, ratings."""
        name = PurePosixPath(self.name.casefold())
        first_word = _WORD_BREAK.split(name.stem, maxsplit=1)[0]
        return (name.suffix in _COMPANION_SUFFIXES and first_word in _COMPANIONS) or name.name == _RATINGS


def is_zip(data: bytes) -> bool:
    """Whether the bytes begin as a zip does, an empty one included."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def load_file(path: Path, limits: Limits) -> bytes:
    """The bytes of a regular file.

    Raises:
        NotFoundError: There is none.
        UnreadableFileError: No regular file, or one that may not be read.
        LimitError: Too large.
    """
    try:
        if not path.exists():
            raise NotFoundError("There is no such file or folder.", place=printable(path), remedy="Check the path.")
        if not path.is_file():
            raise UnreadableFileError("This is not a regular file.", place=printable(path), remedy="Save it as a file.")
        with path.open("rb") as stream:
            limits.check_size(path.stat().st_size, is_zip=is_zip(stream.read(4)))
            stream.seek(0)
            return stream.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFileError(
            f"The file cannot be read: {reason}.", place=printable(path), remedy="Check its permissions."
        ) from None


def load_location(location: Location, limits: Limits) -> bytes:
    """The bytes of a file at a URL.

    Raises:
        NotFoundError: There is none.
        LimitError: Too large.
    """
    size = location.size()
    limits.check_size(size, is_zip=location.name.casefold().endswith(".zip"))
    content = location.read_bytes()
    # The server may have sent more than it announced.
    limits.check_size(len(content), is_zip=is_zip(content))
    return content


def list_location(location: Location, limits: Limits) -> list[FileEntry]:
    """The files below a URL, as ``list_folder`` lists those of a folder.

    Raises:
        LimitError: More files than allowed.
    """
    paths = location.files()
    if len(paths) > limits.files:
        raise LimitError(
            f"The folder holds more than {limits.files:,} files.", place=location.url, remedy="Hand in its parts."
        )
    return [FileEntry(path, partial(load_location, location.below(path), limits)) for path in paths]


def list_folder(folder: Path, limits: Limits) -> list[FileEntry]:
    """The files in a folder and those below it. Links to folders are not followed.

    The journal of a game that is being recorded is passed over: its transcript will stand there.

    Raises:
        LimitError: More files than allowed.
    """
    closed: list[str] = []
    walk = os.walk(folder, onerror=lambda error: closed.append(str(error.filename)))
    paths = list(islice((Path(parent, name) for parent, _, names in walk for name in names), limits.files + 1))
    if len(paths) > limits.files:
        raise LimitError(
            f"The folder holds more than {limits.files:,} files.", place=printable(folder), remedy="Hand in its parts."
        )
    readable = [
        FileEntry(path.relative_to(folder).as_posix(), partial(load_file, path, limits))
        for path in paths
        if not is_left_to_its_recorder(path)
    ]
    return readable + [FileEntry(os.path.relpath(path, folder), partial(_refuse_closed, path)) for path in closed]


def _refuse_closed(path: str) -> bytes:
    raise UnreadableFileError("The folder may not be read.", place=printable(path), remedy="Check its permissions.")


def printable(path: Path | str) -> str:
    """A path as text that any screen and database takes: bytes that are not characters become question marks."""
    return well_formed(str(path))
