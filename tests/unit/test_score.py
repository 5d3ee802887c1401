"""Scores: rows, thresholds, coverage, and who has the last word on a row."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evaluation.cli.rendering import score_cell
from evaluation.overrides import Override
from evaluation.precedence import results_as_they_stand
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, ENGAGEMENT, MEMORY_ACCURACY
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import (
    PERCENT,
    CoverageRule,
    Evidence,
    LedgerRow,
    Method,
    MetricDefinition,
    RowVerdict,
    Status,
    added_coverage,
    decided,
    replace_rows,
    summarise,
)


def rows(*verdicts: bool | None) -> list[LedgerRow]:
    return [
        decided(f"coherence:m{i}", "message", counts, "because", message_id=f"m{i}")
        for i, counts in enumerate(verdicts)
    ]


def test_a_percentage_is_numerator_over_denominator() -> None:
    # 3 count, 1 does not, 1 is excluded: 3 / 4 = 75 %.
    result = summarise(COHERENCE, rows(True, True, True, False, None))
    assert (result.numerator, result.denominator, result.score) == (3, 4, 75.0)
    assert result.status is Status.PASSED


def test_exactly_the_threshold_passes() -> None:
    # 7 / 10 is the threshold of coherence; 6 / 10 is below.
    assert summarise(COHERENCE, rows(*[True] * 7, *[False] * 3)).status is Status.PASSED
    assert summarise(COHERENCE, rows(*[True] * 6, *[False] * 4)).status is Status.FAILED


def test_a_likert_score_is_a_mean() -> None:
    ratings = [
        LedgerRow(f"engagement:{rater}", "rating", RowVerdict.COUNTS, "rated", numerator=score, denominator=1)
        for rater, score in (("ann", 4), ("bob", 3))
    ]
    # (4 + 3) / 2 = 3.5
    assert summarise(ENGAGEMENT, ratings).score == 3.5


def test_nothing_to_score_holds_no_number() -> None:
    nothing = summarise(COHERENCE, rows(None))
    unrated = summarise(ENGAGEMENT, [])
    assert (nothing.status, nothing.score) == (Status.NOT_APPLICABLE, None)
    assert (unrated.status, unrated.score) == (Status.PENDING, None)


def test_a_metric_that_does_not_apply_keeps_its_rows_but_no_score() -> None:
    result = summarise(COHERENCE, rows(True), not_applicable="only English without a model")
    assert (result.status, result.score, result.reason) == (Status.NOT_APPLICABLE, None, "only English without a model")
    assert len(result.ledger) == 1


def test_a_human_overrides_a_row_and_the_score_follows() -> None:
    result = summarise(COHERENCE, rows(True, False), threshold=60)
    human = decided("coherence:m1", "message", True, "it answers m0", message_id="m1", method=Method.HUMAN)
    fresh = replace_rows(result, {human.id: human, "coherence:gone": human})
    # 2 / 2 instead of 1 / 2.
    assert (fresh.score, fresh.status, fresh.method, fresh.threshold) == (100.0, Status.PASSED, Method.HUMAN, 60)
    assert fresh.replaced == (result.ledger[1],)
    assert replace_rows(result, {"coherence:gone": human}) is result


def test_the_json_shape_names_every_field_of_a_row() -> None:
    row = summarise(COHERENCE, rows(True)).as_dict()["ledger"][0]
    wanted = "id kind message_id player verdict numerator denominator method reason evidence refers_to details"
    assert wanted.split() == list(row)


THRESHOLDS = {"memory_accuracy": 80, "strategic_depth": 60, "coherence": 70, "role_consistency": 80}
THRESHOLDS |= {"personality_diversity": 50, "anti_repetition": 90, "engagement": 3}


@pytest.mark.parametrize(("name", "threshold"), THRESHOLDS.items())
def test_the_rubrics_thresholds(name: str, threshold: float) -> None:
    assert DEFINITIONS[name].threshold == threshold


COVERED = MetricDefinition("m", "M", PERCENT, 50.0, "2", coverage=CoverageRule("claims settled", 2, 0.5))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((True, False), "2 of 2 claims settled"),
        ((True, False, None, None), "2 of 4 claims settled"),
        ((True, False, None, None, None), "2 of 5 claims settled, low evidence"),
        ((True,), "1 of 1 claims settled, low evidence"),
        ((None,), "0 of 1 claims settled, low evidence"),
        ((), ""),
    ],
)
def test_coverage_says_how_much_of_what_was_considered_a_score_rests_on(
    counts: tuple[bool | None, ...], words: str
) -> None:
    ledger = [decided(f"m:{place}", "claim", one, "Because.") for place, one in enumerate(counts)]
    result = summarise(COVERED, ledger)
    found = result.coverage
    assert (found.words if found else "") == words
    assert (found is not None and found.is_low) == words.endswith("low evidence")
    assert result.remarks == ((words,) if words else ())
    assert result.details["coverage"] == (result.details["settled"] / len(ledger) if ledger else None)


def test_results_of_versions_that_counted_no_coverage_and_metrics_without_it_say_nothing() -> None:
    row = decided("m:1", "claim", True, "Because.")
    stored = replace(summarise(COVERED, [row]), details={})
    assert stored.coverage is None
    without = summarise(replace(COVERED, coverage=None), [row])
    assert (without.coverage, without.details) == (None, {})


def test_a_row_comes_back_from_another_process_as_it_was() -> None:
    row = decided(
        "coherence:m1", "message", True, "Names Ann.", evidence=(Evidence(0, 3, "Ann", "m0"),), details={"a": 1}
    )
    found = pickle.loads(pickle.dumps(row))
    assert found == row
    assert (found.evidence[0].as_dict(), found.details) == (row.evidence[0].as_dict(), {"a": 1})


def test_brackets_hold_right_of_total_and_coverage_stands_in_words() -> None:
    # All six references of twelve that the record settles are wrong: 0.0 % (0/6), never "(6/12)" or "(6/6)".
    rows = [decided(f"memory_accuracy:{n}", "claim", False if n < 6 else None, "so") for n in range(12)]
    found = summarise(MEMORY_ACCURACY, rows)
    coverage = found.coverage
    assert coverage.mark == " (0/6)"
    assert coverage.words == "6 of 12 references to the past settled"
    assert score_cell("memory_accuracy", found) == "0.0 ✗ (0/6)"
    few = summarise(MEMORY_ACCURACY, [decided("memory_accuracy:1", "claim", True, "so")])
    assert score_cell("memory_accuracy", few) == "100.0 … (1/1), low evidence"
    several = added_coverage([coverage, few.coverage])
    # The mean of several games is not a ratio of sums.
    assert (several.mark, several.words) == ("", "7 of 13 references to the past settled")


COUNTS, NOT, EXCLUDED = RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT, RowVerdict.EXCLUDED
RULED = summarise(
    DEFINITIONS["coherence"],
    # Two of four rows count: 50 points.
    [
        LedgerRow(name, "message", verdict, "rule", numerator=float(verdict is COUNTS), denominator=1.0)
        for name, verdict in {"a": COUNTS, "b": NOT, "c": COUNTS, "d": NOT}.items()
    ],
    threshold=60,
)


def judged(row_id: str, verdict: RowVerdict, metric: str = "coherence") -> RowDecision:
    return RowDecision("t", metric, row_id, verdict, "label", "read it", 0.9, (), "live", "gpt", "key")


def overruled(row_id: str, verdict: RowVerdict, metric: str = "coherence") -> Override:
    return Override(1, "t", metric, row_id, verdict, "Ann", "knows", datetime(2025, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("decisions", "overrides", "score", "methods"),
    [
        ([], [], 50.0, {}),
        # Three of four count.
        ([judged("b", COUNTS)], [], 75.0, {"b": Method.JUDGE}),
        ([], [overruled("b", COUNTS)], 75.0, {"b": Method.HUMAN}),
        # The judge and the person disagree: the person's word stands, and two of four count.
        ([judged("b", COUNTS)], [overruled("b", NOT)], 50.0, {"b": Method.HUMAN}),
        # Two of three: the person takes a row out, the judge adds none.
        ([judged("a", NOT), judged("d", COUNTS)], [overruled("b", EXCLUDED)], 200 / 3, {"a": Method.JUDGE}),
        # Rows and metrics that there are not change nothing.
        ([judged("z", COUNTS)], [overruled("z", NOT), overruled("a", NOT, "engagement")], 50.0, {}),
    ],
)
def test_the_last_word_on_a_row(
    decisions: list[RowDecision], overrides: list[Override], score: float, methods: dict[str, Method]
) -> None:
    found = results_as_they_stand({"coherence": RULED}, decisions, overrides)["coherence"]
    assert found.score == pytest.approx(score)
    rows = {row.id: row for row in found.ledger}
    assert list(rows) == ["a", "b", "c", "d"]
    assert {name: rows[name].method for name in methods} == methods


def test_what_was_replaced_is_kept() -> None:
    found = results_as_they_stand({"coherence": RULED}, [judged("b", COUNTS)], [overruled("b", NOT)])["coherence"]
    assert [(row.id, row.method) for row in found.replaced] == [("b", Method.RULE), ("b", Method.JUDGE)]
