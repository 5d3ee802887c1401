"""Where a metric loses its points: side, players and messages, worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from evaluation.comparison.movers import find_losses
from evaluation.store import Store
from evaluation.workflows.iterations import stored_losses
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

SIDES = {("g", "Ann"): "mafia", ("g", "Ben"): "town", ("g", "Cid"): "town"}


def row(
    player: str | None, *, counts: bool, metric: str = "role_consistency", game: str = "g", number: int = 0
) -> dict:
    where = {"transcript_id": game, "game": f"game {game}", "metric": metric, "message_id": f"m{number}"}
    return where | {"player": player, "numerator": float(counts), "denominator": 1.0, "reason": "because"}


def test_the_side_the_players_and_the_messages_that_lose_most() -> None:
    # 10 rows: Mafia (Ann) loses 3 of 4, town 1 of 6 (Ben). Each row weighs 10 points.
    rows = [row("Ann", counts=number == 0, number=number) for number in range(4)]
    rows += [row("Ben", counts=number != 4, number=number) for number in range(4, 8)]
    rows += [row("Cid", counts=True, number=number) for number in range(8, 10)]
    [losses] = find_losses(pd.DataFrame(rows), SIDES).values()
    assert (losses.side.name, losses.side.lost, losses.side.score) == ("mafia", 30.0, 25.0)
    assert [(one.name, one.lost) for one in losses.players] == [("Ann", 30.0), ("Ben", 10.0)]
    assert losses.words == "Most is lost by Mafia, which reaches 25 %, and by Ann (30.0 points) and Ben (10.0 points)."
    assert [example.message_id for example in losses.examples] == ["m1", "m2", "m3"]


def test_without_sides_or_losses_nothing_is_named() -> None:
    rows = pd.DataFrame([row("Ann", counts=False), row("Ann", counts=True)])
    assert find_losses(rows, {})["role_consistency"].side is None
    # One side alone has nothing to be compared with.
    assert find_losses(rows, SIDES)["role_consistency"].side is None
    assert find_losses(pd.DataFrame([row("Ann", counts=True)]), SIDES) == {}
    assert find_losses(rows.iloc[:0], SIDES) == {}


def test_what_fails_in_a_stored_iteration(tmp_path) -> None:
    store = Store(tmp_path / "games.duckdb")
    lines = [
        ("Ann", "The weather is nice"),
        ("Ben", "I suspect Ann, because her story about the vote changed twice"),
    ] * 3
    store.iterations.create("v1")
    add_evaluated(store, game_of(lines, game_id="dull"), source_name="dull.json", iteration="v1")
    losses = stored_losses(store, "v1")
    assert "anti_repetition" in losses
    depth = losses["strategic_depth"]
    # Three of six messages hold no keyword, all of them Ann's.
    assert [(one.name, one.lost) for one in depth.players] == [("Ann", pytest.approx(50.0))]
    assert {example.text for example in depth.examples} == {"The weather is nice"}
    assert all(example.game.startswith("Game 1 · ") for example in depth.examples)
    store.close()
