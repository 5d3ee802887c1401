"""Samples as they are recorded, read and scored; what is scored again; decisions against the rule."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from evaluation.engines.scoring import add_controls, evaluate_transcript
from evaluation.errors import InputError
from evaluation.files.bundled import shipped
from evaluation.iterations.iteration import Fate
from evaluation.judging.protocol import JudgeKind
from evaluation.readers import read_path
from evaluation.readers.import_report import ImportOutcome
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, MEMORY_ACCURACY
from evaluation.rubric.link_strength import link_strengths
from evaluation.rubric.verdict import shown_status
from evaluation.score import AT_CHANCE
from evaluation.store import Store
from evaluation.store.result_rows import control_rows
from evaluation.transcript import Transcript
from evaluation.workflows.iterations import record_decision, stored_board
from evaluation.workflows.samples import (
    READ_GAME,
    load_examples,
    load_manifest,
    load_samples,
    planned_games,
    recorded_controls,
    recorded_scores,
)
from evaluation.workflows.scoring import Tally, add_evaluated, current_evaluation, evaluate_paths, score_games
from tests.stored_rows import correction_log, stored_threshold


def read_one(path: Path) -> Transcript:
    (result,) = read_path(path)
    assert result.transcript is not None, result.error
    return result.transcript


def test_the_rule_says_of_the_samples_what_the_story_says(tmp_path: Path, sample_database: Path) -> None:
    store = Store(shutil.copy(sample_database, tmp_path))
    decisions = [one.decision for one in stored_board(store).iterations]
    store.close()
    assert [decision and str(decision.choice) for decision in decisions] == [None, "keep", "revert", "not_yet"]
    departs = [decision and decision.recorded and decision.recorded.departs for decision in decisions]
    assert departs == [None, False, False, None]


@pytest.fixture(scope="module")
def listed() -> list[Path]:
    manifest = load_manifest()
    return [*(path for iteration in manifest.iterations for path in iteration.games), *manifest.games]


def test_every_shipped_game_is_listed_once_and_read(listed: list[Path]) -> None:
    assert max(Counter(listed).values()) == 1
    companions, scored = {"LICENSE", "manifest.yaml", "ratings.csv"}, shipped("data/samples") / ".scored"
    files = {path for path in shipped("data/samples").rglob("*") if path.is_file() and path.name not in companions}
    games = {path for path in files if scored not in path.parents}
    assert {path for path in games if path not in listed and path.parent not in listed} == set()
    assert [result.name for result in read_path(shipped("data/samples")) if result.error] == []


def test_a_licence_lies_beside_every_set(listed: list[Path]) -> None:
    for folder in {path.relative_to(shipped("data/samples")).parts[0] for path in listed}:
        assert "MIT License" in (shipped("data/samples") / folder / "LICENSE").read_text("utf-8")
    assert "synthetic" in (shipped("data/samples") / "native" / "LICENSE").read_text("utf-8")


def test_the_examples_fill_what_games_do_not_and_come_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "examples.duckdb")
    load_examples(store)
    runs = store.evaluations.runs()
    # Three agents and their channels twice, so that there is a drift to see.
    assert set(runs["agent_id"].value_counts()) == {2}
    assert {"michael", "dwight", "jim"} <= set(runs["agent_id"])
    assert [one.status for one in store.experiments.all()] == ["completed"]
    outcomes = correction_log(store, "michael").drop_duplicates("group_id")["outcome"]
    assert sorted(outcomes) == ["corrected", "passed", "passed", "passed_after_retry", "passed_after_retry"]
    load_examples(store)
    assert len(store.evaluations.runs()) == len(runs)
    assert len(store.experiments.all()) == 1
    assert store.corrections.count("michael") == 5
    store.close()


def test_one_sample_game_comes_with_a_recorded_reading_of_every_message(tmp_path: Path) -> None:
    store = Store(tmp_path / "read.duckdb")
    game = read_one(shipped("data/samples") / READ_GAME)
    add_evaluated(store, game, source_name=READ_GAME)
    load_examples(store)
    decided = store.decisions.current(game.id)
    assert {one.judge for one in decided} == {JudgeKind.RECORDED}
    rows = {row.id: row.message_id for result in store.results.load(game.id).values() for row in result.ledger}
    assert {rows[one.row_id] for one in decided} == {one.id for one in game.discussion}
    assert all(one.reason for one in decided)
    load_examples(store)
    assert store.decisions.current(game.id) == decided
    store.close()


def test_the_recorded_scores_are_those_of_a_fresh_scoring() -> None:
    recorded = recorded_scores()
    planned = planned_games(load_manifest())
    assert set(recorded) == {path.relative_to(shipped("data/samples")).as_posix() for path, _ in planned}
    for path, _ in planned:
        [fresh] = score_games([read_one(path)], thresholds=DEFAULT_THRESHOLDS)
        held = recorded[path.relative_to(shipped("data/samples")).as_posix()]
        assert (held.transcript, held.tried) == (fresh.transcript, fresh.tried), "Run: make samples"
        for one, other in zip(held.results, fresh.results, strict=True):
            assert (one.digest, one.score, one.in_doubt) == (other.digest, other.score, other.in_doubt), "make samples"


def test_samples_come_with_their_comparisons_with_scrambled_copies(tmp_path: Path) -> None:
    store = Store(tmp_path / "samples.duckdb")
    load_samples(store)
    assert store.controls.missing() == [], "Run: make samples"
    # At once, not only when a job has run: what copies in random order reach as well is not called passed.
    means = stored_board(store)["Prompt v4"].means
    assert shown_status(means["personality_diversity"]) == AT_CHANCE
    transcript = read_one(shipped("data/samples") / READ_GAME)
    results = add_controls(transcript, evaluate_transcript(transcript).metrics)
    assert recorded_controls()[transcript.id] == control_rows(results, link_strengths(transcript)), "Run: make samples"
    store.close()


@pytest.mark.long
def test_samples_are_scored_where_thresholds_are_others(tmp_path: Path) -> None:
    store = Store(tmp_path / "strict.duckdb")
    store.settings.set_threshold(MEMORY_ACCURACY.name, 99.0)
    load_samples(store)
    thresholds = {one["memory_accuracy"].threshold for one in store.results.metric_scores().values()}
    assert thresholds == {99.0}


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
    assert [line.outcome for line in tally.lines] == [ImportOutcome.KNOWN]
    added = add_evaluated(by_job, game(), source_name=GAME.name, iteration="v1")
    assert (scored.is_new, scored.iteration) == (False, "v1")
    assert (added.is_new, added.iteration) == (False, None)
    assert stored_threshold(by_files, game().id, "coherence") == 1
    assert stored_threshold(by_job, game().id, "coherence") == 99


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


def test_a_decision_against_the_rule_needs_a_note(tmp_path: Path) -> None:
    store = Store(tmp_path / "decisions.duckdb")
    store.iterations.create("old")
    store.iterations.create("new", parent="old", change="Shorter")
    with pytest.raises(InputError, match="Say in a note why the decision departs from it"):
        record_decision(store, "new", Fate.KEPT, who="Ada", reason="Reads better")
    assert store.iterations.get("new").recorded is None
    held = record_decision(store, "new", Fate.KEPT, who="Ada", reason="Reads better", note="No games yet")
    assert held.recorded.note == "No games yet"
    store.close()
