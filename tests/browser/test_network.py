"""The drawing of who addresses whom: a click or the Enter key chooses a player."""

from __future__ import annotations

from playwright.sync_api import expect


def test_a_player_is_chosen_in_the_drawing(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/network")
    player = seen.page.locator(".graph .player").nth(1)
    player.click()
    expect(player).to_have_attribute("aria-pressed", "true")
    expect(seen.page.get_by_text("Addressed by").first).to_be_visible()
    seen.page.wait_for_url("**who=2*")
    # The same from the keyboard: Enter takes it back.
    player.focus()
    seen.page.keyboard.press("Enter")
    expect(player).to_have_attribute("aria-pressed", "false")
    assert (seen.faults, seen.foreign) == ([], [])
