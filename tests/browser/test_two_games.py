"""Two games side by side on the Compare page: their messages open on the games' pages, by mouse and by Enter."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import findings
from tests.browser.hands import in_every_size, settle

WHERE = "compare?of=Two+games&before=Prompt+v1&after=Prompt+v4"


def test_both_conversations_stand_beside_each_other(sample_server, visit, screenshots) -> None:
    seen = visit(f"{sample_server.url}/{WHERE}", height=1400)
    page = seen.page
    shells = page.locator(".shell")
    expect(shells).to_have_count(2)
    expect(page.locator(".badge.fails").first).to_be_attached()
    for width, theme in in_every_size(page, 1400):
        page.screenshot(path=screenshots / f"compare-games-{width}-{theme}.png")
        left, right = (shells.nth(index).bounding_box() for index in (0, 1))
        if width == 1280:
            assert left["y"] == right["y"]
            assert left["x"] + left["width"] <= right["x"]
        else:
            assert left["y"] + left["height"] <= right["y"]
        assert findings(page) == []
    assert (seen.faults, seen.foreign) == ([], [])


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
@pytest.mark.parametrize("by", ["mouse", "Enter"])
def test_a_failing_message_opens_on_its_games_page(sample_server, visit, width, by) -> None:
    page = visit(f"{sample_server.url}/{WHERE}", width=width, height=1400).page
    message = page.locator(".shell").nth(1).locator(".message", has=page.locator(".badge.fails")).first
    words = message.locator(".text").inner_text()
    badge = message.locator(".badge.fails").first
    if by == "mouse":
        badge.click()
    else:
        badge.focus()
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/transcripts\?.*message="))
    expect(page.locator("h1")).to_have_text("Games")
    settle(page)
    expect(page.locator(".message.chosen .text")).to_have_text(words)
    expect(page.locator(".message.chosen")).to_be_in_viewport()


def test_a_pair_can_be_read_and_judged_at_every_size(stored_server, visit, screenshots) -> None:
    seen = visit(f"{stored_server.url}/review?rater=Ada&desk=Which+was+better%3F", height=900)
    page = seen.page
    expect(page.locator(".pair .discussion")).to_have_count(2)
    for width, theme in in_every_size(page, 900):
        page.screenshot(path=screenshots / f"review-pairs-{width}-{theme}.png")
        assert findings(page) == []
    # Where the last size left it: on a phone.
    page.get_by_role("button", name="The left one").click()
    expect(page.get_by_text("You have judged 1 pair.")).to_be_visible()
    (given,) = [one for one in stored_server.store.pair_judgements.list() if one.rater == "Ada"]
    assert str(given.choice) == "left"
    stored_server.store.close()
    assert (seen.faults, seen.foreign) == ([], [])


def test_judgements_show_as_a_win_rate(stored_server, visit, screenshots) -> None:
    page = visit(f"{stored_server.url}/compare?of=Judged+by+people&judged=Judge+pairs&rater=Lea").page
    page.get_by_role("button", name="The right one").click()
    expect(page.get_by_text("The better one was of: ")).to_be_visible()
    page.get_by_role("radio", name="Result").click()
    expect(page.get_by_text(re.compile("95 % interval [0-9]+ to [0-9]+ %")).first).to_be_visible()
    settle(page)
    page.screenshot(path=screenshots / "compare-judged-1280-light.png")
    assert findings(page) == []
