"""Judges' decisions in the store: they stand between the rule and people, and nothing is ever lost."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dashboard.shared.queries import score_cell
from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric_judge.reading_decisions import NO_REFERENCE, RowDecision
from evaluation.score import Evidence, LedgerRow, Method, RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript
from tests.games import game_of

by_rule = partial(evaluate_transcript, reader=None)
"""The rubric to the letter, whose answers can be told by hand."""

COUNTS, DOES_NOT_COUNT, EXCLUDED = RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT, RowVerdict.EXCLUDED
SAID = (
    ("Ann", "Good morning everybody."),
    ("Ben", "I think we should vote."),
    ("Ann", "Earlier Ben said that he likes the harbour."),
    ("Cid", "Bananas are yellow."),
)


def game(game_id: str = "game") -> Transcript:
    return game_of(SAID, game_id=game_id, language="en")


def decision(row_id: str = "strategic_depth:m0", verdict: RowVerdict = COUNTS, **changes: object) -> RowDecision:
    made = RowDecision(
        transcript_id=game().id,
        metric=row_id.partition(":")[0],
        row_id=row_id,
        verdict=verdict,
        label="strategic",
        reason="It argues.",
        confidence=0.8,
        citations=("m1", "m0"),
        judge="live",
        model="small-model",
        key="k" * 64,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "test.duckdb")
    for name in ("game", "other"):
        transcript = game(name)
        opened.transcripts.add(transcript, source_name=f"{name}.json")
        opened.results.save([by_rule(transcript)])
    return opened


def depth(store: Store) -> tuple[float | None, float, float, str, str]:
    """Score, numerator, denominator, status and method."""
    result = store.results.load(game().id)["strategic_depth"]
    return (result.score, result.numerator, result.denominator, result.status.value, result.method.value)


def test_a_decision_is_read_as_it_was_stored(store: Store) -> None:
    assert store.decisions.save([decision()]) == 1
    [read] = store.decisions.current(game().id)
    assert read.decided_at is not None
    assert replace(read, decided_at=None) == decision()
    assert store.decisions.current(game("other").id) == []


def test_the_score_follows_the_judge_row_by_row(store: Store) -> None:
    # The rule: message 2 alone holds keywords, 1 of 4.
    assert depth(store) == (25.0, 1.0, 4.0, "failed", "rule")
    store.decisions.save([decision(), decision("strategic_depth:m2")])
    assert depth(store) == (75.0, 3.0, 4.0, "passed", "judge")
    row = store.results.load(game().id)["strategic_depth"].ledger[0]
    assert (row.method, row.reason, row.refers_to) == (Method.JUDGE, "It argues.", "m1")
    assert row.details["judged"]["method"] == "judge:small-model"


def test_a_person_outranks_the_judge_and_undo_gives_the_row_back_to_the_judge(store: Store) -> None:
    store.decisions.save([decision(), decision("strategic_depth:m2")])
    made = store.overrides.add(
        game().id, "strategic_depth", "strategic_depth:m0", DOES_NOT_COUNT, author="Grace", reason="A greeting."
    )
    assert depth(store) == (50.0, 2.0, 4.0, "failed", "human")
    result = store.results.load(game().id)["strategic_depth"]
    assert [row.method for row in result.replaced] == [Method.RULE, Method.RULE, Method.JUDGE]
    store.overrides.undo(made.id, "Ada")
    assert depth(store) == (75.0, 3.0, 4.0, "passed", "judge")


def test_the_latest_judge_stands_and_the_same_again_is_not_stored_twice(store: Store) -> None:
    assert store.decisions.save([decision()]) == 1
    assert store.decisions.save([decision()]) == 0
    assert store.decisions.save([decision(verdict=DOES_NOT_COUNT, model="large-model")]) == 1
    [standing] = store.decisions.current(game().id)
    assert (standing.model, standing.verdict) == ("large-model", DOES_NOT_COUNT)
    assert depth(store) == (25.0, 1.0, 4.0, "failed", "judge")


def test_decisions_survive_another_evaluation_by_the_rule(store: Store) -> None:
    store.decisions.save([decision()])
    store.results.save([by_rule(game(), thresholds={"strategic_depth": 40.0})])
    # Today's threshold judges it, whatever it was scored by.
    assert depth(store) == (50.0, 2.0, 4.0, "failed", "judge")


def test_withdrawn_decisions_give_their_rows_back_to_the_rule(store: Store) -> None:
    store.decisions.save([decision(), decision("coherence:m3")])
    assert store.decisions.withdraw(game().id, who="Grace") == 2
    assert depth(store) == (25.0, 1.0, 4.0, "failed", "rule")
    assert store.decisions.current(game().id) == []
    assert store.decisions.save([decision()]) == 1


def test_a_decision_whose_row_is_gone_changes_no_score(store: Store) -> None:
    before = store.results.scores()
    store.decisions.save([decision("strategic_depth:m99")])
    assert store.results.scores().equals(before)


def added_reference() -> RowDecision:
    row = LedgerRow(
        "memory_accuracy:m3:0-7",
        "claim",
        EXCLUDED,
        "Only a judge saw this.",
        message_id="m3",
        player="Cid",
        evidence=(Evidence(0, 7, "Bananas"),),
        details={"added": True, "kind": "earlier statement"},
    )
    return decision(row.id, label="accurate", added=row)


def test_a_row_that_only_the_judge_saw_stands_until_it_is_withdrawn(store: Store) -> None:
    store.decisions.save([added_reference()])
    [read] = store.decisions.current(game().id)
    assert read.added == added_reference().added
    memory = store.results.load(game().id)["memory_accuracy"]
    assert [(row.id, row.verdict, row.player) for row in memory.ledger[1:]] == [
        ("memory_accuracy:m3:0-7", COUNTS, "Cid")
    ]
    # The rule's own reference is open: 1 of 1, and 1 of the 2 considered is settled.
    assert (memory.score, memory.details["settled"], memory.details["considered"]) == (100.0, 1, 2)
    store.overrides.add(
        game().id, "memory_accuracy", added_reference().row_id, DOES_NOT_COUNT, author="Ada", reason="No."
    )
    assert store.overrides.orphans(game().id) == []
    assert store.results.load(game().id)["memory_accuracy"].score == 0.0
    store.decisions.withdraw(game().id, who="Grace")
    assert len(store.results.load(game().id)["memory_accuracy"].ledger) == 1


def test_a_row_that_is_no_reference_is_shown_and_counted_nowhere(store: Store) -> None:
    [row] = store.results.load(game().id)["memory_accuracy"].ledger
    store.decisions.save([decision(row.id, EXCLUDED, label=NO_REFERENCE)])
    memory = store.results.load(game().id)["memory_accuracy"]
    assert (memory.score, memory.details["considered"], memory.details["unverified"]) == (100.0, 0, 0)
    # A person who sees a reference there nevertheless has the last word.
    store.overrides.add(game().id, "memory_accuracy", row.id, DOES_NOT_COUNT, author="Ada", reason="He never did.")
    assert store.results.load(game().id)["memory_accuracy"].score == 0.0


def test_rows_that_people_changed_are_counted_beside_the_score(store: Store) -> None:
    metric, key = "strategic_depth", game().id

    def counted() -> tuple[int, int, bool]:
        score, [one] = store.results.metric_scores()[key][metric], [store.results.load(key)[metric]]
        assert score_cell(metric, score).endswith("✎") is bool(score.changed)
        return score.changed, one.changed, "1 changed by people" in one.remarks

    assert counted() == (0, 0, False)
    first = store.results.load(key)[metric].ledger[0]
    # Who agrees with a row changes nothing.
    store.overrides.add(key, metric, first.id, first.verdict, author="Ann", reason="So it is.")
    assert counted() == (0, 0, False)
    other = DOES_NOT_COUNT if first.verdict is COUNTS else COUNTS
    made = store.overrides.add(key, metric, first.id, other, author="Ben", reason="It is not.")
    assert counted() == (1, 1, True)
    assert store.results.metric_scores()[game("other").id][metric].changed == 0
    store.overrides.undo(made.id, "Ben")
    assert counted() == (0, 0, False)
