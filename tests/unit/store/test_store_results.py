"""Results in the store: never overwritten, read with ratings and overrides, and beside their controls."""

import math
import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.labelled_games import load_games
from evaluation.engines.scoring import ScoreFailure, evaluate_transcript
from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.ratings import Rating
from evaluation.rubric.controls import CONTROLLED
from evaluation.rubric.definitions import ANTI_REPETITION, COHERENCE, DEFINITIONS, MEMORY_ACCURACY
from evaluation.rubric.link_strength import link_strengths
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import (
    Evidence,
    LedgerRow,
    Method,
    MetricResult,
    RowVerdict,
    Status,
    decided,
    redecided,
    summarise,
)
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.reevaluation import completed, compute_missing
from tests.games import game_of
from tests.stored_rows import stored_threshold


@dataclass
class Evaluated:
    transcript: Transcript
    metrics: dict[str, MetricResult]
    failures: tuple[ScoreFailure, ...] = ()


def game(name: str = "game") -> Transcript:
    return game_of([("Ann", f"Hello {index}") for index in range(5)], game_id=name)


GAME = game()


def coherence(*counts: bool | None, threshold: float | None = None) -> MetricResult:
    rows = [
        decided(f"coherence:m{index}", "message", one, "because", message_id=f"m{index}", player="Ann")
        for index, one in enumerate(counts, start=1)
    ]
    return summarise(COHERENCE, rows, threshold=threshold)


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    store.transcripts.add(GAME, source_name="game.json")
    return store


def save(store: Store, *results: MetricResult, transcript: Transcript = GAME) -> None:
    store.results.save([Evaluated(transcript, {result.name: result for result in results})])


def stored_results(store: Store) -> int:
    with store.unit() as cursor:
        row = cursor.execute("SELECT count(*) FROM metric_results").fetchone()
    assert row is not None
    return int(row[0])


def test_a_result_comes_back_with_everything_in_it(store: Store) -> None:
    row = LedgerRow(
        "coherence:m1:0-5",
        "message",
        RowVerdict.COUNTS,
        'It says "hello" \0 to \U0001f600',
        message_id="m1",
        player="Ann",
        numerator=0.25,
        denominator=1.0,
        evidence=(Evidence(0, 5, "Hello"), Evidence(0, 5, "Hello", "m0")),
        refers_to="m0",
        details={"acts": ["accuse"], "share": 1 / 3, "nothing": None, "nested": {"n": 1}},
    )
    notes = ("low evidence", "no references")
    result = summarise(COHERENCE, [row], notes=notes, details={"matrix": [[1.0, 0.5]]})
    save(store, result)
    assert store.results.load(GAME.id)["coherence"] == result


@pytest.mark.parametrize(
    "result",
    [
        summarise(COHERENCE, [], not_applicable="one message"),
        summarise(
            COHERENCE, [decided("coherence:m1", "message", True, "r")], not_applicable="only English without a model"
        ),
        summarise(MEMORY_ACCURACY, []),
        summarise(MEMORY_ACCURACY, [decided("memory_accuracy:m1", "claim", None, "unverified")]),
        summarise(ANTI_REPETITION, [], details={"robotic": []}),
    ],
    ids=["nothing to score", "language", "full marks", "pending", "details"],
)
def test_results_without_a_score_or_rows_come_back(store: Store, result: MetricResult) -> None:
    save(store, result)
    assert store.results.load(GAME.id)[result.name] == result


def test_metrics_come_in_the_rubrics_order_with_engagement_always(store: Store) -> None:
    save(store, summarise(ANTI_REPETITION, []), coherence(True), summarise(MEMORY_ACCURACY, []))
    expected = ["memory_accuracy", "coherence", "anti_repetition", "engagement"]
    assert list(store.results.load(GAME.id)) == expected
    assert store.results.scores()["metric"].tolist() == expected


