"""Files for other people's tools: Inspect, fine-tuning, annotation tools and trackers of experiments."""

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import InputError
from evaluation.rating_desk.annotation_tools import annotation_export
from evaluation.ratings import Rating
from evaluation.readers import read_upload
from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.ratings.rating_sheet_import import import_ratings
from evaluation.workflows.scoring import PackedGame, store_games
from evaluation.writers.fine_tuning import fine_tuning_lines, passed_messages
from evaluation.writers.inspect_log import inspect_log
from evaluation.writers.tracking import tracked_runs

WORDS = (
    ("Ann", "I suspect Bob, because he was silent all night."),
    ("Bob", "Ann, why do you accuse me? I was asleep and never spoke to anybody."),
    ("Ann", "Bob, you voted for Cid and that is why I suspect you."),
    ("Cid", "Okay."),
)


def game() -> Transcript:
    messages = [
        Message(id=f"m{place}", index=place, speaker=speaker, text=text, round=1)
        for place, (speaker, text) in enumerate(WORDS)
    ]
    players = [Player(name="Ann", role="villager", persona="Calm."), Player(name="Bob"), Player(name="Cid")]
    return Transcript(game_id="g1", source_format="made", players=tuple(players), messages=tuple(messages))


def test_an_inspect_log_is_read_again_with_speakers_and_scores() -> None:
    results = evaluate_transcript(game()).metrics
    log = inspect_log([(game(), results)], created=datetime(2026, 1, 1, tzinfo=UTC))
    (result,) = read_upload("log.json", json.dumps(log).encode())
    assert (result.error, result.format) == (None, "inspect")
    assert result.transcript is not None
    assert [(m.speaker, m.text) for m in result.transcript.messages] == list(WORDS)
    scored = {name for name, one in results.items() if one.score is not None}
    assert scored
    assert set(log["samples"][0]["scores"]) == scored


def test_fine_tuning_holds_the_messages_that_passed_and_learns_nothing_else() -> None:
    results = evaluate_transcript(game()).metrics
    passed = passed_messages(results.values())
    assert passed
    rows = [row for one in results.values() for row in one.ledger if row.message_id in passed]
    assert RowVerdict.DOES_NOT_COUNT not in {row.verdict for row in rows}
    lines = [json.loads(line) for line in fine_tuning_lines([(game(), results)])]
    by_id = {message.id: message.text for message in game().messages}
    assert [line["messages"][-1] for line in lines] == [
        {"role": "assistant", "content": by_id[one.id]} for one in game().discussion if one.id in passed
    ]
    for line in lines:
        assert line["messages"][0]["role"] == "system"
        assert all(one.get("weight") == 0 for one in line["messages"][:-1] if one["role"] == "assistant")


def rated_store() -> tuple[Store, list[Rating]]:
    store = Store(":memory:")
    store_games(store, [(PackedGame.of(evaluate_transcript(game())), "g1.json")])
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


def test_ratings_that_a_tool_kept_with_their_token_are_known() -> None:
    store, ratings = rated_store()
    with store.unit(write=True):
        store.ratings.add_many(ratings)
    data = json.dumps(annotation_export("label-studio", [game()], ratings)).encode()
    assert (import_ratings(store, data).added, import_ratings(store, data).known) == (0, 2)


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
    task["annotations"][1]["result"][0]["value"]["rating"] = 9
    done = import_ratings(store, json.dumps([task]).encode())
    assert [(problem.column, problem.value) for problem in done.problems] == [("score", "9")]
    assert store.ratings.every() == []


def test_a_run_for_each_iteration_with_means_shares_and_steps() -> None:
    row = {"metric": "coherence", "status": "passed", "version": "1.0"}
    table = pd.DataFrame(
        [
            row | {"iteration": "v1", "score": 80.0},
            row | {"iteration": "v1", "score": 40.0, "status": "failed"},
            row | {"iteration": "v1", "score": float("nan"), "status": "pending"},
            row | {"iteration": None, "score": 50.0},
        ]
    )
    first, second = tracked_runs(table)
    assert (first.name, second.name) == ("v1", "without iteration")
    assert first.metrics == {"coherence/mean": 60.0, "coherence/passed": 0.5, "coherence/games": 2.0}
    assert first.steps == {"coherence/score": [80.0, 40.0]}
    assert second.metrics["coherence/passed"] == 1.0
    # MLflow's file store makes a folder of what stands before a slash, so no name may be the beginning of another.
    names = [*first.metrics, *first.steps]
    assert not any(other.startswith(f"{name}/") for name in names for other in names)
