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