def test_an_equal_result_is_not_stored_again_and_a_different_one_replaces_nothing(store: Store) -> None:
    save(store, coherence(True, False))
    save(store, coherence(True, False))
    assert stored_results(store) == 1
    save(store, coherence(True, True))
    save(store, coherence(True, True))
    save(store, coherence(True, False))
    assert stored_results(store) == 3
    assert store.results.load(GAME.id)["coherence"] == coherence(True, False)
    with store.unit() as cursor:
        scores = cursor.execute("SELECT score FROM metric_results ORDER BY result_id").fetchall()
    assert scores == [(50.0,), (100.0,), (50.0,)]


def test_a_new_version_or_threshold_is_another_result(store: Store) -> None:
    save(store, coherence(True))
    newer = replace(coherence(True), definition=replace(COHERENCE, version="99"))
    save(store, newer)
    assert store.results.load(GAME.id)["coherence"] == newer
    assert store.results.scores()["version"].tolist() == ["99", DEFINITIONS["engagement"].version]
    stricter = coherence(True, threshold=100.0)
    save(store, stricter)
    assert stored_threshold(store, GAME.id, "coherence") == 100.0
    assert store.results.load(GAME.id)["coherence"] == coherence(True)
    assert stored_results(store) == 3


def test_a_batch_with_an_unknown_transcript_stores_nothing(store: Store) -> None:
    batch = [Evaluated(one, {"coherence": coherence(True)}) for one in (GAME, game("elsewhere"))]
    with pytest.raises(NotFoundError, match="is not stored"):
        store.results.save(batch)
    assert stored_results(store) == 0


def test_engagement_follows_from_each_raters_latest_rating(store: Store) -> None:
    assert store.results.load(GAME.id)["engagement"].status is Status.PENDING
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    store.ratings.add(Rating(GAME.id, "ann", 5, created_at=late))
    store.ratings.add_many([Rating(GAME.id, "ann", 1, created_at=early)])  # Arrives late, but was given before.
    store.ratings.add(Rating(GAME.id, "bob", 2, created_at=early))
    result = store.results.load(GAME.id)["engagement"]
    # Ann's latest is 5, Bob's 2: (5 + 2) / 2.
    assert (result.score, result.numerator, result.denominator, result.status) == (3.5, 7.0, 2.0, Status.PASSED)
    (row,) = store.results.scores().to_dict("records")
    assert (row["score"], row["numerator"], row["denominator"], row["method"]) == (3.5, 7.0, 2.0, "human")
    store.settings.set_threshold("engagement", 4)
    assert store.results.load(GAME.id)["engagement"].status is Status.FAILED
    assert store.results.scores()["status"].tolist() == ["failed"]


def test_an_override_changes_the_row_the_score_and_the_table_alike(store: Store) -> None:
    save(store, coherence(True, False, False, None))
    override = store.overrides.add(GAME.id, "coherence", "coherence:m2", "counts", author="ann", reason="It answers.")
    store.overrides.add(GAME.id, "coherence", "coherence:m4", "does_not_count", author="ann", reason="It does not.")
    result = store.results.load(GAME.id)["coherence"]
    # Rows m1 to m4 are now: counts, counts, does not, does not. 2 of 4.
    assert (result.score, result.numerator, result.denominator, result.method) == (50.0, 2.0, 4.0, Method.HUMAN)
    row = result.ledger[1]
    assert (row.id, row.verdict, row.method, row.reason) == (
        "coherence:m2",
        RowVerdict.COUNTS,
        Method.HUMAN,
        "ann: It answers.",
    )
    assert row.details["override_id"] == override.id
    assert [replaced.id for replaced in result.replaced] == ["coherence:m2", "coherence:m4"]
    in_table = store.results.scores().iloc[0]
    assert (in_table["score"], in_table["numerator"], in_table["denominator"]) == (50.0, 2.0, 4.0)
    assert (in_table["status"], in_table["method"]) == ("failed", "human")


