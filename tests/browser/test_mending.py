"""Mending in a real browser: the rows that are ticked are moved, and a decision is recorded."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.accessibility import findings
from tests.browser.hands import tick_row


def test_the_games_of_ticked_rows_are_moved_and_no_other(stored_server, visit) -> None:
    store = stored_server.store
    name = store.iterations.list()[-1].name
    before = store.transcripts.summaries(name)["transcript_id"].tolist()
    page = visit(f"{stored_server.url}/?iteration={quote(name)}").page
    page.get_by_text("Move or delete games", exact=True).click()
    table = page.get_by_test_id("stDataFrame").filter(has=page.get_by_label("Games to move or delete")).last
    tick_row(page, table, 0)
    expect(page.get_by_role("button", name="Move 1 game")).to_be_enabled()
    tick_row(page, table, 2)
    page.get_by_role("button", name="Move 2 games").click()
    expect(page.get_by_text("Moved 2 games.").first).to_be_visible()
    assert store.transcripts.summaries(name)["transcript_id"].tolist() == [before[1], *before[3:]]
    store.close()


def test_the_form_that_records_a_decision_is_readable(stored_server, visit) -> None:
    store = stored_server.store
    store.iterations.withdraw_decision("Prompt v3", who="Lead")
    store.close()
    seen = visit(f"{stored_server.url}/?iteration=Prompt+v3", height=800, theme="dark")
    expect(seen.page.locator("h1", has_text="the rule says revert")).to_be_visible()
    assert findings(seen.page) == []
    seen.page.get_by_text("Revert it", exact=True).click()
    seen.page.get_by_label("Why?").first.fill("Nobody argues any more.")
    seen.page.keyboard.press("Tab")
    seen.settle()
    seen.page.get_by_role("button", name="Record the decision").click()
    expect(seen.page.locator("h1", has_text="reverted")).to_be_visible()
    expect(seen.page.get_by_role("button", name="Begin the next iteration")).to_be_visible()
