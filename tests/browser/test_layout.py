"""Every page at both widths in both themes: nothing is cut off, and a picture of it for people to look at."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

PAGES = {
    "overview": "",
    "upload": "upload",
    "transcripts": "transcripts",
    "transcript": "transcripts?transcript={first}&message={message}&metric=strategic_depth",
    "ledger": "transcripts?transcript={first}&show=Ledger",
    "review": "review?rater=Ada",
    "trends": "trends",
}
READY = {
    "transcripts": "[data-testid='stDataFrame']",
    "transcript": ".badge[aria-pressed='true']",
    "ledger": "[data-testid='stDataFrame']",
    "review": ".desk .message",
    "trends": ".js-plotly-plot .scatterlayer",
    "overview": "[data-testid='stDataFrame']",
}
WIDTHS = {1280: 1050, 390: 844}


def url_of(server, page: str) -> str:
    store = server.store
    summaries = store.transcripts.summaries()
    first = summaries.loc[summaries["iteration"].notna(), "transcript_id"].iloc[-1]
    message = store.transcripts.get(first).discussion[4].id
    store.close()
    return f"{server.url}/{PAGES[page].format(first=first, message=message)}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_screenshots_show_every_page_without_sideways_scrolling(
    sample_server, visit, screenshots, page, width, theme
) -> None:
    seen = visit(url_of(sample_server, page), width=width, height=WIDTHS[width], theme=theme)
    if page in READY:
        expect(seen.page.locator(READY[page]).first).to_be_attached()
    seen.settle()
    seen.page.evaluate("() => document.fonts.ready")
    seen.page.screenshot(path=screenshots / f"{page}-{width}-{theme}.png")
    overflow = seen.page.evaluate(
        """() => [document.documentElement, document.querySelector("[data-testid='stMain']")]
            .map((node) => node.scrollWidth - node.clientWidth)"""
    )
    assert max(overflow) <= 0
    assert seen.foreign == []
    assert seen.faults == []
    assert seen.page.get_by_test_id("stException").count() == 0


def test_the_reason_opens_in_a_dialog_on_a_narrow_screen(sample_server, visit) -> None:
    seen = visit(url_of(sample_server, "transcript").split("&")[0], width=390, height=844)
    seen.page.locator(".badge", has_text="Depth").first.click()
    expect(seen.page.get_by_role("dialog").get_by_text("decided by the rule").first).to_be_visible()