def test_the_latest_override_stands_until_it_is_undone(store: Store) -> None:
    save(store, coherence(False, False))

    def score() -> float | None:
        (by_table,) = store.results.scores().query("metric == 'coherence'")["score"]
        assert store.results.load(GAME.id)["coherence"].score == by_table
        return float(by_table)

    first = store.overrides.add(GAME.id, "coherence", "coherence:m1", "counts", author="ann", reason="one")
    assert score() == 50.0
    second = store.overrides.add(GAME.id, "coherence", "coherence:m1", "excluded", author="bob", reason="two")
    assert score() == 0.0
    store.overrides.undo(second.id, "cleo")
    assert score() == 50.0, "the override before it stands again"
    store.overrides.undo(first.id, "cleo")
    assert score() == 0.0
    history = store.overrides.list(GAME.id)
    assert [(one.id, one.author, one.reason, one.undone_by) for one in history] == [
        (first.id, "ann", "one", "cleo"),
        (second.id, "bob", "two", "cleo"),
    ]
    assert all(one.undone_at is not None and one.undone_at >= one.created_at for one in history)
    with pytest.raises(ConflictError, match="undone before"):
        store.overrides.undo(first.id, "cleo")
    with pytest.raises(NotFoundError, match="no override 99"):
        store.overrides.undo(99, "cleo")


def test_an_override_whose_row_a_newer_result_lacks_is_listed_not_lost(store: Store) -> None:
    save(store, coherence(False, False))
    override = store.overrides.add(GAME.id, "coherence", "coherence:m2", "counts", author="ann", reason="yes")
    assert store.overrides.orphans(GAME.id) == []
    save(store, coherence(False))
    assert store.overrides.orphans(GAME.id) == [override]
    assert store.results.load(GAME.id)["coherence"].score == 0.0
    assert store.results.scores()["score"].iloc[0] == 0.0
    save(store, coherence(False, False, False))
    assert store.overrides.orphans(GAME.id) == []
    assert store.results.load(GAME.id)["coherence"].numerator == 1.0


MAKES_NO_SENSE = {
    InputError: (
        ("metric", "speed"),
        ("metric", "engagement"),
        ("verdict", "perhaps"),
        ("author", " "),
        ("reason", ""),
    ),
    NotFoundError: (("row_id", "coherence:m9"), ("row_id", "coherence:m\udcff"), ("transcript_id", "nothing")),
}


@pytest.mark.parametrize("error", MAKES_NO_SENSE)
def test_an_override_that_makes_no_sense_is_refused(store: Store, error: type[Exception]) -> None:
    save(store, coherence(True))
    fine = {"transcript_id": GAME.id, "metric": "coherence", "row_id": "coherence:m1", "verdict": "counts"}
    for change in MAKES_NO_SENSE[error]:
        with pytest.raises(error):
            store.overrides.add(**fine | {"author": "ann", "reason": "yes"} | dict([change]))
    assert store.overrides.list(GAME.id) == []


def test_scores_of_an_iteration_come_in_the_order_of_its_games(store: Store) -> None:
    store.iterations.create("v1")
    others = [game(f"g{number}") for number in range(3)]
    store.transcripts.add_many([(one, "f") for one in others], iteration="v1")
    for number, one in enumerate(others):
        save(store, coherence(*[index < number for index in range(4)]), transcript=one)
    table = store.results.scores("v1").query("metric == 'coherence'")
    assert table["transcript_id"].tolist() == [one.id for one in others]
    assert table["score"].tolist() == [0.0, 25.0, 50.0]
    store.overrides.add(others[0].id, "coherence", "coherence:m1", "counts", author="ann", reason="yes")
    store.iterations.move([others[0].id], None)
    assert store.results.scores("v1")["transcript_id"].unique().tolist() == [one.id for one in others[1:]]
    assert len(store.results.scores()) == 3 * 2 + 1
    assert store.results.scores("no such iteration").empty


def test_what_failed_is_recorded_until_it_is_computed(store: Store) -> None:
    save(store, coherence(True))
    failure = ScoreFailure("coherence", "Conversation coherence", "ValueError: 5", "Traceback ...")
    for _ in range(2):
        store.results.save([Evaluated(GAME, {}, (failure,))])
    assert store.results.failures(GAME.id) == [failure]
    assert store.results.load(GAME.id)["coherence"].score == 100.0, "what was computed before stays"
    save(store, summarise(ANTI_REPETITION, []))
    assert store.results.failures(GAME.id) == [failure]
    save(store, coherence(True))
    assert store.results.failures(GAME.id) == []


