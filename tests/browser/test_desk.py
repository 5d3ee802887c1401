"""The rating desk in a real browser: drafts, double submits, lost connections, and all of it by keyboard alone."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from evaluation.ratings import Rating
from tests.browser.hands import go, save_once_read, save_with_open_questions, see_game, settle

_numbers = itertools.count(1)


@dataclass
class Desk:
    """The desk of a rater of whom nobody has heard yet, on a server that the tests of this file share."""

    server: Any
    seen: Any
    rater: str

    @property
    def scores(self) -> list[int]:
        ratings = self.server.store.ratings.all()
        return ratings.loc[ratings["rater"] == self.rater, "score"].tolist()


@pytest.fixture
def desk(stored_server, visit) -> Iterator[Desk]:
    rater = f"Ada {next(_numbers)}"
    seen = visit(f"{stored_server.url}/rate?rater={quote(rater)}")
    expect(seen.page.locator(".desk")).to_be_visible()
    yield Desk(stored_server, seen, rater)
    # A test that failed while the server was down must not take the next ones with it.
    if stored_server.process is None:
        stored_server.start()


def checked(page: Page, name: str) -> str | None:
    box = page.locator(f"input[name='{name}']:checked")
    return box.get_attribute("value") if box.count() else None


def test_a_key_shows_at_once_and_keys_rest_in_a_comment_and_behind_the_help(desk) -> None:
    page = desk.seen.page
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose a score from 1 to 5 first.").first).to_be_visible()
    assert desk.scores == []
    page.get_by_label("Comment, if you like").click()
    page.keyboard.type("5 yes? no, skip 3")
    assert checked(page, "score") is None
    assert checked(page, "question0") is None
    assert page.get_by_label("Comment, if you like").input_value() == "5 yes? no, skip 3"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("5")
    assert checked(page, "score") is None
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    assert checked(page, "score") == "5"
    # Within one task of the page nothing can have travelled to the server and back.
    shown = page.evaluate(
        """() => {
            const host = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".desk"));
            const radio = host.shadowRoot.querySelector("input[name='score'][value='4']");
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "4", bubbles: true }));
            return radio.checked;
        }"""
    )
    assert shown


def test_skipping_shows_another_game_and_submitting_twice_at_once_saves_once(desk) -> None:
    page = desk.seen.page
    first = page.locator(".talk").inner_text()
    page.keyboard.press("s")
    see_game(page, "1 skipped")
    assert page.locator(".talk").inner_text() != first
    assert desk.scores == []
    page.keyboard.press("4")
    # A double click is one press: what it leads to is read first.
    page.get_by_role("button", name="Save and next").dblclick()
    expect(page.get_by_text("5 of 5 questions have no answer.").first).to_be_visible()
    assert desk.scores == []
    page.get_by_text("yes", exact=True).first.dblclick()
    assert checked(page, "question0") == "yes"
    for _ in range(4):
        page.keyboard.press("n")
    page.get_by_role("button", name="Save and next").dblclick()
    page.keyboard.press("Control+Enter")
    see_game(page, "Game 2 of 21")
    assert desk.scores == [4]


def test_what_is_struck_before_the_next_game_was_seen_counts_for_neither_and_is_named(desk) -> None:
    page, refused = desk.seen.page, "Did not count, as the next conversation was not on the screen"
    for key in "4ynyny":
        page.keyboard.press(key)
    desk.server.process.send_signal(signal.SIGSTOP)
    try:
        page.keyboard.press("Control+Enter")
        page.keyboard.type("2n")
        expect(page.get_by_text(f"Saving. {refused}: 2 n")).to_be_visible()
        assert checked(page, "score") == "4"
        # By mouse neither.
        expect(page.locator(".fields")).to_have_js_property("inert", True)
    finally:
        desk.server.process.send_signal(signal.SIGCONT)
    # The key comes with the game itself: nobody has read a word of it.
    page.wait_for_function(
        """() => {
            const host = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".desk"));
            if (!host.shadowRoot.querySelector(".message-line").textContent.includes("This is the next")) return false;
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
            return true;
        }""",
        polling=1,
    )
    see_game(page, f"Saved. This is the next conversation. {refused}: 2 n 1")
    assert desk.scores == [4]
    assert [checked(page, name) for name in ("score", "question0")] == [None, None]
    page.keyboard.press("5")
    assert checked(page, "score") == "5"
    page.keyboard.press("s")
    page.keyboard.press("3")
    # The skipped game is not taken up again by a key that came too late.
    see_game(page, "1 skipped")
    assert checked(page, "score") is None
    assert desk.scores == [4]


def test_the_whole_form_stands_on_a_small_screen_of_somebody_new_whom_the_guide_greets_until_they_say_so(
    desk, visit
) -> None:
    page = desk.seen.page
    page.set_viewport_size({"width": 1280, "height": 800})
    desk.seen.settle()
    expect(page.get_by_text("New here?")).to_be_visible()
    bottom = page.locator(".fields").evaluate("(node) => node.getBoundingClientRect().bottom")
    assert page.locator("textarea").first.evaluate("(node) => node.getBoundingClientRect().bottom") <= bottom
    assert page.locator(".footer").evaluate("(node) => node.getBoundingClientRect().bottom") <= 800
    main = page.get_by_test_id("stMain")
    assert main.evaluate("(node) => node.scrollHeight - node.clientHeight") <= 0, "nothing to scroll"
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("New here?")).to_have_count(0)
    page.reload()
    expect(page.locator(".desk")).to_be_visible()
    expect(page.get_by_text("New here?")).to_have_count(0)


def test_the_greeting_leads_to_the_guide_and_goes_with_the_first_rating(desk) -> None:
    page = desk.seen.page
    expect(page.get_by_text("New here?")).to_be_visible()
    page.get_by_role("button", name="How to rate").click()
    expect(page.get_by_text("You are the audience")).to_be_visible()
    page.get_by_role("radio", name="Rate", exact=True).click()
    expect(page.locator(".desk")).to_be_visible()
    page.keyboard.press("4")
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    expect(page.get_by_text("New here?")).to_have_count(0)


def test_the_last_rating_is_changed_from_the_desk_in_one_press(desk) -> None:
    page = desk.seen.page
    first = page.locator(".talk .message").first.inner_text()
    page.keyboard.press("4")
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    again = page.get_by_role("button", name="Change the last rating")
    left = "(node) => getComputedStyle(node).paddingLeft"
    assert again.evaluate(left) == page.locator(".message-line").first.evaluate(left) == "0px"
    again.click()
    see_game(page, "You gave 4")
    assert page.locator(".talk .message").first.inner_text() == first
    page.keyboard.press("2")
    # Which questions stay open was said once.
    page.get_by_role("button", name="Save the revision").dblclick()
    see_game(page, "Game 2 of 21")
    assert desk.scores == [4, 2]


def test_on_a_phone_a_thumb_meets_every_button_and_the_form_begins_below_the_bar(desk) -> None:
    page = desk.seen.page
    page.set_viewport_size({"width": 390, "height": 844})
    heights = page.locator(".desk button").evaluate_all("(all) => all.map((one) => one.offsetHeight).filter(Boolean)")
    assert min(heights) >= 40
    page.get_by_role("button", name="To the score").click()
    expect(page.locator(".progress")).to_be_in_viewport(ratio=1)
    assert page.locator(".progress").evaluate("(words) => words.getBoundingClientRect().top") >= 60


def test_back_from_the_last_rating_leads_to_the_form_that_was_begun_and_keeps_both(desk) -> None:
    page = desk.seen.page
    page.keyboard.press("4")
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    page.keyboard.press("3")
    page.get_by_label("Comment, if you like").fill("half a thought")
    desk.seen.settle()
    page.get_by_role("button", name="Change the last rating").click()
    see_game(page, "You gave 4")
    page.keyboard.press("1")
    page.go_back()
    see_game(page, "Game 2 of 21")
    expect(page.get_by_label("Comment, if you like")).to_have_value("half a thought")
    assert checked(page, "score") == "3"
    page.go_forward()
    see_game(page, "You gave 4")
    expect(page.locator("input[name='score'][value='1']")).to_be_checked()
    assert desk.scores == [4]


def test_back_from_a_rating_that_is_revised_leads_to_the_list_that_it_was_chosen_in(desk) -> None:
    page = desk.seen.page
    page.keyboard.press("4")
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    page.get_by_role("radio", name="My ratings").click()
    expect(page.get_by_text("You rated 1 game").first).to_be_visible()
    desk.seen.settle()
    page.locator("tbody tr").first.click()
    see_game(page, "You gave 4")
    page.keyboard.press("2")
    page.go_back()
    expect(page.get_by_text("You rated 1 game").first).to_be_visible()
    page.go_forward()
    expect(page.locator("input[name='score'][value='2']")).to_be_checked()
    page.get_by_role("button", name="Save the revision").click()
    expect(page.get_by_text("Both ratings are kept").first).to_be_visible()
    expect(page.get_by_text("You rated 1 game").first).to_be_visible()
    assert "revised=" not in page.url
    assert desk.scores == [4, 2]


def test_back_from_another_view_leads_to_the_desk(desk) -> None:
    page = desk.seen.page
    page.keyboard.press("3")
    for view in ("My ratings", "How to rate"):
        page.get_by_role("radio", name=view).click()
        page.wait_for_url(f"**desk={view.replace(' ', '+')}**")
        # Nobody goes back from what is not drawn yet.
        desk.seen.settle()
    page.go_back()
    expect(page.get_by_text("You have not rated a game yet.").first).to_be_visible()
    page.go_back()
    expect(page.locator("input[name='score'][value='3']")).to_be_checked()


@pytest.mark.parametrize(("button", "counts"), [("This one stands", 2), ("The other stands", 4)])
def test_a_second_tab_overwrites_no_rating_without_asking(desk, visit, button, counts) -> None:
    first, store = desk.seen.page, desk.server.store
    second = visit(f"{desk.server.url}/rate?rater={quote(desk.rater)}").page
    first.keyboard.press("4")
    save_with_open_questions(first)
    see_game(first, "Game 2 of 21")
    second.keyboard.press("2")
    save_with_open_questions(second)
    expect(second.get_by_text("Saved in another tab on").first).to_contain_text("4, which counts. Yours, 2, is kept")
    assert desk.scores == [4, 2]
    assert [one.score for one in store.ratings.by_rater(desk.rater)] == [4]
    see_game(second, "Two tabs rated this game")
    expect(second.locator("input[name='score'][value='2']")).to_be_checked()
    second.get_by_role("button", name=button).click()
    see_game(second, "Game 2 of 21")
    assert [one.score for one in store.ratings.by_rater(desk.rater)] == [counts]


def test_who_opened_a_game_with_its_scores_is_told_that_the_rating_is_not_blind(stored_server, visit) -> None:
    rater = f"Ada {next(_numbers)}"
    game = stored_server.store.rating_queue.next_unrated(rater)
    page = visit(f"{stored_server.url}/games?transcript={game}&rater={quote(rater)}").page
    go(page, "Rate")
    expect(page.get_by_text("You have seen scores or ratings of this game").first).to_be_visible()
    page.locator(".talk").get_by_role("button", name="Cannot rate").click()
    page.get_by_role("radio", name="I know it").check()
    page.get_by_role("button", name="Take it out of my queue").click()
    see_game(page, "Game 2 of 21, 1 cannot be rated")
    expect(page.get_by_text("You have seen scores or ratings of this game")).to_have_count(0)


def test_skipped_games_stay_aside_in_another_browser(desk, visit) -> None:
    page = desk.seen.page
    first = page.locator(".talk .message").first.inner_text()
    page.keyboard.press("s")
    see_game(page, "1 skipped")
    assert "skipped" not in page.url
    other = visit(f"{desk.server.url}/rate?rater={quote(desk.rater)}", apart=True).page
    see_game(other, "Game 1 of 21, 1 skipped")
    assert other.locator(".talk .message").first.inner_text() != first


def test_a_score_that_contradicts_the_answers_is_pointed_out_once(desk) -> None:
    told = "4 of 5 answers are yes, but the score is below 3"
    page = desk.seen.page
    for key in ("2", "y", "y", "y", "y", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text(told).first).to_be_visible()
    # Pressed twice is pressed once, and each of the two is saved over by a press of its own.
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(told).first).to_be_visible()
    save_once_read(page)
    expect(page.get_by_text("1 of 5 questions has no answer.").first).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Save and next").click()
    assert desk.scores == []
    save_once_read(page)
    see_game(page, "Game 2 of 21")
    assert desk.scores == [2]


def test_what_was_typed_survives_a_reload_at_once_and_follows_the_rater_to_another_browser(desk, visit) -> None:
    server, page = desk.server, desk.seen.page
    page.keyboard.press("3")
    page.get_by_label("Comment, if you like").fill("half a thought")
    page.reload()
    expect(page.get_by_label("Comment, if you like")).to_have_value("half a thought")
    assert checked(page, "score") == "3"
    page.get_by_label("Comment, if you like").fill("a whole thought")
    expect_draft(
        server, page, server.store.ratings.token(desk.rater, server.store.rating_queue.next_unrated(desk.rater))
    )
    other = visit(f"{server.url}/rate?rater={quote(desk.rater)}", apart=True).page
    expect(other.get_by_label("Comment, if you like")).to_have_value("a whole thought")


def expect_draft(server, page: Page, token: str) -> None:
    """Waits until the server has the draft."""
    for _ in range(100):
        draft = server.store.drafts.load(token)
        if draft and draft.body["comment"]:
            return
        page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 100))")
    pytest.fail("The draft did not reach the database.")


def test_a_form_that_did_not_arrive_comes_back_in_another_tab_though_the_queue_moved(desk, visit) -> None:
    server, page = desk.server, desk.seen.page
    game = server.store.rating_queue.next_unrated(desk.rater)
    server.stop()
    page.keyboard.press("2")
    page.get_by_label("Comment, if you like").fill("begun while the server was away")
    page.keyboard.press("Escape")
    save_with_open_questions(page)
    expect(page.get_by_text("Saving").first).to_be_visible()
    page.close()
    server.store.ratings.add(Rating(game, f"Quicker than {desk.rater}", 3))
    assert server.store.rating_queue.next_unrated(desk.rater) != game
    server.store.close()
    server.start()
    page = visit(f"{server.url}/rate?rater={quote(desk.rater)}").page
    expect(page.get_by_label("Comment, if you like")).to_have_value("begun while the server was away")
    expect(page.locator("input[name='score'][value='2']")).to_be_checked()
    see_game(page, "This one was not saved yet: save it again.")
    assert desk.scores == []
    expect_draft(server, page, server.store.ratings.token(desk.rater, game))
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    given = [(one.transcript_id, one.score) for one in server.store.ratings.by_rater(desk.rater)]
    assert given == [(game, 2)]
    expect(page.get_by_label("Comment, if you like")).to_have_value("")


def test_keys_answer_without_a_connection_and_a_form_is_not_called_saved_because_another_game_comes(desk) -> None:
    server, page = desk.server, desk.seen.page
    game = server.store.rating_queue.next_unrated(desk.rater)
    server.stop()
    expect(page.get_by_role("dialog", name="Connection error")).to_be_visible()
    # Typed while nobody listens, so that no draft is stored; and after the start somebody else's rating moves the
    # game behind all others in the queue.
    page.keyboard.press("5")
    assert checked(page, "score") == "5"
    save_with_open_questions(page)
    expect(page.get_by_text("Saving, try 2 of").first).to_be_visible()
    server.store.ratings.add(Rating(game, f"Quicker than {desk.rater}", 3))
    server.store.close()
    server.start()
    see_game(page, "Game 2 of 21")
    assert [(one.transcript_id, one.score) for one in server.store.ratings.by_rater(desk.rater)] == [(game, 5)]
    page.keyboard.press("Backspace")
    page.keyboard.press("y")
    assert [checked(page, f"question{n}") for n in range(2)] == ["yes", None]


def test_a_link_opens_the_desk_on_its_game_until_that_is_rated(stored_server, visit) -> None:
    rater, game = f"Ada {next(_numbers)}", stored_server.store.transcripts.summaries()["transcript_id"].iloc[-1]
    page = visit(f"{stored_server.url}/rate?rater={quote(rater)}&game={game}").page
    expect(page.get_by_text("This game was picked, not handed out by the queue").first).to_be_visible()
    page.keyboard.press("2")
    page.reload()
    expect(page.get_by_text("This game was picked, not handed out by the queue").first).to_be_visible()
    expect(page.locator("input[name='score'][value='2']")).to_be_checked()
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    assert "game=" not in page.url
    assert [one.transcript_id for one in stored_server.store.ratings.by_rater(rater)] == [game]


def test_a_database_that_was_moved_away_loses_no_rating_and_no_form(desk) -> None:
    server, page = desk.server, desk.seen.page
    server.database.rename(server.database.with_name("elsewhere.duckdb"))
    page.keyboard.press("4")
    page.get_by_label("Comment, if you like").fill("Kept")
    save_with_open_questions(page)
    expect(page.get_by_text("was moved or deleted while it was in use").first).to_be_visible()
    expect(page.get_by_text("Your answers are kept.").first).to_be_visible()
    expect(page.get_by_label("Comment, if you like")).to_have_value("Kept")
    assert checked(page, "score") == "4"
    assert not server.database.exists()
    server.database.with_name("elsewhere.duckdb").rename(server.database)
    page.keyboard.press("Control+Enter")
    see_game(page, "Game 2 of 21")
    assert [(one.score, one.comment) for one in server.store.ratings.by_rater(desk.rater)] == [(4, "Kept")]


def wait_for_begun(desk: Desk) -> str:
    """Waits until the server has the draft of the form on the desk; returns the game's id."""
    for _ in range(100):
        for game, rater in desk.server.store.drafts.begun():
            if rater == desk.rater:
                return game
        desk.seen.page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 100))")
    pytest.fail("The draft did not reach the database.")


