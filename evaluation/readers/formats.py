"""The formats that are read. To add one, write a module with a ``READER`` and list it here."""

from __future__ import annotations

from evaluation.readers import aiwolf, canonical, llm_werewolf, llmafia, native, werewolf_gpt
from evaluation.readers.reader import FileReader, FolderReader

FILE_READERS: tuple[FileReader, ...] = (
    canonical.READER,
    native.READER,
    llm_werewolf.READER,
    werewolf_gpt.READER,
    aiwolf.READER,
)
FOLDER_READERS: tuple[FolderReader, ...] = (llmafia.READER,)
