"""The Guide in a browser: every step of the tour leads where it says, and the tour is resumed from the sidebar."""

from __future__ import annotations

import re

import pytest
from dashboard.app_pages.settings.tour import STEPS
from playwright.sync_api import expect

from tests.browser.accessibility import findings
from tests.browser.hands import in_every_size


@pytest.mark.long
@pytest.mark.parametrize("view", ["tour=2", "guide_view=Metrics", "guide_view=Terms"])
def test_the_views_are_readable(sample_server, visit, screenshots, view) -> None:
    seen = visit(f"{sample_server.url}/guide?{view}", height=1600)
    expect(seen.page.locator("h1")).to_have_text("Guide")
    for width, theme in in_every_size(seen.page, 1600):
        seen.page.screenshot(path=screenshots / f"guide-{view.partition('=')[2]}-{width}-{theme}.png")
        assert findings(seen.page) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (seen.faults, seen.foreign) == ([], [])


# At 390 pixels with `make test-long`.
@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_the_tour_leads_from_a_first_game_to_a_decision_and_back(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/guide", width=width)
    page = seen.page
    page.get_by_role("button", name="Begin the tour").click()
    for number, step in enumerate(STEPS, start=1):
        expect(page.get_by_text(f"Step {number} of {len(STEPS)}").first).to_be_visible()
        expect(page.get_by_role("heading", name=step.title)).to_be_visible()
        page.get_by_test_id("stMain").get_by_role("link", name=step.label).click()
        expect(page.get_by_role("heading", name="Guide", exact=True)).to_have_count(0)
        seen.settle()
        if width < 500:
            page.get_by_test_id("stExpandSidebarButton").click()
        page.get_by_role("link", name=f"Tour: back to step {number}").click()
        page.wait_for_url(re.compile(rf"/guide\?.*tour={number}"))
        expect(page.get_by_role("heading", name=step.title)).to_be_visible()
        if width < 500:
            page.keyboard.press("Escape")
            page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        if number < len(STEPS):
            page.get_by_role("button", name="Next step").click()
    page.get_by_role("button", name="End the tour").click()
    expect(page.get_by_role("button", name="Begin the tour")).to_be_visible()
    assert seen.faults == []
