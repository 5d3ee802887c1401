"""The drawing of who addresses whom: a click or the Enter key chooses a player, and names stay text."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from evaluation.samples import add_evaluated
from evaluation.transcript import Message, Player, Transcript

HOSTILE = "<img src=x onerror=alert(1)> [a](https://evil.example)"


@pytest.fixture
def server(serve):
    running = serve()
    said = ((HOSTILE, "Bob, who are you?"), ("Bob", "I am Bob. And you, Cy?"), ("Cy", "Bob, I am Cy."))
    messages = tuple(Message(id=f"m{at}", index=at, speaker=who, text=text) for at, (who, text) in enumerate(said))
    players = tuple(Player(name=name) for name in (HOSTILE, "Bob", "Cy"))
    game = Transcript(game_id="g", source_format="native", language="en", players=players, messages=messages)
    store = running.store
    add_evaluated(store, game, source_name="g.json")
    store.close()
    return running


def test_a_player_is_chosen_in_the_drawing(server, visit) -> None:
    seen = visit(f"{server.url}/network")
    player = seen.page.get_by_role("button", name="Cy, 1 message")
    player.click()
    expect(player).to_have_attribute("aria-pressed", "true")
    expect(seen.page.get_by_text("Addressed by 1 player")).to_be_visible()
    seen.page.wait_for_url("**who=3*")
    # The same from the keyboard: Enter takes it back.
    player.focus()
    seen.page.keyboard.press("Enter")
    expect(player).to_have_attribute("aria-pressed", "false")
    expect(seen.page.get_by_text("Addressed by 1 player")).to_have_count(0)
    assert seen.page.locator("img[src='x'], a[href*='evil']").count() == 0
    assert (seen.faults, seen.foreign) == ([], [])
