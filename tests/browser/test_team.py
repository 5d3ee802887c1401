"""The Team view in a browser: a cell opens its rating."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from evaluation.ratings import Rating
from tests.browser.hands import go, settle


@pytest.fixture(scope="module")
def busy(stored_server):
    """Two raters who have rated those games of the newest iteration that do not wait, once far apart."""
    store = stored_server.store
    keys = [key for key in store.transcripts.ids("Prompt v4") if store.ratings.latest(key)]
    for number, key in enumerate(keys):
        store.ratings.add(Rating(key, "Ann", 1 + number, comment="Tense"))
        store.ratings.add(Rating(key, "Bob", 4))
    store.close()
    return stored_server


def test_the_overview_leads_to_who_rates_what_and_a_cell_opens_its_rating_by_keyboard(busy, visit) -> None:
    # Without a login, the Rate page has asked once who is there. Who opens the desk is a rater, and sees no scores yet.
    page = visit(f"{busy.url}/rate?rater=Lea&desk=My%20ratings", height=1600).page
    go(page, "Overview")
    page.locator("a:visible:has-text('Who rates what?')").click()
    expect(page.get_by_text("Select a cell to open it.").first).to_be_visible()
    settle(page)
    page.get_by_text(re.compile(r"\d+ rated games")).click()
    # By keyboard: Enter opens the cell that has the focus.
    cell = page.get_by_role("button", name=re.compile(r", Ann: ✓ 1")).first
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 5").first).to_be_visible()
    expect(page.get_by_text("Tense").first).to_be_visible()
