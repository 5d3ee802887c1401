"""Why messages fail, as a picture: every reason and example opens the messages behind it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hands import settle
from tests.browser.test_cockpit import lands_on_what_is_behind, mark

ADDRESS = "?iteration=Prompt+v3"


def look(visit, sample_server, **size):
    seen = visit(f"{sample_server.url}/{ADDRESS}", **size)
    expect(seen.page.locator(".reason-row").first).to_be_visible()
    return seen


def failing_metric(page: Page) -> str:
    return lands_on_what_is_behind(page).split("metric=")[1].split("&")[0]


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_an_example_opens_its_message_with_the_reason(sample_server, visit, width) -> None:
    page = look(visit, sample_server, width=width, height=2600).page
    example = mark(page, "0:example:1")
    expect(mark(page, "0:example:0")).to_be_visible()
    expect(example).to_be_hidden()
    page.locator(".reason-row summary").first.click()
    said = example.inner_text().split(": ", 1)[1]
    example.click()
    assert failing_metric(page) == "strategic_depth"
    expect(page.locator(".message.chosen .text")).to_have_text(said)
    expect(page.get_by_text("Holds none of the strategic keywords").first).to_be_visible()


def test_a_reason_opens_all_of_its_messages_a_row_its_message_and_keys_reach_the_marks(sample_server, visit) -> None:
    page = look(visit, sample_server).page
    mark(page, "0:reason:0").click()
    expect(page.get_by_text(re.compile(r"\d+ (messages|references|phrase uses|players), \d+")).first).to_be_visible()
    # The text may be there before the address says so.
    expect(page).to_have_url(re.compile("reason="))
    settle(page)
    page.get_by_role("table", name="Messages with this reason, of the iteration").get_by_role("button").nth(1).click()
    assert failing_metric(page) == "strategic_depth"
    expect(page.locator(".message.chosen")).to_be_in_viewport()
    page.go_back()
    # The way back leads to the messages with that reason, of the same iteration.
    expect(page.get_by_text(re.compile(r"\d+ (messages|references|phrase uses|players), \d+")).first).to_be_visible()
    settle(page)
    page.get_by_role("button", name="All reasons").click()
    expect(page.locator(".reason-row").first).to_be_visible()
    assert "reason=" not in page.url
    settle(page)
    mark(page, "0:reason:0").focus()
    page.keyboard.press("ArrowRight")
    expect(mark(page, "0:example:0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(mark(page, "1:example:0")).to_be_focused()
    page.keyboard.press("Enter")
    assert failing_metric(page) in ("strategic_depth", "coherence")
