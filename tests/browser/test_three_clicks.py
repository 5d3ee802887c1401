"""Three questions that people bring to the Overview, each answered within three clicks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect


class Clicks:
    """Counts the presses on a page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.count = 0

    def on(self, selector: str) -> None:
        self._page.locator(selector).first.click()
        self.count += 1

    def link(self, name: str) -> None:
        if self._page.get_by_test_id("stExpandSidebarButton").is_visible():
            # On a phone the navigation is folded away, and opening it is a click of its own.
            self.on("[data-testid='stExpandSidebarButton']")
        self._page.get_by_role("link", name=name, exact=True).click()
        self.count += 1


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_why_did_this_game_fail(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/", width=width, height=2000)
    clicks = Clicks(seen.page)
    clicks.on("[data-mark='1:game:0']")
    seen.page.wait_for_url(re.compile("message=.*metric=strategic_depth"))
    # The reason stands beside the message, on a phone in a dialog above it.
    expect(seen.page.get_by_text("strategic keywords", exact=False).first).to_be_visible()
    assert clicks.count <= 3


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_keep_or_revert(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/", width=width, height=2000)
    clicks = Clicks(seen.page)
    # The answer is the title of the page; the evidence for it is one picture.
    expect(seen.page.locator("h1")).to_have_text("Not yet")
    clicks.link("Compare")
    expect(seen.page.locator(".picture-box .row:not(.head) .difference")).to_have_count(7)
    assert clicks.count <= 3


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_who_must_rate_what(sample_server, visit, width) -> None:
    # Without a login, the Review page has asked once who is there.
    seen = visit(f"{sample_server.url}/review?rater=Lea", width=width, height=2000)
    Clicks(seen.page).link("Overview")
    expect(seen.page.locator("h1")).to_have_text("Not yet")
    if width == 390:
        # The navigation stays open on a phone after a press in it.
        seen.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    clicks = Clicks(seen.page)
    clicks.on("a:visible:has-text('Who rates what?')")
    expect(seen.page.get_by_role("heading", name="Raters by games")).to_be_visible()
    assert clicks.count <= 3
