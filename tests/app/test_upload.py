"""The Games page: what is read, refused (every bad input at once), and where it goes."""

from __future__ import annotations

import pytest

from dashboard.app_pages.games.add_games import proposed_name
from dashboard.shared.jobs import jobs
from evaluation.store import JobState
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import wait_for_jobs


def upload(app, *games, bad: bytes | None = None):
    files = [(f"{game.game_id}.json", game.to_json().encode(), "application/json") for game in games]
    if bad is not None:
        files.append(("broken.json", bad, "application/json"))
    app.file_uploader[0].set_value(files).run()
    return app


def start(app, store) -> None:
    """Presses the button and waits until the job has ended."""
    app.button(key="start").click().run()
    wait_for_jobs()
    assert [job.state for job in store.jobs.list() if job.kind == jobs.EVALUATE][:1] == [JobState.DONE]


def test_a_pasted_game_is_read_like_a_file(open_page, store, words) -> None:
    app = open_page("games", part="Add")
    app.text_area[0].set_value("Ann: I vote Ben, he lied.\nBen: Why me, Ann?\nAnn: You voted for Cid.").run()
    assert "1 game to store." in words(app)
    app.segmented_control(key="where").set_value("No iteration").run()
    start(app, store)
    assert list(store.transcripts.summaries()["players"]) == [2]
    assert app.text_area[0].value == "", "the same text is not offered again"


@pytest.mark.parametrize(
    ("files", "proposed"),
    [
        (["prompt-v5-1.json", "prompt-v5-2.json"], "prompt-v5"),
        (["Prompt v5.zip/a.json", "Prompt v5.zip/b.json"], "Prompt v5"),
        (["shorter game 1.txt", "shorter game 12.txt"], "shorter game"),
        (["one.json", "two.json"], ""),
        (["Taken.json"], ""),
        (["pasted.txt"], ""),
    ],
)
def test_a_name_is_proposed_from_what_the_files_share(files: list[str], proposed: str) -> None:
    assert proposed_name(files, ["Taken"]) == proposed


def test_a_name_that_is_taken_is_refused_and_nothing_lost(open_page, store, small_game, words) -> None:
    store.iterations.create("Taken")
    app = upload(open_page("games", part="Add"), small_game("one"))
    app.text_input(key="new_name").set_value("Taken").run()
    app.button(key="start").click().run()
    assert not app.exception
    said = words(app)
    assert "That iteration cannot be used" in said
    assert "1 game to store" in said
    assert store.jobs.list() == []
    assert store.imports.list() == [], "a start that is refused leaves no report"


def test_the_same_content_is_reported_and_not_stored_twice(open_page, store, small_game, words, table) -> None:
    add_evaluated(store, small_game("one"), source_name="one.json")
    app = upload(open_page("games", part="Add"), small_game("one"), small_game("two"), small_game("two"))
    assert "1 game to store, 1 stored already, left as it is, 1 twice in these files, taken once." in words(app)
    assert "– stored already" in table(app)
    assert "– twice in these files" in table(app)


def test_games_may_join_an_existing_iteration(open_page, filled, small_game) -> None:
    app = upload(open_page("games", part="Add"), small_game("five"))
    app.segmented_control(key="where").set_value("An existing one").run()
    start(app, filled)
    assert list(filled.transcripts.summaries("Shorter prompt")["game_id"]) == ["four", "five"]


def test_the_report_on_each_set_of_refused_files_is_kept_once(open_page, store, words) -> None:
    app = open_page("games", part="Add")
    for number, name in enumerate(("first.json", "second.json"), start=1):
        app.file_uploader[0].set_value([(name, b'{"gameId": ', "application/json")]).run()
        app.button(key="keep_report").click().run()
        assert "The report is among the earlier imports." in words(app)
        assert not [one for one in app.button if one.key == "keep_report"]
        held = store.imports.list()
        assert (len(held), [line.name for line in held[0].lines]) == (number, [name])
