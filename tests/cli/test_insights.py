"""``dramaturg insights``: the figures of one game."""

from __future__ import annotations

import json

from tests.cli.conftest import Run, WriteGame


def test_json_holds_every_group_and_what_is_unknown_is_null(run: Run, write_game: WriteGame) -> None:
    run("import", str(write_game()))
    done = run("insights", "game-1", "--format", "json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["transcript"]["game_id"] == "game-1"
    metrics = found["metrics"]
    assert set(metrics) == {"behavioral", "memory", "network", "cost"}
    assert metrics["behavioral"]["messages_per_agent"] == {"Ann": 2, "Ben": 2, "Cid": 2}
    # Each message answers the one before: Ben to Ann, Cid to Ben, Ann to Cid, Ben to Ann, Cid to Ben.
    pairs = {(one["sender"], one["receiver"]): one["messages"] for one in metrics["behavioral"]["interaction_matrix"]}
    assert pairs == {("Ben", "Ann"): 2, ("Cid", "Ben"): 2, ("Ann", "Cid"): 1}
    assert (metrics["network"]["is_connected"], metrics["network"]["diameter"]) == (True, 1)
    assert metrics["memory"]["total_reflections"] is None
    assert (metrics["cost"]["estimated_cost_usd"], metrics["cost"]["api_calls"]) == (1.0, None)


def test_table_and_markdown_say_it_in_words(run: Run, write_game: WriteGame) -> None:
    run("import", str(write_game()))
    table = run("insights", "game-1").stdout
    for part in ("Who addresses whom", "3 of 6 possible", "all linked", "Observations", "not known", "1.0000 USD"):
        assert part in table
    markdown = run("insights", "game-1", "--format", "markdown").stdout
    assert "## Players" in markdown
    assert "| `Ann` | 2 | 1 of 2 | 1 of 2 |" in markdown


def test_an_unknown_game_is_refused(run: Run) -> None:
    done = run("insights", "nobody")
    assert done.exit_code == 2
    assert "nobody" in done.stderr
