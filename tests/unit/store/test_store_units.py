"""Units of work: transactions, nesting, threads, and when the file is open."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from evaluation.errors import InputError, NotAllowedError, NotFoundError, StoreBusyError, StoreError
from evaluation.ratings import Rating
from evaluation.store import Store, _database_file
from evaluation.store._bulk_rows import append
from tests.unit.store.small_games import game
from tests.waiting import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "deep" / "down" / "a.duckdb")
    yield store
    store.close()


def is_open_elsewhere(path: Path) -> bool:
    """Whether another process finds the file taken."""
    code = "import duckdb, sys\ntry: duckdb.connect(sys.argv[1])\nexcept duckdb.IOException: sys.exit(1)"
    return subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 1


def test_the_file_is_open_while_a_unit_runs_and_closed_soon_after(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_database_file, "LINGER_SECONDS", 1.0)
    with store.unit():
        assert is_open_elsewhere(Path(store.place))
    wait_until(lambda: not is_open_elsewhere(Path(store.place)))


def test_two_stores_with_different_spellings_share_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    one, other = Store(tmp_path / "a.duckdb"), Store(tmp_path / "link" / ".." / tmp_path.name / "a.duckdb")
    with one.unit(write=True):
        one.settings.set("key", "value")
        assert other.settings.get("key") == "value"
    assert other.settings.get("key") == "value"
    one.close()


def test_a_write_unit_stores_all_or_nothing(store: Store) -> None:
    def add_both(iteration: str | None) -> None:
        with store.unit(write=True):
            store.transcripts.add(game("one"), source_name="one.json")
            store.transcripts.add(game("two"), source_name="two.json", iteration=iteration)

    with pytest.raises(NotFoundError):
        add_both("nowhere")
    assert store.transcripts.summaries().empty
    add_both(None)
    assert store.transcripts.summaries()["game_id"].tolist() == ["one", "two"]


def test_half_of_a_failed_part_is_not_stored_even_if_the_caller_goes_on(store: Store) -> None:
    def failing_part() -> None:
        with store.unit(write=True, join=True):
            store.settings.set("inside", 1)
            store.settings.set_threshold("coherence", 101)

    def whole() -> None:
        with store.unit(write=True):
            store.settings.set("before", 1)
            with pytest.raises(InputError):
                failing_part()
            store.settings.set("after", 1)

    with pytest.raises(StoreError, match="nothing of it was stored"):
        whole()
    assert [store.settings.get(key) for key in ("before", "inside", "after")] == [None, None, None]
    store.settings.set("later", 1)
    assert store.settings.get("later") == 1


def test_a_writing_unit_within_another_says_that_it_joins_it(store: Store) -> None:
    with store.unit(write=True):
        store.settings.set("key", 1)
        with pytest.raises(RuntimeError, match="join=True"), store.unit(write=True):
            store.settings.set("key", 2)
        with store.unit(write=True, join=True):
            store.settings.set("other", 3)
        assert store.settings.get("other") == 3
    assert (store.settings.get("key"), store.settings.get("other")) == (1, 3)


def test_a_joined_unit_without_an_outer_one_is_a_transaction_of_its_own(store: Store) -> None:
    with store.unit(write=True, join=True):
        store.settings.set("key", 1)

    def failing() -> None:
        with store.unit(write=True, join=True):
            store.settings.set("key", 2)
            store.transcripts.get("nothing")

    with pytest.raises(NotFoundError):
        failing()
    assert store.settings.get("key") == 1


def test_threads_get_their_own_rows_and_lose_no_write(store: Store) -> None:
    store.transcripts.add_many([(game(f"game {number}"), "f") for number in range(8)])
    ids = store.transcripts.summaries()["transcript_id"].tolist()

    def work(number: int) -> bool:
        own = ids[number % len(ids)]
        is_stored = store.ratings.add(Rating(own, f"rater {number}", number % 5 + 1))
        return is_stored and store.transcripts.get(own).id == own

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(80)))
    ratings = store.ratings.all()
    assert sorted(ratings["rater"]) == sorted(f"rater {number}" for number in range(80))
    assert ratings["transcript_id"].value_counts().tolist() == [10] * 8


def test_a_thread_that_cannot_write_in_time_is_told(tmp_path: Path) -> None:
    store, hasty = Store(tmp_path / "a.duckdb"), Store(tmp_path / "a.duckdb", wait_seconds=0.05)
    with ThreadPoolExecutor(1) as pool, store.unit(write=True):
        with pytest.raises(StoreBusyError, match="Another thread has been writing"):
            pool.submit(hasty.settings.set, "key", 1).result()
        assert pool.submit(hasty.settings.get, "key").result() is None
    hasty.settings.set("key", 1)
    store.close()


def test_memory_is_kept_until_it_is_closed_and_is_nobody_elses() -> None:
    one, other = Store(":memory:"), Store(":memory:")
    one.settings.set("key", 1)
    done = threading.Thread(target=one.settings.set, args=("other", 2))
    done.start()
    done.join()
    assert [one.settings.get("key"), one.settings.get("other"), other.settings.get("key")] == [1, 2, None]
    one.close()
    assert one.settings.get("key") is None


@pytest.mark.parametrize("count", [7, 700, 6_050])
def test_rows_in_bulk_hold_every_value_as_it_was_given(tmp_path: Path, count: int) -> None:
    def column(*values: Any) -> list[Any]:
        return [values[place % len(values)] for place in range(count)]

    columns = {
        "text": column("", "a\0b", "\U0001f600", None, "NULL", "nan", "3", "e\u0301" * 300),
        "late": [None] * (count - 1) + ["the last one alone"],
        "none": [None] * count,
        "json": column('{"a": 1}', None, "[]"),
        "whole": column(2**62, -5, 0, None),
        "real": column(0.1, float("nan"), float("inf"), None, -0.0),
        "mixed": column(1, 2.5),
        "is_true": column(True, None, False),
        "list": column(["a", "b"], [], None),
        "time": column(datetime(2026, 11, 23, 1, 2, 3, 456789, tzinfo=UTC), None),
        "bytes": column(b"\0\xff", None),
    }
    kinds = [*["VARCHAR"] * 3, "JSON", "BIGINT", "DOUBLE", "DOUBLE", "BOOLEAN", "VARCHAR[]", "TIMESTAMP", "BLOB"]
    store = Store(tmp_path / "values.duckdb")
    with store.unit(write=True) as cursor:
        named = ", ".join(f"{name} {kind}" for name, kind in zip(columns, kinds, strict=True))
        cursor.execute(f"CREATE TABLE given (place INTEGER, {named})")
        append(cursor, "given", {"place": range(count), **columns})
        rows = cursor.execute("SELECT * EXCLUDE place FROM given ORDER BY place").fetchall()
    store.close()
    found = {name: list(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}
    found["time"] = [time and time.replace(tzinfo=UTC) for time in found["time"]]
    # As text, in which not-a-number equals itself, and a negative zero no other zero.
    assert repr(found) == repr({**columns, "mixed": [float(value) for value in columns["mixed"]]})


@pytest.mark.parametrize("count", [7, 60])
def test_rows_go_in_after_a_query_that_was_not_read_to_its_end(tmp_path: Path, count: int) -> None:
    store = Store(tmp_path / "unread.duckdb")
    with store.unit(write=True) as cursor:
        cursor.execute("CREATE TABLE given (number INTEGER, name VARCHAR)")
        cursor.execute("FROM range(9999)").fetchone()
        append(cursor, "given", {"number": range(count), "name": ["a"] * count})
        assert cursor.execute("SELECT count(*) FROM given").fetchone() == (count,)
        with pytest.raises(ValueError, match="rows for given"):
            append(cursor, "given", {"number": [1, 2], "name": ["a"]})
    store.close()


def test_a_number_that_does_not_fit_its_column_stores_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "fits.duckdb")
    with store.unit(write=True) as cursor:
        cursor.execute("CREATE TABLE small (number INTEGER)")
    for number in (2**40, 2**70):
        with pytest.raises(duckdb.Error), store.unit(write=True) as cursor:
            append(cursor, "small", {"number": [*range(99), number]})
    with store.unit(write=True) as cursor:
        append(cursor, "small", {"number": range(99)})
        assert cursor.execute("SELECT count(*) FROM small").fetchone() == (99,)
    store.close()


def test_a_guard_stops_writing_units_and_nothing_else(tmp_path: Path) -> None:
    def refuse() -> None:
        raise NotAllowedError("You may not.")

    store = Store(tmp_path / "guarded.duckdb", guard=refuse)
    store.unguarded().iterations.create("before")
    with pytest.raises(NotAllowedError):
        store.iterations.create("after")
    assert [one.name for one in store.iterations.list()] == ["before"]
    # What everybody may write goes by, and what it calls while it writes.
    with store.unguarded().unit(write=True):
        store.iterations.create("inside")
    assert [one.name for one in store.iterations.list()] == ["before", "inside"]
    store.close()


def test_a_form_that_was_begun_is_opened_while_another_thread_writes(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb", wait_seconds=0.2)
    added = store.transcripts.add(game("one"), source_name="one.json").transcript_id
    begun = store.ratings.token("Ada", added)
    writes, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store.unit(write=True):
            writes.set()
            may_end.wait(60)

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        writes.wait(60)
        try:
            assert store.ratings.token("Ada", added) == begun
        finally:
            may_end.set()
        writing.result()
    store.close()
