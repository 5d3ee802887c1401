"""The navigation: groups of pages, tabs with titles, and the way back."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hands import go
from tests.browser.test_cockpit import mark

GROUPS = ["Work", "Decide", "Agents", "More"]


def test_pages_stand_in_groups_and_name_their_tab(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/")
    navigation = seen.page.get_by_test_id("stSidebarNav")
    assert navigation.get_by_test_id("stNavSectionHeader").all_inner_texts() != []
    places = [navigation.inner_text().index(group) for group in GROUPS]
    assert places == sorted(places)
    expect(seen.page).to_have_title("Overview · Dramaturg")
    for title in ("Compare", "Personas", "Overview", "Guide"):
        go(seen.page, title)
        expect(seen.page).to_have_title(f"{title} · Dramaturg")
    assert (seen.faults, seen.foreign) == ([], [])


def test_back_leads_to_the_page_before_with_its_choices_in_one_press(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/trends?metrics=Strategic+depth", height=1600)
    page = seen.page
    seen.settle()
    mark(page, "1:cell:0").click()
    page.wait_for_url(re.compile("transcripts.*of_iteration=Prompt"))
    seen.settle()
    page.go_back()
    page.wait_for_url(re.compile("/trends"))
    seen.settle()
    assert page.url.endswith("/trends?metrics=Strategic+depth")
    expect(page.locator("h1")).to_have_text("Trends")
