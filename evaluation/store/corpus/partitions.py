"""Write, list and read the Parquet partitions of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa

from evaluation.files.locations import Location
from evaluation.store.corpus._parquet_files import read_table, table_bytes
from evaluation.store.corpus.packing import GAMES, LEDGER, RESULTS, PartitionTables

_TABLES = ("games", "ledger", "results")
_SCHEMAS = {"games": GAMES, "ledger": LEDGER, "results": RESULTS}
_OUTSIDE = "none"
_LONGEST_FOLDER = 255
"""Bytes that file systems take as one name."""

_KEPT_OF_FOLDER = 200
_LEDGER_ROW_GROUP = 10_000
_SUFFIX = ".parquet"


@dataclass(frozen=True, slots=True, order=True)
class Partition:
    """The three files of a batch of games.

    Attributes:
        folder: ``iteration=NAME`` with the name as in URLs, a long one shortened and with its hash; ``none`` for games
            outside all iterations.
        name: The hash of what it holds, the same in all three tables.
    """

    folder: str
    name: str

    def path(self, table: str) -> str:
        """The place of one of its tables below the corpus."""
        return f"{table}/{self.folder}/{self.name}{_SUFFIX}"


class Corpus:
    """Scored games below a folder or URL: ``games|ledger|results/iteration=NAME/HASH.parquet``.

    A partition is there once its ``results`` file is, which is written last; what a killed writer leaves behind is not
    seen. Several processes may write at the same time: the name follows from the content, and writing a partition
    twice replaces it by equal rows.

    Args:
        location: Where it lies.
    """

    def __init__(self, location: Location) -> None:
        self.location = location

    def write(self, name: str, iteration: str | None, tables: PartitionTables) -> Partition:
        """Writes a partition; its ``results`` last."""
        partition = Partition(_folder(iteration), name)
        for table in _TABLES:
            self._write(partition, table, getattr(tables, table))
        return partition

    def has(self, name: str, iteration: str | None) -> bool:
        """Whether that partition is there."""
        return self.location.below(Partition(_folder(iteration), name).path("results")).exists()

    def partitions(self) -> list[Partition]:
        """The partitions that are there."""
        found = []
        for path in self.location.below("results").files():
            folder, _, file = path.rpartition("/")
            if file.endswith(_SUFFIX) and "/" not in folder:
                found.append(Partition(folder, file.removesuffix(_SUFFIX)))
        return sorted(found)

    def scored_ids(self, scoring: str) -> dict[str, str | None]:
        """The ids of the games that are there with scores of that ``scoring_key``, each with its iteration."""
        found: dict[str, str | None] = {}
        for partition in self.partitions():
            table = self._read(partition, "results", ["transcript_id", "iteration", "scoring"])
            # One partition lies in one iteration: one name for all of its games, which may be millions.
            iteration = table.column("iteration")[0].as_py() if table.num_rows else None
            ids, keys = table.column("transcript_id").to_pylist(), table.column("scoring").to_pylist()
            found |= {one: iteration for one, key in zip(ids, keys, strict=True) if key == scoring}
        return found

    def in_order_of_scoring(self) -> list[Partition]:
        """The ``partitions``, the one whose first game was scored earliest first."""
        return sorted(self.partitions(), key=self._first_scored)

    def _first_scored(self, partition: Partition) -> int:
        times = self._read(partition, "results", ["scored_at"]).column("scored_at")
        return min(times.cast(pa.int64()).to_pylist(), default=0)

    def read(self, partition: Partition) -> PartitionTables:
        """The three tables of a partition.

        Raises:
            InfrastructureError: A file is damaged, or was not written by Dramaturg.
        """
        return PartitionTables(*(self._read(partition, table) for table in _TABLES))

    def _write(self, partition: Partition, table: str, rows: pa.Table) -> None:
        size = _LEDGER_ROW_GROUP if table == "ledger" else None
        self.location.below(partition.path(table)).write_bytes(table_bytes(rows, size))

    def _read(self, partition: Partition, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        return read_table(self.location.below(partition.path(table)), _SCHEMAS[table], columns)


def _folder(iteration: str | None) -> str:
    if iteration is None:
        return _OUTSIDE
    folder = f"iteration={quote(iteration, safe='')}"
    if len(folder) <= _LONGEST_FOLDER:
        return folder
    # No quoted name has a "!" in it, so a long name never meets a short one. The rows have the whole name.
    digest = hashlib.sha256(iteration.encode()).hexdigest()[:32]
    return f"{folder[:_KEPT_OF_FOLDER]}!{digest}"
