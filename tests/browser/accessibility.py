"""What axe-core finds on a page, without what is known of Streamlit's own elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

# (rule, what the element's selector must match): findings in elements that Streamlit draws and nobody else can mend.
KNOWN = (
    # A container with a height of its own that overflows, without anything in it that takes the focus.
    ("scrollable-region-focusable", r"stVerticalBlock|stLayoutWrapper|stMain"),
    # Vega's charts, although they have a description.
    ("svg-img-alt", r"vega|graphics-document"),
    # The key that a button with a shortcut shows.
    ("color-contrast", r"kbd"),
    # The upload's drop zone is a button with a role.
    ("presentation-role-conflict", r"stFileUploader|stFileChip"),
    # The groups of the navigation: Streamlit puts a div between the list and its items.
    ("list", r"stSidebarNavItems"),
    ("listitem", r'<li class="st-emotion-cache'),
)

ALL: tuple[str, ...] = ()
"""Every rule that axe knows."""

OF_SIZE_AND_THEME = ("color-contrast", "scrollable-region-focusable", "aria-hidden-focus", "target-size")
"""The rules that may fail at another width or in another theme alone; the others ask what is in the document."""

_RUN = """async (rules) => {
    const only = rules.length ? { runOnly: { type: 'rule', values: rules } } : {};
    const found = await axe.run(document, { resultTypes: ['violations'], ...only });
    return found.violations
        .filter((one) => ['serious', 'critical'].includes(one.impact))
        .flatMap((one) => one.nodes.map((node) => [one.id, node.target.flat().join(' '), node.html.slice(0, 200)]));
}"""


@cache
def _script() -> str:
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


def findings(page: Page, rules: Sequence[str] = ALL) -> list[str]:
    """The serious and critical findings of the rules that are not known, one line each."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_script())
    return [
        f"{rule}: {selector}: {html}"
        for rule, selector, html in page.evaluate(_RUN, list(rules))
        if not any(rule == known and re.search(pattern, f"{selector} {html}") for known, pattern in KNOWN)
    ]


# Notes everything that acts; what Streamlit draws for the mouse alone is left out. Whatever takes the focus is crossed
# off, and with it its group: of radio buttons and pills one takes the focus, the arrow keys go to the others.
_WATCH = """() => {
    const acts = "button, a[href], input, textarea, select, [role='button'], [role='tab'], [role='combobox']";
    const groups = "[role='radiogroup'], [role='tablist'], [role='toolbar'], [data-testid='stButtonGroup']";
    const shows = (node) => node.getClientRects().length && getComputedStyle(node).visibility !== 'hidden';
    // The arrow of a list and the plus and minus of a number: the arrow keys do the same in the field.
    const spare = "[data-testid='stNumberInput'], [data-testid='stSelectbox'], [data-testid='stMultiSelect']";
    const unseen = "[aria-hidden='true'], [inert], [data-testid='stElementToolbar']";
    const skipped = (node) => node.disabled || ['hidden', 'file'].includes(node.type) || node.closest(unseen)
        || (node.tabIndex < 0 && node.closest(spare));
    window.waiting = new Set([...document.querySelectorAll(acts)].filter((node) => shows(node) && !skipped(node)));
    document.addEventListener('focusin', ({target}) => {
        const group = target.closest(groups);
        for (const node of [...window.waiting]) {
            const isReached = node === target || node.contains(target) || (group && group.contains(node));
            if (isReached) window.waiting.delete(node);
        }
    });
    document.activeElement?.blur();
}"""
_LEFT = """() => [...window.waiting].filter((node) => node.isConnected)
    .map((node) => `${node.tagName} ${node.getAttribute('aria-label') || node.innerText || node.name || node.type}`)"""
_PRESSES_AT_ONCE = 25
_MOST_PRESSES = 600


def unreachable(page: Page) -> list[str]:
    """The buttons, links and fields that Tab does not come to, by their labels."""
    page.evaluate(_WATCH)
    for _ in range(_MOST_PRESSES // _PRESSES_AT_ONCE):
        if not page.evaluate(_LEFT):
            break
        for _ in range(_PRESSES_AT_ONCE):
            page.keyboard.press("Tab")
    return page.evaluate(_LEFT)
