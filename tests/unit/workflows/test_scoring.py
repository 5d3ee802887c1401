"""Importing is the same work whoever asks for it: the command line, a background job, or the samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.readers import read_path
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.samples import load_manifest
from evaluation.workflows.scoring import Tally, add_evaluated, current_evaluation, evaluate_paths

GAME = load_manifest().games[0]


def game() -> Transcript:
    [found] = [result.transcript for result in read_path(GAME) if result.transcript is not None]
    return found


@pytest.fixture
def stores(tmp_path: Path) -> tuple[Store, Store]:
    """Two stores in which coherence must reach 99."""
    made = Store(tmp_path / "files.duckdb"), Store(tmp_path / "job.duckdb")
    for store in made:
        store.settings.set_threshold("coherence", 99)
    return made


def test_a_known_game_gets_new_results_from_files_only(stores: tuple[Store, Store]) -> None:
    for store in stores:
        add_evaluated(store, game(), source_name=GAME.name)
        store.settings.set_threshold("coherence", 1)
    by_files, by_job = stores
    tally = Tally(note=lambda _: None)
    [scored] = evaluate_paths([GAME], tally, store=by_files, iteration="v1")
    assert (len(tally.lines), tally.new, tally.known) == (1, 0, 1)
    added = add_evaluated(by_job, game(), source_name=GAME.name, iteration="v1")
    assert (scored.is_new, scored.iteration) == (False, "v1")
    assert (added.is_new, added.iteration) == (False, None)
    assert by_files.results.computed(game().id)["coherence"].threshold == 1
    assert by_job.results.computed(game().id)["coherence"].threshold == 99


def test_a_deleted_game_comes_back_without_a_failure_of_its_own(stores: tuple[Store, Store]) -> None:
    store, _ = stores
    add_evaluated(store, game(), source_name=GAME.name)
    store.deletions.delete([game().id], who="Ada")
    added = add_evaluated(store, game(), source_name=GAME.name)
    assert (added.is_new, added.is_restored, added.failures) == (False, True, ())


def test_todays_thresholds_decide_in_lists_and_in_single_games(stores: tuple[Store, Store]) -> None:
    store, _ = stores
    add_evaluated(store, game(), source_name=GAME.name)
    for threshold in (99, 1):
        store.settings.set_threshold("coherence", threshold)
        found = current_evaluation(store, game())
        listed = store.results.metric_scores()[game().id]
        assert found.outcomes["coherence"].threshold == threshold
        assert {name: one.status for name, one in found.outcomes.items()} == {
            name: one.status for name, one in listed.items() if name in found.outcomes
        }
