"""The other views of the Rate page: own ratings and sheets, instructions, who speaks, discards."""

import re

import pytest

from dashboard.app_pages.rate import desk_state
from dashboard.app_pages.rate import own_ratings as own
from dashboard.app_pages.rate.instructions import example_game
from dashboard.app_pages.rate.style_check import CANNOT_TELL
from dashboard.shared.page_links import HOW_TO_RATE, OWN, STYLE
from evaluation.escaping import safe
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.rating_desk.style_check import style_questions
from evaluation.ratings import Rating
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables
from tests.games import game_of


def view(open_page, name: str, rater: str = "Grace", **further: str):
    app = open_page("rate", rater=rater, desk=name, **further)
    assert not app.exception
    return app


def buttons(app) -> dict[str, object]:
    return {button.label: button for button in app.button}


def test_ones_own_discards_are_listed_without_the_games_name_and_taken_back(
    open_page, filled, words, small_game
) -> None:
    filled.discards.add(small_game("loose").id, "Grace", DiscardReason.LANGUAGE, "Latin")
    app = view(open_page, OWN)
    assert "I do not read its language well enough\nLatin" in words(app)
    assert "loose" not in words(app)
    buttons(app)["Take it back"].click().run()
    assert filled.discards.of("Grace") == []


@pytest.mark.usefixtures("session")
def test_an_own_rating_opens_filled_in_and_both_are_kept(filled, small_game) -> None:
    (given,) = filled.ratings.latest(small_game("one").id)
    desk = desk_state.DeskState("Grace")
    desk_state.take(filled, desk, given.transcript_id, "words", own.REVISE, given=given)
    assert desk.data["draft"] == {"rev": 1, "score": 4, "answers": [None] * 5, "comment": ""}
    assert desk.data["discards"] == []
    form = {"token": desk.data["token"], "score": 2, "answers": [None] * 5, "comment": "Less", "rev": 2}
    desk_state.submit(filled, desk, form)
    assert [one.score for one in filled.ratings.of_transcript(given.transcript_id)[0]] == [4, 2]
    desk_state.submit(filled, desk, form)
    assert len(filled.ratings.of_transcript(given.transcript_id)[0]) == 2


@pytest.mark.usefixtures("session")
def test_two_windows_with_different_answers_lose_neither(filled) -> None:
    windows = [desk_state.DeskState("Ada"), desk_state.DeskState("Ada")]
    for window in windows:
        desk_state.take_next(filled, window)
    first = windows[0].transcript_id
    for window, score in zip(windows, (4, 2), strict=True):
        form = {"token": window.data["token"], "score": score, "answers": [None] * 5, "comment": "", "rev": 1}
        desk_state.submit(filled, window, form)
    assert windows[1].transcript_id == first
    assert [one.score for one in filled.ratings.every("Ada")] == [4, 2]


def test_own_ratings_say_how_near_they_are_to_others_or_lead_to_a_shared_game(open_page, filled, words) -> None:
    rated = filled.ratings.rater_counts()
    one, two = [game for game in filled.transcripts.ids() if game not in rated][:2]
    filled.ratings.add(Rating(one, "Ann", 4))
    alone = open_page("rate", rater="Ann", desk="My ratings")
    assert "it is not known whether you agree with others" in words(alone)
    alone.button(key="shared_next").click().run()
    assert not alone.exception
    assert (alone.session_state["desk"], alone.query_params["game"]) == ("Rate", min(rated))
    filled.ratings.add(Rating(two, "Bob", 2))
    filled.ratings.add(Rating(two, "Ann", 4))
    filled.ratings.add(Rating(one, "Cleo", 4.5))
    said = words(open_page("rate", rater="Ann", desk="My ratings"))
    assert "You are near the others on 1 of 2 games." in said
    assert "You give 0.8 more than they do." in said
    assert "it is not known" not in said
    # A lead's decision counts in place of what raters gave, and the list says so where there is one.
    assert "Counts instead" not in tables(open_page("rate", rater="Ann", desk="My ratings"))[0]
    filled.engagement_decisions.add(two, 3.5, who="Lea", reason="Read it twice")
    table = tables(open_page("rate", rater="Ann", desk="My ratings"))[0]
    assert table["Counts instead"].tolist() == ["3.5, decided by Lea", ""]


