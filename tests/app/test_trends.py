"""The Trends page: every metric over iterations, honest about what is missing."""

from __future__ import annotations

import json

from evaluation.samples import add_evaluated


def figure(app, index: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[index].proto.spec)


def test_an_empty_store_says_what_to_do(open_page, words) -> None:
    app = open_page("trends")
    assert not app.exception
    assert "No games yet" in words(app)


def test_every_metric_has_a_chart_with_counts(open_page, filled, words) -> None:
    app = open_page("trends")
    assert not app.exception
    assert len(app.get("plotly_chart")) == 7
    said = words(app)
    assert "4 games in 2 iterations" in said
    # Engagement: two of the four games in iterations are rated.
    assert "2 games in 2 iterations · 2 pending, not drawn · at least 3 of 5" in said


def test_charts_have_a_text_alternative(open_page, filled) -> None:
    app = open_page("trends")
    (element,) = [chart for chart in app.get("plotly_chart") if "Engagement" in str(chart.proto)]
    assert "iteration 1: mean 3.0 of 5 of 2 games; iteration 2: no score" in str(element.proto).replace(
        "\\302\\240", " "
    )


def test_metrics_are_chosen_by_the_url(open_page, filled) -> None:
    app = open_page("trends", metrics="Engagement")
    assert not app.exception
    assert len(app.get("plotly_chart")) == 1


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
