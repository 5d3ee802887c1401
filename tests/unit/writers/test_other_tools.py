"""Files for other people's tools: Inspect, fine-tuning, annotation tools and trackers of experiments."""

import json
import uuid
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest

from evaluation.errors import InputError
from evaluation.rating_desk.annotation_tools import annotation_export, annotation_settings
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.ratings import import_ratings
from evaluation.workflows.scoring import GameRecord, store_games
from tests.games import game_of

WORDS = (
    ("Ann", "I suspect Bob, because he was silent all night."),
    ("Bob", "Ann, why do you accuse me? I was asleep and never spoke to anybody."),
    ("Ann", "Bob, you voted for Cid and that is why I suspect you."),
    ("Cid", "Okay."),
)


def game() -> Transcript:
    players = {"Ann": {"role": "villager", "persona": "Calm."}, "Bob": {}, "Cid": {}}
    return game_of(WORDS, players, game_id="g1", round=1)


def rated_store() -> tuple[Store, list[Rating]]:
    store = Store(":memory:")
    store_games(store, [(GameRecord.scored(game(), {}), "g1.json")])
    when = datetime(2026, 1, 1, 10, tzinfo=UTC)
    ratings = [
        Rating(game().id, "Kim", 4, (True, False, None, True, True), "=good, 'really'", when),
        Rating(game().id, "Lee", 2, created_at=when),
    ]
    return store, ratings


@pytest.mark.parametrize("tool", ["argilla", "label-studio"])
def test_ratings_go_to_an_annotation_tool_and_come_back(tool: Any) -> None:
    store, ratings = rated_store()
    data = json.dumps(annotation_export(tool, [game()], ratings)).encode()
    first = import_ratings(store, data)
    assert (first.added, first.problems) == (2, ())
    stored = {one.rater: (one.score, one.answers, one.comment) for one in store.ratings.every()}
    assert stored == {one.rater: (one.score, one.answers, one.comment) for one in ratings}
    again = import_ratings(store, data)
    assert (again.added, again.known) == (0, 2)


def test_ratings_that_a_tool_kept_unchanged_are_known() -> None:
    store, ratings = rated_store()
    with store.unit(write=True):
        store.ratings.add_many(ratings)
    data = json.dumps(annotation_export("label-studio", [game()], ratings)).encode()
    assert (import_ratings(store, data).added, import_ratings(store, data).known) == (0, 2)


def as_label_studio_keeps(tasks: list[dict[str, Any]], *, changed: bool = False) -> bytes:
    """An export of Label Studio 1.23.2 after these tasks went in: people, times and identifiers are its own."""
    made = "2026-02-01T10:00:00.000001Z"
    kept = [
        {
            "completed_by": 1,
            "result": annotation["result"],
            "was_cancelled": False,
            "created_at": made,
            "updated_at": "2026-02-03T10:00:00Z" if changed else made,
            "unique_id": f"9f1164f5-2c1c-48b1-911c-22ea276e13{place}",
        }
        for task in tasks
        for place, annotation in enumerate(task["annotations"], start=10)
    ]
    return json.dumps([{"id": 7, "data": tasks[0]["data"], "annotations": kept}]).encode()


def test_label_studio_knows_no_raters_and_they_come_back_nevertheless() -> None:
    store, ratings = rated_store()
    tasks = annotation_export("label-studio", [game()], ratings)
    # It refuses annotations by people who are not members of it.
    assert not any("completed_by" in annotation for annotation in tasks[0]["annotations"])
    assert import_ratings(store, as_label_studio_keeps(tasks)).added == 2
    assert {(one.rater, one.created_at) for one in store.ratings.every()} == {
        (one.rater, one.created_at) for one in ratings
    }


def test_an_answer_that_was_changed_in_label_studio_is_a_revision() -> None:
    store, ratings = rated_store()
    with store.unit(write=True):
        store.ratings.add_many(ratings)
    tasks = annotation_export("label-studio", [game()], ratings)
    tasks[0]["annotations"][1]["result"][0]["value"]["number"] = 5
    data = as_label_studio_keeps(tasks, changed=True)
    assert [(done.added, done.problems) for done in (import_ratings(store, data), import_ratings(store, data))] == [
        (1, ()),
        (0, ()),
    ]
    assert {one.rater: one.score for one in store.ratings.latest(game().id)} == {"Kim": 4, "Lee": 5}


def test_argilla_gets_submitted_answers_of_users_with_uuids_and_hands_ratings_back_as_known() -> None:
    store, ratings = rated_store()
    with store.unit(write=True):
        store.ratings.add_many(ratings)
    (record,) = annotation_export("argilla", [game()], ratings)
    answers = [one for held in record["responses"].values() for one in held]
    assert {one["status"] for one in answers} == {"submitted"}
    assert len({uuid.UUID(one["user_id"]) for one in answers}) == 2
    done = import_ratings(store, json.dumps([record]).encode())
    assert (done.added, done.known) == (0, 2)


def test_argilla_has_room_for_20_characters_of_a_name_and_500_messages() -> None:
    name = "The harbour master of the old town"
    held = game()
    long = held.model_copy(
        update={"messages": tuple(one.model_copy(update={"speaker": name}) for one in held.messages)}
    )
    (record,) = annotation_export("argilla", [long], [])
    assert record["fields"]["chat"][0] == {"role": "The harbour master …", "content": f"{name}: {WORDS[0][1]}"}
    many = tuple(held.messages[0].model_copy(update={"id": f"m{place}", "index": place}) for place in range(501))
    with pytest.raises(InputError, match="501 messages"):
        annotation_export("argilla", [held.model_copy(update={"messages": many})], [])


def test_tools_are_set_up_for_every_answer() -> None:
    asked = {"score", "comment", *(f"question_{number}" for number in range(1, 6))}
    settings = json.loads(annotation_settings("argilla"))
    assert {question["name"] for question in settings["questions"]} == asked
    view = ElementTree.fromstring(annotation_settings("label-studio"))
    assert {control.get("name") for control in view if control.get("toName") == "dialogue"} == asked | {"rater"}


@pytest.mark.parametrize(
    ("export", "said"),
    [
        ([{"data": {"transcript_id": "nobody"}, "annotations": [{"completed_by": 7, "result": []}]}], None),
        ([{"id": 1}], "neither a task nor a record"),
        ([1], "not an object"),
    ],
)
def test_an_export_that_holds_no_ratings_stores_nothing(export: list[Any], said: str | None) -> None:
    store, _ = rated_store()
    data = json.dumps(export).encode()
    if said is None:
        assert import_ratings(store, data).added == 0
    else:
        with pytest.raises(InputError, match=said):
            import_ratings(store, data)
    assert store.ratings.every() == []


def test_a_score_that_the_form_does_not_have_is_a_problem_and_nothing_is_stored() -> None:
    store, ratings = rated_store()
    (task,) = annotation_export("label-studio", [game()], ratings)
    task["annotations"][1]["result"][0]["value"]["number"] = 9
    done = import_ratings(store, json.dumps([task]).encode())
    assert [(problem.column, problem.value) for problem in done.problems] == [("score", "9")]
    assert store.ratings.every() == []
