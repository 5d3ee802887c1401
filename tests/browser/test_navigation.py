"""The navigation: groups of pages, and tabs with titles."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hands import go, settle

GROUPS = ["Decide", "Personas", "More"]
# Some addresses of earlier versions, those that they lead to, and the view that is chosen there; all of them are in
# tests/unit/dashboard/test_page_links.py.
MOVED = (
    ("transcripts?transcript={game}&show=Ledger", "games?.*transcript={game}", "Ledger"),
    ("network?network_view=Cost", "trends?.*trends=Cost", "Cost and behaviour"),
    ("review?rater=Lea&desk=Team", "team", "Assign"),
    ("guide", "settings?.*help=Guide", "Guide"),
)


def test_addresses_of_earlier_versions_lead_on(sample_server, visit) -> None:
    game = sample_server.store.transcripts.ids()[0]
    seen = visit(f"{sample_server.url}/")
    for earlier, today, name in MOVED:
        seen.page.goto(f"{sample_server.url}/{earlier.format(game=game)}")
        seen.page.wait_for_url(re.compile(today.format(game=game).replace("?", r"\?", 1)))
        settle(seen.page)
        expect(seen.page.get_by_role("radio", name=name, exact=True, checked=True)).to_be_visible()
    assert (seen.faults, seen.foreign) == ([], [])


def test_pages_stand_in_groups_and_name_their_tab(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/")
    navigation = seen.page.get_by_test_id("stSidebarNav")
    assert navigation.get_by_test_id("stNavSectionHeader").all_inner_texts() != []
    places = [navigation.inner_text().index(group) for group in GROUPS]
    assert places == sorted(places)
    expect(seen.page).to_have_title("Overview · Dramaturg")
    for title in ("Compare", "Agents", "Overview", "Settings and help"):
        go(seen.page, title)
        expect(seen.page).to_have_title(f"{title} · Dramaturg")
        if title == "Compare":
            # The evidence for the decision is one click away from the Overview, whose title is the decision.
            expect(seen.page.locator(".picture-box .row:not(.head) .difference")).to_have_count(7)
    assert (seen.faults, seen.foreign) == ([], [])
