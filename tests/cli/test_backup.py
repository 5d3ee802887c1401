"""``dramaturg backup`` and ``dramaturg restore``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from evaluation.store import Store


def test_a_backup_and_back_without_addresses_of_servers(
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
    assert "Not restored:\n  judge: it names http://evil.test/" in checked
    assert "\x1b" not in checked
    assert len(store.transcripts.summaries()) == 2
    store.close()
    assert run("restore", target).exit_code == 0
    assert list(store.transcripts.summaries()["game_id"]) == ["one"]
    assert store.settings.get("judge") is None


def test_regular_backups_keep_what_they_made_and_what_lies_in_the_future(
    run: Any, write_game: Any, tmp_path: Path, database: Path
) -> None:
    run("import", write_game("one"))
    Store(database).close()
    folder, now = tmp_path / "backups", time.time()
    folder.mkdir()
    ages = {"dramaturg-99991231T000000.0.duckdb": -3, "dramaturg-2026.duckdb": -2, "dramaturg-1.duckdb": -1}
    for name, days in {**ages, "dramaturg-2.duckdb": 1}.items():
        shutil.copy(database, folder / name)
        os.utime(folder / name, (now + days * 86_400,) * 2)
    # None of these is a backup: they take the place of none, and stay.
    oddities = {"dramaturg-empty.duckdb", "dramaturg-link.duckdb", "dramaturg-name.duckdb"}
    (folder / "dramaturg-empty.duckdb").touch()
    (folder / "dramaturg-link.duckdb").symlink_to(database)
    os.link(folder / "dramaturg-1.duckdb", folder / "dramaturg-name.duckdb")
    script = Path(__file__).parents[2] / "container" / "backups.py"
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(folder), "0", "2"],
        env={**os.environ, "DRAMATURG_DB": str(database)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    left = {path.name for path in folder.iterdir()}
    assert left > oddities
    left -= oddities
    made = left - {*ages, "dramaturg-2.duckdb"}
    assert len(made) == 1
    # The youngest of the others by its own age, whatever its name says, and the one from the future.
    assert left - made == {"dramaturg-1.duckdb", "dramaturg-2.duckdb"}
    assert "kept, as its time lies in the future: " in done.stderr
    assert "dramaturg-2.duckdb" in done.stderr
