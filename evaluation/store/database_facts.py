"""Facts about a database: path, size and contents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.store.database import Store

_QUERY = """
SELECT (SELECT max(number) FROM schema_migrations), (SELECT count(*) FROM transcripts),
       (SELECT count(*) FROM iterations), (SELECT count(*) FROM ratings)
"""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """A database as it stands.

    Attributes:
        size: Bytes of the file and of its log; 0 in memory.
        schema: The number of its latest migration.
    """

    place: str
    size: int
    schema: int
    transcripts: int
    iterations: int
    ratings: int


def database_facts(store: Store) -> DatabaseFacts:
    """Reads them in one go."""
    with store.unit() as cursor:
        counts = cursor.execute(_QUERY).fetchone()
    assert counts is not None
    size = sum(path.stat().st_size for ending in ("", ".wal") if (path := Path(store.place + ending)).is_file())
    return DatabaseFacts(store.place, size, *counts)
