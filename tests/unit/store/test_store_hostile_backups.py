"""Backups that somebody has prepared: rows are restored, and nothing else that the file defines."""

import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from evaluation.errors import InputError
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Method, RowVerdict, Status
from evaluation.store import Store
from evaluation.store._jobs import JobState, this_process
from evaluation.store.backup import check_backup
from tests.unit.store.small_games import game

VIEW = "CREATE OR REPLACE VIEW current_ratings AS SELECT * REPLACE ({query} AS comment) FROM ratings"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the database of a rated game and its backup, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    store = Store(folder / "main.duckdb")
    store.iterations.create("First")
    store.transcripts.add(game("one"), source_name="one", iteration="First")
    store.ratings.add(Rating(game("one").id, "Ada", 4, comment="good"))
    store.settings.set("thresholds", {"pacing": 0.5})
    store.backups.write(folder / "copy.duckdb")
    store.close()
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Store:
    """A store with a rated game."""
    (tmp_path / "main").mkdir()
    return Store(shutil.copy(made / "main.duckdb", tmp_path / "main" / "main.duckdb"))


@pytest.fixture
def backup(made: Path, tmp_path: Path) -> Path:
    """A backup of the store."""
    return Path(shutil.copy(made / "copy.duckdb", tmp_path / "copy.duckdb"))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that no backup may show."""
    path = tmp_path / "secret"
    path.write_text("canary-4711")
    return path


def change(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement).fetchall()


def definitions(path: Path) -> dict[str, list[Any]]:
    """Everything a database defines, as it would be written again; sequences without the number they have reached."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            kind: connection.execute(query).fetchall()
            for kind, query in {
                "tables": "SELECT schema_name, sql FROM duckdb_tables() WHERE NOT internal ORDER BY ALL",
                "views": "SELECT schema_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
                "indexes": "SELECT schema_name, sql FROM duckdb_indexes() ORDER BY ALL",
                "macros": "SELECT function_name FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
                "types": "SELECT type_name FROM duckdb_types() WHERE NOT internal ORDER BY ALL",
                "triggers": "SELECT count(*) FROM duckdb_triggers()",
                "schemas": "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal ORDER BY ALL",
                "sequences": "SELECT schema_name, sequence_name, increment_by, cycle, min_value, max_value "
                "FROM duckdb_sequences() ORDER BY ALL",
            }.items()
        }


def contents(path: Path) -> dict[tuple[str, str], list[str]]:
    """Every row of every table as text, without when its migrations ran."""
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute("SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        return {
            (schema, table): [
                str(row)
                for row in connection.execute(f'SELECT t::text FROM "{schema}"."{table}" t ORDER BY ALL').fetchall()
            ]
            for schema, table in tables
            if table != "schema_migrations"
        }


def test_every_database_is_opened_without_other_files(store: Store, secret: Path, tmp_path: Path) -> None:
    for one in (store, Store(":memory:")):
        for query in (
            f"FROM read_text('{secret}')",
            f"FROM '{secret}.csv'",
            f"COPY (SELECT 1 AS a) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/other.duckdb' AS other",
            "SET enable_external_access = true",
            "INSTALL httpfs",
        ):
            with one.unit() as cursor, pytest.raises(duckdb.Error, match=r"disabled|external access|Cannot change"):
                cursor.execute(query)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main", "secret"]


