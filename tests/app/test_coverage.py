"""What a score rests on stands beside it on every page, in every report and in the terminal."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from evaluation.cli.main import app as command_line
from evaluation.score import coverage_words
from evaluation.store import Store
from evaluation.transcript import Transcript, Vote
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables
from tests.games import game_of

# One reference that the record settles, and one that it cannot.
SAID = [("Ann", "Ben voted for Cid in round 1."), ("Ben", "Cid voted for Ann in round 2, didn't he."), ("Cid", "Well.")]


def a_game(name: str) -> Transcript:
    said = [(who, f"{text} {name}.") for who, text in SAID]
    players = {key: {"role": "villager", "alignment": "town"} for key in ("Ann", "Ben", "Cid")}
    return game_of(said, players, game_id=name, round=3, votes=(Vote(round=1, voter="Ben", target="Cid"),))


def test_one_text_beside_every_score(store: Store, database: Any, open_page: Any, words: Any, table: Any) -> None:
    store.iterations.create("v1")
    store.iterations.create("v2", parent="v1")
    for number in range(3):
        for name in ("v1", "v2"):
            add_evaluated(store, a_game(f"{name}-{number}"), source_name="x.json", iteration=name)
    game = a_game("v2-0")
    one = coverage_words(store.results.load(game.id)["memory_accuracy"])
    assert one.startswith("1 of 2 references to the past settled")
    assert one.endswith("low evidence")
    three = "3 of 6 references to the past settled, low evidence"
    cell = open_page("games", transcript=game.id).button(key="metric_memory_accuracy").label
    assert cell.endswith("≥ 80\u00a0% · low evidence")
    assert one in words(open_page("games", transcript=game.id, show="Ledger", metric="memory_accuracy"))
    assert "6 of 12 references to the past settled" in words(open_page("trends"))
    *_, tests, rests = tables(open_page(panel="Numbers"))
    assert [*tests] == ["Metric", "Effect size d", "p", "p after Holm", "Paired p", "Would show from"]
    assert all(three in rests.loc[rests["Metric"] == "Memory accuracy", side].item() for side in ("Before", "After"))
    run = CliRunner()
    expected = {("iterations",): three, ("compare", "v1", "v2"): three, ("show", game.id): one}
    for arguments, words_of_it in expected.items():
        assert words_of_it in run.invoke(command_line, [*arguments, "--db", str(database)]).stdout
    board = json.loads(run.invoke(command_line, ["iterations", "--format", "json", "--db", str(database)]).stdout)
    assert board["iterations"][1]["means"]["memory_accuracy"]["coverage"] == {
        "settled": 3,
        "considered": 6,
        "is_low_evidence": True,
    }
