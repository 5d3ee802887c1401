"""Verdicts to check: a person decides rows in doubt with one key each, takes that back, and sees what it changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.ratings import Rating
from evaluation.rubric.rows_in_doubt import ReviewKind
from evaluation.score import Method, RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript, Vote
from evaluation.workflows.judging import stored_review_queue
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of


def a_game(name: str, said: list[tuple[str, str]]) -> Transcript:
    vote = Vote(round=1, voter="Ben", target="Cid")
    return game_of(said, ("Ann", "Ben", "Cid"), game_id=name, round=3, votes=(vote,))


SAID = [("Ann", "Ben voted for Cid in round 1."), ("Ben", "Cid voted for Ann in round 2."), ("Cid", "Well, well.")]


@pytest.fixture
def doubtful(store: Store) -> Store:
    """One game in an iteration with a reference that the record cannot settle."""
    store.iterations.create("v1")
    add_evaluated(store, a_game("doubtful", SAID), source_name="x.json", iteration="v1")
    return store


def message(app: Any) -> Any:
    """What the message on top is drawn from."""
    [one] = [one for one in app.get("bidi_component") if "marked_message" in one.proto.component_name]
    return json.loads(one.proto.json)


def memory(store: Store) -> Any:
    return store.results.load(a_game("doubtful", SAID).id)["memory_accuracy"]


def test_one_key_decides_a_row_and_another_takes_it_back(doubtful: Store, open_page: Any, words: Any) -> None:
    app = open_page("games", part="Check", queue_of="v1")
    assert not app.exception
    app.button_group(key="queue_kinds").set_value(["unverified reference"]).run()
    assert "Is what the marked words say true?" in words(app)
    assert message(app) == {
        "speaker": "Ben",
        "role": "",
        "text": "Cid voted for Ann in round 2.",
        "spans": [[0, len("Cid voted for Ann in round 2")]],
    }
    # As for any override somebody must be named; nothing can be decided before.
    assert app.button(key="queue_does_not_count").disabled
    app.text_input(key="queue_author").set_value("Grace").run()
    # 1 of 1 settled is 100 %; a second that is wrong makes it 50 %.
    assert "score 100.0 %. No: −50.0 points." in words(app)
    app.button(key="queue_does_not_count").click().run()
    assert not app.exception
    result = memory(doubtful)
    assert (result.score, result.method) == (50.0, Method.HUMAN)
    [made] = doubtful.overrides.current()
    assert made.author == "Grace"
    assert made.reason == "Answered no under Games, Check (unverified reference)."
    assert all(one.item.row.id != made.row_id for one in stored_review_queue(doubtful, "v1"))
    app.button(key="queue_undo").click().run()
    assert not app.exception
    assert memory(doubtful).score == 100.0
    assert doubtful.overrides.current() == []


def test_a_rating_or_a_decision_on_another_game_leaves_the_rows_of_a_game_as_they_are(doubtful: Store) -> None:
    [first] = doubtful.transcripts.ids()
    other = a_game("another", [*SAID, ("Ann", "Ann voted for Ben in round 1.")])
    add_evaluated(doubtful, other, source_name="y.json", iteration="v1")
    before = [one for one in stored_review_queue(doubtful, "v1") if one.transcript_id == first]
    row = next(one for one in stored_review_queue(doubtful, "v1") if one.transcript_id == other.id)
    doubtful.ratings.add(Rating(first, "Ada", 4))
    place = (other.id, row.item.metric, row.item.row.id)
    doubtful.overrides.add(*place, RowVerdict.EXCLUDED, author="Ada", reason="Seen.")
    queue = stored_review_queue(doubtful, "v1")
    after = [one for one in queue if one.transcript_id == first]
    assert before
    assert after == before
    assert place not in {(one.transcript_id, one.item.metric, one.item.row.id) for one in queue}


def test_rows_about_which_reader_and_rule_disagree_are_offered(store: Store) -> None:
    store.iterations.create("v1")
    said = [
        ("Ann", "hello there"),
        ("Ben", "Cid was quiet when it mattered."),
        ("Cid", "no"),
        ("Ann", "I vote Ben, as Cid said."),
    ]
    add_evaluated(store, a_game("unsure", said), source_name="x.json", iteration="v1")
    kinds = [one.item.kind for one in stored_review_queue(store, "v1")]
    assert ReviewKind.UNSURE in kinds
