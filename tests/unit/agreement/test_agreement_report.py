"""The agreement report: who counts, what agreement means, and where to look first."""

from __future__ import annotations

import pandas as pd
import pytest

from evaluation.agreement.between_raters import revised_after_others
from evaluation.agreement.report import AgreementReport, agreement_report, headline, question_words
from evaluation.store import Store
from evaluation.workflows.ratings import stored_agreement

YES, NO, NONE = True, False, None


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
    return table


def test_a_change_counts_as_late_only_once_another_rater_has_scored_the_game() -> None:
    given = ratings(
        ("a", "Ann", 3, "yyyyy"), ("a", "Ann", 4, "yyyyy"), ("a", "Bob", 5, "yyyyy"), ("b", "Bob", 2, "nnnnn")
    )
    assert revised_after_others(given) == 0
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


def test_the_report_in_sentences() -> None:
    # Alphas by hand: score 0.95, questions 1, 3 and 4 1.00, question 2 0.44; nobody answers question 5 twice.
    found = report(a=10.0, b=60.0, c=90.0)
    assert headline(found) == "So far the two raters agree on the score."
    assert question_words(found) == "On the questions: yes on 1, 3 and 4, partly on 2."


def test_raters_who_answer_alike_by_chance_do_not_agree() -> None:
    # One of three pairs is equal, and four answers of six are yes: always yes would be right more often.
    pairs = [(game, rater) for game in "abc" for rater in ("Ann", "Ben")]
    table = ratings(*((*pair, 3, f"{answer}----") for pair, answer in zip(pairs, "yyynny", strict=True)))
    found = agreement_report(table, scores(a=1.0), NAMES)
    assert headline(found) == "So far the two raters agree on the score."
    assert question_words(found) == "On the questions: no on 1."
    assert headline(agreement_report(table[:1], scores(a=1.0), NAMES)) == ""


def test_a_rater_who_is_now_above_and_now_below_the_others_is_named_with_the_agreement_of_the_rest() -> None:
    given = {"Ann": (1, 2, 4, 5), "Ben": (1, 2, 4, 5), "Cleo": (4, 5, 1, 2)}
    rows = [
        (game, who, score, "yyyyy") for who, each in given.items() for game, score in zip("abcd", each, strict=True)
    ]
    found = agreement_report(ratings(*rows), scores(a=50.0), NAMES)
    # In the mean Cleo gives as much as the others do.
    assert found.outlier_words == (
        "Cleo gives as much as the others on 4 games, 3.0 points apart. Alpha of the score is 1.00 without, 0.02 with."
    )
    calm = [row for row in rows if row[1] != "Cleo"] + [(game, "Cleo", 4, "yyyyy") for game in "cd"]
    assert agreement_report(ratings(*calm), scores(a=50.0), NAMES).outlier_words == ""
