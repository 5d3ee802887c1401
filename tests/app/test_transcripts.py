"""The Games page: the list with its filters, and one transcript with its conversation and ledgers."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from evaluation.transcript import Transcript, build_transcript
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import drawn, tables


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
    # The first public message tells games apart whose names say nothing.
    assert listed[3]["opening"] == "Alpha: Nothing new in four"
    # Half of the messages of the small game show depth, fewer than the threshold asks for.
    depth = listed[0]["cells"][1]
    assert (depth["text"], depth["color"]) == ("✗ 50.0\u00a0%", "red")


def test_a_list_of_many_games_is_shown_page_by_page(open_page, store, small_game) -> None:
    store.transcripts.add_many([(small_game(f"number {n}"), f"{n}.json") for n in range(1, 61)])
    assert [row["label"] for row in listed_games(open_page("games"))] == [f"number {n}" for n in range(60, 10, -1)]
    assert [row["label"] for row in listed_games(open_page("games", games_page="2"))] == [
        f"number {n}" for n in range(10, 0, -1)
    ]
    # A filter that leaves fewer pages than the address asks for shows the last of them.
    found = listed_games(open_page("games", games_page="2", find="number 7"))
    assert [row["label"] for row in found] == ["number 7"]


def test_a_search_that_cannot_be_made_says_why(open_page, filled, words) -> None:
    app = open_page("games", search="x" * 600)
    assert not app.exception
    assert "That cannot be searched for." in words(app)


def test_a_metric_that_could_not_be_computed_has_a_card_that_says_so(open_page, store, words, small_game) -> None:
    store.transcripts.add(small_game("unscored"), source_name="unscored.json")
    app = open_page("games", transcript=small_game("unscored").id, scores="true")
    assert not app.exception
    assert words(app).count("the scorer failed on this game") == 6


def test_hidden_roles_are_not_sent(open_page, filled, small_game) -> None:
    app = open_page("games", transcript=small_game("one").id, blind="true")
    sent = json.dumps(chat(app))
    assert "mafia" not in sent
    assert "doctor" not in sent


@pytest.mark.parametrize("metric", ["strategic_depth", "nonsense"])
def test_a_link_to_a_message_that_is_not_there_shows_the_conversation(
    open_page, filled, words, small_game, metric
) -> None:
    app = open_page("games", transcript=small_game("one").id, message="nope", metric=metric)
    assert not app.exception
    assert "Select a label under a message" in words(app)


def test_a_look_at_another_message_leaves_what_is_chosen(open_page, filled, words, small_game) -> None:
    link = {"transcript": small_game("one").id, "message": "m1", "metric": "coherence"}
    app = open_page("games", **link)
    before = chat(app)["focus"]
    assert (before["count"], before["glance"]) == (1, False)
    # The second message answers the first.
    app.button(key="go_coherence_0").click().run()
    assert not app.exception
    after = chat(app)["focus"]
    assert (chat(app)["rows"][after["row"]]["i"], after["count"], after["glance"]) == ("m0", 2, True)
    assert "Conversation coherence, message 2" in words(app)
    assert app.query_params["message"] == "m1"


def test_the_ledger_says_what_the_score_is_made_of_and_narrows_to_a_verdict(
    open_page, filled, words, table, small_game
) -> None:
    link = {"transcript": small_game("one").id, "show": "Ledger", "rows_of": "Strategic depth"}
    app = open_page("games", **link)
    assert "4 of 8 messages, 50.0 % (at least 60 %)" in words(app)
    assert "8 rows: 4 ✓ counts, 4 ✗ counts against, 0 ○ not counted." in words(app)
    assert len(tables(app)[0]) == 8
    narrowed = open_page("games", **link, rows_that="✗ counts against")
    assert not narrowed.exception
    assert set(tables(narrowed)[0]["Verdict"]) == {"✗ counts against"}
    assert len(tables(narrowed)[0]) == 4
    assert "No row has that verdict" in words(open_page("games", **link, rows_that="○ not counted"))


def test_a_transcript_that_is_not_there(open_page, filled, words) -> None:
    app = open_page("games", transcript="0000000000000000")
    assert not app.exception
    assert "That game is not here" in words(app)


def test_a_run_that_was_broken_off_says_so_above_its_scores(open_page, store, small_game, words) -> None:
    game = small_game("one").model_dump() | {"metadata": {"broken_off": "an error (no more tokens)"}}
    transcript = build_transcript(Transcript, game)
    add_evaluated(store, transcript, source_name="one.json")
    said = words(open_page("games", transcript=transcript.id))
    assert "This run was broken off by an error (no more tokens)." in said


def test_a_click_that_comes_with_the_address_of_the_list_still_opens_its_game() -> None:
    def clicked() -> None:
        from dashboard.shared import state

        state.follow("a1", "m3", "strategic_depth")

    app = AppTest.from_function(clicked)
    app.query_params["part"] = "List"
    app.run()
    assert not app.exception
    assert app.query_params["transcript"] in ("a1", ["a1"])
