"""Twenty raters at a real server at once, beside an import: every form is stored once, under its sender's name."""

import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from benchmarks.generate import generate
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated
from tests.dashboard_server import dramaturg, serving
from tests.faults.tab import Tab, events_of
from tests.games import game_of

RATERS = 20
MINUTES = float(os.environ.get("DRAMATURG_RATING_MINUTES", "0.5"))
PACE_SECONDS = 3.0
TRIES = 20
FILES = 20
"""Games of one import beside the raters."""
GAMES_A_MINUTE = round(60 / PACE_SECONDS)


def game(number: int) -> Transcript:
    said = [("Alpha", f"I suspect Bravo in game {number}"), ("Bravo", "Why do you say that, Alpha?")]
    return game_of(said, game_id=f"game {number}")


def import_until(database: Path, folder: Path, until: float) -> int:
    """Imports files of further games, one command after the other, while a server has the database; how many games."""
    imported = 0
    while not imported or time.monotonic() < until:
        folder.mkdir(exist_ok=True)
        for document in generate(FILES, rounds=1, seed=imported + 1):
            imported += 1
            (folder / f"{imported}.json").write_text(json.dumps(document))
        for _ in range(TRIES):
            command = [dramaturg(), "import", folder, "--db", database]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            # The raters have had the database for ten seconds: what is stored already is recognised the next time.
            assert "Try again when it is done" in done.stderr, done.stderr
        else:
            pytest.fail(f"An import was refused {TRIES} times")
        for file in folder.iterdir():
            file.unlink()
    return imported


def submit_all(url: str, *, times: int, until: float = 0.0) -> list[tuple[str, str]]:
    """Lets all raters submit one form at once, and more at their own pace until then: rater and form of each.

    Args:
        url: The server's.
        times: How many times each form is sent before its answer comes.
        until: When to begin no further form, in seconds of ``time.monotonic``.
    """

    refused: list[str] = []

    def work(rater: str, page: Tab, place: int) -> list[tuple[str, str]]:
        sent = []
        while (desk := page.desk()) is not None and (not sent or time.monotonic() < until):
            token = json.loads(desk.json)["token"]
            form = {**events_of(desk)["submit"], "score": 3, "comment": token}
            for _ in range(TRIES):
                page.send(desk, "submit", form, times=times)
                answer = page.desk()
                if answer is None or json.loads(answer.json)["token"] != token:
                    break
                # An import has had the database for ten seconds: the page says so, and that a person should try again.
                assert "Try again when it is done" in answer.json, f"{rater}'s form was not acknowledged"
                refused.append(token)
            else:
                pytest.fail(f"{rater}'s form was refused {TRIES} times")
            sent.append((rater, token))
            if until:
                time.sleep(PACE_SECONDS * (1 + place / RATERS) / 2)
        return sent

    names = [f"Rater {number}" for number in range(RATERS)]
    with ThreadPoolExecutor(RATERS) as threads:
        pages = list(threads.map(lambda name: Tab(url).open("rate", f"rater={quote(name)}"), names))
        done = list(threads.map(work, names, pages, range(RATERS)))
    for page in pages:
        page.close()
    print(f"{len(refused)} times a form was refused for the moment")
    return [form for forms in done for form in forms]


@pytest.mark.parametrize(
    ("minutes", "times"), [(0.0, 2), pytest.param(MINUTES, 1, marks=pytest.mark.long)], ids=["twice at once", "paced"]
)
def test_twenty_raters_lose_nothing_and_store_nothing_twice(tmp_path: Path, minutes: float, times: int) -> None:
    database = tmp_path / "raters.duckdb"
    store = Store(database)
    for number in range(2 + round(2 * GAMES_A_MINUTE * minutes)):
        add_evaluated(store, game(number), source_name=f"{number}.json")
    store.close()
    with serving(database) as server, ThreadPoolExecutor(1) as beside:
        until = time.monotonic() + 60 * minutes if minutes else 0.0
        importing = beside.submit(import_until, database, tmp_path / "games", until)
        # Each form is sent twice, as a browser does that had no answer yet.
        sent = submit_all(server.url, times=times, until=until)
        imported = importing.result()
    assert len(sent) >= RATERS
    ratings, games = store.ratings.all(), store.transcripts.ids()
    store.close()
    print(f"{len(sent)} forms by {RATERS} raters, {imported} games imported meanwhile")
    assert len(games) == 2 + round(2 * GAMES_A_MINUTE * minutes) + imported
    assert sorted(zip(ratings["rater"], ratings["comment"], strict=True)) == sorted(sent)
    assert not ratings.duplicated(["transcript_id", "rater"]).any()
