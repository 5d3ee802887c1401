"""A process that is killed while it deletes, undoes or renames leaves what was before or after, never between."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript

TABLES = ("transcripts", "players", "messages", "ratings", "assignments")

# Deletes two games and an iteration, undoes both, and changes names, for ever; says how often it was through.
MEND_ON = """
import sys
from itertools import count
from evaluation.store import Store
store = Store(sys.argv[1], wait_seconds=60)
names = ["v1", "v2"]
for number in count():
    games = store.deletions.delete(sys.argv[2:], who="Ann")
    iteration = store.deletions.delete_iteration(names[0], who="Ann")
    store.deletions.undo(iteration.id, who="Ann")
    store.deletions.undo(games.id, who="Ann")
    store.iterations.rename(names[0], names[1], who="Ann")
    names.reverse()
    print(number, flush=True)
"""


def game(number: int) -> Transcript:
    said = tuple(Message(id=f"m{i}", index=i, speaker="Ann", text=f"{number} {i} " * 20) for i in range(300))
    return Transcript(game_id=f"g{number}", source_format="native", players=(Player(name="Ann"),), messages=said)


def rows(store: Store, schema: str) -> dict[str, dict[str, int]]:
    """How many rows of each transcript each table holds."""
    with store.unit() as cursor:
        known = {
            row[0]
            for row in cursor.execute(
                "SELECT table_name FROM duckdb_tables() WHERE schema_name = ?", [schema]
            ).fetchall()
        }
        query = "SELECT transcript_id, count(*) FROM {}.{} GROUP BY ALL"
        return {
            table: dict(cursor.execute(query.format(schema, table)).fetchall()) if table in known else {}
            for table in TABLES
        }


def test_a_killed_process_leaves_before_or_after(tmp_path: Path) -> None:
    path = tmp_path / "shared.duckdb"
    store = Store(path, wait_seconds=60)
    store.iterations.create("v1")
    games = [game(number) for number in range(3)]
    for one in games:
        store.transcripts.add(one, source_name="f", iteration="v1")
        store.ratings.token("cid", one.id)
        store.ratings.add(Rating(one.id, "bob", 4))
    before = rows(store, "main")
    for rounds in (1,):
        store.close()
        command = [sys.executable, "-c", MEND_ON, str(path), games[0].id, games[1].id]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            while int(process.stdout.readline()) < rounds:
                pass
            process.send_signal(signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        here, there = rows(store, "main"), rows(store, "trash")
        assert {table: here[table] | there[table] for table in TABLES} == before
        for table in TABLES:
            assert set(here[table]) & set(there[table]) == set(), table
            assert set(there[table]) in (set(), {games[0].id, games[1].id} & set(before[table])), table
        for deletion in store.deletions.list():
            store.deletions.undo(deletion.id, who="Ann")
        assert rows(store, "main") == before
        (iteration,) = store.iterations.list()
        assert store.transcripts.summaries(iteration.name)["game_id"].tolist() == ["g0", "g1", "g2"]
        if iteration.name != "v1":
            store.iterations.rename(iteration.name, "v1", who="Ann")
    store.close()
