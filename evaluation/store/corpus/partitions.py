"""Write, list, read and compact the Parquet partitions of a corpus."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa

from evaluation.errors import InfrastructureError
from evaluation.escaping import reading_fault
from evaluation.files.locations import Location
from evaluation.store.corpus._parquet_files import read_table, table_bytes
from evaluation.store.corpus.packing import GAMES, LEDGER, RESULTS, PartitionTables, partition_name

MANIFEST = "manifest.json"
GAMES_PER_FILE = 400
"""How many games of one iteration a compacted partition has at least, unless the iteration has fewer."""

_TABLES = ("games", "ledger", "results")
_SCHEMAS = {"games": GAMES, "ledger": LEDGER, "results": RESULTS}
_COMPACTED = "compacted-"
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
        """The partitions that hold games now: those that a compaction has replaced, or has not finished, are not."""
        manifest = self._manifest()
        return [
            partition
            for partition in self._listed()
            if partition.path("results") in manifest.compacted
            or not (partition.name.startswith(_COMPACTED) or partition.path("results") in manifest.replaced)
        ]

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

    def compact(self, games_per_file: int = GAMES_PER_FILE, on_file: Callable[[int], None] | None = None) -> int:
        """Puts small partitions together, and returns how many games were moved.

        Readers see the old files until the manifest is replaced in one step, and the new one from then on. A kill
        before that leaves files that nobody reads, one after it files that the next compaction removes.

        Args:
            games_per_file: Partitions with fewer games are put together until a file has as many.
            on_file: Called with the number of games of each new file.
        """
        self._remove_replaced()
        moved = 0
        manifest = self._manifest()
        compacted, replaced = set(manifest.compacted), set(manifest.replaced)
        for group in self._small_groups(games_per_file):
            tables = _distinct([self.read(partition) for partition in group])
            merged = Partition(group[0].folder, _COMPACTED + partition_name("", [one.name for one in group]))
            for table in _TABLES:
                self._write(merged, table, getattr(tables, table))
            compacted = (compacted | {merged.path("results")}) - {one.path("results") for one in group}
            replaced |= {one.path("results") for one in group}
            moved += tables.games.num_rows
            if on_file is not None:
                on_file(tables.games.num_rows)
        if moved:
            self._swap(_Manifest(frozenset(compacted), frozenset(replaced)))
            self._remove_replaced()
        return moved

    def _small_groups(self, games_per_file: int) -> Iterator[list[Partition]]:
        by_folder: defaultdict[str, list[Partition]] = defaultdict(list)
        for partition in self.partitions():
            by_folder[partition.folder].append(partition)
        for partitions in by_folder.values():
            group: list[Partition] = []
            size = 0
            for partition in partitions:
                games = self._read(partition, "games", ["transcript_id"]).num_rows
                if games >= games_per_file:
                    continue
                group.append(partition)
                size += games
                if size >= games_per_file:
                    yield group
                    group, size = [], 0
            if len(group) > 1:
                yield group

    def _remove_replaced(self) -> None:
        """Deletes the files that compacted ones have replaced, and then forgets them."""
        manifest = self._manifest()
        for partition in self._listed():
            if partition.path("results") in manifest.replaced:
                # The results first: without them the rest is not seen.
                for table in reversed(_TABLES):
                    self.location.below(partition.path(table)).remove()
        if manifest.replaced:
            self._swap(_Manifest(manifest.compacted, frozenset()))

    def _listed(self) -> list[Partition]:
        found = []
        for path in self.location.below("results").files():
            folder, _, file = path.rpartition("/")
            if file.endswith(_SUFFIX) and "/" not in folder:
                found.append(Partition(folder, file.removesuffix(_SUFFIX)))
        return sorted(found)

    def _manifest(self) -> _Manifest:
        place = self.location.below(MANIFEST)
        if not place.exists():
            return _Manifest(frozenset(), frozenset())
        try:
            held = json.loads(place.read_bytes())
            return _Manifest(frozenset(held["compacted"]), frozenset(held["replaced"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            is_shape = isinstance(error, KeyError | TypeError)
            reason = "it does not list the partitions" if is_shape else reading_fault(error)
            raise InfrastructureError(
                f"The manifest of the corpus is damaged: {reason}.",
                place=place.url,
                remedy="Restore it from a copy; without it, games may be counted twice.",
            ) from None

    def _swap(self, manifest: _Manifest) -> None:
        held = {"compacted": sorted(manifest.compacted), "replaced": sorted(manifest.replaced)}
        self.location.below(MANIFEST).write_bytes(json.dumps(held, indent=1).encode())

    def _write(self, partition: Partition, table: str, rows: pa.Table) -> None:
        size = _LEDGER_ROW_GROUP if table == "ledger" else None
        self.location.below(partition.path(table)).write_bytes(table_bytes(rows, size))

    def _read(self, partition: Partition, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        return read_table(self.location.below(partition.path(table)), _SCHEMAS[table], columns)


@dataclass(frozen=True, slots=True)
class _Manifest:
    """Paths of ``results`` files: compacted ones that count, and small ones that they stand for."""

    compacted: frozenset[str]
    replaced: frozenset[str]


def _folder(iteration: str | None) -> str:
    if iteration is None:
        return _OUTSIDE
    folder = f"iteration={quote(iteration, safe='')}"
    if len(folder) <= _LONGEST_FOLDER:
        return folder
    # No quoted name has a "!" in it, so a long name never meets a short one. The rows have the whole name.
    digest = hashlib.sha256(iteration.encode()).hexdigest()[:32]
    return f"{folder[:_KEPT_OF_FOLDER]}!{digest}"


def _distinct(parts: Sequence[PartitionTables]) -> PartitionTables:
    """All rows of several partitions, those of a game that was scored twice in the same way once."""
    seen: set[tuple[str, str]] = set()
    kept: list[PartitionTables] = []
    for part in parts:
        keys = set(_keys(part.games))
        fresh = keys - seen
        seen |= fresh
        if fresh == keys:
            # Nearly always: without the keys of each of its ledger's rows, of which there are hundreds a game.
            kept.append(part)
            continue
        kept.append(
            PartitionTables(
                *(table.filter(pa.array([key in fresh for key in _keys(table)], pa.bool_())) for table in _all(part))
            )
        )
    tables = [pa.concat_tables(column) for column in zip(*map(_all, kept), strict=True)]
    orders = [["transcript_id"], ["transcript_id", "metric", "position"], ["transcript_id", "metric"]]
    return PartitionTables(
        *(table.sort_by([(name, "ascending") for name in order]) for table, order in zip(tables, orders, strict=True))
    )


def _all(tables: PartitionTables) -> tuple[pa.Table, pa.Table, pa.Table]:
    return tables.games, tables.ledger, tables.results


def _keys(table: pa.Table) -> list[tuple[str, str]]:
    ids, scorings = table.column("transcript_id").to_pylist(), table.column("scoring").to_pylist()
    return list(zip(ids, scorings, strict=True))
