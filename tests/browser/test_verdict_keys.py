"""Verdicts to check: the buttons are on the screen, keys work after the name, and undo goes back step by step."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hands import settle


def test_after_the_name_every_key_works_without_a_click(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/games?part=Check", height=800).page
    left = page.get_by_text(re.compile("[0-9]+ verdicts? to check"))
    # What is asked of which game, apart from how many wait.
    expect(left).to_have_text(re.compile(r"^Memory accuracy, .* · [0-9]+ verdicts? to check, "))
    expect(page.get_by_text(re.compile("^Game [0-9] · Prompt v4"))).to_be_visible()
    page.get_by_role("textbox", name="Your name").fill("Grace")
    page.keyboard.press("Enter")
    buttons = [page.get_by_role("button", name=name, exact=False) for name in ("Yes", "No Short", "Leave out", "Skip")]
    for button in buttons:
        expect(button).to_be_enabled()
        expect(button).to_be_in_viewport(ratio=1)
    expect(page.locator(".box mark").first).to_be_visible()
    settle(page)

    def counted() -> str:
        return re.findall("([0-9,]+) verdicts? to check", left.inner_text())[0]

    said = [counted()]
    for key in ("2", "1"):
        page.keyboard.press(key)
        expect(left).not_to_have_text(re.compile(rf"\b{said[-1]} verdicts? to check"))
        settle(page)
        said.append(counted())
    for number in reversed(said[:-1]):
        page.keyboard.press("u")
        expect(left).to_have_text(re.compile(rf"\b{number} verdicts? to check"))
        settle(page)
    assert [one.author for one in sample_server.store.overrides.current()] == []
    # A key pressed twice leaves nothing that Undo does not take back.
    for pause in (0, 120):
        page.keyboard.press("1")
        page.wait_for_timeout(pause)
        page.keyboard.press("1")
        for _ in range(3):
            page.wait_for_timeout(500)
            settle(page)
            page.keyboard.press("u")
        page.wait_for_timeout(500)
        settle(page)
        assert sample_server.store.overrides.current() == []
