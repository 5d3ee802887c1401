"""Every kind of mark on the Trends page opens the games behind it, by mouse, touch and keyboard; a chart is zoomed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_cockpit import lands_on_what_is_behind, mark

# The first chart is of the metric that is asked for: its traces are the games and the means.
GAME, MEAN = 0, 1


def point(page: Page, trace: int, number: int) -> Locator:
    return (
        page.locator(".js-plotly-plot")
        .first.locator(".scatterlayer .trace")
        .nth(trace)
        .locator("path.point")
        .nth(number)
    )


def click_point(page: Page, trace: int, number: int) -> None:
    """Presses the mouse where the point lies: a layer of Plotly's own takes the press."""
    shape = point(page, trace, number)
    shape.scroll_into_view_if_needed()
    box = shape.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.click(x, y)


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_cells_dots_and_diamonds_open_their_games_and_back_leads_to_the_page_as_it_was(
    sample_server, visit, width
) -> None:
    seen = visit(f"{sample_server.url}/trends?metrics=Strategic+depth", width=width, height=1600)
    presses = {
        "of_iteration=Prompt+v1": lambda page: mark(page, "1:cell:0").click(),
        "of_iteration=Prompt+v4": lambda page: mark(page, "1:metric:0").click(),
        "metric=strategic_depth": lambda page: click_point(page, GAME, 0),
        "of_iteration=Prompt+v3": lambda page: click_point(page, MEAN, 2),
    }
    for expected, press in presses.items():
        expect(point(seen.page, MEAN, 3)).to_be_visible()
        seen.settle()
        press(seen.page)
        found = lands_on_what_is_behind(seen.page)
        assert expected in found
        if "of_iteration" in expected:
            assert "order=Lowest+strategic+depth" in found
        seen.page.go_back()
        seen.page.wait_for_url(re.compile("/trends"))
        seen.settle()
        assert seen.page.url.endswith("/trends?metrics=Strategic+depth")
        expect(seen.page.locator("h1")).to_have_text("Trends")
    assert seen.faults == []


def test_bars_of_verdicts_and_dots_of_other_figures_open_their_games(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/trends?as=Cost+and+verdicts", height=2400)
    page = seen.page
    bars = page.locator(".js-plotly-plot .barlayer .point path")
    expect(bars.first).to_be_attached()
    seen.settle()
    boxes = [bar.bounding_box() for bar in bars.all()]
    tall = next(box for box in boxes if box is not None and box["height"] > 4)
    page.mouse.move(tall["x"] + tall["width"] / 2, tall["y"] + tall["height"] / 2)
    page.mouse.click(tall["x"] + tall["width"] / 2, tall["y"] + tall["height"] / 2)
    assert "of_iteration=" in lands_on_what_is_behind(page)
    page.go_back()
    expect(point(page, GAME, 0)).to_be_visible()
    seen.settle()
    click_point(page, GAME, 0)
    assert "transcript=" in lands_on_what_is_behind(page)


def test_the_keyboard_reaches_every_cell(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/trends", height=900)
    page = seen.page
    expect(page.locator("[data-mark][tabindex='0']")).to_have_count(7)
    mark(page, "0:metric:0").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(mark(page, "1:cell:1")).to_be_focused()
    page.keyboard.press("Enter")
    assert "of_iteration=Prompt+v2" in lands_on_what_is_behind(page)


def axis(page: Page) -> list[float]:
    """From where to where the upright axis of the first chart goes."""
    found: list[float] = page.locator(".js-plotly-plot").first.evaluate("plot => plot._fullLayout.yaxis.range")
    return found


def test_zoom_survives_a_rerun_and_a_chart_becomes_a_picture(sample_server, visit) -> None:
    visited = visit(f"{sample_server.url}/trends?metrics=Engagement")
    page = visited.page
    chart = page.locator(".js-plotly-plot")
    expect(chart.locator(".scatterlayer")).to_be_visible()
    visited.settle()
    whole = axis(page)
    chart.hover()
    chart.locator(".modebar-btn[data-title='Zoom in']").click()
    page.wait_for_function(
        "whole => document.querySelector('.js-plotly-plot')._fullLayout.yaxis.range[0] > whole", arg=whole[0]
    )
    zoomed = axis(page)
    page.get_by_text("What each iteration changed", exact=True).click()
    page.keyboard.press("r")
    visited.settle()
    assert axis(page) == zoomed
    chart.hover()
    with page.expect_download() as picture:
        chart.locator(".modebar-btn[data-title*='PNG']").click()
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")
    assert visited.faults == []
