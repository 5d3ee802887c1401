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
    return f"{sample_server.url}/transcripts?transcript={summaries['transcript_id'].iloc[0]}"


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


def test_rows_stay_the_same_elements_when_something_is_chosen(visit, conversation) -> None:
    page = visit(conversation).page
    depth(page).evaluate("badge => { badge.closest('.message').isTheSame = true; }")
    depth(page).click()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    assert depth(page).evaluate("badge => badge.closest('.message').isTheSame")


def test_what_was_chosen_stays_chosen_when_a_job_begins_and_ends(serve, visit) -> None:
    # The banner above used to push the conversation aside: the browser built it anew, without the selection.
    server = serve("stored")
    transcript_id = server.store.transcripts.summaries()["transcript_id"].iloc[0]
    page = visit(f"{server.url}/transcripts?transcript={transcript_id}").page
    depth(page).click()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    job = server.store.jobs.create("test", "A job", 3)
    page.get_by_text("Hide roles and private chat").click()
    page.get_by_text("Ledger", exact=True).first.click()
    expect(page.get_by_text("A job: 0 of 3")).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("Conversation", exact=True).click()
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    server.store.jobs.update(job.id, state=JobState.DONE)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("A job: ")).to_have_count(0)
    expect(depth(page)).to_have_attribute("aria-pressed", "true")
    assert page.locator(".shell").count() == 1