def test_the_instructions_hold_the_whole_scale_and_all_questions(open_page, filled, words, table) -> None:
    app = view(open_page, HOW_TO_RATE)
    said = words(app) + table(app)
    scale = ("5 Fascinating", "Memorable moments", "1 Boring")
    questions = ("Did you find yourself curious", "Would you want to watch another game?")
    # With an example.
    for expected in (*scale, *questions, example_game().reference.why, *example_game().reference.reasons):
        assert expected in said


def talkative(hostile: str) -> Transcript:
    words = [("Alpha", "hammer"), ("Bravo", "pillow")] * 7
    said = [(who, f"Number {i} of the {word} is what Alpha said") for i, (who, word) in enumerate(words)]
    return game_of(said, {"Alpha": {"personality": hostile}, "Bravo": {"personality": "gentle"}}, game_id="talkative")


def test_who_speaks_is_asked_one_by_one_and_told_at_the_end(
    open_page, filled, words, table, hostile, small_game
) -> None:
    game = talkative(hostile)
    add_evaluated(filled, game, source_name="talkative.json")
    assert "Rate a game first" in words(view(open_page, STYLE, rater="Ada"))
    filled.ratings.add(Rating(game.id, "Ada", 4))
    app = view(open_page, STYLE, rater="Ada")
    assert tables(app)[0]["Players"].tolist() == ["0 of 2 players answered"]
    app.session_state["style_game"] = game.id
    app.run()
    first, second = style_questions(game, "Ada")
    said = words(app)
    assert [one.proto.text for one in app.get("progress")] == ["Player 1 of 2"]
    assert tables(app)[0]["Messages of one player"].tolist() == list(first.texts)
    # What a player is like is untrusted text, and a button reads Markdown.
    labels = [one.label for one in app.button if (one.key or "").startswith("style_")]
    assert [re.sub(r"\\(.)", r"\1", label) for label in labels[:2]] == [safe(one.label) for one in first.candidates]
    assert not any(re.search(r"(?<!\\)[\[\]<*_`]", label) for label in labels)
    assert all(first.player not in text for text in first.texts)
    right = [candidate.label for candidate in first.candidates].index(first.truth)
    app.button(key=f"style_{right + 1}").click().run()
    # Whether it was right is not told before the end.
    assert "told (" not in words(app)
    assert [one.proto.text for one in app.get("progress")] == ["Player 2 of 2"]
    buttons(app)[CANNOT_TELL].click().run()
    said = words(app)
    assert "You recognised 1 of 2 players. More than half are needed: not passed." in said
    assert second.player in table(app)
    # As verdicts: the one told counts, the other does not.
    buttons(app)["Let this decide the game's personality metric"].click().run()
    assert "follows your check" in app.toast[0].value
    score = filled.results.load(game.id)["personality_diversity"]
    assert (score.score, str(score.method)) == (50.0, "human")
    app.button(key="style_back").click().run()
    assert "1 of 1 game done." in words(app)
    assert "1 of 2 told (50 %" in words(app)
    assert "guessing finds 50 %" in words(app)
    assert tables(app)[0]["Players"].tolist() == ["✗ not passed: 1 of 2 recognised"]


def test_a_sheet_is_checked_before_it_is_stored(open_page, filled, words, table) -> None:
    app = view(open_page, OWN, rater="Ada", sheets="true")
    app.file_uploader(key="sheet").set_value(("s.csv", b"game,score\none,3\ntwo,8\n", "text/csv")).run()
    assert "1 mistake: nothing of the sheet was stored." in words(app)
    assert "not on the scale" in table(app)
    app.file_uploader(key="sheet").set_value(("s.csv", b"game,score\none,3\ntwo,4\nthree,\n", "text/csv")).run()
    assert "2 new ratings, 1 row without a score. Nothing is stored yet." in words(app)
    assert "Ada: 2 new ratings" in words(app)
    before = len(filled.ratings.every())
    buttons(app)["Store 2 ratings"].click().run()
    assert "2 ratings stored." in words(app)
    assert len(filled.ratings.every()) == before + 2
    assert [one.score for one in filled.ratings.every("Ada")] == [3, 4]
    assert "Nothing new: all 2 ratings of this sheet are stored." in words(app)
    assert "sheet_store" not in [one.key for one in app.button]
