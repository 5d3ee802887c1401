"""Mending one game on the Games page, and the marks of mixed versions on lists and trends."""

from __future__ import annotations

from tests.app.outdated import make_outdated


def test_a_game_is_renamed_and_gets_its_files_name_back(open_page, filled, words, small_game) -> None:
    one = small_game("one").id
    app = open_page("games", transcript=one, mend="true")
    app.text_input(key=f"game_name_{one}").set_value("The long night")
    app.button(key=f"rename_{one}").click().run()
    assert not app.exception
    assert "Game 1 · Baseline prompt · The long night" in words(app)
    assert "In its file it is called one" in words(app)
    app.button(key=f"original_{one}").click().run()
    assert not app.exception
    assert filled.transcripts.game_ids()[one] == "one"
    assert app.text_input(key=f"game_name_{one}").value == "one"


def test_a_game_is_moved(open_page, filled, small_game) -> None:
    one = small_game("one").id
    app = open_page("games", transcript=one, mend="true")
    app.selectbox(key=f"game_iteration_{one}").set_value("Shorter prompt")
    app.button(key=f"move_{one}").click().run()
    assert not app.exception
    assert filled.transcripts.summaries().set_index("transcript_id")["iteration"][one] == "Shorter prompt"


def test_a_deleted_game_is_gone_from_the_list_and_undo_brings_it_back(open_page, filled, words, small_game) -> None:
    before = filled.transcripts.summaries().to_csv()
    one = small_game("one").id
    app = open_page("games", transcript=one, mend="true")
    app.button(key=f"delete_game_{one}").click().run()
    assert not app.exception
    assert "transcript" not in app.query_params
    assert one not in set(filled.transcripts.summaries()["transcript_id"])
    assert "Game 1 · Baseline prompt" in words(app)
    app.button(key="undo_last").click().run()
    assert not app.exception
    assert filled.transcripts.summaries().to_csv() == before


def test_mixed_versions_are_marked_on_list_trends_comparison_and_game(open_page, filled, words, small_game) -> None:
    make_outdated(filled, small_game("one"))
    for page in ("games", "trends", "compare"):
        assert "Conversation coherence was computed by version 0 in 1 game" in words(open_page(page))
    app = open_page("games", transcript=small_game("one").id)
    assert "Conversation coherence (version 0, today" in words(app)
    assert "version 0" not in words(open_page("games", transcript=small_game("two").id))