def test_numbers_that_json_has_no_word_for_do_not_break_a_result(store: Store) -> None:
    save(store, summarise(COHERENCE, [decided("coherence:m1", "message", True, "r", details={"p": float("nan")})]))
    assert store.results.load(GAME.id)["coherence"].ledger[0].details == {"p": None}


@pytest.mark.parametrize("seed", range(8))
def test_the_table_agrees_with_the_ledgers_whoever_decided_and_whatever_rows_weigh(store: Store, seed: int) -> None:
    draw = random.Random(seed)
    verdicts = list(RowVerdict)
    for definition in (ANTI_REPETITION, COHERENCE, MEMORY_ACCURACY):
        rows = [
            redecided(
                LedgerRow(f"{definition.name}:{number}", "message", RowVerdict.COUNTS, "", denominator=weight),
                draw.choice(verdicts),
            )
            for number, weight in enumerate(draw.choices([1.0, 1.0, 2.0, 5.5], k=draw.randint(1, 9)))
        ]
        save(store, summarise(definition, rows, failure=draw.choice(["", "Something is critical."])))
        for row in draw.sample(rows, draw.randint(0, len(rows))):
            decision = RowDecision(
                GAME.id, definition.name, row.id, draw.choice(verdicts), "", "read", 0.9, (), "live", "gpt", "key"
            )
            store.decisions.save([decision])
        for row in draw.sample(rows, draw.randint(0, len(rows))):
            verdict = draw.choice(verdicts)
            store.overrides.add(GAME.id, definition.name, row.id, verdict.value, author="Ann", reason="I know.")
    table = store.results.scores().set_index("metric")
    for name, result in store.results.load(GAME.id).items():
        found = table.loc[name]
        assert (found["status"], found["method"], found["reason"]) == (result.status, result.method, result.reason)
        for field in ("score", "numerator", "denominator"):
            value = getattr(result, field)
            assert found[field] == pytest.approx(math.nan if value is None else value, nan_ok=True), (name, field)


REAL = load_games()[0][1]


@pytest.fixture
def controlled(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "store.duckdb")
    opened.transcripts.add(REAL, source_name="game")
    opened.results.save([evaluate_transcript(REAL)])
    return opened


def test_a_result_is_pending_until_its_control_is_computed(controlled: Store) -> None:
    assert controlled.results.load(REAL.id)["coherence"].as_dict()["control"] == {"status": "pending"}
    assert controlled.controls.missing() == [REAL.id]
    assert compute_missing(controlled, controlled.controls.missing(), jobs=2) == 1
    results = controlled.results.load(REAL.id)
    assert all(results[name].control for name in CONTROLLED)
    assert controlled.controls.missing() == []
    [whole] = completed(None, [evaluate_transcript(REAL)])
    assert results == whole.metrics | {"engagement": results["engagement"]}


def test_coherence_rows_carry_their_link_strength(controlled: Store) -> None:
    compute_missing(controlled, [REAL.id])
    rows = {row.message_id: row for row in controlled.results.load(REAL.id)["coherence"].ledger}
    links = [link for link in link_strengths(REAL) if link.strength is not None]
    assert len(links) > 20
    for link in links:
        assert rows[link.message_id].details["link_strength"] == link.strength
        assert rows[link.message_id].details["link_words"] == list(link.words)


def test_a_game_without_links_is_read_with_its_controls(tmp_path: Path) -> None:
    """One public message answers nothing: there is no link, and none is stored."""
    alone = game_of([("Ann", "Is anybody here?")])
    opened = Store(tmp_path / "alone.duckdb")
    opened.transcripts.add(alone, source_name="alone")
    opened.results.save([evaluate_transcript(alone)])
    compute_missing(opened, [alone.id])
    assert opened.results.load(alone.id)["coherence"].control is not None


def test_a_control_of_another_version_does_not_stand_beside_the_score(controlled: Store) -> None:
    compute_missing(controlled, [REAL.id])
    with controlled.unit(write=True) as cursor:
        cursor.execute("UPDATE controls SET version = '0' WHERE metric = 'coherence'")
    assert controlled.results.load(REAL.id)["coherence"].control is None
    assert controlled.controls.missing() == [REAL.id]
