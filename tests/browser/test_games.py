"""The list of games: rows and scores open by mouse and by Enter, on the message behind them, on a phone too."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from dashboard.shared.clicked_marks import first_losing_message
from evaluation.score import Status
from tests.browser.hands import settle

ROWS = ".picture-box .row:not(.head)"
DEPTH = "strategic_depth"
# Where a cell of that metric stands in its row.
DEPTH_CELL = 1


@pytest.fixture
def failing(sample_server) -> tuple[int, str, str]:
    """A game that fails strategic depth: its place in the list, its id, and its first failing message."""
    store = sample_server.store
    with store.unit():
        ids = list(store.transcripts.summaries()["transcript_id"])
        scores = store.results.metric_scores()
        place, transcript_id = next(
            (place, one) for place, one in enumerate(ids) if scores[one][DEPTH].status is Status.FAILED
        )
        message_id = first_losing_message(store, transcript_id, DEPTH)
    store.close()
    assert message_id is not None
    return place, transcript_id, message_id


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_a_failing_score_opens_the_first_failing_message_by_mouse_and_by_enter(
    sample_server, visit, failing, width
) -> None:
    place, transcript_id, message_id = failing
    seen = visit(f"{sample_server.url}/games?order=Order+of+adding", width=width, height=900)
    cell = seen.page.locator(f"[data-mark='{place}:cell:{DEPTH_CELL}']")
    for by in ("mouse", "Enter"):
        if by == "mouse":
            cell.click()
        else:
            cell.focus()
            seen.page.keyboard.press("Enter")
        seen.page.wait_for_url(re.compile(f"transcript={transcript_id}"))
        settle(seen.page)
        assert f"message={message_id}&metric={DEPTH}" in seen.page.url
        expect(seen.page.locator(".message.chosen")).to_be_in_viewport()
        expect(seen.page.locator(".badge[aria-pressed='true']").first).to_be_attached()
        seen.page.go_back()
        expect(seen.page.locator(ROWS)).to_have_count(21)
        settle(seen.page)
    assert seen.faults == []


# The page looks for background jobs every two seconds, and brings along the address and widgets it has at that moment.
_LONGER_THAN_A_LOOK_MS = 2_500


def test_a_game_that_a_slow_server_opens_stays_open(sample_server, visit, failing) -> None:
    place, transcript_id, message_id = failing
    page = visit(f"{sample_server.url}/games?order=Order+of+adding", height=900).page
    os.kill(sample_server.process.pid, signal.SIGSTOP)
    try:
        page.locator(f"[data-mark='{place}:cell:{DEPTH_CELL}']").click(no_wait_after=True)
        page.wait_for_timeout(_LONGER_THAN_A_LOOK_MS)
    finally:
        os.kill(sample_server.process.pid, signal.SIGCONT)
    expect(page.locator(".message.chosen")).to_be_in_viewport()
    settle(page)
    # The next look, which once wrote the list's address over that of the game.
    page.wait_for_timeout(_LONGER_THAN_A_LOOK_MS)
    settle(page)
    assert f"transcript={transcript_id}&message={message_id}" in page.url
    expect(page.locator(".message.chosen")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_a_row_opens_its_game_and_the_way_back_keeps_filter_and_order(sample_server, visit, width) -> None:
    kept = "of_iteration=Prompt+v1&order=Order+of+adding"
    seen = visit(f"{sample_server.url}/games?{kept}", width=width, height=900)
    page = seen.page
    expect(page.locator(ROWS)).to_have_count(3)
    # Anywhere in the row, here on the line below the name.
    page.locator(ROWS).nth(0).locator(".facts").click()
    page.wait_for_url(re.compile("transcript="))
    opened = page.url.partition("transcript=")[2]
    settle(page)
    assert "message=" not in page.url
    page.get_by_role("button", name="All games").click()
    expect(page.locator(ROWS)).to_have_count(3)
    settle(page)
    assert all(part in page.url for part in kept.split("&"))
    page.locator(ROWS).nth(0).locator(".name").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"transcript={opened}"))
    assert seen.faults == []


def test_arrow_keys_open_nothing_and_a_score_that_rests_on_no_message_opens_its_ledger(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/games", height=900).page
    page.locator("[data-mark='0:game:0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator("[data-mark='1:cell:0']")).to_be_focused()
    assert "transcript=" not in page.url
    expect(page.locator(ROWS)).to_have_count(21)
    # Engagement is rated by people: no message loses its points.
    page.locator("[data-mark='0:cell:6']").click()
    expect(page.get_by_role("radio", name="Ledger", checked=True)).to_be_visible()
    assert "transcript=" in page.url
    assert "message=" not in page.url


_CONTRAST = """(field) => {
    const colour = (text) => text.match(/[0-9.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
        .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
        .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
    let below = field;
    while (colour(getComputedStyle(below).backgroundColor)[3] === 0) below = below.parentElement;
    const [high, low] = [getComputedStyle(field).color, getComputedStyle(below).backgroundColor]
        .map((one) => light(colour(one)) + 0.05).sort((one, other) => other - one);
    return high / low;
}"""


def test_what_a_list_in_a_popover_holds_is_legible_in_the_dark(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/games", width=390, theme="dark")
    seen.page.get_by_role("button", name="Filters").first.click()
    field = seen.page.get_by_test_id("stPopoverBody").get_by_test_id("stSelectbox").get_by_role("combobox").first
    expect(field).to_be_visible()
    assert field.evaluate(_CONTRAST) >= 4.5


def test_a_key_on_every_page_goes_to_a_game_an_iteration_or_a_setting_by_name_and_back_leads_back(
    sample_server, visit
) -> None:
    page = visit(f"{sample_server.url}/games").page
    expect(page.locator(ROWS)).to_have_count(21)
    for words, address, sign in (
        ("game 2 v4", "transcript=", ".message"),
        ("game 3 v1", "transcript=", ".message"),
        ("iteration v3", "iteration=Prompt[+]v3", "text=Told the players to answer in one short sentence"),
        ("iteration v2", "iteration=Prompt[+]v2", "text=cite specific rounds"),
        ("memory accuracy", "of_metric=memory_accuracy", "text=Back to the decision"),
        ("limits", "/settings", "text=Import limits"),
    ):
        choice = page.get_by_role("combobox", name="Page, setting, metric, iteration or game")
        for _ in range(4):
            settle(page)
            page.keyboard.press("Control+k")
            # A page that is drawn again at that moment drops the list, and a person presses once more.
            with suppress(AssertionError):
                expect(choice).to_be_focused(timeout=20_000)
                break
        expect(choice).to_be_focused()
        page.keyboard.type(words)
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(address))
        expect(page.locator(sign).first).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
    settle(page)
    for address in ("of_metric=memory", "Prompt[+]v2", "Prompt[+]v3", "transcript=", "transcript=", "/games$"):
        page.go_back()
        page.wait_for_url(re.compile(address))
        settle(page)
    expect(page.locator(ROWS)).to_have_count(21)
