"""Every kind of mark on the Trends page opens the games behind it, by mouse, touch and keyboard; a chart is zoomed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.browser.test_cockpit import lands_on_what_is_behind

# Three traces a metric, the games, the means and their figures: strategic depth is the second metric.
GAME, MEAN = 3, 4


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


def open_point(page: Page, trace: int, number: int) -> str:
    """The address behind a point; a chart that is drawn anew under the mouse is pressed again, as people do."""
    for _ in range(3):
        click_point(page, trace, number)
        try:
            page.wait_for_url(re.compile(r"/(games)?\?"), timeout=30_000)
        except TimeoutError:
            continue
        break
    return lands_on_what_is_behind(page)


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_dots_and_means_open_their_games_and_back_leads_to_the_page_as_it_was(sample_server, visit, width) -> None:
    seen = visit(f"{sample_server.url}/trends", width=width, height=1600)
    presses = {"metric=strategic_depth": (GAME, 0), "of_metric=strategic_depth": (MEAN, 2)}
    for expected, pressed in presses.items():
        expect(point(seen.page, MEAN, 3)).to_be_visible()
        seen.settle()
        found = open_point(seen.page, *pressed)
        assert expected in found
        if "of_metric" in expected:
            assert "iteration=Prompt+v3" in found
        seen.page.go_back()
        seen.page.wait_for_url(re.compile("/trends"))
        seen.settle()
        expect(seen.page.locator("h1", has_text="Trends")).to_be_visible()
    assert seen.faults == []
