"""The cockpit of the Overview: one screen, and every kind of mark opens the messages or games behind it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from dashboard.app_pages.overview.edit_iteration import FORMS
from tests.browser.accessibility import findings
from tests.browser.hands import choose, in_every_size, settle

KINDS = ("before", "after", "game")
WINDOW_HEIGHT = 800


def mark(page: Page, name: str):
    return page.locator(f"[data-mark='{name}']")


def lands_on_what_is_behind(page: Page) -> str:
    """Waits for the Games page, or the games of both sides on the Overview; returns what the address says of it."""
    page.wait_for_url(re.compile(r"/games\?|of_metric="))
    expect(page.locator("h1", has_text=re.compile("Games|Overview"))).to_be_visible()
    settle(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    return page.url.split("?", 1)[1]


@pytest.mark.long
def test_the_cockpit_is_one_screen_with_seven_rows(sample_server, visit, screenshots) -> None:
    seen = visit(f"{sample_server.url}/", height=WINDOW_HEIGHT)
    page = seen.page
    expect(page.get_by_text("Cannot be decided yet")).to_be_visible()
    rows = page.locator(".picture-box .row:not(.head)")
    expect(rows).to_have_count(7)
    expect(page.locator("[data-testid='stBaseButton-primary']").filter(visible=True)).to_have_count(1)
    for width, theme in in_every_size(page, WINDOW_HEIGHT):
        page.screenshot(path=screenshots / f"cockpit-{width}-{theme}.png")
        last = rows.nth(6).bounding_box()
        if width == 1280:
            record = page.get_by_role("button", name="Record the decision").bounding_box()
            said = page.locator("[class*='st-key-verdict_band_'] [data-testid='stText']").nth(1).bounding_box()
            assert said["height"] < 60, "the sentence has at most two lines"
            assert last["y"] + last["height"] <= record["y"] + record["height"] <= WINDOW_HEIGHT
        # Nothing of a row is cut off at the right.
        assert last["x"] + last["width"] <= width
    for width, theme in in_every_size(page, 3000):
        page.screenshot(path=screenshots / f"cockpit-whole-{width}-{theme}.png", full_page=True)
        assert findings(page) == []
    assert (seen.faults, seen.foreign) == ([], [])


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_every_kind_of_mark_opens_what_is_behind_it(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/", width=width, height=3000)
    for kind in KINDS:
        # Marks that no other covers: the lowest game of role consistency, both sides of personality diversity.
        mark(seen.page, "3:game:0" if kind == "game" else f"4:{kind}:0").click()
        if kind == "game":
            found = lands_on_what_is_behind(seen.page)
            assert "transcript=" in found
            assert "metric=role_consistency" in found
            expect(seen.page.locator(".badge[aria-pressed='true']").first).to_be_attached()
            # Why the message fails stands beside it after one click, on a phone in a dialog above it.
            expect(seen.page.get_by_text(re.compile("does not fit")).first).to_be_visible()
        else:
            # The games of both sides, and the message that the lowest one loses points by.
            seen.page.wait_for_url(re.compile("of_metric=personality_diversity"))
            expect(seen.page.get_by_text("Personality diversity: 45.8 % to 100.0 %")).to_be_visible()
            for side in ("Prompt v2", "Prompt v4"):
                expect(seen.page.get_by_text(f"{side}: mean of 3 games")).to_be_visible()
            expect(seen.page.get_by_role("cell", name=re.compile(": Most like ")).first).to_be_visible()
        seen.page.go_back()
        expect(seen.page.locator(".picture-box .row:not(.head)")).to_have_count(7)
        seen.settle()
    assert seen.faults == []


def test_the_keyboard_reaches_every_mark_and_opens_it(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/?panel=Prompt", height=WINDOW_HEIGHT)
    page = seen.page
    expect(page.locator("[data-mark][tabindex='0']")).to_have_count(7)
    mark(page, "1:metric:0").focus()
    page.keyboard.press("ArrowRight")
    expect(mark(page, "1:game:0")).to_be_focused()
    page.keyboard.press("End")
    expect(mark(page, "1:after:0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    expect(mark(page, "2:metric:0")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert "metric=strategic_depth" in lands_on_what_is_behind(page)


def test_another_iteration_is_shown_against_its_own_reference(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/?iteration=Prompt+v3").page
    shown = page.get_by_test_id("stSelectbox").filter(has_text="Compared with").get_by_role("combobox")
    own = shown.input_value()
    choose(page, "Compared with", "Prompt v4")
    expect(shown).to_have_value("Prompt v4")
    choose(page, "Iteration", "Prompt v2")
    expect(shown).to_have_value("Prompt v1")
    choose(page, "Iteration", "Prompt v3")
    expect(shown).to_have_value(own)


def test_the_address_names_the_iteration_that_is_shown_over_a_tab_and_back(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/?iteration=Prompt+v3").page
    shown = page.get_by_test_id("stSelectbox").filter(has_text="Iteration").get_by_role("combobox").first
    page.get_by_role("tab", name="Numbers", exact=True).click()
    page.wait_for_url("**panel=Numbers**")
    page.get_by_role("link", name="Games", exact=True).first.click()
    page.wait_for_url("**/games**")
    page.go_back()
    expect(shown).to_have_value("Prompt v3")
    page.wait_for_url("**iteration=Prompt+v3**")
    page.reload()
    expect(shown).to_have_value("Prompt v3")


def test_rows_of_the_menu_are_40_pixels_high_and_what_deletes_stands_apart(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/").page
    page.get_by_role("button", name="More", exact=True).click()
    rows = [page.get_by_test_id("stPopoverBody").get_by_role("button", name=form) for form in FORMS]
    expect(rows[-1]).to_be_visible()
    settle(page)
    tops = [row.evaluate("row => row.getBoundingClientRect().top") for row in rows]
    steps = [after - before for before, after in pairwise(tops)]
    assert steps[:-1] == [40, 40]
    assert steps[-1] > 44


def test_a_decision_that_was_begun_survives_another_page_and_a_reload(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/", height=1000).page
    why = page.get_by_role("textbox", name=re.compile("^Why"))
    page.get_by_text("Revert it", exact=True).click()
    why.fill("Half a reason")
    # The pause of a hand on its way to the link; the field keeps the focus.
    page.wait_for_timeout(400)
    page.get_by_role("link", name="Who rates what?").click()
    expect(page.locator("h1", has_text="Team")).to_be_visible()
    page.go_back()
    expect(why).to_have_value("Half a reason")
    expect(page.get_by_role("radio", name="Revert it")).to_be_checked()
    # A reload begins another session; what was emptied stays empty.
    page.reload()
    expect(why).to_have_value("Half a reason")
    expect(page.get_by_role("radio", name="Revert it")).to_be_checked()
    why.fill("")
    page.wait_for_timeout(1000)
    page.reload()
    expect(page.get_by_role("radio", name="Revert it")).to_be_checked()
    expect(why).to_have_value("")
    # A reload right behind the last letter.
    why.fill("Half a reason")
    page.get_by_role("textbox", name=re.compile("^Your name")).fill("Lea")
    page.reload()
    expect(why).to_have_value("Half a reason")
    expect(page.get_by_role("textbox", name=re.compile("^Your name"))).to_have_value("Lea")


def test_a_leads_decision_that_was_begun_survives_the_look_at_its_game_and_a_reload(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/team?team=Agreement&differ=Raters+differ", height=1000).page
    page.get_by_text("Decide the score").first.click()
    why = page.get_by_label("Why? (required)").first
    page.get_by_role("radio", name="2.5").first.click()
    # On a busy machine the answer to the choice comes later than the next key.
    settle(page)
    why.fill("Half a reason")
    page.wait_for_timeout(400)
    settle(page)
    page.get_by_role("link", name="Open the game").first.click()
    page.wait_for_url(re.compile(r"/games\?transcript="))
    page.go_back()
    expect(why).to_have_value("Half a reason")
    expect(page.get_by_role("radio", name="2.5").first).to_be_checked()
    page.reload()
    page.get_by_text("Decide the score").first.click()
    expect(why).to_have_value("Half a reason")
    expect(page.get_by_role("radio", name="2.5").first).to_be_checked()
