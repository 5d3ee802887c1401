"""Tables in a browser: no cell is cut, rows are cards on a phone, and one press of a key opens a line."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hands import settle

_CUT = """(table) => [...table.querySelectorAll("td, th, td *")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
    .map((one) => one.textContent)"""


def test_a_line_is_opened_in_place_by_keyboard_and_keeps_the_focus(sample_server, visit) -> None:
    game = sample_server.store.transcripts.ids("Prompt v1")[0]
    page = visit(
        f"{sample_server.url}/games?transcript={game}&show=Ledger&metric=coherence", width=390, height=844
    ).page
    table = page.get_by_role("table", name="Rows of the ledger", exact=True)
    rows = table.get_by_role("button")
    expect(rows.first).to_have_attribute("aria-pressed", "false")
    assert table.evaluate("(table) => table.rows[25].getBoundingClientRect().bottom") < 3000
    reason = table.get_by_role("row").nth(3).get_by_role("cell").nth(2).inner_text()
    rows.nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-ledger_chosen").get_by_text(reason, exact=True).first).to_be_visible()
    settle(page)
    expect(rows.nth(2)).to_be_focused()
    expect(rows.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(rows).to_have_count(3)
    page.get_by_role("table", name="Rows of the ledger, below").get_by_role("button").first.click()
    expect(rows).to_have_count(4)
    expect(rows.nth(3)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-ledger_chosen")).to_have_count(0)


def test_a_name_that_the_row_above_has_is_shown_again_below_another_heading(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/?iteration=Prompt+v4&panel=Messages&moved=By+player").page
    table = page.get_by_role("table", name=re.compile("^Each player that moved the scores"))
    expect(table.last).to_be_visible()
    hidden = table.evaluate_all("""(tables) => tables.flatMap((one) => [...one.querySelectorAll(".group + tr .same")])
        .map((one) => one.textContent)""")
    assert hidden == []


def test_on_a_phone_no_cell_is_cut_and_each_card_has_the_labels(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/settings?help=Guide&guide_view=Metrics", width=390, height=1400).page
    grid = page.get_by_role("table", name="Each metric, whether it can be trusted")
    expect(grid).to_be_visible()
    assert grid.evaluate(_CUT) == []
    # Few short columns have their labels once, above all cards; others in each card.
    expect(grid.get_by_role("columnheader").nth(1)).to_be_visible()
    page.goto(f"{sample_server.url}/team?team=Agreement&numbers=true")
    rows = page.get_by_role("table", name="Agreement by item").get_by_role("row")
    first, second = (rows.nth(at).get_by_role("cell").nth(2) for at in (1, 2))
    expect(first).to_be_visible()
    assert first.evaluate("(cell) => getComputedStyle(cell, '::before').content") != "none"
    # The figures of all cards stand in the same columns.
    assert first.bounding_box()["x"] == second.bounding_box()["x"]


def test_on_a_phone_the_answer_stands_first_and_a_row_takes_few_lines(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/agents", width=390, height=844).page
    band = page.locator("[class*='st-key-verdict_band_']")
    expect(band).to_be_visible()
    assert band.bounding_box()["y"] < 200
    height = page.get_by_test_id("stMain").evaluate("(main) => main.scrollHeight")
    assert height < 2000
    # No word of a switch is broken for the number beside it, and a choice that is too long ends in dots.
    page.goto(f"{sample_server.url}/agents?agents=Checks&agent=dwight&choose_checks=true")
    label = page.locator("[data-testid='stCheckbox'] p", has_text="Judge adherence")
    expect(label).to_be_visible()
    assert label.bounding_box()["height"] < 30
    page.goto(f"{sample_server.url}/experiments")
    expect(page.get_by_role("combobox").first).to_have_css("text-overflow", "ellipsis")
    # A list needs no words of its own beside the title; a switch does.
    page.goto(f"{sample_server.url}/trends")
    expect(page.get_by_text("Games without an iteration")).to_be_visible()
    page.goto(f"{sample_server.url}/team?team=Agreement&numbers=true")
    row = page.get_by_role("table", name="Agreement by item").get_by_role("row").nth(1)
    expect(row).to_contain_text("Score 1 to 5")
    assert row.bounding_box()["height"] < 160, "eight fields, three or four a line"


def test_figures_stand_to_the_right_with_their_unit_above_them(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/team?team=Agreement&numbers=true").page
    rows = page.get_by_role("table", name="Agreement by item").get_by_role("row")
    expect(rows.first).to_be_visible()
    place = rows.first.get_by_role("columnheader").all_inner_texts().index("Same answer (%)")
    cell = rows.nth(1).get_by_role("cell").nth(place)
    expect(cell).to_have_text("64")
    assert cell.evaluate("(node) => getComputedStyle(node).textAlign") == "right"


def test_what_assigns_is_on_the_screen_as_soon_as_the_plan_is_open(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/team", height=800).page
    page.get_by_role("button", name="Assign games").click()
    raters = page.get_by_role("textbox", name="Raters, one name per line")
    raters.fill("\n".join(f"Rater {number}" for number in range(9)))
    raters.press("Control+Enter")
    expect(page.get_by_text("Rater 8: ")).to_be_attached()
    expect(page.get_by_role("button", name="Assign", exact=True)).to_be_in_viewport(ratio=1)


def test_an_empty_cell_of_the_planner_assigns_and_another_one_opens(sample_server, visit) -> None:
    store = sample_server.store
    differ = f"{sample_server.url}/team?rater=Lea&team=Agreement&differ=Raters+differ"
    answers = visit(differ, width=1060, height=900).page.get_by_role("table", name="What each rater gave").first
    assert answers.evaluate("(table) => table.parentElement.scrollWidth <= table.parentElement.clientWidth")
    page = visit(f"{sample_server.url}/team?rater=Lea", width=390, height=1400).page
    grid = page.get_by_role("table", name="Raters by games")
    grid.get_by_role("button", name=", Sample rater A (11 rated): +").first.press("Enter")
    expect(page.get_by_text("✓ Stored", exact=True)).to_be_visible()
    [assigned] = store.rating_assignments.current()
    assert (assigned.rater, store.transcripts.name(assigned.transcript_id)) == ("Sample rater A", "Game 3 · Prompt v4")
    expect(grid.get_by_role("button", name=": ○ assigned")).to_be_visible()
    # The names of the games stay where they are, while the raters move below them. At once: the grid may be redrawn.
    before, after, scrolled = (
        grid.get_by_role("row")
        .nth(2)
        .get_by_role("cell")
        .first.evaluate(
            """(cell) => {
                const box = cell.closest("table").parentElement;
                const before = cell.getBoundingClientRect().left;
                box.scrollLeft = 60;
                return [before, cell.getBoundingClientRect().left, box.scrollLeft];
            }"""
        )
    )
    assert before == after
    assert scrolled > 0
    grid.get_by_role("button", name=": ○ assigned").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw the assignment").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(grid.get_by_role("button", name=": ○ assigned")).to_have_count(0)
    assert store.rating_assignments.current() == []
