"""Count pages, views, buttons and words of a running dashboard, and how high each page is.

    python scripts/page_sizes.py http://localhost:8501

Works with the dashboard of any version: pages are the links of its sidebar, views the choices of a page. Needs
Playwright and Chromium, as the browser tests do. A primary button below 800 pixels is named: its page hides what one
comes for.
"""

from __future__ import annotations

import sys
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.hands import chromium

_WIDTH, _HEIGHT = 1280, 800
_COUNT = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const seen = (one) => one.offsetParent !== null;
  const all = (selector) => [...main.querySelectorAll(selector)].filter(seen);
  const groups = all('[data-testid="stButtonGroup"], [role="tablist"]');
  const primary = all('[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"]');
  return {
    views: groups.reduce((sum, one) => sum + one.querySelectorAll('button, [role="tab"]').length, 0),
    buttons: all('button').length,
    words: main.innerText.split(/\\s+/).filter(Boolean).length,
    height: main.scrollHeight,
    below: primary
      .filter((one) => one.getBoundingClientRect().bottom > 800)
      .map((one) => one.innerText.split("\\n").pop()),
  };
}"""


def measure(page: Page, url: str) -> dict[str, Any]:
    """Counts of one page, once nothing changes any more."""
    page.goto(url)
    page.wait_for_selector("h1")
    last: dict[str, Any] = {}
    for _ in range(40):
        page.wait_for_timeout(500)
        found: dict[str, Any] = page.evaluate(_COUNT)
        if found == last and not page.locator("[data-testid='stSkeleton']").count():
            break
        last = found
    return last


def main() -> int:
    """Print a line for each page and the sums."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.goto(sys.argv[1])
        page.wait_for_selector("[data-testid='stSidebarNavLink']")
        links = page.locator("[data-testid='stSidebarNavLink']")
        pages = {one.inner_text().split("\n")[-1].strip(): str(one.get_attribute("href")) for one in links.all()}
        sums = dict.fromkeys(("views", "buttons", "words", "height"), 0)
        print(f"{'page':<20}" + "".join(f"{name:>9}" for name in sums))
        for name, href in pages.items():
            found = measure(page, href)
            print(f"{name:<20}" + "".join(f"{found[each]:>9,}" for each in sums), "; ".join(found["below"]))
            sums = {each: sums[each] + found[each] for each in sums}
        print(f"{len(pages)} pages".ljust(20) + "".join(f"{value:>9,}" for value in sums.values()))
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