def test_a_game_that_somebody_deleted_makes_room_for_the_next_one(desk) -> None:
    store, page = desk.server.store, desk.seen.page
    first = page.locator(".talk").inner_text()
    page.keyboard.press("3")
    game = wait_for_begun(desk)
    deletion = store.deletions.delete([game], who="Cleo")
    try:
        save_with_open_questions(page)
        expect(page.get_by_text("Somebody deleted that game. Your answers are kept").first).to_be_visible()
        expect(page.locator(".talk")).not_to_have_text(first)
        assert checked(page, "score") is None
    finally:
        store.deletions.undo(deletion.id, who="Cleo")
    page.reload()
    expect(page.locator(".desk")).to_be_visible()
    assert checked(page, "score") == "3"


# By keyboard alone: rate, put aside, give half a point.


@pytest.fixture
def desk_of(stored_server, visit) -> Callable[[str], Page]:
    """Opens the desk of a rater of whom nobody has heard yet."""

    def open_(rater: str) -> Page:
        page = visit(f"{stored_server.url}/rate?rater={quote(rater)}").page
        see_game(page, "Game 1 of 21")
        return page

    return open_


_SCROLLED = """() => [...document.querySelectorAll("*")].some(
    (node) => node.shadowRoot?.querySelector(".talk")?.scrollTop > 0)"""


