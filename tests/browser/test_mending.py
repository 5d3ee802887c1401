"""Mending in a real browser: an iteration that gets another name stays on the page and in the link."""

from __future__ import annotations

from playwright.sync_api import expect


def test_a_renamed_iteration_stays_chosen_and_in_the_link(stored_server, visit) -> None:
    server = stored_server
    first = server.store.iterations.list()[0].name
    visited = visit(f"{server.url}/?iteration={first}")
    page = visited.page
    visited.settle()
    page.get_by_text("Manage this iteration", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Where we began")
    # What was typed reaches the page when the field is left; a click while it is drawn anew would be lost.
    page.get_by_label("Name", exact=True).press("Tab")
    visited.settle()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 change so far")).to_be_visible()
    expect(page.get_by_text("Iteration 1 of")).to_be_visible()
    expect(page).to_have_url(f"{server.url}/?iteration=Where+we+began")
    assert server.store.iterations.list()[0].name == "Where we began"
    assert visited.faults == []
