"""Import the partitions of a corpus into a store, each in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from evaluation.store.corpus.packing import CHILD_SUFFIX, CHILDREN, FAILURES, PartitionTables
from evaluation.store.engine.bulk_rows import next_numbers
from evaluation.store.games.trash_tables import trashed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.store import Store


@dataclass(frozen=True, slots=True)
class Imported:
    """Outcome of importing a partition.

    Attributes:
        new: Games that the store did not have.
        known: Games that it had; results of theirs that were new were added.
        deleted: Games that somebody has deleted there, and that stay so.
    """

    new: int
    known: int
    deleted: int


def import_tables(store: Store, tables: PartitionTables) -> Imported:
    """Stores the games of a partition with their results; what is stored already is not stored twice.

    A game that is known stays in the iteration that it has. A new one is put into its own, which is made where there is
    none.
    """
    ids = pc.unique(tables.games.column("transcript_id")).to_pylist()
    with store.unit(write=True) as cursor:
        deleted = trashed(cursor, ids)
        known = _known(cursor, ids)
        fresh = [one for one in ids if one not in known and one not in deleted]
        for iteration in _iterations(tables.games, fresh):
            store.iterations.ensure(iteration)
        _insert_games(cursor, _latest(_only(tables.games, fresh)))
        _insert_results(cursor, _only(tables.results, [one for one in ids if one not in deleted]), tables.ledger)
    return Imported(len(fresh), len(known), len(deleted))


def _known(cursor: DuckDBPyConnection, ids: list[str]) -> set[str]:
    query = "SELECT transcript_id FROM transcripts WHERE transcript_id IN (SELECT unnest(?::text[]))"
    return {key for (key,) in cursor.execute(query, [ids]).fetchall()}


def _only(table: pa.Table, ids: list[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column("transcript_id"), pa.array(ids, pa.string())))


def _latest(games: pa.Table) -> pa.Table:
    """One row per game where a game was scored in several ways."""
    seen: set[str] = set()
    keep = [not (one in seen or seen.add(one)) for one in games.column("transcript_id").to_pylist()]  # type: ignore[func-returns-value]
    return games.filter(pa.array(keep, pa.bool_()))


def _iterations(games: pa.Table, fresh: list[str]) -> list[str]:
    names = pc.unique(_only(games, fresh).column("iteration")).to_pylist()
    return sorted(name for name in names if name is not None)


def _insert_games(cursor: DuckDBPyConnection, games: pa.Table) -> None:
    if not games.num_rows:
        return
    numbers = next_numbers(cursor, "transcript_numbers", games.num_rows)
    lists = [f"{name}{CHILD_SUFFIX}" for name in CHILDREN]
    own = games.drop_columns([*lists, FAILURES, "scoring"]).append_column("position", pa.array(numbers, pa.int64()))
    _append(cursor, own, "INSERT INTO transcripts BY NAME SELECT * FROM incoming_corpus")
    for table in CHILDREN:
        rows = games.select(["transcript_id", f"{table}{CHILD_SUFFIX}"])
        # The list becomes rows, and the structure in each becomes columns; lists in it (recipients) stay lists.
        _append(
            cursor,
            rows,
            f"""INSERT INTO {table} BY NAME
                SELECT transcript_id, unnest({table}{CHILD_SUFFIX}, max_depth := 2) FROM incoming_corpus""",
        )
    _append(
        cursor,
        games.select(["transcript_id", FAILURES]),
        f"""INSERT INTO score_failures BY NAME
            SELECT transcript_id, unnest({FAILURES}, max_depth := 2) FROM incoming_corpus""",
    )


def _insert_results(cursor: DuckDBPyConnection, results: pa.Table, ledger: pa.Table) -> None:
    results = results.sort_by([("scored_at", "ascending"), ("transcript_id", "ascending")])
    fresh = _unknown_results(cursor, results)
    if not fresh.num_rows:
        return
    numbers = next_numbers(cursor, "result_numbers", fresh.num_rows)
    numbered = fresh.append_column("result_id", pa.array(numbers, pa.int64()))
    own = numbered.drop_columns(["iteration", "scoring", "scored_at"])
    _append(cursor, own, "INSERT INTO metric_results BY NAME SELECT * FROM incoming_corpus")
    key = ["transcript_id", "metric", "scoring"]
    rows = ledger.join(numbered.select([*key, "result_id"]), keys=key, join_type="inner")
    rows = rows.drop_columns(key).sort_by([("result_id", "ascending"), ("position", "ascending")])
    _append(cursor, rows, "INSERT INTO ledger BY NAME SELECT * FROM incoming_corpus")


def _unknown_results(cursor: DuckDBPyConnection, results: pa.Table) -> pa.Table:
    """The results that the store does not have, recognised by their digests, each once."""
    ids = pc.unique(results.column("transcript_id")).to_pylist()
    query = """SELECT transcript_id, metric, digest FROM metric_results
        WHERE method = 'rule' AND transcript_id IN (SELECT unnest(?::text[]))"""
    held: set[tuple[Any, ...]] = set(cursor.execute(query, [ids]).fetchall())
    columns = [results.column(name).to_pylist() for name in ("transcript_id", "metric", "digest")]
    keep = []
    for key in zip(*columns, strict=True):
        keep.append(key not in held)
        held.add(key)
    return results.filter(pa.array(keep, pa.bool_()))


def _append(cursor: DuckDBPyConnection, rows: pa.Table, statement: str) -> None:
    cursor.register("incoming_corpus", rows)
    cursor.execute(statement)
    cursor.unregister("incoming_corpus")
