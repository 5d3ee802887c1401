"""The downloaded report has the numbers of the pages."""

from __future__ import annotations

import html
import re

import pytest

from evaluation.ratings import Rating
from evaluation.workflows.iterations import comparison_html, iteration_html
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, tables

NUMBER = re.compile(r"[-+]?\d+\.\d+")


@pytest.fixture
def played(store, small_game):
    """Two iterations whose games differ from each other, rated."""
    store.iterations.create("Old", prompt_text="Play.")
    store.iterations.create(
        "New", parent="Old", change="Brief", prompt_text="Play.\nBe brief.", target_metric="coherence"
    )
    for number in range(3):
        old = small_game(f"old{number}", rounds=3 + number)
        new = small_game(f"new{number}", text="Nothing new" if number else "I trust the vote", rounds=4 + 2 * number)
        add_evaluated(store, old, source_name="a.json", iteration="Old")
        add_evaluated(store, new, source_name="b.json", iteration="New")
        store.ratings.add(Rating(new.id, "Grace", 3 + number % 2))
    return store


def plain(document: str) -> str:
    """The report as a person reads it."""
    words = re.sub(r"<style>.*?</style>|<[^>]+>", " ", document, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(words).replace("\u00a0", " ").replace("\u2009", " "))


def offers_report(app) -> bool:
    return any("(HTML)" in button.proto.label for button in app.get("download_button"))


def test_the_iteration_report_has_the_numbers_of_overview_and_trends(open_page, played, words, table) -> None:
    report = plain(iteration_html(played, "New"))
    overview = open_page(iteration="New")
    assert offers_report(overview)
    trends = open_page("trends")
    rows = data_of(overview, "cockpit")["rows"]
    assert len(rows) == 7
    for row in rows:
        assert row["texts"]["after"].removeprefix("this iteration: ").replace("\u00a0", " ") in report
    numbers = tables(trends)[0]
    for _, row in numbers[numbers["Iteration"] == "New"].iterrows():
        shown = row.astype(str).str.replace("\u00a0", " ")
        for column in ("Mean", "95 % interval", "Lowest", "Highest"):
            assert shown[column] in report
    assert "Chance that the next three tests all pass" in report


def test_the_comparison_report_has_the_numbers_of_the_compare_page(open_page, played, words) -> None:
    report = plain(comparison_html(played, "Old", "New"))
    app = open_page("compare")
    assert not app.exception
    assert offers_report(app)
    (shown,) = [one for one in tables(app) if "Effect size d" in one.columns]
    numbers = set(NUMBER.findall(shown.to_string().replace("\u2212", "-")))
    assert len(numbers) > 20
    assert numbers <= set(NUMBER.findall(report))
    for sentence in [text.value for text in app.text if "95 % interval" in text.value]:
        for line in [one for one in sentence.splitlines() if "95 % interval" in one]:
            # Beside its metric on the page, below the metric's heading in the report.
            assert line.split(": ", 1)[1] in report
    (changed,) = [one for one in tables(app) if "→" in one.columns[0]]
    assert changed.iloc[-1, 0] in report
