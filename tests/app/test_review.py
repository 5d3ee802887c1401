"""The Rate page around the desk, and the desk's callbacks as plain functions."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.app_pages.rate import desk_state, rating_desk
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from tests.app.drawn import data_of, drawn


# The second turns around what stands behind it, as the scores of others in a list.
@pytest.mark.parametrize(("name", "told"), [("   ", "Enter your name."), ("Ada \u202eeb", "That name cannot be used")])
def test_a_name_that_cannot_be_used_is_explained(open_page, filled, words, name, told) -> None:
    app = open_page("rate")
    app.text_input[0].set_value(name)
    app.button[0].click().run()
    assert told in words(app)


# The browser's events cannot be made in this kind of test: what they call is called by hand.


@pytest.fixture
def desk(session, filled) -> desk_state.DeskState:
    taken = desk_state.DeskState("Ada")
    desk_state.take_next(filled, taken)
    return taken


def form(desk: desk_state.DeskState, **changes: object) -> dict[str, object]:
    filled_in = {"token": desk.data["token"], "score": 4, "answers": [True] * 5, "comment": "Good", "rev": 3}
    return filled_in | changes


def saving() -> None:
    import streamlit as st

    from dashboard.app_pages.rate import desk_state
    from dashboard.shared import resources

    store, desk = resources.store(), desk_state.DeskState("Ada", receipt=st.empty())
    desk_state.take_next(store, desk)
    if "gone" in st.query_params:
        store.deletions.delete([desk.transcript_id], who="Grace")
    st.text(desk.data["token"])
    desk_state.submit(
        store, desk, {"token": desk.data["token"], "score": 4, "answers": [True] * 5, "comment": "", "rev": 1}
    )


def test_the_desk_is_told_at_once_that_a_form_is_stored(filled) -> None:
    app = AppTest.from_function(saving).run()
    (receipt,) = drawn(app)
    token = app.text[0].value
    assert json.loads(receipt.proto.json) == {"token": token}
    assert [rating.token for rating in filled.ratings.every("Ada")] == [token]


def test_the_desk_is_not_told_so_of_a_form_that_cannot_be_stored(filled) -> None:
    app = AppTest.from_function(saving)
    app.query_params["gone"] = "1"
    app.run()
    assert not app.exception
    assert drawn(app) == []
    assert filled.ratings.every("Ada") == []


@pytest.mark.parametrize("reason", [["garbled"], {}, None, 3, "made-up", "other"])
def test_a_forged_reason_or_one_without_its_note_puts_no_game_aside(desk, filled, reason) -> None:
    note = {} if reason == "other" else {"note": ""}
    for value in ({"token": desk.data["token"], "reason": reason} | note, {}, None):
        desk_state.discard(filled, desk, value)
    assert filled.discards.of("Ada") == []
    assert desk.data is not None


def test_a_picked_game_that_is_gone_or_put_aside_leaves_the_queue_alone(open_page, filled, words, small_game) -> None:
    app = open_page("rate", rater="Ada", game="made-up")
    assert "is not here any more" in words(app)
    assert data_of(app, "rating_desk")["progress"] == "Game 1 of 5 · Ada"
    filled.discards.add(small_game("one").id, "Ada", DiscardReason.GARBLED, "")
    again = open_page("rate", rater="Ada", game=small_game("one").id)
    assert "cannot be rated" in words(again)
    assert "in one" not in json.dumps(data_of(again, "rating_desk"))


def test_leaving_a_picked_game_goes_on_with_the_queue(filled, small_game) -> None:
    desk, given = desk_state.DeskState("Grace"), filled.ratings.by_rater("Grace")[0]
    desk_state.take(filled, desk, given.transcript_id, "", rating_desk.REVISE, given=given)
    desk_state.skip(filled, desk, {"token": desk.data["token"]})
    assert (desk.data, filled.rating_queue.progress("Grace").skipped) == (None, 0)
    picked = small_game("loose").id
    desk_state.take(filled, desk, picked, "", rating_desk.RATE)
    desk_state.skip(filled, desk, {"token": desk.data["token"]})
    # Else the queue might bring the same game at once.
    assert (desk.data, filled.rating_queue.progress("Grace").skipped) == (None, 1)


def test_skipped_games_stay_put_aside_in_every_session_until_nothing_else_is_left(open_page, filled, words) -> None:
    shown = open_page("rate", rater="Ada").session_state["review_seat"].transcript_id
    filled.rating_queue.skip("Ada", shown)
    again = open_page("rate", rater="Ada")
    assert again.session_state["review_seat"].transcript_id not in (None, shown)
    assert data_of(again, "rating_desk")["progress"] == "Game 1 of 5, 1 skipped · Ada"
    for game in filled.transcripts.ids():
        filled.rating_queue.skip("Ada", game)
    end = open_page("rate", rater="Ada")
    assert "5 skipped, 0 of 5 rated" in words(end)
    # Of who was asked for some games, these are counted.
    filled.rating_assignments.add([(game, "Ada") for game in filled.transcripts.ids()[:2]], who="Lea")
    assert "Nothing new is left of those assigned to you: 2 skipped, 0 of 2 done." in words(
        open_page("rate", rater="Ada")
    )
    filled.rating_assignments.withdraw([(game, "Ada") for game in filled.transcripts.ids()[:2]], who="Lea")
    end.button(key="unskip").click().run()
    assert data_of(end, "rating_desk")["progress"] == "Game 1 of 5 · Ada"


def another_session(desk: desk_state.DeskState, filled) -> desk_state.DeskState:
    """What is on the desk after a restart of the server, when somebody else has rated the game meanwhile."""
    filled.ratings.add(Rating(desk.transcript_id, "Bob", 3))
    new = desk_state.DeskState("Ada")
    desk_state.take_next(filled, new)
    assert new.transcript_id != desk.transcript_id
    return new


def test_a_form_filled_in_before_the_session_was_lost_is_saved(desk, filled) -> None:
    new = another_session(desk, filled)
    desk_state.submit(filled, new, form(desk))
    (rating,) = filled.ratings.every("Ada")
    assert (rating.transcript_id, rating.score) == (desk.transcript_id, 4)
    assert new.kept == desk.data["token"]
    assert new.data["progress"] == "Game 2 of 5 · Ada"
    # The browser sends it until it hears of it: it is stored once.
    desk_state.submit(filled, new, form(desk))
    assert len(filled.ratings.every("Ada")) == 1


def test_a_form_of_somebody_else_is_not_saved(desk, filled) -> None:
    eve = desk_state.DeskState("Eve")
    desk_state.take_next(filled, eve)
    desk_state.submit(filled, eve, form(desk))
    desk_state.keep_draft(filled, eve, form(desk))
    assert filled.ratings.every("Eve") == filled.ratings.every("Ada") == []
    assert filled.drafts.load(desk.data["token"]) is None


def test_a_game_that_another_tab_has_rated_is_not_put_aside(desk, filled) -> None:
    second = desk_state.DeskState("Ada")
    desk_state.take_next(filled, second)
    desk_state.submit(filled, desk, form(desk))
    desk_state.discard(filled, second, {"token": second.data["token"], "reason": "garbled", "note": ""})
    assert (filled.discards.of("Ada"), second.data) == ([], None)
    assert "rated that game in another tab" in second.left_words


def test_a_game_put_aside_before_the_session_was_lost_is_out_of_the_queue(desk, filled) -> None:
    new = another_session(desk, filled)
    desk_state.discard(filled, new, {"token": desk.data["token"], "reason": "garbled", "note": ""})
    assert [one.transcript_id for one in filled.discards.of("Ada")] == [desk.transcript_id]
    assert new.data is not None
