"""The main journey: from an empty database to a trend, with real games, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.hands import go
from tests.dashboard_server import serving

GAMES = (
    "llm_werewolf/matches/werewolf_match_2025-02-02_0.json",
    "werewolf_gpt/gpt-4-001.md",
    "aiwolf/game1.log",
)


def test_from_empty_to_a_trend(empty_server, visit, data_root: Path) -> None:
    server = empty_server
    seen = visit(server.url)
    page = seen.page
    expect(page.get_by_text("Did your agents get better?").first).to_be_visible()

    # Upload three real games of three formats into a new iteration.
    page.get_by_role("link", name="Upload your own games").click()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([data_root / name for name in GAMES])
    expect(page.get_by_text("3 games to store.").first).to_be_visible()
    page.get_by_label("Name", exact=True).fill("First prompt")
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Score and store 3 games")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Score and store 3 games").click()
    expect(page.get_by_text(re.compile("Scoring uploaded games: (starting|[0-3] of 3|done)")).first).to_be_visible()
    expect(page.get_by_text("Scoring uploaded games: done, 3 of 3.").first).to_be_visible()

    # The trend has no engagement yet.
    go(page, "Trends")
    figures = page.locator(".js-plotly-plot")
    expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
    expect(figures.get_by_text("not rated", exact=True)).to_be_visible()

    # Rate one game with the keyboard.
    go(page, "Rate")
    page.get_by_role("textbox", name="Your name").fill("Ada")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Game 1 of 3").first).to_be_visible()
    for key in ("4", "y", "n", "y", "n", "y", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("Game 2 of 3").first).to_be_visible()

    # The trend has changed.
    go(page, "Trends")
    expect(figures.get_by_text("4.0", exact=True)).to_be_visible()

    go(page, "Overview")
    expect(page.get_by_text("2 of 3 games not rated yet.").first).to_be_visible()
    (rating,) = server.store.ratings.all().to_dict("records")
    assert (rating["rater"], rating["score"]) == ("Ada", 4)
    assert seen.foreign == []
    assert seen.faults == []


@pytest.mark.long
def test_the_first_start_fills_the_pages_by_itself(visit, tmp_path: Path) -> None:
    with serving(tmp_path / "first.duckdb", "--samples") as server:
        # The Overview has no path of its own; its address with one leads there.
        seen = visit(f"{server.url}/overview?panel=Games")
        expect(seen.page).to_have_url(re.compile(r"/\?panel=Games"))
        seen.page.evaluate(_WATCH_THE_BAND)
        expect(seen.page.get_by_text("Loading examples: done.").first).to_be_visible()
        expect(seen.page.get_by_text("Cannot be decided yet").first).to_be_visible()
        assert seen.page.evaluate("window.heldWords") == []


_WATCH_THE_BAND = """() => {
    window.heldWords = [];
    new MutationObserver(() => {
        const band = document.querySelector("[class*='st-key-verdict_band_']");
        if (band?.innerText.includes("fills by itself")) window.heldWords.push(band.innerText);
    }).observe(document, { childList: true, subtree: true, characterData: true });
}"""
