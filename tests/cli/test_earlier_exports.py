"""What 98ef06c, the last commit whose databases are refused, exported is read: games and ratings.

Its files were made with that commit from three of its sample games::

    dramaturg export transcripts --format canonical -o games.zip
    dramaturg export ratings -o ratings.csv
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

EXPORTS = Path(__file__).parents[1] / "data/98ef06c"


def documents(path: Path) -> dict[str, Any]:
    with ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


@pytest.fixture
def imported(run: Any) -> Any:
    for arguments in (
        ("import", EXPORTS / "games.zip"),
        ("rate", "import", EXPORTS / "ratings.csv"),
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output
    return run


def test_its_games_are_the_same_again(imported: Any, tmp_path: Path) -> None:
    assert imported("export", "transcripts", "-o", tmp_path / "games.zip").exit_code == 0
    assert documents(tmp_path / "games.zip") == documents(EXPORTS / "games.zip")


def test_its_ratings_are_the_same_again(imported: Any, tmp_path: Path) -> None:
    assert imported("export", "ratings", "--format", "parquet", "-o", tmp_path / "r.parquet").exit_code == 0
    found, wanted = pd.read_parquet(tmp_path / "r.parquet"), pd.read_csv(EXPORTS / "ratings.csv")
    key = ["transcript_id", "rater", "score", "comment"]
    # Scores may be half points today.
    wanted["score"] = wanted["score"].astype(float)
    assert found[key].astype(str).sort_values(key).to_numpy().tolist() == (
        wanted[key].fillna("").astype(str).sort_values(key).to_numpy().tolist()
    )
    times = pd.to_datetime(wanted["created_at"], utc=True)
    assert sorted(pd.to_datetime(found["created_at"], utc=True)) == sorted(times)
    for number in range(1, 6):
        answers = found[f"answer_{number}"].map({True: "True", False: "False"}).fillna("")
        assert sorted(answers) == sorted(wanted[f"answer_{number}"].fillna("").astype(str))
