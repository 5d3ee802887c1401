"""A chart of Trends in a real browser: it is zoomed, a rerun keeps that, and it is saved as a picture."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def axis(page: Page) -> list[float]:
    """From where to where the upright axis of the first chart goes."""
    found: list[float] = page.locator(".js-plotly-plot").first.evaluate("plot => plot._fullLayout.yaxis.range")
    return found


def test_zoom_survives_a_rerun_and_a_chart_becomes_a_picture(stored_server, visit) -> None:
    visited = visit(f"{stored_server.url}/trends?metrics=Engagement")
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
