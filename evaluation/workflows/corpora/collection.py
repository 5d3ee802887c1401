"""Collect a corpus of Parquet partitions into a database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.errors import NotFoundError
from evaluation.files.locations import Location

if TYPE_CHECKING:
    from evaluation.store import Store


@dataclass(slots=True)
class Collected:
    """Counts of what was collected so far.

    Attributes:
        new: Games that the database did not have.
        known: Games that it had.
        deleted: Games that somebody has deleted there; they stay deleted.
    """

    new: int = 0
    known: int = 0
    deleted: int = 0


def import_corpus(place: str, store: Store, collected: Collected) -> Iterator[int]:
    """Imports a corpus into a store. Running it again adds what is new.

    Of several results of a game and metric the one that was scored last is current, whichever was imported last.

    Args:
        place: The folder or URL of the corpus.
        store: Where to.
        collected: Counts.

    Yields:
        The number of games of each partition, once they are stored.

    Raises:
        NotFoundError: There is no corpus.
    """
    from evaluation.store.corpus.importing import import_tables
    from evaluation.store.corpus.partitions import Corpus

    corpus = Corpus(Location.of(place))
    partitions = corpus.in_order_of_scoring()
    if not partitions:
        raise NotFoundError(
            "There is no scored game.", place=place, remedy="Make some with: dramaturg evaluate GAMES --output PLACE."
        )
    for partition in partitions:
        imported = import_tables(store, corpus.read(partition))
        collected.new += imported.new
        collected.known += imported.known
        collected.deleted += imported.deleted
        yield imported.new + imported.known
