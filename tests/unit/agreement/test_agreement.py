"""Agreement of raters in a report, of rule, judge and person row by row, and how often intervals of alpha cover."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from evaluation.agreement.between_raters import (
    AGREE,
    FEWEST_FOR_READING,
    ITEMS,
    NOT,
    TOO_FEW_GAMES,
    UNCLEAR,
    ItemAgreement,
    RatingTable,
    item_agreement,
    nominal_kappa_of,
    revised_after_others,
    revised_ratings,
)
from evaluation.agreement.report import (
    AgreementReport,
    DecidedRow,
    agreement_data,
    agreement_report,
    disputed_rows,
    headline,
    question_words,
    row_agreements,
)
from evaluation.ratings import Rating
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.store import Store
from evaluation.workflows.ratings import stored_agreement
from evaluation.workflows.scoring import add_evaluated
from tests.games import discussion


def ratings(*rows: tuple[str, str, int, str]) -> pd.DataFrame:
    """(transcript, rater, score, five letters) as the store returns them; the last of a rater is the latest."""
    letters = {"y": True, "n": False, "-": None}
    table = pd.DataFrame(
        [
            {"transcript_id": game, "rater": rater, "score": score}
            | {f"answer_{n}": letters[letter] for n, letter in enumerate(answers, start=1)}
            for game, rater, score, answers in rows
        ]
    )
    table["is_latest"] = ~table.duplicated(["transcript_id", "rater"], keep="last")
    table["created_at"] = pd.date_range("2026-01-01", periods=len(table), freq="min")
    table["is_informed"] = False
    return table


def test_a_change_counts_as_late_only_once_another_rater_has_scored_the_game() -> None:
    given = ratings(
        ("a", "Ann", 3, "yyyyy"), ("a", "Ann", 4, "yyyyy"), ("a", "Bob", 5, "yyyyy"), ("b", "Bob", 2, "nnnnn")
    )
    assert (len(revised_ratings(given)), revised_after_others(given)) == (1, 0)
    later = pd.concat([given, ratings(("a", "Ann", 5, "yyyyy")).assign(created_at=pd.Timestamp("2026-01-02"))])
    later["is_latest"] = ~later.duplicated(["transcript_id", "rater"], keep="last")
    assert revised_after_others(later) == 1


def scores(**by_game: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"transcript_id": game, "metric": "coherence", "score": value, "method": "judge"}
            for game, value in by_game.items()
        ]
    )


RATED = ratings(
    ("a", "Ann", 1, "nnnnn"),
    ("a", "Ben", 1, "nnnn-"),
    ("b", "Ann", 3, "yynnn"),
    ("b", "Ben", 4, "ynnn-"),
    ("c", "Ann", 2, "yyyyy"),
    ("c", "Ann", 5, "yyyyy"),
    ("c", "Ben", 5, "yyyy-"),
    ("d", "Ben", 2, "-----"),
)
NAMES = {key: f"game {key}" for key in "abcd"}


def report(**by_game: float):
    return agreement_report(RATED, scores(**by_game), NAMES)


def test_items_between_raters() -> None:
    found = {one.item.name: one for one in report(a=0.0).items}
    score = found["score"]
    assert (score.games, score.raters, score.ratings) == (3, 2, 6)
    assert [one.item.short_label for one in report(a=0.0).items][:2] == ["Score 1 to 5", "Question 1"]
    # The same score on a and c, not on b.
    assert score.exact.value == pytest.approx(2 / 3)
    # 1, 1, 3, 4, 5, 5: the commonest answers have two of six.
    assert score.floor == pytest.approx(2 / 6)
    # Question 2: b is split; 3 no and 3 yes. D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 18/30; alpha = 1 - 10/18.
    assert found["question_2"].alpha.value == pytest.approx(1 - 10 / 18)
    assert found["question_2"].ac1 is not None
    # Nobody but Ann answered question 5.
    assert (found["question_5"].games, found["question_5"].reading) == (0, "no game has two ratings")
    assert not found["question_5"].alpha.is_known


def test_disagreements_come_with_the_widest_first() -> None:
    found = report(a=0.0, b=100.0, d=100.0)
    assert [(one.transcript_id, one.spread, one.split_questions) for one in found.split] == [("b", 1, (2,))]
    assert found.split[0].scores == (("Ann", 3), ("Ben", 4))
    # d: 5 against 2; b: 5 against 3.5; a: 1 against 1.
    assert [(one.transcript_id, one.gap) for one in found.gaps] == [("d", 3.0), ("b", 1.5), ("a", 0.0)]


def two_raters(games: int, *, split: int) -> AgreementReport:
    """Ann says 5 and Ben too, about every other game 1 and 1; in the first ``split`` games Ben says the other."""
    rows = []
    for number in range(games):
        own, other = (5, 1) if number % 2 else (1, 5)
        rows += [(f"g{number}", "Ann", own, "y----"), (f"g{number}", "Ben", other if number < split else own, "y----")]
    return agreement_report(ratings(*rows), scores(g0=0.0), {})


@pytest.mark.parametrize(
    ("games", "split", "reading"),
    [
        # Never apart: alpha is 1.00 and the same in every resample, so it has no interval and is not called reliable.
        (3, 0, "from too few games"),
        (19, 0, "from too few games"),
        (20, 0, "no disagreement seen"),
        # Two values, equally common: alpha = 1 - share split / 0.5. Of 400 games 8 split, 0.96; 0.02 +- 0.014 of games
        # lets it fall to 0.93. 36 split, 0.82; 0.09 +- 0.028, down to 0.76: alpha alone would be called reliable.
        (400, 8, "reliable"),
        (400, 36, "good enough for tentative conclusions"),
        # 4 of 40 split, 0.80; 0.1 +- 0.093, from 0.61 to 0.99.
        (40, 4, "too uncertain to rely on"),
        # 20 of 40 split, 0.01; up to 0.32.
        (40, 20, "too low to rely on"),
        # Always apart: alpha is -0.95 in every resample.
        (20, 20, "too low to rely on"),
    ],
)
def test_what_is_read_from_alpha_goes_by_the_lower_end_of_its_interval(games: int, split: int, reading: str) -> None:
    found = two_raters(games, split=split)
    score = found.items[0]
    assert score.reading == reading
    assert score.alpha.interval.is_known == (split not in (0, games))
    # All said yes to question 1: no disagreement was possible, however many games there are.
    assert found.items[1].reading == "no disagreement was possible"


def test_an_empty_store_has_nothing_to_report(store: Store) -> None:
    empty = stored_agreement(store)
    assert (empty.raters, empty.gaps, empty.split) == (0, (), ())


def test_what_a_lead_decided_and_who_revised_stand_in_the_download(store: Store) -> None:
    game = discussion([("Ann", "Hello"), ("Ben", "Hello")])
    add_evaluated(store, game, source_name="game.json")
    for rater, score in (("Ann", 2), ("Ann", 3), ("Ben", 5)):
        store.ratings.add(Rating(game.id, rater, score))
    store.engagement_decisions.add(game.id, 4, who="Lea", reason="The end carries it")
    told = agreement_data(stored_agreement(store))
    assert (told["ratings"], told["revised"], told["revised_after_others"]) == (2, 1, 0)
    (held,) = told["decisions"]
    assert (held["transcript_id"], held["score"], held["who"]) == (game.id, 4, "Lea")
    assert held["created_at"].startswith("20")
    assert agreement_data(stored_agreement(store, [game.id]))["decisions"] == []


def test_the_report_in_sentences() -> None:
    # Alphas by hand: score 0.95, questions 1, 3 and 4 1.00, question 2 0.44; of three games none of them tells.
    found = report(a=10.0, b=60.0, c=90.0)
    assert headline(found) == "Too few games to tell whether the two raters agree on the score."
    assert question_words(found) == "On the questions: too few games to tell on 1, 2, 3 and 4."
    apart = pd.concat([RATED, ratings(("z", "Zoe", 3, "yyyyy"))])
    told = headline(agreement_report(apart, scores(a=10.0), NAMES))
    assert told == "Too few games to tell whether the two raters who share games agree on the score."
    assert headline(agreement_report(RATED[:1], scores(a=1.0), NAMES)) == ""


@pytest.mark.parametrize(
    ("games", "split", "level", "told"),
    [
        (1, 1, TOO_FEW_GAMES, "Too few games to tell whether the two raters agree on the score."),
        (13, 7, TOO_FEW_GAMES, "Too few games to tell whether the two raters agree on the score."),
        # 7 of 14 split, alpha about 0; up to 0.5.
        (14, 7, NOT, "The two raters do not agree on the score."),
        (19, 19, TOO_FEW_GAMES, "Too few games to tell whether the two raters agree on the score."),
        (20, 20, NOT, "The two raters do not agree on the score."),
        (40, 4, UNCLEAR, "It is unclear whether the two raters agree on the score."),
        # Alpha is about 0.5, nearer to what is needed than to chance, and wholly below it.
        (200, 50, NOT, "The two raters do not agree on the score."),
        (400, 8, AGREE, "The two raters agree on the score."),
    ],
)
def test_whether_raters_agree_is_told_just_where_alpha_is_read(games: int, split: int, level: str, told: str) -> None:
    found = two_raters(games, split=split)
    score = found.items[0]
    assert (score.level, headline(found)) == (level, told)
    assert (score.reading == "from too few games") is (level == TOO_FEW_GAMES)
    assert (score.reading == "too low to rely on") is (level == NOT)
    # Question 1 got the same answer in every game.
    assert found.missing_games == max(0, 20 - games)


def test_alpha_without_a_rater_is_not_told_from_one_game() -> None:
    given = {"Ann": {"a": 1, "b": 2}, "Ben": {"a": 5, "b": 3}, "Cleo": {"a": 1}}
    rows = [(game, who, score, "yyyyy") for who, each in given.items() for game, score in each.items()]
    found = agreement_report(ratings(*rows), scores(a=50.0), NAMES)
    alone = {one.rater: one.without for one in found.differences if not one.against}
    assert {who for who, without in alone.items() if math.isnan(without)} == {"Ann", "Ben"}


def test_a_rater_who_is_now_above_and_now_below_the_others_is_named_with_the_agreement_of_the_rest() -> None:
    given = {"Ann": (1, 2, 4, 5) * 5, "Ben": (1, 2, 4, 5) * 5, "Cleo": (4, 5, 1, 2) * 5}
    rows = [(f"g{game}", who, score, "yyyyy") for who, each in given.items() for game, score in enumerate(each)]
    found = agreement_report(ratings(*rows), scores(g0=50.0), NAMES)
    # In the mean Cleo gives as much as the others do.
    assert found.outlier_words == (
        "Cleo scatters on 20 games (3.0 points from the others on average). "
        "Alpha of the score is 1.00 without, -0.05 with."
    )
    calm = [row for row in rows if row[1] != "Cleo"] + [("g2", "Cleo", 4, "yyyyy"), ("g3", "Cleo", 5, "yyyyy")]
    early = "Too early to say whether one rater lies apart: that takes 20 games that a rater shares with others"
    assert agreement_report(ratings(*calm), scores(g0=50.0), NAMES).outlier_words == ""
    # Of 5 games, raters who differ alike would name one as often as not.
    few = agreement_report(ratings(*[row for row in rows if row[0] < "g13"]), scores(g0=50.0), NAMES)
    assert few.outlier is None
    assert few.outlier_words == f"{early}, so far at most 5."


def test_one_of_eight_who_scatters_is_named_whatever_the_offset_and_nobody_where_all_differ_alike() -> None:
    generator = np.random.default_rng(1)
    quality = generator.normal(3, 1.2, 20)
    own = np.clip(np.round(quality + generator.normal(0, 0.8, (8, 20))), 1, 5).astype(int)

    def given(table: np.ndarray) -> AgreementReport:
        rows = [(f"g{game}", f"R{who}", int(score), "yyyyy") for (who, game), score in np.ndenumerate(table)]
        return agreement_report(ratings(*rows), scores(g0=50.0), {})

    assert given(own).outlier_words == ""
    own[0] = generator.permutation(np.repeat(np.arange(1, 6), 4))
    found = given(own)
    assert found.outlier is not None
    # Too little of a rise for one of three.
    assert 0.1 <= found.outlier.without - found.items[0].alpha.value < 0.2
    assert abs(found.outlier.points) < 0.5
    assert re.match(r"R0 scatters on 20 games \(1\.\d points from the others on average\)\.", found.outlier_words)


def test_a_rater_with_an_offset_gives_less_and_does_not_scatter() -> None:
    rows = [
        (game, who, score - 2 * (who == "Cleo"), "yyyyy")
        for game, score in ((f"g{number}", 3 + number % 3) for number in range(20))
        for who in ("Ann", "Ben", "Cleo")
    ]
    told = agreement_report(ratings(*rows), scores(g0=50.0), NAMES).outlier_words
    assert told.startswith("Cleo gives 2.0 points less than the others on 20 games. Alpha")


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


SETS = 2000
DIFFERING = 0.1
QUESTION = ITEMS[1]


def _answers(generator: np.random.Generator, games: int, common: float) -> np.ndarray:
    first = generator.random(games) < common
    return np.stack([first, first ^ (generator.random(games) < DIFFERING)]).astype(float)


def _item(answers: np.ndarray) -> ItemAgreement:
    games = tuple(map(str, range(answers.shape[1])))
    return item_agreement(RatingTable(("Ann", "Ben"), games, {item.name: answers for item in ITEMS}), QUESTION)


@pytest.mark.parametrize("games", [3, 6, 10, 20, 40])
@pytest.mark.parametrize("common", [0.5, 0.8])
@pytest.mark.long
def test_intervals_of_alpha(common: float, games: int) -> None:
    truth = _item(_answers(np.random.default_rng(5), 200_000, common)).alpha.value
    generator = np.random.default_rng([games, round(10 * common)])
    found = [_item(_answers(generator, games, common)) for _ in range(SETS)]
    defined = [one for one in found if one.alpha.is_known]
    known = [one.alpha.interval for one in defined if one.alpha.interval.is_known]
    held = sum(one.low <= truth <= one.high for one in known if one.low is not None and one.high is not None)
    same = sum(one.alpha.interval.note == "none, all values equal" for one in defined)
    reliable = sum(one.reading == "reliable" for one in defined)
    at_sight = sum(one.alpha.value >= 0.8 for one in defined)
    print(
        f"\n{games:2d} games, alpha {truth:.2f}: of {SETS} sets {len(defined)} have an alpha, {len(known)} an interval "
        f"and {same} raters who never differ; intervals hold it in {100 * held / max(1, len(known)):.0f} %, "
        f"{100 * held / (len(known) + same):.0f} % counting those as 1.00 to 1.00; "
        f"alpha alone is 0.80 or more in {at_sight}, {reliable} are read as reliable"
    )
    assert all(one.high > one.low for one in known if one.low is not None and one.high is not None)
    if games < FEWEST_FOR_READING:
        assert {one.reading for one in defined} == {"from too few games"}
    else:
        assert held >= 0.9 * len(known)
        # At exactly 0.80, 2.5 % of intervals should lie above it; a bootstrap of 40 games is a little too narrow.
        assert reliable <= 0.08 * SETS