def tab_to(page: Page, name: str) -> None:
    """Presses Tab until the element of that label has the focus."""
    wanted = page.get_by_label(name, exact=True)
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("(node) => node === document.activeElement"):
            return
    pytest.fail(f"Tab does not come to {name}.")


def test_a_full_rating_by_keyboard_alone(stored_server, visit) -> None:
    page = visit(f"{stored_server.url}/rate", apart=True).page
    tab_to(page, "Your name")
    page.keyboard.type("Keyboard Kay")
    page.keyboard.press("Enter")
    see_game(page, "Game 1 of 21")
    first = page.locator(".talk").inner_text()
    # Read: the keys that scroll go to the conversation at once, and also when nothing has the focus any more.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    page.wait_for_function(_SCROLLED)
    for key in ("4", "y", "n", "y", "y", "Backspace", "n", "y"):
        page.keyboard.press(key)
    page.keyboard.press("t")
    page.keyboard.type("Tense, until 5 spoke")
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    page.keyboard.press("t")
    page.keyboard.press("Control+Enter")
    see_game(page, "Game 2 of 21")
    expect(page.get_by_text("Saved. This is the next conversation.").first).to_be_visible()
    (rating,) = stored_server.store.ratings.every("Keyboard Kay")
    assert (rating.score, rating.comment) == (5, "Tense, until 5 spoke")
    assert rating.answers == (True, False, True, False, True)
    # The next one lies there untouched, and its conversation has the keys again.
    assert page.locator(".talk").inner_text() != first
    assert page.locator("input:checked").count() == 0
    assert page.locator(".talk").evaluate("(node) => node.matches(':focus')")


