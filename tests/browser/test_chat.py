"""The conversation under a person's hands: no click is lost, and nothing that was chosen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from evaluation.store import JobState


@pytest.fixture
def conversation(sample_server) -> str:
    """The address of a sample game's conversation."""
    with sample_server.store.unit():
        summaries = sample_server.store.transcripts.summaries()
    sample_server.store.close()
    return f"{sample_server.url}/games?transcript={summaries['transcript_id'].iloc[0]}"


def depth(page: Page) -> Locator:
    """The first label of the conversation that tells of strategic depth."""
    return page.locator(".badge", has_text="Depth").first


def press(page: Page, target: Locator) -> None:
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()


def test_a_click_counts_although_the_page_changes_its_width_during_it(visit, conversation) -> None:
    # Rows used to be thrown away when the width changed (a scroll bar came), and with them a button that was pressed.
    page = visit(conversation).page
    press(page, depth(page))
    page.set_viewport_size({"width": 1240, "height": 900})
    expect(page.get_by_test_id("stAppViewContainer")).to_have_css("width", "1240px")
    page.mouse.up()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", name=re.compile("Strategic depth, message"))).to_be_visible()


def test_what_was_chosen_stays_chosen_when_a_job_begins_and_ends(sample_server, visit, conversation) -> None:
    # The banner above used to push the conversation aside: the browser built it again, without the selection.
    store = sample_server.store
    page = visit(conversation).page
    depth(page).evaluate("badge => { badge.closest('.message').isTheSame = true; }")
    depth(page).click()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    assert depth(page).evaluate("badge => badge.closest('.message').isTheSame"), "the row stays the same element"
    job = store.jobs.create("test", "A job", 3)
    page.get_by_text("Hide roles and private chat").click()
    page.get_by_text("Ledger", exact=True).first.click()
    expect(page.get_by_text("A job: 0 of 3").first).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("Conversation", exact=True).click()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    store.jobs.update(job.id, state=JobState.DONE)
    store.close()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("A job: ")).to_have_count(0)
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    assert page.locator(".shell").count() == 1


def chosen_message(page: Page) -> int:
    return int(page.locator(".message.chosen .number").inner_text().removeprefix("#"))


def test_keys_go_from_one_failing_message_to_the_next_but_not_while_typing(visit, conversation) -> None:
    page = visit(conversation).page
    expect(depth(page)).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".message.chosen .badge.fails[aria-pressed='true']")).to_have_count(1)
    first = chosen_message(page)
    # The server is told: the address of the page is that of the message, and its verdict is explained.
    expect(page.get_by_role("heading", name=re.compile(f"message {first}$"))).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".stepper .found")).to_contain_text("2 of ")
    assert chosen_message(page) > first
    page.keyboard.press("p")
    expect(page.locator(".stepper .found")).to_contain_text("1 of ")
    assert chosen_message(page) == first
    page.get_by_label("Find in this conversation").press_sequentially("pn")
    expect(page.get_by_label("Find in this conversation")).to_have_value("pn")
    assert chosen_message(page) == first
    page.get_by_label("Which verdicts to step through").select_option(label="✗ Strategic depth")
    page.get_by_role("button", name="Next message that counts against").click()
    expect(page.locator(".message.chosen .badge.fails[aria-pressed='true']")).to_contain_text("Depth")


def test_a_number_shows_all_verdicts_and_gives_a_link_that_opens_the_same(visit, conversation) -> None:
    page = visit(conversation).page
    page.get_by_role("button", name="Message 3: all verdicts").click()
    expect(page.get_by_role("heading", name="Message 3", exact=True)).to_be_visible()
    expect(page.get_by_text("Verdicts on this message").first).to_be_visible()
    # No clipboard without https or a permission: the link is shown instead.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    shown: list[str] = []
    page.on("dialog", lambda dialog: (shown.append(dialog.default_value), dialog.dismiss()))
    page.get_by_role("button", name="Copy a link to message 3").click()
    again = visit(shown[0]).page
    expect(again.locator(".message.chosen .number")).to_have_text("#3")
    expect(again.locator(".message.chosen")).to_be_in_viewport()
    expect(again.get_by_role("heading", name="Message 3", exact=True)).to_be_visible()


def test_a_search_over_all_games_opens_the_message_that_was_selected(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/games").page
    page.get_by_label("Search what was said").fill('"voted for"')
    page.get_by_label("Search what was said").press("Enter")
    expect(page.get_by_text(re.compile("[0-9]+ messages in [0-9]+ games")).first).to_be_visible()
    row = page.locator(".picture-box .row").first
    expect(row.locator("mark").first).to_have_text(re.compile("voted for", re.IGNORECASE))
    row.locator(".text").click()
    expect(page.locator(".message.chosen .text")).to_contain_text(re.compile("voted for", re.IGNORECASE))
    expect(page.locator(".message.chosen")).to_be_in_viewport()
