"""The trend figure: what it draws, and that untrusted text stays text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.app_pages.trends.data import chart_targets
from dashboard.shared.charts.metric_charts import MOST_DOTS, escaped_label, games_of_dots, trend_alt, trend_figure
from evaluation.rubric.definitions import STRATEGIC_DEPTH
from evaluation.score import MetricDefinition


def points(*rows: tuple[int, str, float | None]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {"metric": "strategic_depth", "position": place, "iteration": name, "game": f"game {n}", "score": score}
            for n, (place, name, score) in enumerate(rows)
        ],
        columns=["metric", "position", "iteration", "game", "score"],
    )
    return frame.astype({"score": float})


def drawn(
    frame: pd.DataFrame,
    definition: MetricDefinition = STRATEGIC_DEPTH,
    limit: float = 60.0,
    changes: Mapping[str, str] = MappingProxyType({}),
) -> go.Figure:
    """The figure of one metric."""
    name = definition.name
    return trend_figure(frame.assign(metric=name), {name: definition}, {name: limit}, changes)


THREE_AND_TWO = points((1, "v1", 50.0), (1, "v1", 60.0), (1, "v1", 70.0), (2, "v2", 80.0), (2, "v2", None))


def test_every_scored_game_is_a_dot_and_every_iteration_a_mean() -> None:
    dots, means = drawn(THREE_AND_TWO, limit=60.0).data
    assert list(dots.y) == [50.0, 60.0, 70.0, 80.0]
    # (50 + 60 + 70) / 3 = 60; the pending game of v2 stays out of its mean of 80.
    assert list(means.y) == [60.0, 80.0]
    assert list(means.x) == [1, 2]
    assert "of 3 games" in means.text[0]
    assert "of 1 game" in means.text[1]


def test_a_row_has_the_whole_scale_with_goals_dotted_and_decisions_by_the_names() -> None:
    frame = points((1, "v1", 95.0), (2, "v2", 99.0)).assign(metric="strategic_depth")
    definitions = {"strategic_depth": STRATEGIC_DEPTH}
    figure = trend_figure(frame, definitions, {}, goals={"strategic_depth": 70.0}, fates={"v2": "✓ kept"})
    low, high = figure.layout.yaxis.range
    assert low < 0.0 < 100.0 < high
    assert [(one.y0, one.line.dash) for one in figure.layout.shapes if one.type == "line"] == [(70.0, "dot")]
    assert "> 70 %" in [note.text for note in figure.layout.annotations]
    assert list(figure.layout.xaxis.ticktext) == ["v1", "v2<br>✓ kept"]
    # Without it a press is only told once Streamlit has drawn the chart a second time.
    assert figure.layout.clickmode == "event+select"


def test_the_line_of_means_breaks_where_an_iteration_has_no_score() -> None:
    frame = points((1, "v1", 50.0), (2, "v2", None), (3, "v3", 80.0)).assign(transcript_id=["a", "b", "c"])
    means = drawn(frame).data[1]
    assert list(means.x) == [1, 2, 3]
    assert [None if math.isnan(one) else one for one in means.y] == [50.0, None, 80.0]
    assert not means.connectgaps
    # Each point opens its own iteration, also those after the gap.
    opened = chart_targets(frame, ["strategic_depth"])["mean:strategic_depth"]
    assert [one.iteration for one in opened] == ["v1", "v2", "v3"]
    assert [list(trace.y) for trace in drawn(points((1, "v1", None))).data] == [[], []]


def test_the_line_passes_by_what_was_reverted_and_a_missing_score_says_why() -> None:
    frame = points((1, "v1", 50.0), (2, "v2", 20.0), (3, "v3", None), (4, "v4", 80.0), (5, "v5", None))
    frame = frame.assign(metric="strategic_depth", status=["failed", "failed", "not_applicable", "passed", "pending"])
    definitions = {"strategic_depth": STRATEGIC_DEPTH}
    figure = trend_figure(frame, definitions, {}, aside={"v2", "v3"})
    # v2 and v3 were reverted: v4 builds on v1.
    assert [shape.path for shape in figure.layout.shapes] == ["M1,50.0L4,80.0"]
    means = figure.data[1]
    assert [symbol.endswith("open") for symbol in means.marker.symbol] == [False, True, True, False, False]
    assert means.y[1] == 20.0
    reasons = {note.text: note.x for note in figure.layout.annotations}
    assert (reasons["not<br>applicable"], reasons["pending"]) == (3, 5)
    # Between iterations that build on each other, a gap stays a gap.
    assert trend_figure(frame, definitions, {}).layout.shapes[0].path == "M1,50.0L2,20.0M4,80.0"


def test_means_carry_their_interval_over_games() -> None:
    means = drawn(THREE_AND_TWO, limit=60.0).data[1]
    # Three games, mean 60, sd 10: 60 +- 4.302653 * 10 / sqrt(3); one game has no interval.
    assert list(means.error_y.array) == pytest.approx([24.8414, 0.0], abs=1e-4)
    assert "35.2 to 84.8" in means.text[0]
    assert "one value has no interval" in means.text[1]


def test_many_games_share_dots_and_each_opens_the_lowest_of_them() -> None:
    # Scores 0, 0.02, 0.04 ... 40.02 of one iteration: of 51 places from the lowest to the highest each has a dot.
    scores = [place / 50 for place in range(MOST_DOTS + 2)]
    many = points(*((1, "v1", score) for score in reversed(scores)))
    kept = games_of_dots(many)
    dots, means = drawn(many, limit=60.0).data
    assert kept["dots"].sum() == len(scores)
    assert list(dots.y) == kept["score"].tolist()
    assert len(dots.y) == 51
    assert set(dots.x) == {1}
    # The lowest place takes what lies below half of a fiftieth: 0 to 0.40, 21 games, the last one that was added first.
    assert dots.text[0] == "21 games, 0.0\u00a0% to 0.4\u00a0%"
    assert kept["game"].iloc[0] == f"game {len(scores) - 1}"
    assert means.y == pytest.approx((sum(scores) / len(scores),))


def test_names_cannot_bring_markup_into_the_chart() -> None:
    hostile = '<a href="https://evil.example">v1</a>'
    figure = drawn(points((1, hostile, 50.0)), changes={hostile: hostile})
    assert "<" not in figure.layout.xaxis.ticktext[0]
    assert "changed: &lt;a" in figure.data[1].text[0]
    assert escaped_label("<b>&\x00", 40) == "&lt;b&gt;&amp;"


def test_the_figure_is_told_in_words_without_names() -> None:
    words = trend_alt(THREE_AND_TWO, {"strategic_depth": STRATEGIC_DEPTH}, {"strategic_depth": 60.0})
    assert words.replace("\u00a0", " ") == (
        "Strategic depth over iterations, threshold at least 60 %. "
        "iteration 1: mean 60.0 % of 3 games; iteration 2: mean 80.0 % of 1 game."
    )