def test_a_game_is_put_aside_by_keyboard(stored_server, desk_of) -> None:
    page = desk_of("Keyboard Dee")
    first = page.locator(".talk").inner_text()
    page.keyboard.press("d")
    expect(page.get_by_role("dialog", name="Cannot be rated")).to_be_visible()
    # The first reason has the focus; Space takes it, and digits do not reach the form behind.
    page.keyboard.press("5")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("stops in round 2")
    page.keyboard.press("Control+Enter")
    see_game(page, "Game 2 of 21, 1 cannot be rated")
    assert page.locator(".talk").inner_text() != first
    (discard,) = stored_server.store.discards.of("Keyboard Dee")
    assert (str(discard.reason), discard.note) == ("truncated", "stops in round 2")
    assert page.locator("input:checked").count() == 0
    page.get_by_role("button", name="Undo “Cannot rate”").click()
    expect(page.get_by_text("You took this game back").first).to_be_visible()
    # The end of a long talk is drawn after its beginning.
    assert page.locator(".talk").inner_text()[:500] == first[:500]
    assert stored_server.store.discards.of("Keyboard Dee") == []


@pytest.mark.parametrize("place", ["view and back", "sidebar", pytest.param("heading", marks=pytest.mark.long)])
def test_saving_by_key_works_wherever_the_focus_is(stored_server, desk_of, place: str) -> None:
    page = desk_of(f"Keyboard {place}")
    page.keyboard.press("4")
    if place == "view and back":
        page.get_by_role("radio", name="My ratings").click()
        expect(page.get_by_text("You have not rated a game yet.").first).to_be_visible()
        page.get_by_role("radio", name="Rate", exact=True).click()
        settle(page)
    elif place == "sidebar":
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Rate").focus()
    else:
        page.locator("h1").click()
    expect(page.locator("input[name='score'][value='4']")).to_be_checked()
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    assert [one.score for one in stored_server.store.ratings.every(f"Keyboard {place}")] == [4]


def test_half_a_point_is_given_by_keyboard(stored_server, desk_of) -> None:
    page = desk_of("Keyboard Half")
    page.keyboard.press(".")
    half = page.get_by_role("checkbox", name="add a half")
    expect(half).to_be_disabled()
    page.keyboard.press("3")
    page.keyboard.press(".")
    expect(page.get_by_role("checkbox", name="add a half: 3.5")).to_be_checked()
    save_with_open_questions(page)
    see_game(page, "Game 2 of 21")
    assert [one.score for one in stored_server.store.ratings.every("Keyboard Half")] == [3.5]
