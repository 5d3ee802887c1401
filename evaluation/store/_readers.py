"""A team's own readers, trained on its decisions, and which reader scores games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.errors import NotFoundError
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.reader.decisions import reader_version
from evaluation.rubric.reader.model import SHIPPED, Reader
from evaluation.store.settings import READER

if TYPE_CHECKING:
    from evaluation.store.database import Store


class Readers:
    """Stores readers by name. One that is chosen scores every game from then on; without a choice the shipped one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, reader: Reader) -> None:
        """Stores a reader; one of that name is replaced, as a name holds a hash of the weights."""
        self._store.write(
            "INSERT OR REPLACE INTO readers (name, content) VALUES (?, ?)", [reader.name, reader.as_bytes()]
        )

    def names(self) -> list[str]:
        """The names of the stored readers, the newest first."""
        return [name for (name,) in self._store.rows("SELECT name FROM readers ORDER BY created_at DESC")]

    def chosen_name(self) -> str | None:
        """The name of the chosen reader; ``None`` for the one that ships."""
        name: str | None = self._store.settings.get(READER)
        return name

    def choose(self, name: str | None) -> None:
        """Has games scored by that reader from now on; those scored by another one count as outdated.

        Raises:
            NotFoundError: No reader of that name is stored.
        """
        with self._store.unit(write=True, join=True):
            if name is not None and name not in self.names():
                raise NotFoundError(f"There is no reader {name!r}.", remedy="Train one with: dramaturg labels train.")
            self._store.settings.set(READER, name)

    def chosen(self) -> Reader:
        """The reader that scores games.

        Raises:
            InputError: The stored reader is damaged.
        """
        with self._store.unit() as cursor:
            name = self.chosen_name()
            found = cursor.execute("SELECT content FROM readers WHERE name = ?", [name]).fetchone()
        return SHIPPED if found is None else Reader.load(bytes(found[0]), f"reader {name}")

    def versions(self) -> dict[str, str]:
        """The version under which each metric's results are stored today, by metric in the rubric's order."""
        own = self.chosen_name()
        return {name: reader_version(name, own) for name in DEFINITIONS}
