"""Two games side by side, picked by ticks in the list: one finder for both, and a message opens on its game's page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.hands import settle


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
@pytest.mark.parametrize(("by", "place"), [("mouse", 0), pytest.param("Enter", 1, marks=pytest.mark.long)])
def test_a_failing_message_opens_on_its_games_page(sample_server, visit, width, by, place) -> None:
    seen = visit(f"{sample_server.url}/games", width=width, height=1400)
    page = seen.page
    for row in (0, 9):
        page.locator(f"[data-mark='{row}:tick:0']").click()
        seen.settle()
    page.wait_for_url(re.compile("transcript="))
    message = page.locator(".shell").nth(place).locator(".message", has=page.locator(".badge.fails")).first
    words = message.locator(".text").inner_text()
    badge = message.locator(".badge.fails").first
    if by == "mouse":
        badge.click()
    else:
        badge.focus()
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/games\?.*message="))
    expect(page.locator("h1", has_text="Games")).to_be_visible()
    settle(page)
    expect(page.locator(".message.chosen .text")).to_have_text(words)
    expect(page.locator(".message.chosen")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_one_finder_and_one_choice_of_verdicts_move_both_conversations(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/games", width=width, height=1400)
    page = seen.page
    for row in (0, 9):
        page.locator(f"[data-mark='{row}:tick:0']").click()
        seen.settle()
    page.wait_for_url(re.compile("transcript="))
    shells = page.locator(".shell")
    expect(shells).to_have_count(2)
    finder = page.get_by_role("searchbox", name="Find in this conversation")
    expect(finder).to_have_count(1)
    finder.fill("vote")
    for place in (0, 1):
        expect(shells.nth(place).locator("mark.hit").first).to_be_visible()
    address = page.url
    page.get_by_role("button", name="Next message").click()
    for place in (0, 1):
        expect(shells.nth(place).locator(".message.chosen")).to_be_visible()
    seen.settle()
    # A step opens nothing; a press on the game's name does.
    assert page.url == address
    shells.nth(1).get_by_role("button", name="Open game").click()
    page.wait_for_url(re.compile(r"/games\?(?!.*beside)"))
    assert seen.faults == []
