"""Trends and Compare beside chance: switched on by the URL, in charts and words, waiting games by name."""

from __future__ import annotations

import json
import shutil

import pytest

from benchmarks.labelled_games import load_games
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.boards import stored_board
from evaluation.workflows.controls import compute_missing
from evaluation.workflows.scoring import add_evaluated
from tests.app.conftest import HOSTILE

GAMES = [game for _, game in load_games()[:4]]


@pytest.fixture(scope="module")
def compared_database(tmp_path_factory):
    """Two real games in each of two iterations, the second of a hostile name; all but the last beside chance."""
    store = Store(tmp_path_factory.mktemp("compared") / "compared.duckdb")
    store.iterations.create("Old")
    store.iterations.create(HOSTILE, parent="Old", target_metric="coherence")
    for place, game in enumerate(GAMES):
        add_evaluated(store, game, source_name=f"{place}.json", iteration=("Old", HOSTILE)[place // 2])
    compute_missing(store, [game.id for game in GAMES[:3]])
    store.close()
    return store.path


@pytest.fixture
def compared(store, database, compared_database):
    """The same for one test, which may change it."""
    store.close()
    shutil.copyfile(compared_database, database)
    return store


def figures(app) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def named(figure: dict, name: str) -> dict:
    (trace,) = [trace for trace in figure["data"] if trace.get("name") == name]
    return trace


def control_of(store, game: Transcript, metric: str = "coherence") -> dict:
    return store.results.load(game.id)[metric].control


def test_trends_draw_chance_and_companion_beside_each_score(open_page, compared, words, hostile) -> None:
    app = open_page("trends", metrics="Conversation coherence", chance="true")
    assert not app.exception
    scores, companion = figures(app)
    old, new = [control_of(compared, one) for one in GAMES[:2]], control_of(compared, GAMES[2])
    by_chance = [sum(one["chance"] for one in old) / 2, new["chance"]]
    assert named(scores, "by chance")["y"] == pytest.approx(by_chance)
    means = [sum(one["companion"]["value"] for one in old) / 2, new["companion"]["value"]]
    assert named(companion, "mean")["y"] == pytest.approx(means)
    assert len(named(companion, "game")["text"]) == 3
    said = words(app)
    assert "Companion: link strength" in said
    # The words are those of the Overview.
    for one in stored_board(compared).iterations:
        assert one.means["coherence"].control.words in said
    assert "1 game not compared with chance yet, so nothing is added for:" in said
    assert "Game 1 · " in said
    alts = str([chart.proto for chart in app.get("plotly_chart")])
    assert "Beside chance: iteration 1: above chance in" in alts
    assert "Companion over iterations, link strength" in alts
    assert "onerror" not in alts


def test_without_the_switch_nothing_is_added(open_page, compared, words) -> None:
    app = open_page("trends", metrics="Conversation coherence")
    assert len(figures(app)) == 1
    assert "Companion" not in words(app)
    app.toggle(key="chance").set_value(True).run()
    assert not app.exception
    assert len(figures(app)) == 2


def test_a_metric_without_chance_level_says_so(open_page, compared, words) -> None:
    app = open_page("trends", metrics="Strategic depth", chance="true")
    assert not app.exception
    assert "It has no chance level" in words(app)


def test_the_table_of_trends_has_columns_for_it(open_page, compared, table, words) -> None:
    app = open_page("trends", metrics="Conversation coherence", chance="true", **{"as": "Table"})
    assert not app.exception
    assert list(app.dataframe[0].value.columns)[7:10] == ["By chance", "Link strength", "Link strength by chance"]
    assert "above chance in" in words(app)
    assert "Open triangles" not in words(app)
    depth = open_page("trends", metrics="Strategic depth", chance="true", **{"as": "Table"})
    assert "By chance" not in depth.dataframe[0].value.columns


def test_compare_says_it_for_both_sides_and_draws_it_for_one_metric(open_page, compared, words, hostile) -> None:
    asked = {"before": "Old", "after": hostile, "metric_shown": "Conversation coherence"}
    plain = open_page("compare", **asked)
    assert "Companion" not in words(plain)
    app = open_page("compare", **asked, chance="true")
    assert not app.exception
    board = stored_board(compared)
    before, after = (board[name].means["coherence"].control.words for name in ("Old", hostile))
    assert f"before: {before}\nafter: {after}" in words(app)
    assert "1 game not compared with chance yet" in after
    scores, companion = figures(app)
    control = control_of(compared, GAMES[2])
    assert [trace["x"] for trace in scores["data"] if trace["name"] == "by chance"][1] == [control["chance"]]
    assert named(companion, "by chance")["y"][1] == control["companion"]["chance"]
