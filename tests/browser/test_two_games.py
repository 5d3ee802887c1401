"""Two games side by side on the Compare page: their messages open on the games' pages, by mouse and by Enter."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import findings
from tests.browser.hands import in_every_size, settle

WHERE = "compare?of=Two+games&before=Prompt+v1&after=Prompt+v4"


@pytest.mark.long
def test_both_conversations_stand_beside_each_other(sample_server, visit, screenshots) -> None:
    seen = visit(f"{sample_server.url}/{WHERE}", height=1400)
    page = seen.page
    shells = page.locator(".shell")
    expect(shells).to_have_count(2)
    expect(page.locator(".badge.fails").first).to_be_attached()
    for width, theme in in_every_size(page, 1400):
        page.screenshot(path=screenshots / f"compare-games-{width}-{theme}.png")
        left, right = (shells.nth(index).bounding_box() for index in (0, 1))
        if width == 1280:
            assert left["y"] == right["y"]
            assert left["x"] + left["width"] <= right["x"]
        else:
            assert left["y"] + left["height"] <= right["y"]
        assert findings(page) == []
    assert (seen.faults, seen.foreign) == ([], [])


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
@pytest.mark.parametrize("by", ["mouse", pytest.param("Enter", marks=pytest.mark.long)])
def test_a_failing_message_opens_on_its_games_page(sample_server, visit, width, by) -> None:
    page = visit(f"{sample_server.url}/{WHERE}", width=width, height=1400).page
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
