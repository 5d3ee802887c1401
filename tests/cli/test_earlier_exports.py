"""What 98ef06c, the last commit whose databases are refused, exported is read: games, ratings and overrides.

Its files were made with that commit from three of its sample games::

    dramaturg export transcripts --format canonical -o games.zip
    dramaturg export ratings -o ratings.csv
    dramaturg override list game-1736849112050 --format json > overrides.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

from evaluation.store import Store

EXPORTS = Path(__file__).parents[1] / "data/98ef06c"
GAME = "game-1736849112050"


def documents(path: Path) -> dict[str, Any]:
    with ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


@pytest.fixture
def imported(run: Any) -> Any:
    for arguments in (
        ("import", EXPORTS / "games.zip"),
        ("rate", "import", EXPORTS / "ratings.csv"),
        ("labels", "import", GAME, EXPORTS / "overrides.json"),
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


def test_its_overrides_stand_with_author_and_time_and_what_was_taken_back_is(imported: Any, database: Path) -> None:
    store = Store(database)
    found = [
        (one.metric, one.row_id, str(one.verdict), one.author, one.reason, one.created_at.isoformat(), one.undone_by)
        for one in store.overrides.list(store.transcripts.resolve(GAME))
    ]
    keys = ("metric", "row", "verdict", "author", "reason", "at", "undone_by")
    exported = json.loads((EXPORTS / "overrides.json").read_text("utf-8"))
    assert found == [tuple(row[key] for key in keys) for row in exported]
    (row,) = [
        row
        for row in json.loads(imported("show", GAME, "--metric", "coherence", "--format", "json").stdout)["ledger"]
        if row["id"] == "coherence:m2"
    ]
    assert (row["verdict"], row["method"]) == ("counts", "human")


def test_the_same_overrides_again_add_nothing(imported: Any) -> None:
    again = imported("labels", "import", GAME, EXPORTS / "overrides.json")
    assert again.stdout == "0 new, 2 known already.\n"


def entry(**changed: object) -> dict[str, object]:
    made = json.loads((EXPORTS / "overrides.json").read_text("utf-8"))[0]
    return {**made, **changed}


def test_what_is_no_list_of_overrides_is_refused_whole(run: Any, database: Path, tmp_path: Path) -> None:
    run("import", EXPORTS / "games.zip")
    for content, words in (
        ("{", "It is not JSON"),
        ("{}", "It is not a list"),
        ("[[]]", "entry 1: It is not an object"),
        (json.dumps([entry(), entry(author=None)]), "entry 2: author is None"),
        (json.dumps([entry(verdict="wins")]), "entry 1: 'wins' is not a valid RowVerdict"),
        (json.dumps([entry(at="yesterday")]), "entry 1: Invalid isoformat"),
        (json.dumps([entry(id="1")]), "entry 1: id is not a number"),
        (json.dumps([entry(metric="charm")]), "'charm' is not a metric"),
        (json.dumps([entry(), entry(reason="\ud800")]), "lone surrogate"),
        ("[" * 100_000, "It is not JSON"),
    ):
        (tmp_path / "overrides.json").write_text(content, "utf-8")
        done = run("labels", "import", GAME, tmp_path / "overrides.json")
        assert (done.exit_code, words in done.stderr) == (2, True), content[:80]
        assert Store(database).overrides.current() == []


def test_an_override_whose_row_is_gone_waits_for_a_person(run: Any, tmp_path: Path) -> None:
    run("import", EXPORTS / "games.zip")
    (tmp_path / "overrides.json").write_text(json.dumps([entry(row="coherence:m999")]), "utf-8")
    done = run("labels", "import", GAME, tmp_path / "overrides.json")
    assert done.exit_code == 0
    assert "1 name rows that the ledger does not have" in done.stderr
