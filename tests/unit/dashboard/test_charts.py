"""Charts and rows of marks: what they draw, say in words, and open when they are clicked."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.app_pages.overview.why_messages_fail import COMMON, failure_atlas, rare_count, read_reason, trend_words
from dashboard.app_pages.trends.data import chart_targets
from dashboard.shared.charts.metric_charts import (
    ACCENT,
    MOST_DOTS,
    NEUTRAL,
    Steps,
    escaped_label,
    games_of_dots,
    trend_alt,
    trend_figure,
)
from dashboard.shared.clicked_marks import MarkTarget, read_mark
from dashboard.shared.queries import LOOSE
from evaluation.comparison.movers import Example, FailureReason, IterationFailures, MetricFailures
from evaluation.rubric.definitions import STRATEGIC_DEPTH
from evaluation.score import MetricDefinition
from evaluation.statistics.comparison import Measure, compare


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


def stepped(reference: str, *names: str) -> Steps:
    """A step from the reference to each iteration, which could be luck."""
    luck = compare({"strategic_depth": Measure([1.0, 2.0], [1.0, 2.0])})
    return {(reference, name): luck for name in names}


THREE_AND_TWO = points((1, "v1", 50.0), (1, "v1", 60.0), (1, "v1", 70.0), (2, "v2", 80.0), (2, "v2", None))


def test_every_scored_game_is_a_dot_and_every_iteration_a_mean() -> None:
    dots, means, figures = drawn(THREE_AND_TWO, limit=60.0).data
    assert list(dots.y) == [50.0, 60.0, 70.0, 80.0]
    # (50 + 60 + 70) / 3 = 60; the pending game of v2 stays out of its mean of 80.
    assert list(means.y) == [60.0, 80.0]
    assert list(means.x) == [1, 2]
    assert "of 3 games" in means.hovertext[0]
    assert "of 1 game" in means.hovertext[1]
    # In a line above the scale, where no threshold, line or dot strikes through them.
    assert list(figures.text) == ["60.0", "80.0"]
    assert set(figures.y) == {110.0}


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


def test_a_mean_at_chance_says_so_unless_its_step_is_beyond_luck() -> None:
    frame = points((1, "v1", 50.0), (2, "v2", 80.0)).assign(transcript_id=["a", "b"])
    at_chance = [(STRATEGIC_DEPTH.name, "v1"), (STRATEGIC_DEPTH.name, "v2"), ("coherence", "v2")]
    clear = compare({STRATEGIC_DEPTH.name: Measure([49.0, 50.0, 51.0], [79.0, 80.0, 81.0])})
    for steps, told in (({}, ["≈ 50.0", "≈ 80.0"]), ({("v1", "v2"): clear}, ["≈ 50.0", "▲ 80.0"])):
        figure = trend_figure(frame, {STRATEGIC_DEPTH.name: STRATEGIC_DEPTH}, {}, steps=steps, at_chance=at_chance)
        assert [list(one.text) for one in figure.data if one.name == "figure"] == [told]


def test_the_line_of_means_breaks_where_an_iteration_has_no_score() -> None:
    frame = points((1, "v1", 50.0), (2, "v2", None), (3, "v3", 80.0)).assign(transcript_id=["a", "b", "c"])
    means = drawn(frame).data[1]
    assert list(means.x) == [1, 2, 3]
    assert [None if math.isnan(one) else one for one in means.y] == [50.0, None, 80.0]
    assert not means.connectgaps
    # Each point opens its own iteration, also those after the gap.
    opened = chart_targets(frame, ["strategic_depth"])["mean:strategic_depth"]
    assert [one.iteration for one in opened] == ["v1", "v2", "v3"]
    assert [list(trace.y) for trace in drawn(points((1, "v1", None))).data[:2]] == [[], []]


def test_a_line_leads_from_each_reference_and_a_missing_score_says_why() -> None:
    frame = points((1, "v1", 50.0), (2, "v2", 20.0), (3, "v3", None), (4, "v4", 80.0), (5, "v5", None))
    frame = frame.assign(metric="strategic_depth", status=["failed", "failed", "not_applicable", "passed", "pending"])
    frame["reason"] = ["", "", "alignments unknown: name them", "", ""]
    definitions = {"strategic_depth": STRATEGIC_DEPTH}
    figure = trend_figure(frame, definitions, {}, aside={"v2", "v3"}, steps=stepped("v1", "v2", "v3", "v4"))
    # v2 and v3 were reverted: v4 builds on v1. What has no score has no line.
    assert [shape.path for shape in figure.layout.shapes] == ["M1,50.0L2,20.0", "M1,50.0L4,80.0"]
    means = figure.data[1]
    # As on all pages: a filled circle is a mean, an open one that of what is not built on.
    assert list(means.marker.symbol) == ["circle", "circle-open", "circle-open", "circle", "circle"]
    assert means.y[1] == 20.0
    figures = figure.data[2]
    assert list(figures.text) == ["50.0", "20.0", "no score", "80.0", "pending"]
    assert (figures.hovertext[2], figures.hoverinfo[2]) == ("no score: alignments unknown", "text")


def test_a_change_that_could_be_luck_is_a_gray_line_and_of_many_means_the_ends_are_written() -> None:
    frame = points(*((place, f"v{place}", 40.0 + place) for place in range(1, 11))).assign(metric="strategic_depth")
    definitions = {"strategic_depth": STRATEGIC_DEPTH}
    fates = {"v10": "✗ reverted"}
    for after, color, sign in (([2.0, 1.0, 3.0], NEUTRAL, ""), ([8.0, 9.0, 9.0], ACCENT, "▲ ")):
        step = {("v8", "v9"): compare({"strategic_depth": Measure([1.0, 2.0, 2.0], after)})}
        figure = trend_figure(frame, definitions, {}, aside={"v10"}, fates=fates, steps=step)
        [line] = figure.layout.shapes
        assert (line.path, line.line.color) == ("M8,48.0L9,49.0", color)
        assert f"against v8: +{sum(after) / 3 - 5 / 3:.1f}" in figure.data[1].hovertext[8]
        # The last one was reverted; names of this length still fit, beside the sign of the decision.
        assert figure.layout.xaxis.ticktext[9] == "v10<br>✗"
        assert (list(figure.data[2].x), list(figure.data[2].text)) == ([1, 9], ["41.0", f"{sign}49.0"])
    long = frame.assign(iteration="Prompt " + frame["iteration"])
    figure = trend_figure(long, definitions, {}, fates={"Prompt v10": "✗ reverted"})
    assert figure.layout.xaxis.tickangle == -45
    assert list(figure.layout.xaxis.ticktext) == [
        *(f"Prompt v{place}" for place in range(1, 10)),
        "Prompt v10 ✗",
    ]
    # Six of them fit in two lines each; games of no iteration are not drawn as a reverted one.
    few = pd.concat([long.head(4), points((5, LOOSE[0], 40.0), (6, LOOSE[1], 50.0)).assign(metric="strategic_depth")])
    figure = trend_figure(few, definitions, {}, aside={"Prompt v3", *LOOSE}, fates={"Prompt v3": "✗ reverted"})
    assert figure.layout.xaxis.ticktext[2:] == (
        "Prompt<br>v3<br>✗",
        "Prompt<br>v4",
        "none",
        "simulated",
    )
    assert list(figure.data[1].marker.symbol) == ["circle", "circle", "circle-open", "circle", "diamond", "diamond"]


def test_means_carry_their_interval_over_games() -> None:
    means = drawn(THREE_AND_TWO, limit=60.0).data[1]
    # Three games, mean 60, sd 10: 60 +- 4.302653 * 10 / sqrt(3); one game has no interval.
    assert list(means.error_y.array) == pytest.approx([24.8414, 0.0], abs=1e-4)
    assert "35.2 to 84.8" in means.hovertext[0]
    assert "one value has no interval" in means.hovertext[1]


def test_many_games_share_dots_and_each_opens_the_lowest_of_them() -> None:
    # Scores 0, 0.02, 0.04 ... 40.02 of one iteration: of 51 places from the lowest to the highest each has a dot.
    scores = [place / 50 for place in range(MOST_DOTS + 2)]
    many = points(*((1, "v1", score) for score in reversed(scores)))
    kept = games_of_dots(many)
    dots, means, _ = drawn(many, limit=60.0).data
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
    assert "<" not in figure.layout.xaxis.ticktext[0].replace("<br>", "")
    assert "changed: &lt;a" in figure.data[1].hovertext[0]
    assert escaped_label("<b>&\x00", 40) == "&lt;b&gt;&amp;"


def test_the_figure_is_told_in_words_without_names() -> None:
    words = trend_alt(THREE_AND_TWO, {"strategic_depth": STRATEGIC_DEPTH}, {"strategic_depth": 60.0})
    assert words.replace("\u00a0", " ") == (
        "Strategic depth over iterations, threshold at least 60 %. "
        "iteration 1: mean 60.0 % of 3 games; iteration 2: mean 80.0 % of 1 game."
    )


EXAMPLE = Example("t1", "game", "m1", "Ann", "No.", "Well, fine.")
REASON = FailureReason("coherence", "No.", 3, 0.3, 1, 0.2, (EXAMPLE,))


def failures(*reasons: FailureReason) -> IterationFailures:
    return IterationFailures("v2", "v1", 2, (MetricFailures("coherence", 10, 3, reasons),))


def test_a_row_says_count_share_and_trend_and_leads_to_its_examples() -> None:
    atlas = failure_atlas(failures(REASON), with_rare=False)
    [row] = atlas.data["rows"]
    assert (row["caption"], row["trend"]) == ("3 messages, 30\u00a0% of those counted", "more, was 20\u00a0%")
    assert atlas.data["most"] == 0.3, "the axis ends at the largest share, here or in the reference"
    assert failure_atlas(failures(replace(REASON, share=0.01)), with_rare=False).data["most"] == 0.2
    assert row["examples"] == ["game · Ann: Well, fine."]
    assert row["words"].startswith("Conversation coherence: No. 3 messages")
    assert atlas.data["groups"][0]["words"] == "3 of 10 counted messages lose all or part of their points"
    [target] = atlas.targets[0]["example"]
    assert (target.transcript_id, target.message_id, target.metric) == ("t1", "m1", "coherence")


@pytest.mark.parametrize(
    ("before", "count_before", "words"),
    [(None, 0, ""), (0.3, 3, "as before"), (0.0, 0, "new"), (0.5, 5, "fewer, was 50\N{NO-BREAK SPACE}%")],
)
def test_the_trend_in_words(before: float | None, count_before: int, words: str) -> None:
    assert trend_words(replace(REASON, share_before=before, count_before=count_before)) == words


def test_rare_reasons_are_counted_and_shown_when_asked_for() -> None:
    found = failures(*(replace(REASON, label=f"No {letter}.") for letter in "abcdefgh"))
    assert len(failure_atlas(found, with_rare=False).reasons) == COMMON
    assert len(failure_atlas(found, with_rare=True).reasons) == COMMON + rare_count(found) == 8


@pytest.mark.parametrize(
    "value",
    [None, "reason", {"kind": "reason"}, {"kind": "example", "row": 0}]
    + [{"kind": "reason", "row": row} for row in (2, -1, True, "0")],
)
def test_only_a_row_that_there_is_is_believed(value: object) -> None:
    assert read_reason(value, 2) is None
    assert read_reason({"kind": "reason", "row": 1, "index": 0}, 2) == 1


GAME, LIST = MarkTarget("coherence", transcript_id="t1"), MarkTarget("coherence", iteration="v1")
TARGETS = [{"metric": (LIST,), "game": (GAME, LIST)}, {"metric": (LIST,), "game": ()}]


def test_a_mark_is_found_by_row_kind_and_index() -> None:
    assert read_mark({"row": 0, "kind": "game", "index": 0}, TARGETS) is GAME
    assert read_mark({"row": 1, "kind": "metric", "index": 0}, TARGETS) is LIST


PLACES = [(2, "game", 0), (-1, "game", 0), (0, "game", 2), (0, "game", -1), (0, "game", True), (False, "game", 0)]
PLACES += [(0, "game", "0"), (0, ["game"], 0), (0, "__class__", 0), (1, "game", 0), (0.0, "game", 0)]
FORGED = [{"row": row, "kind": kind, "index": index} for row, kind, index in PLACES]


@pytest.mark.parametrize("message", [None, "game", 7, [0, "game", 0], {}, {"row": 0, "kind": "game"}, *FORGED])
def test_anything_else_that_a_browser_may_send_opens_nothing(message) -> None:
    assert read_mark(message, TARGETS) is None
