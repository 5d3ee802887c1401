"""Every page of the dashboard, found in its registry, and the further views that a page has by its URL."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ENTRY = Path(__file__).parents[2] / "dashboard" / "app.py"


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


# What a page needs in its URL to show data, and what shows that it does.
_QUERIES = {"review": "?rater=Ada"}
_READY = {
    "overview": "[data-testid='stDataFrame']",
    "upload": "[data-testid='stDataFrame']",
    "transcripts": ".picture-box .row .cell",
    "review": ".desk .message",
    "trends": ".js-plotly-plot .scatterlayer",
    "network": ".js-plotly-plot .scatterlayer .point",
    "personas": "[data-testid='stDataFrame']",
    "experiments": "[data-testid='stDataFrame']",
    "corrections": ".js-plotly-plot .barlayer",
}
_FURTHER = (
    View(
        "corrections-messages",
        "corrections?corrections_view=Messages",
        "[data-testid='stDataFrame']",
        frozenset({"data"}),
    ),
    View(
        "corrections-settings",
        "corrections?corrections_view=Settings&agent=michael",
        "[data-testid='stForm']",
        frozenset({"data"}),
    ),
    View(
        "transcript",
        "transcripts?transcript={transcript}&message={message}&metric=strategic_depth",
        ".badge[aria-pressed='true']",
        frozenset({"data"}),
    ),
    View(
        "ledger",
        "transcripts?transcript={transcript}&show=Ledger",
        "[data-testid='stDataFrame']",
        frozenset({"data"}),
    ),
    View("verdicts-why", "verdicts?verdicts_view=Why+messages+fail", ".reason-row", frozenset({"data"})),
    View("network-cost", "network?network_view=Cost", "[data-testid='stDataFrame']", frozenset({"data"})),
    View("trends-heat", "trends?as=Heat+map", ".picture-box .cell", frozenset({"data"})),
    View(
        "network-beside",
        "network?network_view=Beside+each+other",
        ".js-plotly-plot .scatterlayer .point",
        frozenset({"data"}),
    ),
    View(
        "experiments-ab-form",
        "experiments?experiments_view=Run+an+A%2FB+test",
        "[data-testid='stTextArea']",
        frozenset({"empty", "data"}),
    ),
    View(
        "review-own",
        "review?rater=Sample%20rater%20A&desk=My%20ratings",
        "[data-testid='stDataFrame']",
        frozenset({"data"}),
    ),
    View("review-guide", "review?rater=Ada&desk=How%20to%20rate", "h3", frozenset({"data"})),
    View(
        "review-speakers",
        "review?rater=Sample%20rater%20A&desk=Who%20speaks%3F",
        "[data-testid='stDataFrame']",
        frozenset({"data"}),
    ),
    View(
        "transcript-scores",
        "transcripts?transcript={transcript}&scores=true&mend=true",
        ".message",
        frozenset({"data"}),
    ),
    View("trends-personas", "trends?as=Personas", ".js-plotly-plot", frozenset({"data"})),
    View("compare-games", "compare?of=Two+games", ".message .badge", frozenset({"data"})),
    View("compare-runs", "compare?of=Evaluation+runs", "[data-testid='stDataFrame']", frozenset({"data"})),
    View(
        "experiments-ab", "experiments?experiments_view=A%2FB+tests", "[data-testid='stDataFrame']", frozenset({"data"})
    ),
    View("trends-table", "trends?as=Table", "[data-testid='stDataFrame']", frozenset({"data"})),
    View(
        "experiments-table1", "experiments?experiments_view=Table+1", "[data-testid='stDataFrame']", frozenset({"data"})
    ),
    View("transcript", "transcripts?transcript=nothing", "[data-testid='stAlert']", frozenset({"unknown"})),
)


def registered() -> Iterator[View]:
    """The pages that the dashboard's entry script registers, in its order."""
    for node in ast.walk(ast.parse(ENTRY.read_text("utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.Page":
            script = ast.literal_eval(node.args[0])
            settings = {keyword.arg: keyword.value for keyword in node.keywords}
            name = Path(script).parent.name
            path = "" if "default" in settings else name
            yield View(name, path + _QUERIES.get(name, ""), _READY.get(name, "h1"))


def all_views() -> list[View]:
    """The registered pages and the further views."""
    return [*registered(), *_FURTHER]
