"""Import the partitions of a corpus into a store, each in one transaction."""

from __future__ import annotations

from collections import defaultdict
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

_Times = defaultdict[tuple[str, str], int]
"""Microseconds since 1970 by game and scoring key."""

_Held = dict[tuple[str, str, str], tuple[str, int]]
"""Digest of the current result and time of its scoring, by game, metric and method."""


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
    none. A result counts from the time at which it was scored: one that is older than the stored one of its metric and
    method is left out, whenever it is imported. In the same way a failure goes when its metric was scored later.
    """
    ids = pc.unique(tables.games.column("transcript_id")).to_pylist()
    with store.unit(write=True) as cursor:
        deleted = trashed(cursor, ids)
        known = _known(cursor, ids)
        kept = [one for one in ids if one not in deleted]
        fresh = [one for one in kept if one not in known]
        for iteration in _iterations(tables.games, fresh):
            store.iterations.ensure(iteration)
        times = _times(tables.results)
        _insert_games(cursor, _latest(_only(tables.games, fresh), times))
        held = _held(cursor, kept)
        _insert_results(cursor, _only(tables.results, kept), tables.ledger, held)
        _replace_failures(cursor, kept, _failures(_only(tables.games, kept), times), held)
    return Imported(len(fresh), len(known), len(deleted))


def _known(cursor: DuckDBPyConnection, ids: list[str]) -> set[str]:
    query = "SELECT transcript_id FROM transcripts WHERE transcript_id IN (SELECT unnest(?::text[]))"
    return {key for (key,) in cursor.execute(query, [ids]).fetchall()}


def _only(table: pa.Table, ids: list[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column("transcript_id"), pa.array(ids, pa.string())))


def _times(results: pa.Table) -> _Times:
    """Time of each scoring of each game; of one without any result, the earliest of its partition."""
    times = _microseconds(results)
    keys = (results.column(name).to_pylist() for name in ("transcript_id", "scoring"))
    return defaultdict(lambda: min(times, default=0), zip(zip(*keys, strict=True), times, strict=True))


def _microseconds(results: pa.Table) -> list[int]:
    times: list[int] = results.column("scored_at").cast(pa.int64()).to_pylist()
    return times


def _latest(games: pa.Table, times: _Times) -> pa.Table:
    """One row per game: that of its last scoring, where it was scored in several ways."""
    keys = list(zip(*(games.column(name).to_pylist() for name in ("transcript_id", "scoring")), strict=True))
    last = {key[0]: position for position, key in sorted(enumerate(keys), key=lambda one: times[one[1]])}
    return games.take(pa.array(sorted(last.values()), pa.int64()))


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


def _held(cursor: DuckDBPyConnection, ids: list[str]) -> _Held:
    query = """SELECT transcript_id, metric, method, arg_max(digest, result_id),
            epoch_us(arg_max(created_at, result_id))
        FROM metric_results WHERE transcript_id IN (SELECT unnest(?::text[])) GROUP BY ALL"""
    rows = cursor.execute(query, [ids]).fetchall()
    return {(one, metric, method): (digest, time) for one, metric, method, digest, time in rows}


def _insert_results(cursor: DuckDBPyConnection, results: pa.Table, ledger: pa.Table, held: _Held) -> None:
    results = results.sort_by([(name, "ascending") for name in ("scored_at", "transcript_id", "metric", "scoring")])
    fresh = _newer_results(results, held)
    if not fresh.num_rows:
        return
    numbers = next_numbers(cursor, "result_numbers", fresh.num_rows)
    numbered = fresh.append_column("result_id", pa.array(numbers, pa.int64()))
    # The time of scoring, not of importing, is what the next import compares with.
    own = numbered.append_column("created_at", numbered.column("scored_at"))
    own = own.drop_columns(["iteration", "scoring", "scored_at"])
    _append(cursor, own, "INSERT INTO metric_results BY NAME SELECT * FROM incoming_corpus")
    key = ["transcript_id", "metric", "scoring"]
    rows = ledger.join(numbered.select([*key, "result_id"]), keys=key, join_type="inner")
    rows = rows.drop_columns(key).sort_by([("result_id", "ascending"), ("position", "ascending")])
    _append(cursor, rows, "INSERT INTO ledger BY NAME SELECT * FROM incoming_corpus")


def _newer_results(results: pa.Table, held: _Held) -> pa.Table:
    """Those that differ from the ones held and were scored later; ``held`` is brought up to date."""
    columns = [results.column(name).to_pylist() for name in ("transcript_id", "metric", "method", "digest")]
    keep = []
    for *key, digest, time in zip(*columns, _microseconds(results), strict=True):
        current, since = held.get(tuple(key), ("", -1))
        keep.append(time > since and digest != current)
        if time > since:
            held[tuple(key)] = (digest, time)
    return results.filter(pa.array(keep, pa.bool_()))


def _failures(games: pa.Table, times: _Times) -> dict[tuple[str, str], tuple[int, dict[str, Any]]]:
    """The last failure of each game and metric, with its time, as a row of ``score_failures``."""
    columns = (games.column(name).to_pylist() for name in ("transcript_id", "scoring", FAILURES))
    scored = sorted(zip(*columns, strict=True), key=lambda one: times[one[:2]])
    return {
        (one, row["scorer"]): (times[one, scoring], {"transcript_id": one, **row})
        for one, scoring, rows in scored
        for row in rows
    }


def _replace_failures(
    cursor: DuckDBPyConnection,
    ids: list[str],
    failures: dict[tuple[str, str], tuple[int, dict[str, Any]]],
    held: _Held,
) -> None:
    """Leaves, of all that failed, what was not scored or tried again later."""
    scored = {key[:2]: time for key, (_, time) in held.items() if key[2] == "rule"}
    query = """SELECT transcript_id, scorer, epoch_us(max(created_at)) FROM score_failures
        WHERE transcript_id IN (SELECT unnest(?::text[])) GROUP BY ALL"""
    stored = {(one, metric): time for one, metric, time in cursor.execute(query, [ids]).fetchall()}
    fresh = {key: one for key, one in failures.items() if one[0] > max(scored.get(key, -1), stored.get(key, -1))}
    for key, time in stored.items():
        if key in fresh or scored.get(key, -1) > time:
            cursor.execute("DELETE FROM score_failures WHERE transcript_id = ? AND scorer = ?", list(key))
    if fresh:
        rows = pa.Table.from_pylist([row for _, row in fresh.values()])
        since = pa.array([time for time, _ in fresh.values()], pa.timestamp("us", tz="UTC"))
        rows = rows.append_column("created_at", since)
        _append(cursor, rows, "INSERT INTO score_failures BY NAME SELECT * FROM incoming_corpus")


def _append(cursor: DuckDBPyConnection, rows: pa.Table, statement: str) -> None:
    cursor.register("incoming_corpus", rows)
    cursor.execute(statement)
    cursor.unregister("incoming_corpus")
