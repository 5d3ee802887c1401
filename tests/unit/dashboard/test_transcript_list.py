"""The list of games with its filters, and a game that is opened again."""

from pathlib import Path

import pandas as pd
import pytest

from dashboard.app_pages.games.game_list import ORDERS, Filters, filtered, found_words, ordered
from dashboard.shared import queries
from dashboard.shared.queries import transcript_list
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.store.transcripts import FoundMessages
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of


def game(name: str, source_format: str, players: tuple[str, ...], said: str, times: int) -> Transcript:
    lines = [(players[place % len(players)], f"{said} {place}") for place in range(times)]
    return game_of(lines, players, game_id=name, source_format=source_format)


@pytest.fixture(scope="module")
def listed() -> pd.DataFrame:
    store = Store(":memory:")
    store.iterations.create("v1")
    first = game("Beta", "native", ("Ann", "Bob"), "I think the vote was suspicious because of", 4)
    second = game("alpha", "aiwolf", ("Cid", "Annika"), "Nice weather today, number", 6)
    third = game("Gamma (3)", "native", ("Dora",), "Hello", 2)
    add_evaluated(store, first, source_name="1", iteration="v1")
    add_evaluated(store, second, source_name="2")
    add_evaluated(store, third, source_name="3")
    store.ratings.add(Rating(first.id, "Ada", 4))
    store.ratings.add(Rating(first.id, "Grace", 5))
    return transcript_list(store)


def names(frame: pd.DataFrame) -> list[str]:
    return list(frame["game_id"])


def test_no_filter_shows_all_in_the_order_of_adding(listed: pd.DataFrame) -> None:
    assert names(filtered(listed, Filters())) == ["Beta", "alpha", "Gamma (3)"]
    assert Filters().count == 0


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (Filters(game=" ALPH"), ["alpha"]),
        # A filter is text, no pattern.
        (Filters(game="(3"), ["Gamma (3)"]),
        (Filters(game=".*"), []),
        (Filters(player="ann"), ["Beta", "alpha"]),
        (Filters(player="Dor"), ["Gamma (3)"]),
        # Names stand one a line: no filter may match across two of them.
        (Filters(player="Annbob"), []),
        (Filters(iteration="v1"), ["Beta"]),
        (Filters(iteration="none"), ["alpha", "Gamma (3)"]),
        (Filters(source_format="native"), ["Beta", "Gamma (3)"]),
        (Filters(rated="rated"), ["Beta"]),
        (Filters(rated="not rated", source_format="native"), ["Gamma (3)"]),
        # The second game's messages hold no keyword at all.
        (Filters(failing="strategic_depth", source_format="aiwolf"), ["alpha"]),
        (Filters(failing="engagement"), []),
    ],
)
def test_filters_narrow_the_list(listed: pd.DataFrame, filters: Filters, left: list[str]) -> None:
    assert names(filtered(listed, filters)) == left
    assert filters.count > 0


def test_the_verdict_is_a_filter_and_ratings_are_counted_by_person(listed: pd.DataFrame) -> None:
    for verdict in set(listed["verdict"]):
        assert set(filtered(listed, Filters(verdict=verdict))["verdict"]) == {verdict}
    assert list(listed["ratings"]) == [2, 0, 0]


@pytest.mark.parametrize("order", ORDERS)
def test_no_order_loses_a_game_and_scores_rise_with_none_at_the_end(listed: pd.DataFrame, order: str) -> None:
    shown = ordered(listed, order)
    assert sorted(names(shown)) == sorted(names(listed))
    if order in DEFINITIONS:
        scores = list(shown[f"score_{order}"])
        known = [score for score in scores if not pd.isna(score)]
        assert scores[: len(known)] == sorted(known)


def test_a_search_says_how_much_it_found() -> None:
    row = {"transcript_id": "t", "message_id": "m", "game_id": "g", "iteration": None, "number": 1, "text": "x"}
    assert found_words(FoundMessages(("x",), 1, 1, pd.DataFrame([row]))).startswith("1 message in 1 game. A click")
    many = found_words(FoundMessages(("x",), 2_000, 900, pd.DataFrame([row] * 3)))
    assert many.startswith("2,000 messages in 900 games. The first 3 are shown")
    assert found_words(FoundMessages(("x",), 0, 0, pd.DataFrame())).startswith("No message holds all of that.")


def add_game(store: Store, name: str) -> None:
    game = game_of(
        [("Ann", f"I suspect Ben in {name}."), ("Ben", "Why me?")], {"Ann": {"role": "seer"}, "Ben": {}}, game_id=name
    )
    add_evaluated(store, game, source_name=name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "d.duckdb")
    add_game(made, "opened")
    return made


def test_another_games_arrival_leaves_the_drawn_conversation_as_it_is(store: Store) -> None:
    [opened] = store.transcripts.ids()
    before = queries.open_transcript(store, opened)
    drawn = before.conversation(roles_hidden=False)
    add_game(store, "another")
    after = queries.open_transcript(store, opened)
    assert after.results == before.results
    assert after.conversation(roles_hidden=False) == drawn
    assert after.conversation(roles_hidden=True).version != drawn.version


def test_another_name_and_a_deletion_are_seen_at_once(store: Store) -> None:
    [opened] = store.transcripts.ids()
    queries.open_transcript(store, opened)
    store.transcripts.rename(opened, "Another name")
    assert queries.open_transcript(store, opened).name == "Another name"
    assert len(queries.transcript_list(store)) == 1
    store.deletions.delete([opened], who="Ada")
    assert queries.transcript_list(store).empty
