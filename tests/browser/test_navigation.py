"""The navigation: groups of pages, and tabs with titles."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hands import go

GROUPS = ["Decide", "Personas", "More"]


def test_pages_stand_in_groups_and_name_their_tab(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/")
    navigation = seen.page.get_by_test_id("stSidebarNav")
    assert navigation.get_by_test_id("stNavSectionHeader").all_inner_texts() != []
    places = [navigation.inner_text().index(group) for group in GROUPS]
    assert places == sorted(places)
    expect(seen.page).to_have_title("Overview · Dramaturg")
    for title in ("Trends", "Agents", "Overview", "Settings and help"):
        go(seen.page, title)
        expect(seen.page).to_have_title(f"{title} · Dramaturg")
    assert (seen.faults, seen.foreign) == ([], [])
