"""Two games side by side, picked by ticks in the list: a message opens on its game's page, by mouse and by Enter."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.hands import settle


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
@pytest.mark.parametrize("by", ["mouse", pytest.param("Enter", marks=pytest.mark.long)])
def test_a_failing_message_opens_on_its_games_page(sample_server, visit, width, by) -> None:
    seen = visit(f"{sample_server.url}/games", width=width, height=1400)
    page = seen.page
    for row in (0, 9):
        page.locator(f"[data-mark='{row}:tick:0']").click()
        seen.settle()
    page.wait_for_url(re.compile("transcript="))
    message = page.locator(".shell").nth(1).locator(".message", has=page.locator(".badge.fails")).first
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
