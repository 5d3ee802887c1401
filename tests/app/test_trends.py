"""The Trends page: every metric over iterations, honest about what is missing."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd

from dashboard.app_pages.trends import data
from evaluation.judging.model_client.calls import CallRecord
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables
from tests.games import game_of

COHERENCE = 4
"""The trace of its games: two traces a metric, games and means."""


def figure(app, index: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[index].proto.spec)


def test_every_metric_has_a_row_of_one_chart_with_counts_and_words(open_page, filled, words, table) -> None:
    app = open_page("trends")
    assert not app.exception
    assert len(figure(app)["data"]) == 2 * 7
    said = words(app)
    first = "Shorter prompt reaches 2 of 7 thresholds, as many as Baseline prompt. "
    first += "Engagement waits for the rating of 1 game. "
    assert f"{first}Lower than Baseline prompt on Strategic depth; the Overview tells what could be luck." in said
    # Engagement: two of the four games in iterations are rated.
    assert "2 games in 1 iteration · 2 pending, not drawn · 2 ratings · at least 3 of 5" in said
    numbers = tables(app)[0]
    engagement = numbers[numbers["Metric"] == "Engagement"]
    assert engagement["Mean"].tolist() == ["3.0 of 5", "no score"]
    assert "Shorter prompt: cannot be decided yet\nShorter\n" in said


def test_the_latest_iteration_is_set_beside_its_reference_not_the_one_before() -> None:
    rows = [("v1", 1, 50.0, 1.0), ("v2", 2, 90.0, 2.0), ("v2", 2, 90.0, 3.0), ("v3", 3, 10.0, 9.0)]
    rows += [("v4", 4, 80.0, 1.5)]
    scores = pd.DataFrame(rows, columns=["iteration", "position", "score", "cost"])
    points = scores.assign(metric="strategic_depth", status="passed")
    references = {"v2": "v1", "v3": "v2", "v4": "v2"}
    assert data.sentence(points, {"strategic_depth": 60.0}, references) == (
        "v4 reaches 1 of 1 threshold, as many as v2. Lower than v2 on Strategic depth; the Overview tells what "
        "could be luck."
    )
    costs = points.assign(metric="cost_usd", score=scores["cost"])
    # v2: (2.00 + 3.00) / 2
    assert data.cost_sentence(costs, references).replace("\u00a0", " ") == (
        "v4 costs 1.50 USD a game, less than v2 (2.50 USD). 1 of 1 game is below the goal of 2 USD, none above 3 USD, "
        "which fails a game."
    )
    unknown = costs.assign(score=costs["score"].where(costs["iteration"] != "v4"))
    assert data.cost_sentence(unknown, references) == "The cost of v4 is not recorded."
    assert data.cost_sentence(costs.head(0), references) == "These games belong to no iteration."


def test_games_of_no_iteration_are_shown_on_request(open_page, filled) -> None:
    app = open_page("trends")
    assert len(figure(app)["data"][COHERENCE]["text"]) == 4
    app.toggle[0].set_value(True).run()
    assert len(figure(app)["data"][COHERENCE]["text"]) == 5


def test_the_range_of_iterations_stands_in_the_url(open_page, filled, words) -> None:
    for name in ("Third", "Fourth", "Fifth", "Sixth"):
        filled.iterations.create(name, change="Longer")
    assert not open_page("trends", range="1").exception
    app = open_page("trends")
    app.slider(key="range").set_value((2, 3)).run()
    assert len(figure(app)["data"][COHERENCE]["text"]) == 1


def test_personas_over_iterations(open_page, filled, words, run_of) -> None:
    empty = open_page("trends", trends="Cost and behaviour", agents_open="true")
    assert "No model was asked yet, and no agent was evaluated." in words(empty)
    # What has nothing in it is not shown.
    assert "Agents over iterations" not in [one.label for one in empty.expander]
    run_of(filled, "alpha", 6)
    app = open_page("trends", trends="Cost and behaviour", agents_open="true")
    assert not app.exception
    # Adherence and fluency are judged message by message; each game is a dot.
    assert "mean over the agents that speak in it" in words(app)


def test_cost_cache_and_sides_are_charted_beside_the_metrics(open_page, filled, words) -> None:
    app = open_page("trends", trends="Cost and behaviour")
    assert not app.exception
    said = words(app)
    assert "Shorter prompt costs 1.50 USD a game, about as much as Baseline prompt (1.50 USD)." in said.replace(
        "\u00a0", " "
    )
    titles = [note["text"] for note in figure(app)["layout"]["annotations"]]
    assert {"Cost per game", "Cache hit rate", "≤ 3 USD"} <= set(titles)
    points = data.beside_points(filled)
    cost = points[(points["metric"] == "cost_usd") & (points["position"] == 1)]
    assert cost["score"].tolist() == [1.5, 1.5, 1.5]


def test_games_without_cost_and_roles_leave_a_sentence_and_no_chart(open_page, store, words) -> None:
    game = game_of([("Ann", "I see."), ("Ben", "I see.")], source_format="plain-text")
    store.iterations.create("v1")
    add_evaluated(store, game, source_name="g.txt", iteration="v1")
    app = open_page("trends", trends="Cost and behaviour")
    assert not app.exception
    assert "Not recorded in any of these games: cost, cache hit rate, roles." in words(app)
    assert not app.get("plotly_chart")


def test_spending_by_model_and_honest_where_no_price_is_known(open_page, filled, words) -> None:
    empty = open_page("trends", trends="Cost and behaviour")
    assert "No model was asked yet" in words(empty)
    started = datetime(2026, 1, 1, tzinfo=UTC)
    common = {"purpose": "adherence", "attempt": 1, "started_at": started, "input_tokens": 100, "cached_tokens": 25}
    priced = {"model": "priced", "outcome": "answered", "output_tokens": 7, **common}
    own = {"model": "own", **common}
    ends = (("timeout", 9.0), ("answered", 1.0))
    filled.llm_calls.add([CallRecord(cost_usd=usd, seconds=took, **priced) for usd, took in ((0.5, 1.0), (0.25, 3.0))])
    filled.llm_calls.add([CallRecord(outcome=end, seconds=took, **own) for end, took in ends])
    app = open_page("trends", trends="Cost and behaviour")
    assert not app.exception
    figures = [one.value.replace("\u00a0", " ") for one in app.metric]
    assert figures == ["4", "0.75 USD", "400 / 14", "25 %"]
    models = next(one for one in tables(app) if "Failed" in one.columns)
    assert models["Model"].tolist() == ["priced", "own"]
    assert models["Median time"].tolist() == ["2.0 s", "1.0 s"]
    assert models["Failed"].tolist() == ["0", "1"]
    assert "The price of 1 call is not known" in words(app)


def test_behaviour_of_players_stands_beside_cost(open_page, filled, words) -> None:
    app = open_page("trends", trends="Cost and behaviour")
    assert "Who talks, and to whom" in words(app)
    (found,) = [one for one in tables(app) if "Most talkative" in one.columns]
    assert found["Iteration"].tolist() == ["Baseline prompt", "Shorter prompt"]
    one, two = found["Most talkative"]
    assert f"the most talkative one says {two} an even share of the words ({one})." in words(app)
    one, two = found["Words"]
    assert f"A game has {two} words (Baseline prompt: {one}); a player addresses " in words(app)
