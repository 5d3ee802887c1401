"""Files to read, from folders, URLs, uploads and zips, and the files among them that no reader is meant for.

A zip is unpacked in memory, on demand and within limits.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from evaluation.errors import LimitError, NotFoundError, UnknownFormatError, UnreadableFileError
from evaluation.escaping import well_formed
from evaluation.files.locations import Location
from evaluation.readers.document import SPLIT, Limits

ZSTANDARD = 93
"""The number of the method in a zip's directory."""

_OTHER_METHODS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_CLUTTER = frozenset({"__macosx", "thumbs.db", "desktop.ini"})
_COMPANIONS = frozenset({"license", "licence", "copying", "notice", "readme", "changelog", "manifest"})
_WORD_BREAK = re.compile(r"[-_. ]")
_RATINGS = "ratings.csv"
_COMPANION_SUFFIXES = frozenset({"", ".md", ".rst", ".txt", ".yaml", ".yml"})
_ENCRYPTED = 0x1
_RATIO_FROM_BYTES = 1024 * 1024
_UNPACK_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,  # zipfile's word for a missing password; NotImplementedError, for an unknown method, is one too
    ValueError,
)


FileEntry = tuple[str, Callable[[], bytes]]
"""One file: its path below the folder or zip, with slashes, and how to get its bytes (raises ``InputError``)."""


def _too_many(limits: Limits, place: str) -> LimitError:
    message = f"The folder holds more than {limits.files:,} files."
    return LimitError.beyond("files", message, advice="Import its parts one by one", place=place)


def is_clutter(path: str) -> bool:
    """Whether an operating system left a file there: hidden ones, ``__MACOSX`` and the like."""
    return any((part.startswith(".") and part != "..") or part.casefold() in _CLUTTER for part in path.split("/"))


def is_companion(path: str) -> bool:
    """Whether a file accompanies transcripts without being one: a licence, a readme, a manifest, ratings."""
    name = PurePosixPath(path.casefold())
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
            raise missing(path)
        if not path.is_file():
            raise UnreadableFileError("This is not a regular file.", place=printable(path), remedy="Save it as a file.")
        with path.open("rb") as stream:
            size, packed = path.stat().st_size, is_zip(stream.read(4))
            limits.check_size(size, is_zip=packed)
            stream.seek(0)
            # A file that grows meanwhile is read no further.
            content = stream.read(size + 1)
            limits.check_size(len(content), is_zip=packed)
            return content
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFileError(
            f"The file cannot be read: {reason}.", place=printable(path), remedy="Check its permissions."
        ) from None


_ADDRESS = re.compile(r"(https?|ftp):/+")


def missing(path: Path) -> NotFoundError:
    """The error for a path at which nothing lies; an address of the web is called one."""
    place = printable(path)
    if found := _ADDRESS.match(place):
        address = f"{found[1]}://{place[found.end() :]}"
        return NotFoundError("That is an address.", place=address, remedy="Download it first, and name the file.")
    return NotFoundError("There is no such file or folder.", place=place, remedy="Check the path.")


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
        raise _too_many(limits, location.url)
    return [(path, partial(load_location, location.below(path), limits)) for path in paths]


def list_folder(folder: Path, limits: Limits) -> list[FileEntry]:
    """The files in a folder and those below it. Links to folders are not followed.

    Raises:
        LimitError: More files than allowed.
    """
    closed: list[str] = []
    walk = os.walk(folder, onerror=lambda error: closed.append(str(error.filename)))
    paths = list(islice((Path(parent, name) for parent, _, names in walk for name in names), limits.files + 1))
    if len(paths) > limits.files:
        raise _too_many(limits, printable(folder))
    readable: list[FileEntry] = [
        (path.relative_to(folder).as_posix(), partial(load_file, path, limits)) for path in paths
    ]
    return readable + [(os.path.relpath(path, folder), partial(_refuse_closed, path)) for path in closed]


def _refuse_closed(path: str) -> bytes:
    raise UnreadableFileError("The folder may not be read.", place=printable(path), remedy="Check its permissions.")


def printable(path: Path | str) -> str:
    """A path as text that any screen and database takes: bytes that are not characters become question marks."""
    return well_formed(str(path))


@dataclass(slots=True)
class UnpackBudget:
    """The number of bytes that one upload may still unpack, shared by nested zips."""

    bytes_left: int
    files_left: int


