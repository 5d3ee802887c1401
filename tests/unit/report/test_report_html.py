"""Reports as HTML: what is drawn and said. What becomes of hostile text: tests/unit/test_hostile_outputs.py."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from evaluation.ratings import Rating
from evaluation.report.page import Bar, Section, Table, html_page
from evaluation.store import Store
from evaluation.transcript import Cost, Transcript
from evaluation.workflows.iterations import iteration_html
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of


def game(name: str) -> Transcript:
    said = [("Ann", f"Nothing in {name}"), ("Bravo", "Why do you say that?")] * 3
    return game_of(said, game_id=name, round=1, cost=Cost(total_usd=1.25, cache_hit_rate=0.8))


def test_a_bar_is_as_long_as_its_share_and_its_mark_stands_at_the_threshold() -> None:
    row = ("Depth", Bar("60.0 %", 0.6, 0.8), Bar("one", 0.0))
    page = html_page(
        "Bars", [Section("", [Table(("Metric", "Mean", "None"), [row])])], datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert '60.0 %<span class="bar"><i style="width:60.0%"></i><b style="left:80.0%"></b></span>' in page
    assert 'one<span class="bar"><i style="width:0.0%"></i></span>' in page


def test_a_report_says_what_the_board_says() -> None:
    store = Store(":memory:")
    store.iterations.create("v1")
    store.iterations.create("v2", parent="v1")
    for number in range(3):
        add_evaluated(store, game(f"old{number}"), source_name="a.json", iteration="v1")
        add_evaluated(store, game(f"new{number}"), source_name="b.json", iteration="v2")
    store.iterations.sign_off("v2", "Ann", "Looks well.")
    store.ratings.add(Rating(game("new0").id, "Ann", 4))
    words = " ".join(re.sub(r"<[^>]*>", "", iteration_html(store, "v2")).split())
    assert "Iteration 2 of 2, 3 games." in words
    assert "Engagement rests on 1 rating of 1 game." in words
    assert "Mean cost 1.25 USD, cache hits 80 %." in words
    assert "signed off on" in words
    assert "What to change next" in words
