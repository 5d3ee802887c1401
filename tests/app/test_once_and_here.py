"""What every page says alike, and that what an experiment simulated counts nowhere but in its own views."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dashboard.app_pages.settings.forms import metric_effects
from dashboard.shared.jobs.job_status import result_of
from evaluation.iterations.iteration import Fate
from evaluation.ratings import Rating
from evaluation.text.display import time_words
from evaluation.transcript import SIMULATED_FORMAT
from evaluation.workflows.judging import stored_review_queue
from evaluation.workflows.scoring import add_evaluated

MOMENT = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)


def test_a_moment_is_told_in_the_time_zone_that_is_asked_for() -> None:
    assert time_words(MOMENT, ZoneInfo("Europe/Berlin")) == "2026-07-02 00:30"
    assert time_words(MOMENT, ZoneInfo("America/New_York")) == "2026-07-01 18:30"
    # Without one, this computer's.
    assert time_words(MOMENT) == f"{MOMENT.astimezone():%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("kind", "order", "shown"),
    [
        ("experiment", {"subject": "e1"}, ("experiments", {"experiment": "e1"})),
        ("ab_test", {"subject": "e2"}, ("experiments", {"experiments_view": "A/B tests", "ab_test": "e2"})),
        ("personas", {"agents": ["ann", "bob"]}, ("agents", {"agent": "ann"})),
        ("judge_rows", {"transcripts": ["g1"]}, ("games", {"transcript": "g1"})),
        ("judge_rows", {"transcripts": ["g1", "g2"]}, ("games", {"part": "List"})),
        ("insight_checks", {"transcripts": ["g1"]}, ("games", {"transcript": "g1", "show": "Insights"})),
        ("samples", {}, ("overview", {})),
        ("examples", {}, ("agents", {})),
        ("evaluate", {}, ("games", {"part": "List"})),
    ],
)
def test_a_finished_job_leads_to_its_own_result(kind, order, shown) -> None:
    page, _, query = result_of(kind, order)
    assert (page.split("/")[1], query) == shown


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("overview", {"iteration": "nothing"}),
        ("overview", {"iteration": "Shorter prompt", "against": "gone"}),
        ("agents", {"agent": "nothing"}),
    ],
)
def test_an_address_of_something_that_is_not_there_says_so(open_page, filled, words, page, query) -> None:
    told = "The link leads to something that was renamed or deleted. Here is another one."
    app = open_page(page, **query)
    assert not app.exception
    assert words(app).count(told) == 1
    assert told not in words(open_page(page))


def test_a_name_that_was_given_with_a_decision_is_the_one_that_rates_and_signs(open_page, filled, words) -> None:
    app = open_page("overview", iteration="Shorter prompt")
    next(one for one in app.text_input if one.key.startswith("decided_by")).set_value("Dana")
    next(one for one in app.radio if "Your decision" in one.label).set_value(Fate.KEPT)
    next(one for one in app.text_input if one.label.startswith(("Why", "Reason"))).set_value("It reads better.")
    next(one for one in app.button if one.label == "Record the decision").click().run()
    assert not app.exception
    assert filled.iterations.get("Shorter prompt").recorded.who == "Dana"
    app.switch_page("app_pages/rate/page.py").run()
    assert not app.exception
    assert not [one for one in app.text_input if one.label.startswith("Your name")]
    assert app.session_state["rater"] == "Dana"


def test_the_form_of_an_ab_test_begins_with_the_current_iteration_and_its_reference(
    open_page, filled, small_game
) -> None:
    for name in ("v5", "v6"):
        filled.iterations.create(name, parent="Shorter prompt")
        add_evaluated(filled, small_game(name), source_name=f"{name}.json", iteration=name)
    app = open_page("experiments", experiments_view="A/B tests", start_ab="true")
    begin = next(one for one in app.selectbox if one.label == "Begin with")
    begin.set_value("Two of your iterations").run()
    assert not app.exception
    text = app.text_area(key="ab_text").value
    assert "v6" in text
    assert "Shorter prompt" in text
    assert "v5" not in text


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("games", "No games yet"),
        ("rate", "Nothing to rate yet"),
        ("team", "No games here"),
        ("trends", "No games yet"),
    ],
)
def test_an_empty_store_says_what_to_do(open_page, words, page: str, said: str) -> None:
    app = open_page(page, rater="Ada")
    assert not app.exception
    assert said in words(app)
    assert bool(app.file_uploader) is (page == "games"), "adding games opens by itself while there are none"


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


def test_thresholds_and_checks_leave_it_out(filled, simulate) -> None:
    higher = (("coherence", 99.0),)

    def found() -> tuple[Any, ...]:
        return (
            metric_effects(filled, higher),
            stored_review_queue(filled),
        )

    before = found()
    simulate()
    assert found() == before


def test_whoever_saw_the_ratings_before_rating_finds_the_answer_as_it_was(open_page, filled, words) -> None:
    app = open_page(iteration="Shorter prompt")
    hidden = "Engagement is hidden from you"
    assert hidden not in words(app)
    # They type their name on the way to the game that the decision waits for, and come back.
    app.session_state["rater"] = app.session_state["at_desk"] = "Lin"
    app.run()
    assert hidden not in words(app)
    # A rater, who has not, does not see it.
    filled.ratings.add(Rating(filled.transcripts.ids()[0], "Lin", 3))
    assert hidden in words(open_page(iteration="Shorter prompt", rater="Lin"))
