"""From the store's tables to games: order, missing numbers, transcripts of no iteration."""

from __future__ import annotations

import pandas as pd

from evaluation.iterations import games_by_iteration, metrics_by_transcript
from evaluation.score import Status


def summaries() -> pd.DataFrame:
    columns = ["transcript_id", "game_id", "iteration", "position", "total_usd", "cache_hit_rate"]
    rows = [
        ("c", "game-c", "two", 0, 1.25, 0.5),
        ("b", "game-b", "one", 1, None, None),
        ("a", "game-a", "one", 0, 0.0, 0.0),
        ("d", "game-d", None, None, None, None),
    ]
    return pd.DataFrame(rows, columns=columns)


def scores() -> pd.DataFrame:
    rows = [
        ("a", "coherence", 71.0, "passed", 70.0),
        ("a", "engagement", None, "pending", 3.0),
        ("b", "coherence", 12.0, "failed", 70.0),
    ]
    return pd.DataFrame(rows, columns=["transcript_id", "metric", "score", "status", "threshold"])


def test_games_come_by_iteration_in_the_order_in_which_they_were_added() -> None:
    games = games_by_iteration(summaries(), metrics_by_transcript(scores()))
    assert {name: [game.transcript_id for game in held] for name, held in games.items()} == {
        "one": ["a", "b"],
        "two": ["c"],
    }
    assert games["two"][0].metrics == {}


def test_missing_numbers_become_none_and_zero_stays_zero() -> None:
    first, second = games_by_iteration(summaries(), metrics_by_transcript(scores()))["one"]
    assert (first.total_usd, first.cache_hit_rate) == (0.0, 0.0)
    assert (second.total_usd, second.cache_hit_rate) == (None, None)


def test_scores_keep_their_status_and_the_threshold_they_were_judged_by() -> None:
    metrics = metrics_by_transcript(scores())
    assert metrics["a"]["coherence"][:3] == (Status.PASSED, 71.0, 70.0)
    assert metrics["a"]["engagement"][:3] == (Status.PENDING, None, 3.0)


def test_pandas_own_missing_value_is_understood_too() -> None:
    table = scores().convert_dtypes()
    assert metrics_by_transcript(table)["a"]["engagement"].score is None
