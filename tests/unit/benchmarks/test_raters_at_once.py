"""Twenty raters at a real server at once: every form is stored once, under the name of whoever sent it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.raters import RATERS, submit_all, tally
from benchmarks.startup import serving
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.scoring import add_evaluated

ROUNDS = 1


def game(number: int) -> Transcript:
    said = [("Alpha", f"I suspect Bravo in game {number}"), ("Bravo", "Why do you say that, Alpha?")]
    return Transcript(
        game_id=f"game {number}",
        source_format="native",
        players=(Player(name="Alpha"), Player(name="Bravo")),
        messages=tuple(
            Message(id=f"m{place}", index=place, speaker=who, text=text) for place, (who, text) in enumerate(said)
        ),
    )


def test_twenty_raters_at_once_lose_nothing_and_store_nothing_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "raters.duckdb")
    for number in range(ROUNDS + 1):
        add_evaluated(store, game(number), source_name=f"{number}.json")
    store.close()
    raters = [f"Rater {number}" for number in range(RATERS)]
    with serving(tmp_path / "raters.duckdb") as server:
        # Each form is sent twice, as a browser does that had no answer yet.
        sent = asyncio.run(submit_all(server.url, raters, ROUNDS, times=2))
    found = tally(store, sent)
    store.close()
    assert (found.sent, found.lost, found.duplicated, found.foreign) == (RATERS * ROUNDS, 0, 0, 0)
