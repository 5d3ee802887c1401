"""The Games page: columns of tables, what files leave open, and the report that is kept."""

from __future__ import annotations

import pytest

from dashboard.app_pages.games.add_games import test_words as words_on_tests
from dashboard.shared.jobs import jobs
from evaluation.readers import read_uploads
from evaluation.readers.import_report import ImportOutcome, planned
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables, wait_for_jobs

GERMAN = b"wer,was,tag\nAnn,Guten Morgen,1\nBen,Hallo Ann,2\n"


def hand_in(app, *files):
    app.file_uploader[0].set_value([(name, data, "text/csv") for name, data in files]).run()
    assert not app.exception
    return app


def choose(app, **columns: str):
    """Chooses columns by the position of their name in the option's text."""
    for field, column in columns.items():
        box = app.selectbox(key=f"column_0_{field}")
        box.set_value(next(place for place, text in enumerate(box.options) if text.endswith(column)) - 1)
    app.run()
    assert not app.exception
    return app


def start(app) -> None:
    app.segmented_control(key="where").set_value("No iteration").run()
    app.button(key="start").click().run()
    wait_for_jobs()


def test_the_choice_is_kept_to_for_all_tables_of_the_heading(open_page, store, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("a.csv", GERMAN), ("b.csv", GERMAN.replace(b"Morgen", b"Abend")))
    choose(app, speaker="wer", text="was", round="tag")
    assert "2 games to store." in words(app)
    start(app)
    ids = store.transcripts.summaries()["transcript_id"]
    assert {message.text for key in ids for message in store.transcripts.get(key).messages} == {
        "Guten Morgen",
        "Guten Abend",
        "Hallo Ann",
    }


def test_the_report_is_there_after_a_reload_and_can_be_saved(open_page, store, small_game, words, table) -> None:
    app = hand_in(
        open_page("games", part="Add"),
        ("one.json", small_game("one").to_json().encode()),
        ("broken.json", b'{"gameId": '),
    )
    start(app)
    (report,) = store.imports.list()
    assert (report.counts[ImportOutcome.STORED], report.counts[ImportOutcome.REFUSED]) == (1, 1)
    assert report.seconds is not None
    app = open_page("games", part="Add")
    said = words(app)
    assert "1 game: 1 stored. 1 refused. It took" in said
    assert "broken.json" in said
    assert "✓ stored" in "".join(str(frame.to_string()) for frame in tables(app))
    labels = [element.proto.label for element in app.get("download_button")]
    assert labels == ["Save as JSON", "Save as CSV"]


def test_a_cancelled_import_tells_what_was_stored_and_the_end_of_other_work_leaves_it_open(store, small_game) -> None:
    games = [small_game(name) for name in ("one", "two")]
    files = [(f"{game.game_id}.json", game.to_json().encode()) for game in games]
    store.imports.save(planned(read_uploads(files), ()))
    jobs.end(store, store.jobs.create(jobs.SAMPLES, "Loading the sample games", 2).id)
    assert store.imports.list()[0].seconds is None
    job = store.jobs.create(jobs.EVALUATE, "Scoring uploaded games", 2)
    add_evaluated(store, games[0], source_name="one.json")
    jobs.end(store, job.id)
    (report,) = store.imports.list()
    assert [line.outcome for line in report.lines] == [ImportOutcome.STORED, ImportOutcome.NOT_STORED]
    assert report.seconds is not None


def test_limits_of_the_settings_hold_and_are_told(open_page, store, words, small_game) -> None:
    store.settings.set_limits({"messages": 5, "file_bytes": 3 * 1024 * 1024})
    app = open_page("games", part="Add")
    help_ = app.file_uploader[0].proto.help
    # What a browser may send is a setting of the server, which an AppTest does not start.
    assert "MB a file or zip as it is sent, 3 MB a transcript file" in help_
    assert "5 messages a game" in help_
    hand_in(app, ("one.json", small_game("one").to_json().encode()))
    assert "The game has 8 messages, more than 5." in words(app)


@pytest.mark.parametrize(
    ("before", "added", "size", "expected"),
    [
        (3, 4, 3, "With these 4 games it has 7: 2 full tests, 1 of 3 games for the next."),
        (0, 3, 3, "With these 3 games: 1 full test."),
        (0, 1, 3, "With this game: no full test yet, 1 of 3 games for the next."),
        (1, 1, 1, "With this game it has 2: 2 full tests."),
    ],
)
def test_tests_in_words(before: int, added: int, size: int, expected: str) -> None:
    assert words_on_tests(before, added, size).endswith(expected)


CHAT = "01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning, Ann\n"


def test_a_date_that_can_be_read_two_ways_keeps_a_game_from_being_stored(open_page, store, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("chat.txt", CHAT.encode()))
    said = words(app)
    assert "1 question to answer before these games are stored." in said
    assert 'Does "01/06/2024, 10:00" name the day or the month first?' in said
    assert not [button for button in app.button if button.key == "start"]
    app.segmented_control(key="answer_0").set_value("month-first").run()
    assert "1 game to store." in words(app)
    start(app)
    (key,) = store.transcripts.summaries()["transcript_id"]
    assert [message.sent_at.month for message in store.transcripts.get(key).messages] == [1, 2]


def test_an_answer_is_about_the_files_that_are_there(open_page, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("chat.txt", CHAT.encode()))
    app.segmented_control(key="answer_0").set_value("month-first").run()
    app.file_uploader[0].set_value([]).run()
    assert "Who speaks, to whom, when" not in words(app)
    hand_in(app, ("chat.txt", CHAT.encode()))
    assert "1 question to answer before these games are stored." in words(app)
