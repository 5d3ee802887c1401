"""The Validity page, and the job that compares scores with chance after an import."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled_games import load_games
from dashboard.shared.jobs import jobs
from evaluation.store import JobState, Store
from evaluation.workflows.reevaluation import compute_missing, is_validity_due, measure_validity
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import wait_for_jobs

GAME = load_games()[0][1]


def settled(store: Store, kind: str) -> JobState:
    """How the latest job of a kind ended, once no job runs any more."""
    wait_for_jobs()
    return next(job.state for job in store.jobs.list() if job.kind == kind)


@pytest.fixture
def with_game(database: Path) -> Store:
    store = Store(database)
    add_evaluated(store, GAME, source_name="game")
    return store


def test_it_measures_in_the_background_and_shows_what_was_noticed(open_page, words, table, with_game) -> None:
    app = open_page("settings", help="Guide", guide_view="Metrics")
    assert "measured in the background once games are stored" in words(app)
    assert "of 26 test games" in words(app)
    app.button(key="measure_validity").click().run()
    assert settled(with_game, jobs.VALIDITY) is JobState.DONE
    app = open_page("settings", help="Guide", guide_view="Metrics")
    assert not app.exception
    assert "of 1 game of yours; 50 would be chance" in words(app)
    assert "1 game, each with 3 copies" in words(app)
    assert "moved no score" in words(app)
    assert "link strength" in table(app, 1)
    assert with_game.controls.report() == measure_validity(with_game)


def test_an_upload_is_followed_by_the_comparison(database: Path) -> None:
    store = Store(database)
    jobs.start_evaluation(store, [(GAME, "game")], None)
    assert settled(store, jobs.CONTROLS) is JobState.DONE
    assert store.results.load(GAME.id)["coherence"].control is not None
    # Faults are planted in the same breath, and again only once there are a quarter more games.
    assert store.controls.report()["games"] == 1
    assert not is_validity_due(store)


def test_cards_and_ledger_say_what_chance_would_give(open_page, words, with_game) -> None:
    app = open_page("games", transcript=GAME.id, scores="true", show="Ledger", rows_of="coherence")
    assert "not compared with scrambled copies yet" in words(app)
    compute_missing(with_game, [GAME.id])
    app = open_page("games", transcript=GAME.id, scores="true", show="Ledger", rows_of="coherence")
    assert not app.exception
    assert "better than scrambled copies, beyond luck (link strength 69, scrambled 50)" in words(app)


def test_the_overview_says_in_how_many_games_a_score_beats_chance(open_page, words, database) -> None:
    store = Store(database)
    store.iterations.create("one")
    add_evaluated(store, GAME, source_name="game", iteration="one")
    compute_missing(store, [GAME.id])
    app = open_page("overview")
    assert not app.exception
    assert "better than scrambled copies in 1 of 1 game, mean link strength 69 (scrambled 50)" in words(app)
