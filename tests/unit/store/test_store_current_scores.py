"""The table of scores as they stand: after any change it holds what the results, read whole, say."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.ratings import Rating
from evaluation.rubric.rows_in_doubt import ReviewItem, review_items
from evaluation.rubric.verdict import MetricScore, metric_control, metric_judges
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import MetricResult, RowVerdict, Status
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.judging import stored_review_counts, stored_review_queue
from evaluation.workflows.reevaluation import compute_missing
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

COUNT = 7


def game(number: int) -> Transcript:
    said = [("Ann", f"Ben voted for Cid in round 1, {number} saw it"), ("Ben", "Ann, why do you say that about me?")]
    players = {"Ann": {"role": "mafia"}, "Ben": {"role": "doctor"}}
    return game_of(said * 3, players, game_id=f"game {number}", round=1)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of ``store``, to be copied."""
    store = Store(tmp_path_factory.mktemp("scored") / "scored.duckdb")
    store.iterations.create("one")
    store.iterations.create("two", parent="one")
    for number in range(COUNT):
        add_evaluated(store, game(number), source_name="f", iteration="one" if number % 2 else None)
    store.close()
    assert store.path is not None
    return store.path


@pytest.fixture
def store(tmp_path: Path, scored: Path) -> Store:
    return Store(shutil.copyfile(scored, tmp_path / "kept.duckdb"))


def row_id(store: Store, place: int = 0) -> str:
    return store.results.load(game(1).id)["coherence"].ledger[place].id


def judge(store: Store, place: int = 0, verdict: RowVerdict = RowVerdict.EXCLUDED) -> None:
    row = row_id(store, place)
    store.decisions.save([RowDecision(game(1).id, "coherence", row, verdict, "x", "r", 0.5, (), "live", "gpt", row)])


def override(store: Store, place: int = 0) -> int:
    return store.overrides.add(
        game(1).id, "coherence", row_id(store, place), RowVerdict.EXCLUDED, author="Ada", reason="not an answer"
    ).id


def dispute(store: Store) -> int:
    store.ratings.add(Rating(game(2).id, "Ada", 1))
    store.ratings.add(Rating(game(2).id, "Ben", 5))
    return store.engagement_decisions.add(game(2).id, 4, who="Lead", reason="read it")


def delete_and_undo(store: Store) -> None:
    store.ratings.add(Rating(game(1).id, "Ada", 4))
    deletion = store.deletions.delete([game(1).id], who="Lead")
    store.settings.set_threshold("engagement", 4.5)
    store.deletions.undo(deletion.id, who="Lead")


CHANGES: dict[str, Callable[[Store], object]] = {
    "a rating": lambda store: store.ratings.add(Rating(game(1).id, "Ada", 5)),
    "ratings of a sheet": lambda store: store.ratings.add_many([Rating(game(n).id, "Ada", 4) for n in (1, 2)]),
    "an override": override,
    "an override taken back": lambda store: store.overrides.undo(override(store), "Ben"),
    "a judge": judge,
    "a judge and a person": lambda store: (judge(store), judge(store, 2, RowVerdict.COUNTS), override(store, 2)),
    "a judge withdrawn": lambda store: (judge(store), store.decisions.withdraw(game(1).id, who="Ada")),
    "a judge on a row that no result has": lambda store: store.decisions.save(
        [RowDecision(game(1).id, "coherence", "coherence:m99", RowVerdict.COUNTS, "x", "r", 0.5, (), "live", "g", "k")]
    ),
    "a decision of a lead": dispute,
    "a decision of a lead taken back": lambda store: store.engagement_decisions.undo(dispute(store), who="Lead"),
    "a new game": lambda store: add_evaluated(store, game(COUNT), source_name="f", iteration="two"),
    "a game that is scored again": lambda store: (
        judge(store),
        store.results.save([evaluate_transcript(game(1), thresholds={"coherence": 1.0})]),
    ),
    "a deleted game": lambda store: store.deletions.delete([game(1).id], who="Lead"),
    "another threshold while a game is deleted": delete_and_undo,
    "another threshold of a computed metric": lambda store: (
        override(store),
        store.settings.set_threshold("coherence", 100.0),
    ),
    "a game that is scored by other thresholds": lambda store: (
        store.settings.set_threshold("coherence", 100.0),
        store.results.save([evaluate_transcript(game(1), thresholds={"coherence": 1.0})]),
    ),
    "another threshold": lambda store: (dispute(store), store.settings.set_threshold("engagement", 4.5)),
    "controls": lambda store: compute_missing(store, [game(1).id]),
}


