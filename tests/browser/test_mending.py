"""Mending in a real browser: the rows that are ticked are moved, and a decision is recorded."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect


def test_the_games_of_ticked_rows_are_moved_and_no_other(stored_server, visit) -> None:
    store = stored_server.store
    name = store.iterations.list()[-1].name
    before = store.transcripts.summaries(name)["transcript_id"].tolist()
    page = visit(f"{stored_server.url}/?iteration={quote(name)}").page
    page.get_by_test_id("stPopoverButton").filter(has_text="More").click()
    page.get_by_role("tab", name="Its games").click()
    games = page.get_by_role("table", name="Games to move or delete").get_by_role("button")
    games.nth(0).click()
    expect(page.get_by_role("button", name="Move 1 game")).to_be_enabled()
    games.nth(2).click()
    page.get_by_role("button", name="Move 2 games").click()
    expect(page.get_by_text("Moved 2 games.").first).to_be_visible()
    assert store.transcripts.summaries(name)["transcript_id"].tolist() == [before[1], *before[3:]]
    store.close()
