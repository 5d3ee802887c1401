"""The Trends page: every metric over iterations, honest about what is missing."""

from __future__ import annotations

import json

from dashboard.app_pages.trends import data
from evaluation.workflows.comparisons import side_scores
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import drawn


def figure(app, index: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[index].proto.spec)


def test_every_metric_has_a_chart_with_counts_and_words(open_page, filled, words) -> None:
    app = open_page("trends")
    assert not app.exception
    assert len(app.get("plotly_chart")) == 7
    said = words(app)
    assert "4 games in 2 iterations" in said
    # Engagement: two of the four games in iterations are rated.
    assert "2 games in 2 iterations · 2 pending, not drawn · 2 ratings · at least 3 of 5" in said
    (element,) = [chart for chart in app.get("plotly_chart") if "Engagement" in str(chart.proto)]
    assert "iteration 1: mean 3.0 of 5 of 2 games; iteration 2: no score" in str(element.proto).replace(
        "\\302\\240", " "
    )
    assert [one.proto.label for one in app.get("download_button")] == ["Download the data (CSV)"]


def test_games_of_no_iteration_are_shown_on_request(open_page, filled) -> None:
    app = open_page("trends", metrics="Conversation coherence")
    assert len(figure(app)["data"][0]["text"]) == 4
    app.toggle[0].set_value(True).run()
    assert len(figure(app)["data"][0]["text"]) == 5


def test_the_same_numbers_as_a_table(open_page, filled, table) -> None:
    app = open_page("trends", metrics="Engagement")
    app.segmented_control(key="as").set_value("Table").run()
    assert not app.exception
    assert "3.0 of 5" in table(app)
    assert "no score" in table(app)


def test_only_games_of_no_iteration(open_page, store, words, small_game) -> None:
    add_evaluated(store, small_game("only"), source_name="only.json")
    assert "No game belongs to an iteration yet" in words(open_page("trends"))


def test_all_metrics_at_once(open_page, filled, table) -> None:
    app = open_page("trends", **{"as": "Heat map"})
    assert not app.exception
    heat = json.loads(drawn(app)[0].proto.json)
    assert heat["iterations"] == ["1 Baseline prompt", "2 Shorter prompt"]
    assert heat["rows"][0]["label"] == "Memory accuracy"
    # Engagement: (4 + 2) / 2 = 3.0 against 3.0 in the first iteration, nobody rated the second.
    cells = heat["rows"][6]["cells"]
    assert [cell["text"].replace("\u00a0", " ") for cell in cells] == ["✓ 3.0 of 5", "no score"]
    assert [(cell["color"], cell["depth"], cell["mark"]) for cell in cells] == [("green", 10, 0), ("gray", 10, None)]
    assert "✓ 3.0 of 5" in table(app)


def test_the_range_of_iterations_stands_in_the_url(open_page, filled, words) -> None:
    filled.iterations.create("Third", change="Longer")
    app = open_page("trends", range="1", metrics="Conversation coherence")
    assert not app.exception
    app = open_page("trends", metrics="Conversation coherence")
    app.slider(key="range").set_value((2, 3)).run()
    assert len(figure(app)["data"][0]["text"]) == 1
    assert "What each iteration changed" in [one.label for one in app.expander]


def test_personas_over_iterations_and_runs(open_page, filled, words, table, run_of) -> None:
    assert "No agent that speaks in these iterations was evaluated yet" in words(
        open_page("trends", **{"as": "Personas"})
    )
    for score in (6, 3):
        run_of(filled, "alpha", score)
    app = open_page("trends", **{"as": "Personas"})
    assert not app.exception
    # Adherence and fluency are judged message by message; each game is a dot.
    assert "4 games in 2 iterations" in words(app)
    drift = next(chart for chart in app.get("plotly_chart") if "run 2" in chart.proto.spec)
    lines = {line["name"]: line for line in json.loads(drift.proto.spec)["data"]}
    first, second = lines["Adherence"]["y"]
    assert 9 > first > second > 0
    assert f"{second:.1f} ({second - first:+.1f})" in table(app, -1)


def test_cost_cache_raters_sides_and_verdicts_are_charted_beside_the_metrics(open_page, filled, words) -> None:
    app = open_page("trends", **{"as": "Cost and verdicts"})
    assert not app.exception
    said = words(app)
    for heading in ("Cost per game", "Cache hit rate", "Raters per game", "Verdicts"):
        assert heading in said
    # 1.50 USD in each of four games, of which three have no or one rater and a cache hit rate of 80 %.
    assert "at most 3.00 USD" in said
    points = data.beside_points(filled)
    cost = points[(points["metric"] == "cost_usd") & (points["position"] == 1)]
    assert cost["score"].tolist() == [1.5, 1.5, 1.5]
    raters = points[(points["metric"] == "raters") & (points["position"] == 1)]
    assert raters["score"].tolist() == [1, 1, 0]
    counts = data.verdict_counts(filled).set_index("iteration")
    assert counts.loc["Baseline prompt", ["passed", "failed", "pending", "inapplicable"]].sum() == 3
    alternatives = [str(chart.proto) for chart in app.get("plotly_chart")]
    assert any("Verdicts over iterations" in one for one in alternatives)


def test_role_consistency_by_side_adds_up_to_the_whole(store, filled) -> None:
    sides = side_scores(filled)
    assert {side for _, side in sides} == {"mafia", "town"}
    for transcript_id in {game for game, _ in sides}:
        own = [score for (game, _), score in sides.items() if game == transcript_id]
        whole = filled.results.load(transcript_id)["role_consistency"].score
        assert whole is not None
        assert min(own) <= whole <= max(own)


def test_what_no_game_records_is_said_not_drawn(open_page, store, words, small_game) -> None:
    game = small_game("free").model_copy(update={"cost": None})
    store.iterations.create("v1")
    add_evaluated(store, game, source_name="free.json", iteration="v1")
    said = words(open_page("trends", **{"as": "Cost and verdicts"}))
    assert "Not recorded in any of these games: cost, cache hit rate" in said
    assert "Cost per game" not in said