def test_work_that_does_not_fit_into_memory_still_goes_to_the_disk(store: Store) -> None:
    with store.written_in_bulk(), store.unit() as cursor:
        query = """SELECT count(*) FROM (SELECT repeat('y', 200) || (hash(range) % 1000003)::text AS s
            FROM range(1_500_000) ORDER BY s)"""
        assert cursor.execute(query).fetchall() == [(1_500_000,)]


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE other (a text DEFAULT current_setting('memory_limit'))"],
        ["CREATE VIEW spy AS FROM read_text('{secret}')"],
        ["CREATE VIEW duckdb_views AS SELECT 1 AS a"],
        # A view where a table belongs.
        ["ALTER TABLE import_reports RENAME TO away", "CREATE VIEW import_reports AS FROM away"],
        ["DROP TABLE deletions", "CREATE TABLE deletions (a text)"],
        ["ALTER TABLE drafts ADD COLUMN spy text"],
        ["ALTER TABLE drafts ALTER touched TYPE text"],
        ["CREATE SCHEMA other", "CREATE TABLE other.transcripts AS FROM main.transcripts"],
        ["CREATE TYPE spy AS ENUM ('a')", "ALTER TABLE players ALTER name TYPE spy USING 'a'::spy"],
    ],
)  # fmt: skip
def test_what_defines_more_than_rows_is_refused(
    store: Store, backup: Path, secret: Path, statements: list[str]
) -> None:
    before = Path(store.place).read_bytes()
    change(backup, *(statement.format(secret=secret) for statement in statements))
    with pytest.raises(InputError, match=r"not those of Dramaturg|not a database of Dramaturg|cannot be used"):
        store.backups.restore(backup)
    store.close()
    assert Path(store.place).read_bytes() == before
    assert [path.name for path in Path(store.place).parent.iterdir()] == ["main.duckdb"]


def test_other_definitions_stay_behind(store: Store, backup: Path, secret: Path) -> None:
    wanted = definitions(backup)
    change(
        backup,
        "CREATE TYPE spy AS ENUM ('a')",
        "CREATE MACRO spy() AS TABLE FROM read_text('spy')",
        # A function that the check itself calls.
        "CREATE MACRO starts_with(x, y) AS false",
        "ALTER TABLE drafts ALTER touched SET DEFAULT 3",
        "CREATE SCHEMA spy",
        "CREATE SEQUENCE spy",
        "CREATE INDEX spy ON ratings (comment)",
        "COMMENT ON TABLE ratings IS 'spy'",
        "CREATE OR REPLACE VIEW engagement AS SELECT 'spy' AS transcript_id, 5.0::double AS score, 9::bigint AS raters",
        VIEW.format(query=f"(SELECT content FROM read_text('{secret}'))"),
    )
    # The file is no damaged one: as a trap it is worth nothing, so its rows may come back.
    assert check_backup(backup).ratings == 1
    store.backups.restore(backup)
    assert [rating.comment for rating in store.ratings.latest(game("one").id)] == ["good"]
    store.close()
    assert definitions(Path(store.place)) == wanted
    assert not [word for word in (b"spy", b"read_text") if word in Path(store.place).read_bytes()]


def test_constraints_that_were_dropped_are_checked_anew(store: Store, backup: Path) -> None:
    change(
        backup,
        "CREATE TABLE away AS FROM settings",
        "DROP TABLE settings",
        "CREATE TABLE settings (key text, value JSON)",
        "INSERT INTO settings BY NAME SELECT key, value FROM away",
        "INSERT INTO settings BY NAME SELECT key, value FROM away",
        "DROP TABLE away",
    )
    with pytest.raises(InputError, match=r"cannot be used as a backup|not those of Dramaturg"):
        store.backups.restore(backup)
    assert store.settings.get("thresholds") == {"pacing": 0.5}


def test_a_log_beside_a_backup_cannot_reach_files_either(
    store: Store, backup: Path, secret: Path, tmp_path: Path
) -> None:
    wanted = definitions(backup)
    connection = duckdb.connect(str(backup))
    connection.execute("SET checkpoint_threshold = '1GB'")
    connection.execute(VIEW.format(query=f"(SELECT content FROM read_text('{secret}'))"))
    for ending in ("", ".wal"):
        shutil.copy(f"{backup}{ending}", f"{tmp_path}/with log{ending}")
    connection.close()
    store.backups.restore(tmp_path / "with log")
    store.close()
    assert definitions(Path(store.place)) == wanted


