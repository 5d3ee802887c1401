"""Every page of the dashboard, by the table of who may reach it, and the further views that a page has by its URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dashboard.access_checks import PAGES


@dataclass(frozen=True, slots=True)
class View:
    """One thing to look at.

    Attributes:
        name: What its pictures are called.
        path: Its URL below the server's, with ``{transcript}`` and ``{message}`` where it needs them.
        ready: What must be there before it counts as drawn, when there is data.
        only: The states that it has; all when empty.
    """

    name: str
    path: str
    ready: str = "h1"
    only: frozenset[str] = field(default=frozenset())

    def has(self, state: str) -> bool:
        """Whether it has that state. Only a view of one thing can be asked for a thing that is unknown."""
        return state in self.only if self.only else state != "unknown"

    def picture(self, state: str) -> str:
        """How its pictures in that state begin: a thing that is unknown is an error."""
        return f"{self.name}-{'error' if state == 'unknown' else state}"


_TABLE = "[role='table']"
_CHART = ".js-plotly-plot .scatterlayer"
# What a page needs in its URL to show data, and what shows that it does.
_QUERIES = {"rate": "?rater=Ada", "team": "?rater=Lea"}
_READY = {
    "overview": ".picture-box .row",
    "games": ".picture-box .row .cell",
    "rate": ".desk .message",
    "team": _TABLE,
    "trends": _CHART,
    "agents": ".picture-box .row",
    "experiments": ".picture-box .row",
}
_DATA = frozenset({"data"})
_GAME = "games?transcript={transcript}"
_FURTHER = (
    View("games-add", "games?part=Add", _TABLE, frozenset({"empty", "data"})),
    View("games-check", "games?part=Check", ".box mark", _DATA),
    View("game", f"{_GAME}&message={{message}}&metric=strategic_depth", ".badge[aria-pressed='true']", _DATA),
    View("game-ledger", f"{_GAME}&show=Ledger", _TABLE, _DATA),
    View("game-insights", f"{_GAME}&show=Insights&model=true", _TABLE, _DATA),
    View("game", "games?transcript=nothing", "[data-testid='stAlert']", frozenset({"unknown"})),
    View("rate-own", "rate?rater=Sample%20rater%20A&desk=My%20ratings&sheets=true", _TABLE, _DATA),
    View("rate-guide", "rate?rater=Ada&desk=How%20to%20rate", "h3", _DATA),
    View("rate-speakers", "rate?rater=Sample%20rater%20A&desk=Who%20speaks%3F", _TABLE, _DATA),
    View("team-agreement", "team?team=Agreement", _TABLE, frozenset({"empty", "data"})),
    View("team-agreement-numbers", "team?team=Agreement&numbers=true&sheets=true", _TABLE, _DATA),
    View("overview-reasons", "", ".reason-row", _DATA),
    View("overview-messages", "?panel=Messages", _TABLE, _DATA),
    View("overview-numbers", "?panel=Numbers", _TABLE, _DATA),
    View("overview-description", "?manage=Description", "[data-testid='stForm']", _DATA),
    View("overview-iterations", "?overview=All+iterations", _TABLE, _DATA),
    View("trends-cost", "trends?trends=Cost+and+behaviour", _CHART, _DATA),
    View("two-games", f"{_GAME}&beside={{other}}", ".message .badge", _DATA),
    View("agents-checks", "agents?agents=Checks", "[data-testid='stCode']", _DATA),
    View("agents-settings", "agents?agents=Checks&agent=dwight&choose_checks=true", ".st-key-save_corrections", _DATA),
    View("agents-runs", "agents?agents=Runs", _TABLE, _DATA),
    View("experiments-ab", "experiments?experiments_view=A%2FB+tests", _TABLE, _DATA),
    View("experiments-table1", "experiments?experiments_view=The+paper", _TABLE, _DATA),
    View("guide", "settings?help=Guide", "h1", frozenset({"empty", "data"})),
    View("guide-metrics", "settings?help=Guide&guide_view=Metrics", _TABLE, _DATA),
    View("guide-terms", "settings?help=Guide&guide_view=Terms", "h1", _DATA),
    View("guide-formats", "settings?help=Guide&guide_view=Formats", "h3", _DATA),
)


def registered() -> Iterator[View]:
    """The pages that somebody may be allowed to reach, in their order."""
    for title in PAGES:
        name = title.split()[0].lower()
        path = "" if name == "overview" else name
        yield View(name, path + _QUERIES.get(name, ""), _READY.get(name, "h1"))


def all_views() -> list[View]:
    """The registered pages and the further views."""
    return [*registered(), *_FURTHER]
