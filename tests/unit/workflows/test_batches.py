"""Games are scored and stored in batches, and each of them fares as if it had come alone."""

import json
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import generate
from evaluation.engines.scoring import evaluate_transcript
from evaluation.readers import read_uploads
from evaluation.readers.import_report import ImportOutcome
from evaluation.rubric.controls import WITHOUT_CHANCE
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import Tally, evaluate_paths, score_games, store_games

COUNT = 20
DOCUMENTS = list(generate.generate(COUNT, rounds=1))


def read(document: dict[str, object]) -> Transcript:
    [result] = read_uploads([("game.json", json.dumps(document).encode())])
    assert result.transcript is not None
    return result.transcript


GAMES = [read(document) for document in DOCUMENTS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "games"
    place.mkdir()
    for number, document in enumerate(DOCUMENTS):
        (place / f"{number:02}.json").write_text(json.dumps(document), encoding="utf-8")
    return place


def quiet() -> Tally:
    return Tally(note=lambda _: None)


def rows_of(store: Store) -> list[object]:
    # As text: reading times with a zone into Python takes a package that Dramaturg does without.
    queries = [
        "SELECT t::text FROM (SELECT * EXCLUDE (added_at) FROM transcripts) t ORDER BY t.position",
        "SELECT m::text FROM messages m ORDER BY transcript_id, position",
        "SELECT v::text FROM votes v ORDER BY transcript_id, position",
        "SELECT l::text FROM ledger l ORDER BY result_id, position",
        "SELECT metric, transcript_id, digest FROM metric_results ORDER BY result_id",
    ]
    with store.unit() as cursor:
        found = [cursor.execute(query).fetchall() for query in queries]
    assert all(found)
    return [*found]


def test_one_process_two_processes_and_games_one_by_one_store_the_same_rows(folder: Path, tmp_path: Path) -> None:
    stored = []
    for jobs in (1, 2):
        store = Store(tmp_path / f"{jobs}.duckdb")
        assert len(list(evaluate_paths([folder], quiet(), store=store, iteration="v1", jobs=jobs))) == COUNT
        stored.append(rows_of(store))
    alone = Store(tmp_path / "alone.duckdb")
    alone.iterations.create("v1")
    for number, game in enumerate(GAMES):
        store_games(alone, [(*score_games([game], thresholds={}), f"games/{number:02}.json")], iteration="v1")
    assert stored[0] == stored[1] == rows_of(alone)


def test_known_deleted_and_new_games_of_a_batch_stand_in_the_order_of_the_files(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "d.duckdb")
    packed = score_games([GAMES[1], GAMES[4], GAMES[5], GAMES[7]], thresholds={})
    store_games(store, [(game, "f") for game in packed])
    store.deletions.delete([GAMES[7].id, GAMES[4].id], who="Ada")
    tally = quiet()
    found = list(evaluate_paths([folder], tally, store=store, iteration="v1"))
    assert store.transcripts.ids("v1") == [game.id for game in GAMES]
    assert [number for number, one in enumerate(found) if not one.is_new] == [1, 4, 5, 7]
    assert [number for number, one in enumerate(found) if one.is_restored] == [4, 7]
    outcomes = Counter(line.outcome for line in tally.lines)
    assert outcomes == {ImportOutcome.STORED: COUNT - 4, ImportOutcome.KNOWN: 4}


def test_a_long_game_is_packed_as_it_is_scored_without_being_packed() -> None:
    [document] = generate.generate(1, rounds=3, pace=40)
    game = read(document)
    assert len(game.discussion) > 2_000
    plain = evaluate_transcript(game)
    [packed] = score_games([game], thresholds={})
    again = pickle.loads(pickle.dumps(packed))
    store = Store(":memory:")
    store_games(store, [(again, "f")])
    assert store.results.load(game.id) == {
        name: replace(one, control=WITHOUT_CHANCE.get(name, one.control)) for name, one in plain.metrics.items()
    }
    assert again.verdict == plain.verdict


KILLED = """
import os, signal, sys
from pathlib import Path
from evaluation.store import Store
from evaluation.workflows.scoring import Tally, evaluate_paths

tally = Tally(note=print)
for number, one in enumerate(evaluate_paths([Path(sys.argv[1])], tally, store=Store(sys.argv[2])), start=1):
    print(one.transcript.id, flush=True)
    if number == 17:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_told_of_is_stored_when_the_process_is_killed(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "d.duckdb"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(place)], capture_output=True, text=True, check=False
    )
    told = done.stdout.split()
    assert (done.returncode, len(told)) == (-9, 17), done.stderr
    store = Store(place)
    assert told == store.transcripts.ids()[:17]
    assert len(store.results.scores()) == 7 * len(store.transcripts.ids())
    assert len(list(evaluate_paths([folder], quiet(), store=store))) == len(store.transcripts.ids()) == COUNT


def test_of_many_games_that_wait_for_an_answer_three_are_listed(tmp_path: Path) -> None:
    said = [{"nick": ("Ann", "Ben")[n % 2], "body": f"It is turn {n} of the talk."} for n in range(6)]
    for number in range(5):
        (tmp_path / f"{number}.json").write_text(json.dumps({"talk": {"said": said[number % 2 :]}}))
    rows = "".join(f"{('Ann', 'Ben')[n % 2]},It is turn {n} of the talk.\n" for n in range(6))
    (tmp_path / "table.csv").write_text(f"col1,col2\n{rows}")
    (tmp_path / "other.txt").write_text("nothing")
    notes: list[str] = []
    tally = Tally(note=notes.append)
    assert list(evaluate_paths([tmp_path], tally)) == []
    waiting = [note for note in notes if ".json: " in note and "Is that what the file holds?" in note]
    assert (tally.refused, len(waiting), len(notes)) == (7, 3, 5)
    assert waiting[-1].endswith(f"Further games of {tmp_path.name} that ask this are not listed.")
    [other] = [note for note in notes if "table.csv" in note]
    assert other.startswith("question:")
    # One option answers both of these, and they ask different things.
    for number, reason in enumerate(["Timeout of 60 s reached"] * 4 + ["an exception"]):
        talk = [("Ann", f"It is talk {number}."), ("Ben", "So it is.")]
        messages = [{"source": who, "type": "TextMessage", "content": words} for who, words in talk]
        (tmp_path / f"broken{number}.json").write_text(json.dumps({"messages": messages, "stop_reason": reason}))
    assert list(evaluate_paths([tmp_path], Tally(note=notes.append))) == []
    broken = [note for note in notes if "broken off by" in note]
    assert (len(broken), "an exception" in broken[-1]) == (4, True)
