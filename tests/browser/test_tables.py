"""Tables in a browser: nothing is cut, rows are cards on a phone, and one press of a key chooses a row."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.hands import settle

_CUT = """(table) => [...table.querySelectorAll("td, th, td *")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
    .map((one) => one.textContent)"""


def ledger(visit, server, width):
    transcript_id = server.store.transcripts.ids("Prompt v1")[0]
    page = visit(f"{server.url}/games?transcript={transcript_id}&show=Ledger", width=width, height=1400).page
    table = page.get_by_role("table", name="Rows of the ledger")
    expect(table).to_be_visible()
    return page, table


def test_a_row_is_chosen_by_keyboard_and_stands_whole_beside_the_table(sample_server, visit) -> None:
    page, table = ledger(visit, sample_server, 1280)
    rows = table.get_by_role("button")
    expect(rows.first).to_have_attribute("aria-pressed", "true")
    reason = table.get_by_role("row").nth(3).get_by_role("cell").nth(2).inner_text()
    rows.nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-ledger_chosen").get_by_text(reason, exact=True).first).to_be_visible()
    settle(page)
    expect(rows.nth(2)).to_be_focused()
    expect(rows.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(rows.first).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("width", [1280, 390])
def test_no_cell_is_cut(sample_server, visit, width) -> None:
    page, table = ledger(visit, sample_server, width)
    assert table.evaluate(_CUT) == []
    page.goto(f"{sample_server.url}/settings?help=Guide&guide_view=Metrics")
    grid = page.get_by_role("table", name="Each metric, whether it can be trusted")
    expect(grid).to_be_visible()
    assert grid.evaluate(_CUT) == []
    # On a phone the labels of the columns stand in each card.
    is_card = grid.locator("td").nth(1).evaluate("(cell) => getComputedStyle(cell, '::before').content") != "none"
    assert is_card == (width == 390)
