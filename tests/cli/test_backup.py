"""``dramaturg backup`` and ``dramaturg restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.store import Store


def test_a_backup_and_back(run: Any, write_game: Any, tmp_path: Path, database: Path) -> None:
    run("import", write_game("one"))
    target = tmp_path / "copy.duckdb"
    done = run("backup", target)
    assert (done.exit_code, done.stdout) == (0, f"{target} holds 1 transcript, 0 iterations, 0 ratings.\n")
    run("import", write_game("two"))
    assert run("restore", target, "--check").stdout.startswith(f"{target} can be restored: 1 transcript, ")
    assert len(Store(database).transcripts.summaries()) == 2
    done = run("restore", target)
    assert done.exit_code == 0
    assert f"{database} now holds 1 transcript" in done.stdout
    assert "The database of before is" in done.stdout
    assert list(Store(database).transcripts.summaries()["game_id"]) == ["one"]


def test_nothing_is_written_over_and_nothing_foreign_restored(run: Any, refused: Path) -> None:
    done = run("backup", refused)
    assert (done.exit_code, "The file exists." in done.stderr) == (2, True)
    done = run("restore", refused)
    assert (done.exit_code, "cannot be used as a backup" in done.stderr) == (2, True)


def test_settings_that_name_servers_are_shown_and_restored_only_when_asked(
    run: Any, write_game: Any, tmp_path: Path, database: Path
) -> None:
    run("import", write_game("one"))
    store, target, address = Store(database), tmp_path / "copy.duckdb", "http://evil.test/\x1b[31mv1"
    store.settings.set("judge", {"base_url": address})
    run("backup", target)
    with store.unit(write=True) as cursor:
        cursor.execute("DELETE FROM settings")
    store.close()
    line = "judge.base_url = http://evil.test/"
    done = run("restore", target, "--check")
    assert "restored only with --with-addresses" in done.stdout
    assert line in done.stdout
    assert "\x1b" not in done.stdout
    done = run("restore", target)
    assert "--with-addresses would do that" in done.stdout
    assert line in done.stdout
    assert store.settings.get("judge") is None
    store.close()
    assert line in run("restore", target, "--with-addresses").stdout
    assert store.settings.get("judge") == {"base_url": address}
