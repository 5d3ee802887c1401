"""The Trends page: every metric over iterations, honest about what is missing."""

from __future__ import annotations

import json

import pandas as pd

from dashboard.app_pages.trends import data

COHERENCE = 4
"""The trace of its games: two traces a metric, games and means."""


def figure(app, index: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[index].proto.spec)


def test_the_latest_iteration_is_set_beside_its_reference_not_the_one_before() -> None:
    rows = [("v1", 1, 50.0, 1.0), ("v2", 2, 90.0, 2.0), ("v2", 2, 90.0, 3.0), ("v3", 3, 10.0, 9.0)]
    rows += [("v4", 4, 80.0, 1.5)]
    scores = pd.DataFrame(rows, columns=["iteration", "position", "score", "cost"])
    points = scores.assign(metric="strategic_depth", status="passed")
    references = {"v2": "v1", "v3": "v2", "v4": "v2"}
    assert data.sentence(points, {"strategic_depth": 60.0}, references) == (
        "v4 reaches 1 of 1 threshold, as many as v2",
        "Lower than v2 on Strategic depth; the Overview tells what could be luck.",
    )
    costs = points.assign(metric="cost_usd", score=scores["cost"])
    # v2: (2.00 + 3.00) / 2
    assert [one.replace("\u00a0", " ") for one in data.cost_sentence(costs, references)] == [
        "v4 costs 1.50 USD a game, less than v2 (2.50 USD a game).",
        "1 of 1 game is below the goal of 2 USD, none above 3 USD, which fails a game.",
    ]
    unknown = costs.assign(score=costs["score"].where(costs["iteration"] != "v4"))
    partly = pd.concat([costs, costs.tail(1).assign(score=float("nan"))])
    assert "v4 costs 1.50 USD a game, known of 1 of 2 games," in data.cost_sentence(partly, references)[0].replace(
        "\u00a0", " "
    )
    assert data.cost_sentence(unknown, references)[0] == "The cost of v4 is not recorded."
    assert data.cost_sentence(costs.head(0), references)[0] == "These games belong to no iteration."


def test_games_of_no_iteration_are_shown_on_request(open_page, filled) -> None:
    app = open_page("trends")
    assert len(figure(app)["data"][COHERENCE]["text"]) == 4
    app.toggle[0].set_value(True).run()
    assert len(figure(app)["data"][COHERENCE]["text"]) == 5
