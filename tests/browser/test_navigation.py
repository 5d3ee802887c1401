"""The navigation: groups of pages, and tabs with titles."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hands import go, settle

GROUPS = ["Decide", "Agents", "More"]
# An address of an earlier version, the one that it leads to, and what shows that it is the right view.
MOVED = (
    ("transcripts?transcript={game}&show=Ledger", "games?.*transcript={game}", "radio", "Ledger"),
    ("upload", "games?.*part=Add", "radio", "Add"),
    ("verdicts?queue_of=Prompt+v2", "games?.*part=Check", "radio", "Check"),
    ("verdicts?verdicts_view=Why+messages+fail", "why=true", "heading", ""),
    ("network?transcript={game}", "games?.*show=Insights", "radio", "Insights"),
    ("network?network_view=Cost", "trends?.*trends=Cost", "radio", "Cost and behaviour"),
    ("review?rater=Ada", "rate", "radio", "Rate"),
    ("review?rater=Lea&desk=Team", "team", "radio", "Assign"),
    ("agreement", "team?.*team=Agreement", "radio", "Agreement"),
    ("personas", "agents", "radio", "Profiles"),
    ("corrections", "agents?.*agents=Checks", "radio", "Checks"),
    ("guide", "settings?.*help=Guide", "radio", "Guide"),
    ("validity", "settings?.*help=Guide", "radio", "Guide"),
)


def test_addresses_of_earlier_versions_lead_on(sample_server, visit) -> None:
    game = sample_server.store.transcripts.ids()[0]
    seen = visit(f"{sample_server.url}/")
    for earlier, today, role, name in MOVED:
        seen.page.goto(f"{sample_server.url}/{earlier.format(game=game)}")
        seen.page.wait_for_url(re.compile(today.format(game=game).replace("?", r"\?", 1)))
        settle(seen.page)
        if role == "radio":
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
