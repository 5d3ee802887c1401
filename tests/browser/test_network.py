"""Who addresses whom: a player is chosen by the list and by a dot of the picture."""

from __future__ import annotations

from playwright.sync_api import expect


def test_a_player_is_chosen_by_a_dot(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/network")
    dot = seen.page.locator(".js-plotly-plot .scatterlayer .point").first
    dot.click(force=True)
    expect(seen.page.get_by_text("Addressed by").first).to_be_visible()
    seen.page.wait_for_url("**who=*")
    assert (seen.faults, seen.foreign) == ([], [])
