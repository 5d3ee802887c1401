"""What people change on a server of their own: who rates what, thresholds, and the games of an iteration."""

from __future__ import annotations

import re
from urllib.parse import quote

from playwright.sync_api import expect

from evaluation.ratings import Rating
from tests.browser.hands import go, settle


def test_the_overview_leads_to_who_rates_what_and_a_cell_opens_its_rating_by_keyboard(stored_server, visit) -> None:
    # Two raters have rated those games of the newest iteration that do not wait, once far apart.
    store = stored_server.store
    for number, key in enumerate(key for key in store.transcripts.ids("Prompt v4") if store.ratings.latest(key)):
        store.ratings.add(Rating(key, "Ann", 1 + number, comment="Tense"))
        store.ratings.add(Rating(key, "Bob", 4))
    store.close()
    # Without a login, the Rate page has asked once who is there. Who opens the desk is a rater, and sees no scores yet.
    page = visit(f"{stored_server.url}/rate?rater=Lea&desk=My%20ratings", height=1600).page
    go(page, "Overview")
    page.locator("a:visible:has-text('Who rates what?')").click()
    # By keyboard: Enter opens the cell that has the focus.
    cell = page.get_by_role("button", name=re.compile(r", Ann \(2 rated\): 1")).first
    expect(cell).to_be_visible()
    settle(page)
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 5").first).to_be_visible()
    expect(page.get_by_text("Tense").first).to_be_visible()


def test_back_to_the_defaults_shows_them_and_the_next_save_stores_no_old_number(stored_server, visit) -> None:
    page = visit(f"{stored_server.url}/settings").page
    coherence, depth = (
        page.get_by_label(f"{name} (%)", exact=True) for name in ("Conversation coherence", "Strategic depth")
    )
    coherence.fill("91")
    coherence.press("Enter")
    page.get_by_role("button", name="Save the changes").click()
    expect(page.get_by_text(re.compile(r"Saved \d\d:\d\d")).first).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Back to the defaults").first.click()
    expect(coherence).not_to_have_value("91")
    settle(page)
    default = coherence.input_value()
    depth.fill("33")
    depth.press("Enter")
    settle(page)
    page.get_by_role("button", name="Save the changes").click()
    settle(page)
    # What is drawn anew stands beside what was there for a moment, so no single button can be looked at.
    expect(page.locator("button:enabled").filter(has_text="Save the changes")).to_have_count(0)
    assert coherence.input_value() == default
    stored = stored_server.store.settings.thresholds()
    assert (f"{stored['coherence']:g}", stored["strategic_depth"]) == (default, 33.0)


def test_the_games_of_ticked_rows_are_moved_and_no_other(stored_server, visit) -> None:
    store = stored_server.store
    name = store.iterations.list()[-1].name
    before = store.transcripts.summaries(name)["transcript_id"].tolist()
    page = visit(f"{stored_server.url}/?iteration={quote(name)}").page
    page.get_by_test_id("stPopoverButton").filter(has_text="More").click()
    page.get_by_role("button", name="Its games").click()
    games = page.get_by_role("table", name="Games to move or delete").get_by_role("button")
    games.nth(0).click()
    expect(page.get_by_role("button", name="Move 1 game")).to_be_enabled()
    games.nth(2).click()
    page.get_by_role("button", name="Move 2 games").click()
    expect(page.get_by_text("Moved 2 games.").first).to_be_visible()
    assert store.transcripts.summaries(name)["transcript_id"].tolist() == [before[1], *before[3:]]
    store.close()
