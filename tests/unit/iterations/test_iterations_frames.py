"""From the store's tables to games: order, missing numbers, transcripts of no iteration."""

from __future__ import annotations

import pandas as pd

from evaluation.iterations.board import games_by_iteration


def summaries() -> pd.DataFrame:
    columns = ["transcript_id", "game", "iteration", "position", "total_usd", "cache_hit_rate"]
    rows = [
        ("c", "game-c", "two", 0, 1.25, 0.5),
        ("b", "game-b", "one", 1, None, None),
        ("a", "game-a", "one", 0, 0.0, 0.0),
        ("d", "game-d", None, None, None, None),
    ]
    return pd.DataFrame(rows, columns=columns)


def test_games_come_by_iteration_in_the_order_in_which_they_were_added() -> None:
    games = games_by_iteration(summaries(), {})
    ids = {name: [game.transcript_id for game in held] for name, held in games.items()}
    assert ids == {"one": ["a", "b"], "two": ["c"]}
    assert games["two"][0].metrics == {}
    # Missing numbers become None, and zero stays zero.
    first, second = games["one"]
    assert (first.total_usd, first.cache_hit_rate) == (0.0, 0.0)
    assert (second.total_usd, second.cache_hit_rate) == (None, None)
