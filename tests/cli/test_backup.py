"""``dramaturg backup`` and ``dramaturg restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.store import Store


def test_a_backup_and_back_with_addresses_of_servers_only_when_asked(
    run: Any, write_game: Any, tmp_path: Path, database: Path
) -> None:
    run("import", write_game("one"))
    store, target, address = Store(database), tmp_path / "copy.duckdb", "http://evil.test/\x1b[31mv1"
    store.settings.set("judge", {"base_url": address})
    store.close()
    done = run("backup", target)
    assert (done.exit_code, done.stdout) == (0, f"{target} holds 1 transcript, 0 iterations, 0 ratings.\n")
    run("import", write_game("two"))
    checked = run("restore", target, "--check").stdout
    assert checked.startswith(f"{target} can be restored: 1 transcript, ")
    assert "judge.base_url = http://evil.test/" in checked
    assert "restored only with --with-addresses" in checked
    assert "\x1b" not in checked
    assert len(store.transcripts.summaries()) == 2
    store.close()
    done = run("restore", target)
    assert done.exit_code == 0
    assert f"{database} now holds 1 transcript" in done.stdout
    assert "The database of before is" in done.stdout
    assert "--with-addresses would do that" in done.stdout
    assert list(store.transcripts.summaries()["game_id"]) == ["one"]
    assert store.settings.get("judge") is None
    store.close()
    assert "judge.base_url = http://evil.test/" in run("restore", target, "--with-addresses").stdout
    assert store.settings.get("judge") == {"base_url": address}


def test_nothing_is_written_over_and_nothing_foreign_restored(run: Any, refused: Path) -> None:
    done = run("backup", refused)
    assert (done.exit_code, "The file exists." in done.stderr) == (2, True)
    done = run("restore", refused)
    assert (done.exit_code, "cannot be used as a backup" in done.stderr) == (2, True)
