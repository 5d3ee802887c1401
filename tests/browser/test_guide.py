"""The guide in a browser: its views are readable in every size and theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import findings
from tests.browser.hands import in_every_size


@pytest.mark.long
@pytest.mark.parametrize("view", ["help=Guide", "guide_view=Metrics", "guide_view=Terms"])
def test_the_views_are_readable(sample_server, visit, screenshots, view) -> None:
    seen = visit(f"{sample_server.url}/settings?help=Guide&{view}", height=1600)
    expect(seen.page.locator("h1", has_text="Settings and help")).to_be_visible()
    for width, theme in in_every_size(seen.page, 1600):
        seen.page.screenshot(path=screenshots / f"guide-{view.partition('=')[2]}-{width}-{theme}.png")
        assert findings(seen.page) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (seen.faults, seen.foreign) == ([], [])
