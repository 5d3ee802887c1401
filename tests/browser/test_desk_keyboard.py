"""The rating desk by keyboard alone, and what a rater does there beside rating: put aside, revise."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hands import save_with_open_questions, settle


@pytest.fixture
def desk_of(stored_server, visit) -> Callable[[str], Page]:
    """Opens the desk of a rater of whom nobody has heard yet."""

    def open_(rater: str) -> Page:
        page = visit(f"{stored_server.url}/rate?rater={quote(rater)}").page
        expect(page.get_by_text("Game 1 of 21").first).to_be_visible()
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


def in_talk(page: Page, expression: str) -> object:
    return page.locator(".talk").evaluate(f"(node) => node.{expression}")


def test_a_full_rating_by_keyboard_alone(stored_server, visit) -> None:
    page = visit(f"{stored_server.url}/rate", apart=True).page
    tab_to(page, "Your name")
    page.keyboard.type("Keyboard Kay")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Game 1 of 21").first).to_be_visible()
    first = page.locator(".talk").inner_text()
    # Read: the keys that scroll go to the conversation at once.
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
    expect(page.get_by_text("Game 2 of 21").first).to_be_visible()
    expect(page.get_by_text("Saved. This is the next conversation.").first).to_be_visible()
    (rating,) = stored_server.store.ratings.every("Keyboard Kay")
    assert (rating.score, rating.comment) == (5, "Tense, until 5 spoke")
    assert rating.answers == (True, False, True, False, True)
    # The next one lies there untouched, and its conversation has the keys again.
    assert page.locator(".talk").inner_text() != first
    assert page.locator("input:checked").count() == 0
    assert in_talk(page, "matches(':focus')")


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
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Game 2 of 21, 1 cannot be rated").first).to_be_visible()
    assert page.locator(".talk").inner_text() != first
    (discard,) = stored_server.store.discards.of("Keyboard Dee")
    assert (str(discard.reason), discard.note) == ("truncated", "stops in round 2")
    assert page.locator("input:checked").count() == 0


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
    expect(page.get_by_text("Game 2 of 21").first).to_be_visible()
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
    expect(page.get_by_text("Game 2 of 21").first).to_be_visible()
    assert [one.score for one in stored_server.store.ratings.every("Keyboard Half")] == [3.5]
