"""The strip beside the conversation and links between messages, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from evaluation.workflows.reevaluation import compute_missing


@pytest.fixture(scope="module")
def game(sample_server) -> str:
    """The address of a sample game of 48 messages whose link strengths are known."""
    store = sample_server.store
    with store.unit():
        chosen = str(store.transcripts.summaries().query("iteration == 'Prompt v2'")["transcript_id"].iloc[0])
    compute_missing(store, [chosen])
    store.close()
    return f"{sample_server.url}/games?transcript={chosen}"


def strip(page: Page):
    return page.get_by_role("slider", name=re.compile("Messages by metric"))


def chosen_number(page: Page) -> int:
    return int(page.locator(".message.chosen .number").inner_text().removeprefix("#"))


def value(page: Page) -> int:
    return int(strip(page).get_attribute("aria-valuenow") or 0)


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_a_click_on_the_strip_opens_that_messages_reasons(visit, game, width) -> None:
    page = visit(game, width=width).page
    strip(page).scroll_into_view_if_needed()
    box = strip(page).bounding_box()
    along = "height" if width == 1280 else "width"
    spot = {"x": 9.0, "y": 6.0} | ({"y": box[along] * 0.75} if width == 1280 else {"x": box[along] * 0.75})
    strip(page).click(position=spot)
    expect(page.locator(".message.chosen")).to_be_in_viewport()
    number = chosen_number(page)
    # Three quarters down a game of 48 messages, some of which are private.
    assert 30 <= number <= 44
    expect(page.get_by_role("heading", name=re.compile(rf"essage {number}$"))).to_be_visible()
    assert value(page) > 1


def test_a_click_near_a_failing_message_of_a_metric_opens_the_reason_of_that_metric(visit, game) -> None:
    page = visit(game).page
    # Keys count once the conversation is there.
    expect(strip(page)).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".message.chosen .badge.fails[aria-pressed='true']")).to_have_count(1)
    at, metric = value(page), page.locator(".badge[aria-pressed='true']").inner_text()
    failing = chosen_number(page)
    page.keyboard.press("n")
    expect(page.locator(".stepper .found")).to_contain_text("2 of ")
    box, last = strip(page).bounding_box(), int(strip(page).get_attribute("aria-valuemax"))
    names = page.locator(".names span").all_inner_texts()
    column = next(place for place, name in enumerate(names) if name in metric)
    strip(page).click(position={"x": 18 + 14 * column + 7, "y": box["height"] * (at - 0.5) / last})
    expect(page.locator(".message.chosen .number")).to_have_text(f"#{failing}")
    expect(page.locator(".badge[aria-pressed='true']")).to_have_text(metric)
    expect(page.get_by_role("heading", name=re.compile(f", message {failing}$"))).to_be_visible()


def test_the_strip_by_keyboard_and_votes_in_words(visit, game) -> None:
    page = visit(game).page
    strip(page).focus()
    for key, expected in (("End", None), ("Home", 1), ("ArrowDown", 2), ("ArrowRight", 3), ("ArrowUp", 2)):
        page.keyboard.press(key)
        assert value(page) == (expected or int(strip(page).get_attribute("aria-valuemax")))
        if key == "End":
            ballot = page.locator(".event.v .line").last
            expect(ballot).to_have_text(re.compile(r" votes? for .+ \(\d+ of \d+\)$"))
    assert "Message 2 of" in strip(page).get_attribute("aria-valuetext")
    assert "round 1" in strip(page).get_attribute("aria-valuetext")
    page.keyboard.press("PageDown")
    assert "round 2" in strip(page).get_attribute("aria-valuetext")
    page.keyboard.press("PageUp")
    assert value(page) == 1
    page.keyboard.press("n")
    assert "counts against" in strip(page).get_attribute("aria-valuetext")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile(rf"essage {chosen_number(page)}$"))).to_be_visible()


def test_a_link_goes_to_the_message_that_is_answered_and_tells_its_strength(visit, game) -> None:
    page = visit(game).page
    expect(page.locator(".link").first).to_have_text(re.compile(r"^link \d+$"))
    jump = page.locator(".head .jump[aria-label^='Answers message']").first
    goal = jump.inner_text().split("#")[1]
    expect(jump).to_have_attribute("aria-label", re.compile(rf"^Answers message {goal}, link strength \d+ of 100"))
    jump.click()
    landed = page.locator(".message.flash .number")
    expect(landed).to_have_text(f"#{goal}")
    expect(landed).to_be_in_viewport()


def test_on_a_phone_a_link_shows_the_message_and_a_click_the_reason_in_a_dialog(visit, game) -> None:
    page = visit(game).page
    message = page.locator(".message").nth(2).get_attribute("data-message")
    phone = visit(f"{game}&message={message}&metric=strategic_depth", width=390, height=844, apart=True).page
    expect(phone.locator(".message.chosen")).to_be_in_viewport()
    # The steps are those of the metric that the link names.
    expect(phone.locator(".stepper select option:checked")).to_have_text("✗ Strategic depth")
    dialog = phone.get_by_role("dialog")
    assert dialog.count() == 0
    phone.locator(".badge", has_text="Depth").first.click()
    expect(dialog.get_by_text("decided by the rule").first).to_be_visible()
    phone.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(phone.locator(".message.chosen")).to_have_count(1)