def test_rows_of_every_table_and_type_come_back_as_they_were(store: Store, tmp_path: Path) -> None:
    store.deletions.delete([game("one").id], who="Ada")
    store.transcripts.add(game("two"), source_name="two", iteration="First")
    with store.unit(write=True) as cursor:
        columns: dict[str, list[tuple[str, str]]] = {}
        for table, name, kind in cursor.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' "
            "AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY column_index"
        ).fetchall():
            columns.setdefault(table, []).append((name, kind))
        values = {
            "VARCHAR": "'it''s \n ü 𝄞'", "JSON": """'{"a": [1, null, "ü"]}'""", "UUID": "gen_random_uuid()",
            "TIMESTAMP WITH TIME ZONE": "'1969-12-31 23:59:59.123456+00'::timestamptz", "BLOB": "'\\x00\\xff'::blob",
            "BIGINT": "-9007199254740993", "INTEGER": "-7", "DOUBLE": "'nan'::double", "FLOAT": "1.5",
            "BOOLEAN": "true", "VARCHAR[]": "['a', NULL, 'ü']",
        }  # fmt: skip
        for table in ("llm_calls", "runs", "judgements", "settings", "messages", "generations"):
            kinds = columns[table]
            held = {"status": "'pending'", "document": "'{}'"}
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(name for name, _ in kinds)}) "
                f"VALUES ({', '.join(held.get(name, values[kind]) for name, kind in kinds)})"
            )
    store.backups.write(tmp_path / "copy.duckdb")
    wanted_rows, before = contents(tmp_path / "copy.duckdb"), definitions(tmp_path / "copy.duckdb")
    store.close()
    assert contents(Path(store.place)) == wanted_rows
    store.backups.restore(tmp_path / "copy.duckdb")
    store.close()
    assert contents(Path(store.place)) == wanted_rows
    assert definitions(Path(store.place)) == before


ORDER = {"experiment": "e", "options": {"limits": [{"base_url": "http://127.0.0.1:9/v1"}]}}


def test_settings_that_name_addresses_are_left_out_and_named(store: Store, tmp_path: Path) -> None:
    held = {
        "judge": {"base_url": "http://evil.test/v1", "model": "x"},
        "prices": {"pricing": "/etc/passwd"},
        "lists": {"others": ["HTTPS:\n//evil.test"]},
        "order:experiment:1": ORDER,
        "plain": "http://evil.test",
    }
    for key, value in held.items():
        store.settings.set(key, value)
    store.backups.write(tmp_path / "copy.duckdb")
    told = check_backup(tmp_path / "copy.duckdb").left_out_lines
    assert sorted(line.partition(", to which")[0] for line in told) == [
        "judge: it names http://evil.test/v1",
        "lists: it names HTTPS: //evil.test",
        "order:experiment:1: it names http://127.0.0.1:9/v1",
        "plain: it names http://evil.test",
        "prices: it names /etc/passwd",
    ]
    with store.unit(write=True) as cursor:
        cursor.execute("DELETE FROM settings")
    store.backups.restore(tmp_path / "copy.duckdb")
    assert [store.settings.get(key) for key in held] == [None] * 5
    assert store.settings.get("thresholds") == {"pacing": 0.5}


def test_many_addresses_are_counted(store: Store, tmp_path: Path) -> None:
    for number in range(30):
        store.settings.set(f"s{number:02}", f"http://{'x' * 1000}")
    lines = store.backups.write(tmp_path / "copy.duckdb").left_out_lines
    assert (len(lines), lines[-1]) == (21, "and 10 more")
    assert max(map(len, lines)) < 400


UNREADABLE = {
    "thresholds": "[1]",
    "test_size": '"three"',
    "import_limits": '{"messages": -1}',
    "judge_imports": "[]",
    "judge": '"gpt"',
    "order:evaluate": "3",
}


