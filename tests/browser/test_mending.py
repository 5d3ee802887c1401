"""Mending in a real browser: an iteration that gets another name stays on the page and in the link."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.hands import tick_row


def test_a_renamed_iteration_stays_chosen_and_in_the_link(stored_server, visit) -> None:
    server = stored_server
    first = server.store.iterations.list()[0].name
    visited = visit(f"{server.url}/?iteration={first}")
    page = visited.page
    visited.settle()
    page.get_by_text("Manage this iteration", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Where we began")
    # What was typed reaches the page when the field is left; a click while it is drawn again would be lost.
    page.get_by_label("Name", exact=True).press("Tab")
    visited.settle()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change so far").first).to_be_visible()
    expect(page.get_by_text("Iteration 1 of").first).to_be_visible()
    expect(page).to_have_url(f"{server.url}/?iteration=Where+we+began")
    assert server.store.iterations.list()[0].name == "Where we began"
    assert visited.faults == []


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
