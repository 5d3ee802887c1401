"""The pages and views that addresses of earlier versions lead to."""

from __future__ import annotations

import pytest

from dashboard.shared.page_links import AGENTS_PAGE, GAMES_PAGE, HELP_PAGE, OVERVIEW_PAGE, RATE_PAGE, TEAM_PAGE
from dashboard.shared.page_links import address_today as today

ONE = {"transcript": "a1b2"}


@pytest.mark.parametrize(
    ("path", "query", "page", "view"),
    [
        ("transcripts", {**ONE, "show": "Ledger"}, GAMES_PAGE, {**ONE, "show": "Ledger"}),
        ("transcripts", {"part": "Add games"}, GAMES_PAGE, {"part": "Add"}),
        ("upload", {}, GAMES_PAGE, {"part": "Add"}),
        ("verdicts", {"queue_of": "v2"}, GAMES_PAGE, {"part": "Check", "queue_of": "v2"}),
        ("verdicts", {"verdicts_view": "Why messages fail"}, OVERVIEW_PAGE, {"why": "true"}),
        ("network", ONE, GAMES_PAGE, {**ONE, "show": "Insights"}),
        ("network", {}, GAMES_PAGE, {}),
        ("network", {"network_view": "Cost"}, "app_pages/trends/page.py", {"trends": "Cost and behaviour"}),
        ("review", {"game": "a1b2"}, RATE_PAGE, {"game": "a1b2"}),
        ("review", {"desk": "Team"}, TEAM_PAGE, {}),
        ("agreement", {"item": "Question 2"}, TEAM_PAGE, {"team": "Agreement", "item": "Question 2"}),
        ("personas", {"agent": "michael"}, AGENTS_PAGE, {"agent": "michael"}),
        ("corrections", {}, AGENTS_PAGE, {"agents": "Checks"}),
        ("guide", {}, HELP_PAGE, {"help": "Guide"}),
        ("validity", {}, HELP_PAGE, {"help": "Guide", "guide_view": "Metrics"}),
    ],
)
def test_an_earlier_address_leads_to_page_and_view(
    path: str, query: dict[str, str], page: str, view: dict[str, str]
) -> None:
    found, parameters = today(path, query)
    assert found == page
    assert parameters == view