def test_settings_of_the_wrong_shape_are_left_out_and_named(store: Store, backup: Path) -> None:
    change(backup, "DELETE FROM settings")
    for key, value in UNREADABLE.items():
        change(backup, f"INSERT INTO settings (key, value) VALUES ('{key}', '{value}')")
    change(backup, """INSERT INTO settings (key, value) VALUES ('note', '"kept"')""")
    told = check_backup(backup).left_out_lines
    assert sorted(line.partition(": ")[0] for line in told) == sorted(UNREADABLE)
    store.backups.restore(backup)
    with store.unit() as cursor:
        assert cursor.execute("SELECT key FROM settings").fetchall() == [("note",)]


def test_settings_of_the_wrong_shape_count_as_not_set(store: Store) -> None:
    wanted = store.settings.test_size(), store.settings.limits(), Store(":memory:").settings.thresholds()
    with store.unit(write=True) as cursor:
        for key, value in UNREADABLE.items():
            cursor.execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", [key, value])
    assert (store.settings.test_size(), store.settings.limits(), store.settings.thresholds()) == wanted
    assert store.settings.judges_imports() is False


JOB = "INSERT INTO jobs (job_id, kind, label, total, owner, heartbeat) VALUES ('{}', 'evaluate', 'Games', 1, '{}', {})"


def test_no_job_of_a_backup_runs_whoever_it_names_as_its_owner(store: Store, backup: Path) -> None:
    owners = ("nobody", "", ":::", "a:b:c", this_process(), "elsewhere:1:2")
    change(backup, *(JOB.format(number, owner, "now()") for number, owner in enumerate(owners)))
    store.backups.restore(backup)
    assert [job.state for job in store.jobs.list()] == [JobState.INTERRUPTED] * len(owners)


def test_times_that_no_calendar_has_are_refused(store: Store, backup: Path) -> None:
    change(backup, "UPDATE ratings SET created_at = 'infinity'")
    with pytest.raises(InputError, match="ratings the column created_at holds a time that no calendar has"):
        store.backups.restore(backup)


WORDS = {
    "current_scores": {"metric": DEFINITIONS, "status": Status, "method": Method},
    "metric_results": {"metric": DEFINITIONS, "status": Status, "method": Method},
    "ledger": {"verdict": RowVerdict, "method": Method},
}


@pytest.mark.parametrize("table", WORDS)
def test_no_database_holds_a_word_that_means_nothing_to_the_pages(store: Store, table: str) -> None:
    with store.unit() as cursor:
        query = "SELECT constraint_column_names[1], constraint_text FROM duckdb_constraints() WHERE table_name = ?"
        rules = cursor.execute(f"{query} AND constraint_type = 'CHECK'", [table]).fetchall()
    assert {name: set(re.findall(r"'(\w+)'", rule)) for name, rule in rules} == {
        name: set(words) for name, words in WORDS[table].items()
    }


def test_a_backup_whose_tables_take_any_word_is_refused(store: Store, backup: Path) -> None:
    change(backup, "CREATE TABLE x AS FROM current_scores", "DROP TABLE current_scores")
    change(backup, "ALTER TABLE x RENAME TO current_scores", "UPDATE current_scores SET status = 'bogus'")
    with pytest.raises(InputError, match="cannot be used as a backup"):
        store.backups.restore(backup)


def test_nothing_in_a_database_blocks_a_restore(store: Store, backup: Path) -> None:
    with store.unit(write=True) as cursor:
        for number, owner in enumerate(("nobody", "a:b:c", "elsewhere:1:2")):
            cursor.execute(JOB.format(number, owner, "'infinity'" if number == 1 else "'2999-01-01'"))
    store.backups.restore(backup)
    assert store.jobs.list() == []


def test_databases_and_backups_are_for_their_user_only(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    store = Store(theirs / "main.duckdb")
    store.iterations.create("First")
    store.backups.write(theirs / "copy.duckdb")
    store.backups.restore(theirs / "copy.duckdb")
    store.close()
    files = [path for path in theirs.iterdir() if path.suffix == ".duckdb"]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600] * 3
    assert theirs.stat().st_mode & 0o777 == 0o755
    Store(tmp_path / "new" / "deeper" / "main.duckdb").iterations.create("First")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "new/deeper")] == [0o700, 0o700]
