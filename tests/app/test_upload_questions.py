"""The Games page: what a file leaves open about who speaks, to whom and when is asked before anything is stored."""

from __future__ import annotations

from tests.app.test_upload_tables import hand_in, start

CHAT = "01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning, Ann\n"
HOSTILE = "[x](https://other.example)"
TABLE = f"name,text,channel\nAnn,a,general\nBob,b,general\nAnn,c,{HOSTILE}\n".encode()


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


def test_an_answer_can_be_changed(open_page, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("x.csv", TABLE))
    assert "taken as not public. Who hears it?" in words(app)
    assert "Ann 1, Bob 1. Not public: 1 team." in words(app)
    app.segmented_control(key="answer_0").set_value("public").run()
    assert "Ann 2, Bob 1." in words(app)


def test_names_of_a_file_are_plain_text(open_page) -> None:
    app = hand_in(open_page("games", part="Add"), ("x.csv", TABLE))
    marked = [block.value for block in (*app.markdown, *app.caption, *app.warning)]
    assert not any(HOSTILE in text for text in marked)


def test_an_answer_is_about_the_files_that_are_there(open_page, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("chat.txt", CHAT.encode()))
    app.segmented_control(key="answer_0").set_value("month-first").run()
    app.file_uploader[0].set_value([]).run()
    assert "Who speaks, to whom, when" not in words(app)
    hand_in(app, ("chat.txt", CHAT.encode()))
    assert "1 question to answer before these games are stored." in words(app)
