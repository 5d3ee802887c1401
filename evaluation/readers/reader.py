"""What a reader is, for formats of one file and for formats whose games are folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from evaluation.readers.document import Document
from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads a format in which one file is one game.

    Attributes:
        format: The format's name, as ``Transcript.source_format`` holds it.
        recognises: Whether a file's content is of this format, however broken.
        read: The transcript; raises an ``InputError`` where the content is broken.
    """

    format: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Transcript]


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads a format in which one folder is one game.

    Attributes:
        format: The format's name.
        takes: Whether a file of that name is part of such a game.
        recognises: Whether these file names together are a game, however incomplete.
        recognises_part: Whether the content is one file of such a game, handed in without the others.
        read: The transcript from the files taken, by name; raises an ``InputError`` where they are broken.
    """

    format: str
    takes: Callable[[str], bool]
    recognises: Callable[[Set[str]], bool]
    recognises_part: Callable[[Document], bool]
    read: Callable[[Mapping[str, Document]], Transcript]
