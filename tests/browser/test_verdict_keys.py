"""Verdicts to check by keyboard: after the name the keys work at once, and undo goes back step by step."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hands import settle


def test_after_the_name_every_key_works_without_a_click(stored_server, visit) -> None:
    page = visit(f"{stored_server.url}/verdicts").page
    count = page.get_by_text("those that could move a score most first.").first
    expect(count).to_be_visible()
    page.get_by_role("textbox", name="Your name").fill("Grace")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Yes, it counts")).to_be_enabled()
    settle(page)
    before = count.inner_text()
    said = [before]
    for key in ("n", "y"):
        page.keyboard.press(key)
        expect(count).not_to_have_text(said[-1])
        settle(page)
        said.append(count.inner_text())
    for text in reversed(said[:-1]):
        page.keyboard.press("u")
        expect(count).to_have_text(text)
        settle(page)
    assert [one.author for one in stored_server.store.overrides.current()] == []
