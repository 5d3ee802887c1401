"""The Games page: the list with its filters, and one transcript with its conversation and ledgers."""

from __future__ import annotations

import json

import pytest

from evaluation.transcript import Transcript, build_transcript
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import drawn


def chat(app) -> dict:
    (component,) = drawn(app)
    data = json.loads(component.proto.json)
    return json.loads(data["body"]) | {"focus": data["focus"]}


def listed_games(app) -> list[dict]:
    (component,) = drawn(app)
    return json.loads(component.proto.json)["rows"]


def test_the_list_shows_every_game_with_its_scores(open_page, filled, words) -> None:
    app = open_page("games")
    assert not app.exception
    assert "5 games: " in words(app)
    baseline = [f"Game {number} · Baseline prompt" for number in (1, 2, 3)]
    # The newest version first, its games in their order, and games of none last.
    assert [row["label"] for row in listed_games(app)] == ["Game 1 · Shorter prompt", *baseline, "loose"]
    listed = listed_games(open_page("games", order="Order of adding"))
    assert [row["label"] for row in listed] == [*baseline, "Game 1 · Shorter prompt", "loose"]


def test_a_list_of_many_games_is_shown_page_by_page(open_page, store, small_game) -> None:
    store.transcripts.add_many([(small_game(f"number {n}"), f"{n}.json") for n in range(1, 61)])
    assert [row["label"] for row in listed_games(open_page("games"))] == [f"number {n}" for n in range(60, 10, -1)]
    assert [row["label"] for row in listed_games(open_page("games", games_page="2"))] == [
        f"number {n}" for n in range(10, 0, -1)
    ]
    # A filter that leaves fewer pages than the address asks for shows the last of them.
    found = listed_games(open_page("games", games_page="2", find="number 7"))
    assert [row["label"] for row in found] == ["number 7"]


def test_a_metric_that_could_not_be_computed_says_so(open_page, store, small_game) -> None:
    store.transcripts.add(small_game("unscored"), source_name="unscored.json")
    app = open_page("games", transcript=small_game("unscored").id)
    assert not app.exception
    assert sum("no score" in one.label for one in app.button) == 6


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"transcript": "0000000000000000"}, "That game is not here"),
        ({"beside": "nothing"}, "That game is not here."),
        ({"message": "nope", "metric": "strategic_depth"}, "A label under a message tells why"),
        ({"message": "nope", "metric": "nonsense"}, "A label under a message tells why"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page, filled, words, small_game, query, said) -> None:
    app = open_page("games", **({"transcript": small_game("one").id} | query))
    assert not app.exception
    assert said in words(app)


def test_what_fails_stands_beside_a_game_until_a_message_is_chosen(open_page, filled, small_game, words) -> None:
    game = small_game("one").id
    app = open_page("games", transcript=game)
    first = app.button(key="first_failing_strategic_depth")
    assert first.label == "Strategic depth: 4 of 8 messages"
    assert "Holds none of the strategic keywords" in words(app)
    # A reason may tell a role.
    assert "Holds none of the strategic keywords" not in words(open_page("games", transcript=game, blind="true"))
    first.click().run()
    assert (app.query_params["message"], app.query_params["metric"]) == ("m1", "strategic_depth")
    assert "What fails in this game" not in words(app)


def test_a_run_that_was_broken_off_says_so_above_its_scores(open_page, store, small_game, words) -> None:
    game = small_game("one").model_dump() | {"metadata": {"broken_off": "an error (no more tokens)"}}
    transcript = build_transcript(Transcript, game)
    add_evaluated(store, transcript, source_name="one.json")
    said = words(open_page("games", transcript=transcript.id))
    assert "This run was broken off by an error (no more tokens)." in said