def as_outcome(result: MetricResult) -> MetricScore:
    reason = result.reason if result.status in (Status.FAILED, Status.NOT_APPLICABLE) else ""
    coverage, control, judges = result.coverage, metric_control(result), metric_judges(result)
    return MetricScore(result.status, result.score, result.threshold, reason, coverage, control, judges, result.changed)


def whole(loaded: Mapping[str, Mapping[str, MetricResult]]) -> dict[str, dict[str, MetricScore]]:
    return {key: {name: as_outcome(result) for name, result in results.items()} for key, results in loaded.items()}


@pytest.mark.parametrize("what", CHANGES)
def test_after_any_change_the_table_holds_what_whole_results_say(store: Store, what: str) -> None:
    CHANGES[what](store)
    keys = store.transcripts.ids()
    loaded = {key: store.results.load(key) for key in keys}
    assert store.results.metric_scores() == whole(loaded)
    table = store.results.scores()
    assert table["transcript_id"].drop_duplicates().tolist() == keys
    assert len(table) == sum(map(len, loaded.values()))
    sums = store.ledger.rows(keys).groupby(["transcript_id", "metric"])[["numerator", "denominator"]].sum()
    for key, results in loaded.items():
        for name, result in results.items():
            if name != "engagement" and result.denominator:
                assert sums.loc[(key, name)].tolist() == [result.numerator, result.denominator], (key, name)
    wanted = {key: items for key, results in loaded.items() if (items := review_items(results))}
    assert wanted
    found = store.results.rows_in_doubt(keys)
    assert {key: doubts(items) for key, items in found.items()} == {key: doubts(items) for key, items in wanted.items()}
    limits = store.settings.thresholds()
    for iteration in store.iterations.list():
        queue = stored_review_queue(store, iteration.name)
        counts = len(queue), sum(one.item.decides(limits) for one in queue)
        assert stored_review_counts(store, iteration.name) == counts


def doubts(items: Iterable[ReviewItem]) -> set[tuple[object, ...]]:
    return {(one.metric, one.row_id, one.kind, one.before, one.if_counts, one.if_not, one.if_excluded) for one in items}


def test_a_change_that_fails_leaves_the_table_as_it_was(store: Store) -> None:
    before = store.results.metric_scores()

    def rate_and_fail() -> None:
        with store.unit(write=True):
            store.ratings.add(Rating(game(1).id, "Ada", 5))
            assert store.results.metric_scores() != before
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rate_and_fail()
    assert store.results.metric_scores() == before


def test_what_another_process_changes_is_seen(store: Store) -> None:
    before = store.results.metric_scores()
    store.close()
    code = f"""from evaluation.ratings import Rating
from evaluation.store import Store
Store({str(store.path)!r}).ratings.add(Rating({game(1).id!r}, "Ada", 5))"""
    subprocess.run([sys.executable, "-c", code], check=True)
    after = store.results.metric_scores()
    assert [key for key in after if after[key] != before[key]] == [game(1).id]
    assert after == whole({key: store.results.load(key) for key in store.transcripts.ids()})


def test_the_progress_of_several_raters_is_that_of_each(store: Store) -> None:
    ids = [game(number).id for number in range(COUNT)]
    store.ratings.add(Rating(ids[0], "Plain", 3))
    store.ratings.add(Rating(ids[0], "Assigned", 3))
    store.rating_assignments.add([(ids[0], "Assigned"), (ids[1], "Assigned")], who="Lead")
    found = store.rating_queue.progress_of(["Plain", "Assigned", "Nobody"])
    assert found == {name: store.rating_queue.progress(name) for name in found}
    assert (found["Plain"].rated, found["Plain"].total, found["Plain"].assigned) == (1, COUNT, 0)
    one = found["Assigned"]
    assert (one.rated, one.assigned, one.waiting, one.total) == (1, 2, 1, COUNT)
    assert found["Nobody"].left == COUNT
