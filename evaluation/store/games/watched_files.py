"""Memory of watched folders: each state of a file is taken once, also when the watching begins again."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.store.engine.transactions import Units


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was looked at.

    Attributes:
        path: Below the watched folder.
        size: In bytes.
        modified_ns: When it was changed last, as the file system says.
    """

    path: str
    size: int
    modified_ns: int


class WatchedFiles:
    """Stores and reads which files of a watched folder were taken."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def taken(self, folder: str) -> set[FileState]:
        """The states of files of that folder that were taken, without those that were refused."""
        query = "SELECT path, bytes, modified_ns FROM watched_files WHERE folder = ? AND NOT is_refused"
        with self._units.unit() as cursor:
            return {FileState(*row) for row in cursor.execute(query, [folder]).fetchall()}

    def add(self, folder: str, state: FileState, *, is_refused: bool) -> None:
        """Notes that a file was taken in that state."""
        insert = "INSERT INTO watched_files (folder, path, bytes, modified_ns, is_refused) VALUES (?, ?, ?, ?, ?)"
        with self._units.unit(write=True) as cursor:
            cursor.execute(insert, [folder, state.path, state.size, state.modified_ns, is_refused])
