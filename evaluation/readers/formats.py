"""The formats that are read. To add one, write a module with a ``READER`` and list it here; see the guide in docs."""

from __future__ import annotations

from evaluation.readers import (
    aiwolf,
    autobox,
    canonical,
    convokit,
    inspect_log,
    llm_werewolf,
    llmafia,
    native,
    openai_chat,
    sharegpt,
    table,
    tinytroupe,
    werewolf_gpt,
)
from evaluation.readers.reader import ArchiveReader, FileReader, FolderReader

# Asked in this order: a later one never sees what an earlier one recognises.
FILE_READERS: tuple[FileReader, ...] = (
    canonical.READER,
    native.READER,
    llm_werewolf.READER,
    werewolf_gpt.READER,
    aiwolf.READER,
    tinytroupe.READER,
    inspect_log.READER,
    openai_chat.READER,
    sharegpt.READER,
    convokit.READER,
    table.READER,
)
FOLDER_READERS: tuple[FolderReader, ...] = (llmafia.READER, autobox.READER, convokit.FOLDER_READER)
# Recognised by their first bytes, before anything is decoded to text.
BINARY_READERS: tuple[FileReader, ...] = (table.BINARY_READER,)
# Zips that are one file of the tool that wrote them.
ARCHIVE_READERS: tuple[ArchiveReader, ...] = (inspect_log.ARCHIVE_READER,)