def _reason(error: Exception) -> str:
    # zipfile's words for a zip whose last bytes, where the list of files stands, are missing.
    return "its end is missing" if str(error) == "File is not a zip file" else str(error) or type(error).__name__


@contextmanager
def unpack(data: bytes, limits: Limits, budget: UnpackBudget) -> Iterator[list[FileEntry]]:
    """The files in a zip, to be loaded while the context is open.

    Raises:
        UnreadableFileError: The zip is damaged.
        UnknownFormatError: It is an Office document.
        LimitError: It holds too many files.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _UNPACK_ERRORS as error:
        raise UnreadableFileError(
            f"The file is a damaged zip: {_reason(error)}.", remedy="Pack or download it again."
        ) from None
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        _check_whole(members, budget)
        content = partial(_content, archive, limits=limits, budget=budget)
        yield [(member.filename.replace("\\", "/"), partial(content, member)) for member in members]


def _check_whole(members: list[zipfile.ZipInfo], budget: UnpackBudget) -> None:
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise UnknownFormatError("This is an Office document, not a transcript.", remedy="Export it as CSV or JSON.")
    if len(members) > budget.files_left:
        raise LimitError.beyond("files", f"The zip holds more files than {budget.files_left:,}.", advice=SPLIT)
    budget.files_left -= len(members)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: Limits, budget: UnpackBudget) -> bytes:
    _check_member(member, limits)
    if member.file_size > budget.bytes_left:
        message = f"The zip unpacks to more than {limits.archive_bytes:,} bytes."
        raise LimitError.beyond("archive_bytes", message, advice=SPLIT)
    try:
        content = _unpacked(archive, member)
    except _UNPACK_ERRORS as error:
        raise _damaged(_reason(error)) from None
    limits.check_size(len(content), is_zip=is_zip(content))
    budget.bytes_left -= len(content)
    return content


def _check_member(member: zipfile.ZipInfo, limits: Limits) -> None:
    path = member.filename.replace("\\", "/")
    if path.startswith("/") or ".." in PurePosixPath(path).parts or path[1:2] == ":":
        raise UnreadableFileError("The path points outside the zip.", remedy="Pack the files with relative paths.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise UnreadableFileError("This is a symbolic link.", remedy="Pack the file that it points to.")
    if member.flag_bits & _ENCRYPTED:
        raise UnreadableFileError("The file is encrypted.", remedy="Pack it again without a password.")
    limits.check_size(member.file_size, is_zip=path.casefold().endswith(".zip"))
    if member.file_size > _RATIO_FROM_BYTES and member.file_size > limits.archive_ratio * max(member.compress_size, 1):
        message = f"The file unpacks to more than {limits.archive_ratio} times its size, as no transcript does."
        raise LimitError.beyond("archive_ratio", message, advice="If the file is genuine, unpack it first")


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The member's content, of which never more than the directory announces is unpacked."""
    packed, most, method = _packed(archive, member), member.file_size + 1, member.compress_type
    if method == zipfile.ZIP_STORED:
        content = packed
    elif method == zipfile.ZIP_DEFLATED:
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    elif method == ZSTANDARD:
        content = _zstandard(packed, most)
    else:
        name = _OTHER_METHODS.get(method, f"method {method}")
        raise UnreadableFileError(f"The file is packed with {name}.", remedy="Pack it again as an ordinary zip.")
    if len(content) != member.file_size:
        raise _damaged("its size is not the one announced")
    if zlib.crc32(content) != member.CRC:
        raise _damaged("its checksum is wrong")
    return content


def _zstandard(packed: bytes, most: int) -> bytes:
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            content: bytes = stream.read(most)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(str(error).partition("\n")[0][:200]) from None
    return content


def _packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes as they stand in the zip. The name's length in front of them may differ from the directory's."""
    stream = archive.fp
    if stream is None:
        raise _damaged("the zip is closed")
    stream.seek(member.header_offset)
    magic, name_length, extra_length = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    if magic != _LOCAL_MAGIC:
        raise _damaged("its header is missing")
    stream.seek(name_length + extra_length, io.SEEK_CUR)
    return stream.read(member.compress_size)


def _damaged(reason: str) -> UnreadableFileError:
    return UnreadableFileError(f"The file cannot be unpacked: {reason}.", remedy="Pack it again.")
