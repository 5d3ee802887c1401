"""Of two iterations a model read one: what it decided is not compared with the verdicts of rules, and words say so."""

from __future__ import annotations

import asyncio
import math
import shutil
from itertools import cycle
from pathlib import Path

import pytest

from dashboard.app_pages.overview.cockpit_data import cockpit_of
from dashboard.app_pages.overview.cockpit_data import sentence as compared_sentence
from dashboard.app_pages.trends.data import sentence
from dashboard.shared.charts.metric_charts import trend_figure
from dashboard.shared.queries import thresholds, trend_points
from evaluation.experiments.ab_runner import ABConfig, ExperimentRunner, stored_games
from evaluation.iterations.keep_or_revert import Choice
from evaluation.judged_by import JudgedBy, apart_words, have_one_judge
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.statistics.comparison import Outcome
from evaluation.store import Store
from evaluation.workflows.iterations import stored_board, stored_comparison, stored_failure_reasons
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

DEPTH, COHERENCE = "strategic_depth", "coherence"
APART = "by rules in 3 games and by gpt-4o-mini in 3 games"
LINES = [
    ("Ann", "I suspect Ben, because he changed his story about the vote"),
    ("Ben", "Ann, why?"),
    ("Ann", "Fish."),
    ("Ben", "Soup."),
]


def read(store: Store, game: str, model: str = "gpt-4o-mini") -> None:
    """Has a model decide every row of strategic depth: one counts, the next does not, and so on."""
    verdicts = cycle((RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT))
    said = ("a plan", "It says what to do.", None, (), "live", model, "no such judgement")
    rows = store.results.computed(game)[DEPTH].ledger
    store.decisions.save(RowDecision(game, DEPTH, row.id, next(verdicts), *said) for row in rows)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three games by rules in v1, and three in v2 of which a model read the strategic depth: all are rated."""
    path = tmp_path_factory.mktemp("apart") / "games.duckdb"
    store = Store(path)
    store.iterations.create("v1")
    store.iterations.create("v2", parent="v1", target_metric=COHERENCE)
    for number in range(6):
        said = [*LINES, ("Ann", f"Vote {number}")] + [("Ben", "Yes, Ann.")] * (number % 3)
        iteration = "v1" if number < 3 else "v2"
        add_evaluated(store, game_of(said, game_id=f"g{number}"), source_name=f"{number}.json", iteration=iteration)
    for game in store.transcripts.ids():
        store.ratings.add(Rating(game, "ann", 4))
    for game in store.transcripts.ids("v2"):
        read(store, game)
    store.close()
    return path


@pytest.fixture(scope="module")
def apart(path: Path) -> Store:
    """For tests that only read."""
    return Store(path)


def test_scores_of_one_judge_compare_and_words_name_the_others() -> None:
    first, second = (JudgedBy("gpt-4o-mini", version) for version in ("1", "2"))
    unknown, other = JudgedBy("gpt-4o-mini"), JudgedBy("llama")
    assert have_one_judge([])
    assert have_one_judge([(), ()])
    assert have_one_judge([(first,), (unknown,)])
    assert not have_one_judge([(first,), (unknown,), (second,)])
    assert not have_one_judge([(), (first,)])
    assert not have_one_judge([(first,), (first, other)])
    assert apart_words([(first,), (first,)]) == ""
    assert apart_words([(), (first,), (first,)]) == "by rules in 1 game and by gpt-4o-mini in 2 games"
    assert apart_words([(first,), (second,)]) == "by gpt-4o-mini (1) in 1 game and by gpt-4o-mini (2) in 1 game"
    assert apart_words([(first, other), ()]) == "by gpt-4o-mini with llama in 1 game and by rules in 1 game"


def test_a_metric_of_two_judges_is_neither_better_nor_worse(apart: Store) -> None:
    found = stored_comparison(apart, "v1", "v2")
    depth = found.comparison[DEPTH]
    assert (depth.outcome, math.isnan(depth.difference), math.isnan(depth.p)) == (Outcome.UNTESTABLE, True, True)
    assert depth.welch.reason == f"judged {APART}, and verdicts of different judges do not compare"
    assert not math.isnan(depth.before.mean)
    assert not math.isnan(depth.after.mean)
    assert not math.isnan(found.comparison[COHERENCE].difference)
    assert DEPTH not in {one.metric for one in found.movers}
    assert "Strategic depth" not in stored_board(apart).better_words("v2")
    board = stored_board(apart)
    assert "better" not in compared_sentence(board, board["v2"], found)


def test_nothing_is_decided_while_verdicts_are_of_two_judges(path: Path, tmp_path: Path) -> None:
    store = Store(shutil.copy(path, tmp_path))
    decision = stored_board(store)["v2"].decision
    assert decision.choice is Choice.NOT_YET
    assert decision.missing == (
        f"Strategic depth: judged {APART}. Have one judge read all of them, or give its rows back to the rules.",
    )
    assert DEPTH not in {one.metric for one in decision.fell}
    for game in store.transcripts.ids("v1"):
        read(store, game)
    assert stored_board(store)["v2"].decision.choice is not Choice.NOT_YET


def test_reasons_have_no_trend_across_judges(apart: Store) -> None:
    changes = {
        one.metric: {reason.change is None for reason in one.reasons}
        for one in stored_failure_reasons(apart, "v2").metrics
    }
    assert changes[DEPTH] == {True}
    assert changes[COHERENCE] == {False}


def test_the_cockpit_shows_no_change_between_judges(apart: Store) -> None:
    rows = {row["label"]: row for row, _ in cockpit_of(stored_board(apart), "v2", "v1")}
    assert rows["Strategic depth"]["before"] is None
    assert rows["Strategic depth"]["texts"]["change"] == "other judges"
    assert rows["Conversation coherence"]["before"] is not None


def test_a_line_breaks_where_the_judge_changes(apart: Store) -> None:
    points = trend_points(apart)

    def paths() -> list[str]:
        names = [DEPTH, COHERENCE]
        figure = trend_figure(points, {name: DEFINITIONS[name] for name in names}, {})
        return [shape.path for shape in figure.layout.shapes if shape.type == "path"]

    depth, coherence = paths()
    assert "L" not in depth
    assert "L" in coherence
    _, told = sentence(points, thresholds(apart), {"v2": "v1"})
    assert f"Strategic depth does not compare with v1: judged {APART}." in told


def test_an_ab_test_of_stored_games_leaves_it_open_who_is_better(apart: Store) -> None:
    variants = {name: {"runs": apart.transcripts.ids(name)} for name in ("v1", "v2")}
    config = ABConfig(name="t", source="transcripts", variants=variants, measures={DEPTH: "higher"}, primary=DEPTH)

    def load(transcript_id: str) -> tuple:
        scores = apart.results.metric_scores(transcript_id=transcript_id)[transcript_id]
        return apart.transcripts.get(transcript_id), scores, {}

    result = asyncio.run(ExperimentRunner(config, stored_games(load)).run_ab_test())
    assert result.winner is None
    assert "different judges" in result.recommendation
    assert result.comparisons[0].significant is None
    assert math.isnan(result.comparisons[0].difference)
