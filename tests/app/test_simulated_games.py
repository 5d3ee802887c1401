"""What an experiment simulated counts nowhere but in its own views."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.app_pages.settings.forms import metric_effects, verdict_effects
from dashboard.app_pages.trends.behaviour_data import spending
from evaluation.transcript import SIMULATED_FORMAT
from evaluation.workflows.judging import stored_review_queue
from evaluation.workflows.scoring import add_evaluated

_APART = ("simulated conversation", "Not counted here")
"""Sentences that tell such conversations apart."""


@pytest.fixture
def simulate(filled, small_game) -> Any:
    """Stores a simulated conversation of no iteration."""

    def make() -> None:
        talk = small_game("talk").model_copy(update={"source_format": SIMULATED_FORMAT})
        add_evaluated(filled, talk, source_name="talk.json")

    return make


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("trends", {}),
        ("trends", {"trends": "Cost and behaviour"}),
        ("team", {}),
        ("team", {"team": "Agreement"}),
        ("overview", {"overview": "All iterations"}),
        ("overview", {"panel": "Numbers"}),
        ("rate", {}),
        ("agents", {}),
        ("games", {"part": "Add"}),
        ("games", {"part": "Check"}),
    ],
)
def test_a_page_says_the_same_with_a_simulated_conversation(open_page, simulate, words, page, query) -> None:
    def said() -> list[str]:
        app = open_page(page, **query)
        assert not app.exception
        told = [*words(app).split("\n"), *(one.label for one in app.expander)]
        return [line for line in told if not any(mark in line for mark in _APART)]

    before = said()
    simulate()
    assert said() == before


def test_the_list_counts_it_apart_where_it_counts_games(open_page, simulate, words) -> None:
    simulate()
    said = words(open_page("games"))
    assert "Listed as well, and counted apart: 1 simulated conversation." in said
    assert "Tick two games to read them side by side." in said


def test_thresholds_spending_and_checks_leave_it_out(filled, simulate) -> None:
    higher = (("coherence", 99.0),)

    def found() -> tuple[Any, ...]:
        return (
            metric_effects(filled, higher),
            verdict_effects(filled, higher),
            spending(filled).games.to_dict("records"),
            stored_review_queue(filled),
        )

    before = found()
    simulate()
    assert found() == before
