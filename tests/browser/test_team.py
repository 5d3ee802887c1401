"""The Team view in a browser: assign, open a cell, and the assigned games at the desk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from evaluation.ratings import Rating
from tests.browser.accessibility import findings
from tests.browser.hands import in_every_size, settle

ROW = 36


@pytest.fixture(scope="module")
def busy(stored_server):
    """Two raters who have rated three games, once far apart."""
    store = stored_server.store
    keys = store.transcripts.ids()
    for number, key in enumerate(keys[:3]):
        store.ratings.add(Rating(key, "Ann", 1 + number, comment="Tense"))
        store.ratings.add(Rating(key, "Bob", 4))
    store.close()
    return stored_server


def test_a_lead_assigns_and_the_rater_finds_it_at_the_desk(busy, visit) -> None:
    page = visit(f"{busy.url}/review?rater=Lea&desk=Team").page
    names = page.get_by_role("textbox", name="Raters, one name per line")
    names.fill("Ann\nBob\nCleo é")
    names.press("Control+Enter")
    # Of 42 places two sample raters hold 22; Ann and Bob have rated three of these games, too.
    expect(page.get_by_text("20 new assignments in all games, for 21 games:").first).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").last).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text("20 assignments stored.").first).to_be_visible()
    mine = [one for one in busy.store.rating_assignments.current() if one.rater == "Cleo é"]
    desk = visit(f"{busy.url}/review?rater=Cleo%20%C3%A9", apart=True).page
    expect(desk.get_by_text(f"0 of {len(mine)} assigned games done by you").first).to_be_visible()


def test_a_cell_opens_its_rating_by_keyboard(busy, visit) -> None:
    page = visit(f"{busy.url}/review?rater=Lea&desk=Team", height=1600).page
    table = page.get_by_test_id("stDataFrame").nth(1)
    table.scroll_into_view_if_needed()
    settle(page)
    # By keyboard: the first cell takes the focus, the arrows go to the rater's column, Enter opens it.
    table.click(position={"x": 60, "y": ROW + ROW // 2})
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("1 of 5").first).to_be_visible()
    expect(page.get_by_text("Tense").first).to_be_visible()


@pytest.mark.long
def test_the_team_view_fits_and_is_accessible(busy, visit, screenshots) -> None:
    key = busy.store.transcripts.ids()[1]
    page = visit(f"{busy.url}/review?rater=Lea&desk=Team&team_game={key}&team_rater=Bob", height=2400).page
    expect(page.get_by_text("Raters by games", exact=True).first).to_be_visible()
    # The address opens the cell.
    expect(page.get_by_text("4 of 5").first).to_be_visible()
    for width, theme in in_every_size(page, 2400):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=str(screenshots / f"team-{width}-{theme}.png"))
        assert findings(page) == []
