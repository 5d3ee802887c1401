"""``dramaturg doctor`` finds what is broken and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluation.cli.system import examine


def states(database: Path) -> dict[str, bool]:
    return {finding.what: finding.is_fine for finding in examine(database)}


@pytest.mark.usefixtures("no_database")
def test_a_sound_installation_has_nothing_broken(run: Any) -> None:
    done = run("doctor")
    assert done.exit_code == 0
    assert "does not exist yet" in done.stdout
    assert "broken" not in done.stdout


def test_a_database_in_use_is_described(run: Any, write_game: Any) -> None:
    run("import", write_game(), "--iteration", "v1")
    assert "1 transcripts in 1 iterations" in run("doctor").stdout


@pytest.mark.usefixtures("no_database")
def test_looking_makes_no_database(run: Any, database: Path) -> None:
    run("doctor")
    assert not database.exists()


@pytest.mark.usefixtures("no_database")
def test_a_broken_database_is_infrastructure(run: Any, database: Path) -> None:
    database.parent.mkdir()
    database.write_bytes(b"nonsense" * 1000)
    done = run("doctor")
    assert done.exit_code == 3
    assert "broken" in done.stdout
    assert "Something that Dramaturg needs is broken" in done.stderr


def test_a_folder_that_is_a_file_cannot_hold_a_database(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = states(tmp_path / "file" / "test.duckdb")
    assert found["Database folder"] is False
    assert found["Python"] is True
    assert found["Packages"] is True
    assert found["Samples"] is True
