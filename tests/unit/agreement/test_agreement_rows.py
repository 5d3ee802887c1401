"""Rule, judge and person on the same ledger rows: agreement by metric and pair, and which rows to look at first."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from evaluation.agreement.between_raters import nominal_kappa_of
from evaluation.agreement.report import DecidedRow, agreement_data, disputed_rows, row_agreements
from evaluation.ratings import Rating
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.store import Store
from evaluation.workflows.ratings import stored_agreement
from evaluation.workflows.scoring import add_evaluated
from tests.games import discussion

YES, NO, OUT = RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT, RowVerdict.EXCLUDED
SIDES = (Method.RULE, Method.JUDGE, Method.HUMAN)


def row(
    *verdicts: RowVerdict | None, game: str = "a", metric: str = "coherence", of: tuple[float, float] = (6.0, 10.0)
) -> DecidedRow:
    """A row that weighs 1 in a result of 6 of 10, with the verdicts of rule, judge and person."""
    given = {who: verdict for who, verdict in zip(SIDES, verdicts, strict=False) if verdict is not None}
    rule = given.get(Method.RULE, OUT)
    held = LedgerRow("r", "message", rule, "", "m", None, float(rule is YES), float(rule is not OUT))
    author = "Ann" if Method.HUMAN in given else ""
    return DecidedRow(game, game, metric, held, given, dict.fromkeys(given, "because"), author, *of)


def test_kappa_share_and_floor_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa = 0.4.
    rows = [row(YES, YES)] * 20 + [row(YES, NO)] * 5 + [row(NO, YES)] * 10 + [row(NO, NO)] * 15
    (found,) = row_agreements(rows)
    assert (found.metric, found.first, found.second) == ("coherence", Method.RULE, Method.JUDGE)
    assert (found.rows, found.games, found.same, found.pair) == (50, 1, 35, "rule and judge")
    assert (found.kappa.value, found.share.value, found.floor) == pytest.approx((0.4, 0.7, 0.6))
    # One game: no bootstrap over games; Wilson over its rows, and marked so.
    assert not found.kappa.interval.is_known
    interval = found.share.interval
    assert (interval.method, interval.note) == ("Wilson", "over the messages of one game, not over games")


def test_every_pair_is_over_the_rows_that_both_decided() -> None:
    rows = [row(YES, NO), row(YES, NO, NO), row(YES, None, YES), row(NO, NO, metric="memory_accuracy")]
    found = [(one.metric, one.pair, one.rows, one.same) for one in row_agreements(rows)]
    assert found == [
        ("memory_accuracy", "rule and judge", 1, 1),
        ("coherence", "rule and judge", 2, 0),
        ("coherence", "rule and person", 2, 1),
        ("coherence", "judge and person", 1, 1),
    ]
    assert row_agreements([]) == ()
    assert row_agreements([row(None, None, YES)]) == ()


def test_intervals_are_over_games_from_three_games_on() -> None:
    rows = [row(YES, YES if place % 4 else NO, game=str(place // 8)) for place in range(40)]
    rows += [row(NO, NO if place % 8 else YES, game=str(place // 16)) for place in range(40)]
    rows += [row(OUT, YES, game="4")]
    (found,) = row_agreements(rows)
    for figure in (found.kappa, found.share):
        assert figure.interval.method == "bootstrap"
        assert figure.interval.low < figure.value < figure.interval.high
    assert row_agreements(rows) == (found,)


@given(st.lists(st.integers(0, 12), min_size=9, max_size=9))
def test_kappa_without_order_equals_statsmodels(counts: Sequence[int]) -> None:
    cells = np.asarray(counts, dtype=float).reshape(3, 3)
    found = float(nominal_kappa_of(cells))
    total = cells.sum()
    if not total or math.isclose((cells.sum(axis=0) * cells.sum(axis=1)).sum(), total**2):
        assert math.isnan(found)
    else:
        assert found == pytest.approx(cohens_kappa(cells, return_results=False))


def test_the_stake_is_how_far_the_verdicts_put_the_score_apart() -> None:
    # 6 of 10 with a row that counts: 60 % stays, or 5 of 10.
    assert row(YES, YES, of=(6.0, 10.0)).stake == 0.0
    assert row(YES, NO, of=(5.0, 10.0)).stake == pytest.approx(10.0)
    # The judge leaves it out, which stands: 5 of 9 against the rule's 6 of 10.
    assert row(YES, OUT, of=(5.0, 9.0)).stake == pytest.approx(60 - 500 / 9)
    # A row that the rule had excluded weighs one as soon as somebody decides it: 7 of 11, 6 of 11, 6 of 10.
    assert row(OUT, YES, NO, of=(6.0, 11.0)).stake == pytest.approx(700 / 11 - 600 / 11)
    # A phrase that stands for four of twelve occurrences keeps that weight.
    phrase = LedgerRow("p", "phrase", NO, "", None, "Ann", 1.0, 4.0)
    heavy = DecidedRow("a", "a", "anti_repetition", phrase, {Method.RULE: NO, Method.HUMAN: YES}, {}, "Ann", 10.0, 12.0)
    assert heavy.stake == pytest.approx(100 * 3 / 12)
    assert row(None, YES, NO).stake == 0.0


def test_open_disagreements_come_first_then_those_with_most_at_stake() -> None:
    small, large = row(YES, NO, game="small", of=(50.0, 100.0)), row(YES, NO, game="large", of=(5.0, 10.0))
    decided = row(YES, NO, NO, game="decided", of=(0.0, 2.0))
    found = disputed_rows([small, decided, row(YES, YES), large, row(NO, None, NO)])
    assert [one.game for one in found] == ["large", "small", "decided"]


def decision(game: str, row_id: str, verdict: RowVerdict) -> RowDecision:
    return RowDecision(game, "strategic_depth", row_id, verdict, "", "It asks.", 0.9, (), "scripted", "m", row_id)


def test_all_judged_rows_are_compared_with_the_rule_whether_a_person_looked_or_not(store: Store) -> None:
    deep = "I suspect Ben, because his story about the vote changed twice."
    game = discussion([("Ann", deep), ("Ben", "ok"), ("Ann", "Nice weather"), ("Ben", "Indeed")])
    add_evaluated(store, game, source_name="game.json")
    rows = store.results.load(game.id)["strategic_depth"].ledger
    assert [one.verdict for one in rows] == [YES, NO, NO, NO]
    store.decisions.save([decision(game.id, one.id, YES) for one in rows[:3]])
    # A decision on a row that is gone, and one taken back, say nothing.
    store.decisions.save([decision(game.id, "strategic_depth:gone", YES)])
    store.overrides.add(game.id, "strategic_depth", rows[2].id, NO, author="Cid", reason="Small talk.")
    undone = store.overrides.add(game.id, "strategic_depth", rows[3].id, YES, author="Cid", reason="Slip.")
    store.overrides.undo(undone.id, "Cid")
    for rater, score in (("Ann", 2), ("Ben", 4)):
        store.ratings.add(Rating(game.id, rater, score))
    found = stored_agreement(store)
    assert [one.spread for one in found.split] == [2]
    assert [(one.pair, one.rows, one.same) for one in found.rows] == [
        ("rule and judge", 3, 1),
        ("rule and person", 1, 1),
        ("judge and person", 1, 0),
    ]
    # As it stands 2 of 4 count. Without the judge's row 1 of 4; with the row that Cid decided 3 of 4.
    assert [(one.row.id, one.is_open, one.stake) for one in found.disputed] == [
        (rows[1].id, True, 25.0),
        (rows[2].id, False, 25.0),
    ]
    # Wilson for 0 of 1: 0 to 1.96^2 / (1 + 1.96^2) = 0.7935.
    interval = found.rows[2].share.interval
    assert (interval.low, interval.high) == pytest.approx((0.0, 0.7935), abs=1e-4)
    disagreements = agreement_data(found)["disagreements"]
    (overruled,) = disagreements["overruled"]
    assert (overruled["message_id"], overruled["verdicts"]["human"]) == ("m2", "does_not_count")
    first, second = disagreements["rows"]
    assert (first["message_id"], first["verdicts"]) == ("m1", {"rule": "does_not_count", "judge": "counts"})
    assert (first["author"], first["points"]) == (None, 25.0)
    assert (second["author"], second["reasons"]["human"]) == ("Cid", "Small talk.")
