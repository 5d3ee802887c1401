"""A game's Insights: a number opens the messages that one player addressed to another."""

from __future__ import annotations

from playwright.sync_api import expect


def test_a_number_opens_its_messages_and_one_of_them_the_conversation(sample_server, visit) -> None:
    [game] = sample_server.store.transcripts.ids("Prompt v4")[:1]
    seen = visit(f"{sample_server.url}/games?transcript={game}&show=Insights")
    seen.page.locator(".matrix td button").first.click()
    seen.page.get_by_role("button", name="Message ").first.click()
    expect(seen.page.locator(".message.chosen")).to_be_in_viewport()
    assert (seen.faults, seen.foreign) == ([], [])
