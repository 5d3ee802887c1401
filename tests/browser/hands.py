"""What a person's eyes and hands do on a page: wait until it is still, go to another page, choose."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from playwright.sync_api import Locator, Page, expect

# A click while the page is drawn again may be lost: the button that it was for may be another one by then.
_IDLE = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    const side = document.querySelector("[data-testid='stSidebar']");
    const box = side && side.getBoundingClientRect();
    // On a phone it folds away at first, unless somebody left it open: the browser remembers that.
    const staysOpen = localStorage.getItem("stSidebarCollapsed-") === "false";
    const rests = !side || innerWidth > 768 || (staysOpen ? box.left >= 0 : box.right <= 0);
    return app && rests && app.getAttribute('data-test-script-state') === 'notRunning'
        && app.getAttribute('data-test-connection-state') === 'CONNECTED'
        && !document.querySelector("[data-stale='true'], [data-testid='stSkeleton'], [data-testid='stSpinner']");
}"""
_DRAWN = """() => document.fonts.ready.then(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))"""
# Waits until an element has been at the same place for so many frames.
_STILL = """(node) => new Promise((done) => {
    let last = "", same = 0;
    const look = () => {
        const { x, y, width, height } = node.getBoundingClientRect();
        const now = [x, y, width, height].join();
        same = now === last && width > 0 ? same + 1 : 0;
        last = now;
        if (same >= 6) done(true);
        else requestAnimationFrame(look);
    };
    look();
})"""
# One crossing from wide to narrow, where the sidebar goes.
_SIZES = ((1280, "light"), (1280, "dark"), (390, "dark"), (390, "light"))
_ROOT = re.compile(r"^https?://[^/]+/(\?.*)?$")


# The shell draws the same without what a person's window has, for two thirds of the processor's time.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The path of the Chromium to drive; CHROMIUM in the environment names it. None when this machine has none."""
    return os.environ.get("CHROMIUM") or next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def settle(page: Page) -> None:
    """Waits until the script has run to its end, nothing is greyed out and the sidebar has come to rest."""
    page.wait_for_selector("[data-testid='stMainBlockContainer'] h1")
    page.wait_for_function(_IDLE)
    page.evaluate(_DRAWN)


def in_every_size(page: Page, height: int) -> Iterator[tuple[int, str]]:
    """Shows an open page at both widths in both themes, and gives each width and theme once it is drawn so.

    Opening the page four times takes four times as long; that it looks well when it is opened narrow or dark,
    ``test_states.py`` sees.
    """
    for width, theme in _SIZES:
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        yield width, theme


def go(page: Page, title: str) -> None:
    """Goes to another page of the dashboard by its link in the sidebar."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
    # The heading of the Overview is a decision, so the address tells.
    if title == "Overview":
        page.wait_for_url(_ROOT)
    else:
        expect(page.locator("h1", has_text=title)).to_be_visible()
    settle(page)


def open_list(page: Page, label: str) -> Locator:
    """Opens the list of the select box whose label holds ``label``; returns its options."""
    box = page.get_by_test_id("stSelectbox").filter(has_text=label).first
    expect(box).to_be_visible()
    settle(page)
    # The list closes when the page scrolls or what is above still unfolds.
    box.scroll_into_view_if_needed()
    box.evaluate(_STILL)
    box.get_by_role("combobox").click()
    return page.get_by_role("option")


def choose(page: Page, label: str, option: str) -> None:
    """Chooses an option of the select box whose label holds ``label``, and waits until the page has followed."""
    open_list(page, label).filter(has_text=option).first.click()
    settle(page)


def save_with_open_questions(page: Page) -> None:
    """Saves a form of the desk whose questions are not all answered, which is pointed out the first time."""
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("of 5 questions ha").first).to_be_visible()
    save_once_read(page)


def save_once_read(page: Page) -> None:
    """Saves by key what the desk pointed something out about: not before a person can have read it."""
    page.wait_for_function("(since) => performance.now() - since > 600", arg=page.evaluate("performance.now()"))
    page.keyboard.press("Control+Enter")


def see_game(page: Page, words: str) -> None:
    """Waits until the desk says so, and a person can have seen its game: before, no key counts."""
    expect(page.get_by_text(words).first).to_be_visible()
    expect(page.locator(".fields:not([inert])")).to_be_visible()
