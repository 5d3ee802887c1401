"""An address of no page says so."""

from __future__ import annotations

from playwright.sync_api import expect


def test_an_address_of_no_page_says_so(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/nothing").page
    expect(page.get_by_text("Page not found")).to_be_visible()
    # What is shown in its place is a page of the product.
    expect(page.get_by_test_id("stSidebarNav")).to_be_visible()
