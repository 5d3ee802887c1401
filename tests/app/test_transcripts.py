"""The Transcripts page: the list with its filters, and one transcript with its conversation and ledgers."""

from __future__ import annotations

import json

import pytest

from dashboard.components.transcript_list import filtered
from dashboard.queries import transcript_list
from evaluation.samples import add_evaluated


def chat(app) -> dict:
    (component,) = app.get("bidi_component")
    return json.loads(component.proto.json)


def test_an_empty_store_says_what_to_do(open_page, words) -> None:
    app = open_page("transcripts")
    assert not app.exception
    assert "No games to read yet" in words(app)


def test_the_list_shows_every_game_with_its_scores(open_page, filled, table, words) -> None:
    app = open_page("transcripts")
    assert not app.exception
    assert "5 of 5 games" in words(app)
    listed = table(app)
    for name in ("one", "two", "three", "four", "loose", "Baseline prompt"):
        assert name in listed


def test_filters_narrow_the_list(filled) -> None:
    listed = transcript_list(filled)
    assert list(filtered(listed, " ONE", "any", "any")["game_id"]) == ["one"]
    assert list(filtered(listed, "", "none", "any")["game_id"]) == ["loose"]
    assert list(filtered(listed, "", "Shorter prompt", "any")["game_id"]) == ["four"]
    assert set(filtered(listed, "", "any", "pending")["verdict"]) <= {"pending"}
    # A filter is text, no pattern: a bracket must not break it.
    assert filtered(listed, "(", "any", "any").empty


def test_a_filter_that_matches_nothing_says_so(open_page, filled, words) -> None:
    assert "No game matches" in words(open_page("transcripts", find="zzz"))


def test_a_link_opens_a_transcript_with_its_cards(open_page, filled, words, small_game) -> None:
    app = open_page("transcripts", transcript=small_game("one").id)
    assert not app.exception
    said = words(app)
    assert "one   ·   Baseline prompt" in said
    assert "8 public messages" in said
    # The small game holds "think", "suspicious", "because" and "vote" in 4 of its 8 messages.
    assert "4 of 8 messages" in said
    assert "mean of 1 rating" in said


def test_a_metric_that_could_not_be_computed_has_a_card_that_says_so(open_page, store, words, small_game) -> None:
    store.transcripts.add(small_game("unscored"), source_name="unscored.json")
    app = open_page("transcripts", transcript=small_game("unscored").id)
    assert not app.exception
    assert words(app).count("the scorer failed on this game") == 6


def test_the_conversation_carries_badges_and_votes(open_page, filled, small_game) -> None:
    data = chat(open_page("transcripts", transcript=small_game("one").id))
    messages = [row for row in data["rows"] if row["k"] == "m"]
    assert len(messages) == 8
    assert all(row["b"] for row in messages[1:])
    assert [row["l"] for row in data["rows"] if row["k"] == "v"] == [["Bravo ← Alpha"]]
    assert {speaker["role"] for speaker in data["speakers"]} == {"mafia", "doctor"}


def test_hidden_roles_are_not_sent(open_page, filled, small_game) -> None:
    app = open_page("transcripts", transcript=small_game("one").id, blind="true")
    sent = json.dumps(chat(app))
    assert "mafia" not in sent
    assert "doctor" not in sent


def test_a_link_to_a_message_shows_why(open_page, filled, words, small_game) -> None:
    app = open_page("transcripts", transcript=small_game("one").id, message="m0", metric="strategic_depth")
    said = words(app)
    assert "Strategic depth, message 1" in said
    assert "decided by" not in said or "Evidence" in said
    assert "because" in "\n".join(code.value for code in app.code)
    data = chat(app)
    assert data["rows"][data["focus"]["row"]]["i"] == "m0"


@pytest.mark.parametrize("metric", ["strategic_depth", "nonsense"])
def test_a_link_to_a_message_that_is_not_there_shows_the_conversation(
    open_page, filled, words, small_game, metric
) -> None:
    app = open_page("transcripts", transcript=small_game("one").id, message="nope", metric=metric)
    assert not app.exception
    assert "Choose a label below a message" in words(app)


def test_a_card_opens_the_ledger_of_its_metric(open_page, filled, words, table, small_game) -> None:
    app = open_page("transcripts", transcript=small_game("one").id)
    app.button(key="rows_personality_diversity").click().run()
    assert not app.exception
    assert "2 rows. Select one" in words(app)
    assert "Alpha" in table(app)


def test_every_ledger_can_be_opened(open_page, filled, words, small_game) -> None:
    app = open_page("transcripts", transcript=small_game("one").id)
    for key in [button.key for button in app.button if button.key.startswith("rows_")]:
        app.button(key=key).click().run()
        assert not app.exception, key


def test_a_transcript_that_is_not_there(open_page, filled, words) -> None:
    app = open_page("transcripts", transcript="0000000000000000")
    assert not app.exception
    assert "That transcript is not here" in words(app)


def test_hostile_text_stands_in_inert_elements_only(open_page, store, small_game, hostile) -> None:
    store.iterations.create(hostile)
    nasty = small_game(hostile, text=f"I think {hostile} because")
    add_evaluated(store, nasty, source_name=hostile, iteration=hostile)
    for parameters in ({}, {"transcript": nasty.id, "message": "m0", "metric": "strategic_depth"}):
        app = open_page("transcripts", **parameters)
        assert not app.exception
        for kind in (app.markdown, app.caption, app.title, app.subheader, app.info, app.button, app.expander):
            for element in kind:
                assert "evil.example" not in str(element.proto)
    assert "'" + hostile[hostile.index("=cmd") :] not in words_of_table(open_page("transcripts"))


def words_of_table(app) -> str:
    return app.dataframe[0].value.to_string()
