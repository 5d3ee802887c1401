"""The formats that are read. To add one, write a module with a ``READER`` and list it here."""

from __future__ import annotations

from evaluation.readers import canonical, native
from evaluation.readers.reader import FileReader, FolderReader

FILE_READERS: tuple[FileReader, ...] = (canonical.READER, native.READER)
FOLDER_READERS: tuple[FolderReader, ...] = ()
