"""Protocols of readers: for single files, for folders of one game each, and for whole archives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from evaluation.readers.base.answers import GameReading
from evaluation.readers.base.document import Document
from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class FileGame:
    """One of several games in a file or folder.

    Attributes:
        name: What it is called in there; stands behind the file's name wherever the game is listed.
        read: The transcript; raises an ``InputError`` where its content is broken, which the other games survive.
    """

    name: str
    read: Callable[[], Transcript | GameReading]


Found = Transcript | GameReading | Iterable[FileGame]
"""What a reader returns: the transcript, with what it leaves open, or the games of a file that holds several."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads a format in which a file is one game or several.

    Attributes:
        format: The format's name, as ``Transcript.source_format`` holds it.
        recognises: Whether a file's content is of this format, however broken.
        read: What the file holds; raises an ``InputError`` where the content is broken.
    """

    format: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Found]


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads a format in which a folder is one game or several.

    Attributes:
        format: The format's name.
        takes: Whether a file of that name is part of such a folder.
        recognises: Whether these file names together are such a folder, however incomplete.
        recognises_part: Whether the content is one file of such a folder, handed in without the others.
        read: What the files taken, by name, hold; raises an ``InputError`` where they are broken.
    """

    format: str
    takes: Callable[[str], bool]
    recognises: Callable[[Set[str]], bool]
    recognises_part: Callable[[Document], bool]
    read: Callable[[Mapping[str, Document]], Found]


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    """Reads a format in which a zip is one file of the tool that wrote it.

    Attributes:
        format: The format's name.
        recognises: Whether the paths in a zip are those of such a file.
        read: What it holds, from a way to get each file by its path, to be used while the games are read.
    """

    format: str
    recognises: Callable[[Set[str]], bool]
    read: Callable[[Mapping[str, Callable[[], Document]]], Iterable[FileGame]]
