"""The trend figure: what it draws, and that untrusted text stays text."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.shared.charts.metric_charts import MOST_DOTS, escaped_label, games_of_dots, trend_alt, trend_figure
from evaluation.rubric.definitions import ENGAGEMENT, STRATEGIC_DEPTH


def points(*rows: tuple[int, str, float | None]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {"position": place, "iteration": name, "game": f"game {n}", "score": score}
            for n, (place, name, score) in enumerate(rows)
        ],
        columns=["position", "iteration", "game", "score"],
    )
    return frame.astype({"score": float})


THREE_AND_TWO = points((1, "v1", 50.0), (1, "v1", 60.0), (1, "v1", 70.0), (2, "v2", 80.0), (2, "v2", None))


def test_every_scored_game_is_a_dot_and_every_iteration_a_mean() -> None:
    dots, means = trend_figure(THREE_AND_TWO, STRATEGIC_DEPTH, 60.0).data
    assert list(dots.y) == [50.0, 60.0, 70.0, 80.0]
    # (50 + 60 + 70) / 3 = 60; the pending game of v2 stays out of its mean of 80.
    assert list(means.y) == [60.0, 80.0]
    assert list(means.x) == [1, 2]
    assert "of 3 games" in means.text[0]
    assert "of 1 game" in means.text[1]


def test_means_carry_their_interval_over_games() -> None:
    means = trend_figure(THREE_AND_TWO, STRATEGIC_DEPTH, 60.0).data[1]
    # Three games, mean 60, sd 10: 60 +- 4.302653 * 10 / sqrt(3); one game has no interval.
    assert list(means.error_y.array) == pytest.approx([24.8414, 0.0], abs=1e-4)
    assert "35.2 to 84.8" in means.text[0]
    assert "one value has no interval" in means.text[1]


def test_games_with_the_same_score_stand_side_by_side() -> None:
    dots = trend_figure(points((1, "v1", 50.0), (1, "v1", 50.0)), STRATEGIC_DEPTH, 60.0).data[0]
    assert len(set(dots.x)) == 2
    assert all(abs(x - 1) < 0.5 for x in dots.x)


def test_many_games_share_dots_and_each_opens_the_lowest_of_them() -> None:
    # Scores 0, 0.02, 0.04 ... 40.02 of one iteration: of 51 places from the lowest to the highest each has a dot.
    scores = [place / 50 for place in range(MOST_DOTS + 2)]
    many = points(*((1, "v1", score) for score in reversed(scores)))
    drawn = games_of_dots(many)
    dots, means = trend_figure(many, STRATEGIC_DEPTH, 60.0).data
    assert drawn["dots"].sum() == len(scores)
    assert list(dots.y) == drawn["score"].tolist()
    assert len(dots.y) == 51
    assert set(dots.x) == {1}
    # The lowest place takes what lies below half of a fiftieth: 0 to 0.40, 21 games, the last one that was added first.
    assert dots.text[0] == "21 games, 0.0\u00a0% to 0.4\u00a0%"
    assert drawn["game"].iloc[0] == f"game {len(scores) - 1}"
    assert means.y == pytest.approx((sum(scores) / len(scores),))


@pytest.mark.parametrize(("definition", "low", "high"), [(STRATEGIC_DEPTH, 0, 100), (ENGAGEMENT, 1, 5)])
def test_the_axis_is_the_whole_scale_of_the_metric(definition, low: float, high: float) -> None:
    bottom, top = trend_figure(points((1, "v1", 4.0)), definition, definition.threshold).layout.yaxis.range
    assert bottom < low < high < top
    assert top - bottom < 1.2 * (high - low)


def test_the_threshold_is_drawn_and_named() -> None:
    figure = trend_figure(THREE_AND_TWO, STRATEGIC_DEPTH, 65.0)
    failing_side, line = figure.layout.shapes
    assert (failing_side.y1, line.y0, line.y1) == (65.0, 65.0, 65.0)
    assert figure.layout.annotations[0].text == "≥ 65 %"


def test_without_any_score_the_figure_is_empty_but_has_its_iterations() -> None:
    figure = trend_figure(points((1, "v1", None)), STRATEGIC_DEPTH, 60.0)
    assert [len(trace.y) for trace in figure.data] == [0, 0]
    assert list(figure.layout.xaxis.ticktext) == ["v1"]


def test_more_names_than_fit_side_by_side_become_numbers() -> None:
    few = points(*((place, f"Prompt v{place}", 50.0) for place in range(1, 5)))
    many = points(*((place, f"Prompt v{place}", 50.0) for place in range(1, 7)))
    assert trend_figure(few, STRATEGIC_DEPTH, 60.0).layout.xaxis.ticktext[3] == "Prompt v4"
    assert list(trend_figure(many, STRATEGIC_DEPTH, 60.0).layout.xaxis.ticktext) == list("123456")


def test_names_cannot_bring_markup_into_the_chart() -> None:
    hostile = '<a href="https://evil.example">v1</a>'
    figure = trend_figure(points((1, hostile, 50.0)), STRATEGIC_DEPTH, 60.0)
    assert "<" not in figure.layout.xaxis.ticktext[0]
    assert escaped_label("<b>&\x00", 40) == "&lt;b&gt;&amp;"


def test_the_figure_is_told_in_words_without_names() -> None:
    words = trend_alt(THREE_AND_TWO, STRATEGIC_DEPTH, 60.0).replace("\u00a0", " ")
    assert words == (
        "Strategic depth over iterations, threshold at least 60 %. "
        "iteration 1: mean 60.0 % of 3 games; iteration 2: mean 80.0 % of 1 game"
    )


def test_zoom_survives_a_rerun_and_dragging_scrolls() -> None:
    layout = trend_figure(THREE_AND_TWO, STRATEGIC_DEPTH, 65.0).layout
    assert layout.uirevision == "kept"
    assert layout.dragmode is False
    assert not layout.xaxis.fixedrange
    assert not layout.yaxis.fixedrange


def test_what_changed_stands_above_its_iteration_as_inert_text() -> None:
    figure = trend_figure(THREE_AND_TWO, STRATEGIC_DEPTH, None, {"v2": "<a href='http://evil.example'>Shorter</a>"})
    (note,) = figure.layout.annotations
    assert note.x == 2
    assert note.text.startswith("Δ &lt;a")
    assert "<a" not in note.hovertext
    assert "changed: &lt;a" in figure.data[1].text[1]


def test_dots_of_engagement_tell_how_many_people_rated() -> None:
    frame = points((1, "v1", 3.0), (1, "v1", 4.0)).assign(raters=[2, 1])
    assert list(trend_figure(frame, ENGAGEMENT, 3.0).data[0].text) == [
        "game 0: 3.0 of 5, 2 raters",
        "game 1: 4.0 of 5, 1 rater",
    ]
