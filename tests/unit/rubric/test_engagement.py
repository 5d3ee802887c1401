"""Ratings, and the engagement metric that is computed from them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.ratings import Rating, parse_answers
from evaluation.rubric.metrics.engagement import measure
from evaluation.score import Method, RowVerdict, Status
from tests.games import game_of

TRANSCRIPT = game_of([("Ann", "Hello.")])
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def rating(rater: str, score: int, *, minutes: int = 0, answers: str = "-----", **fields: Any) -> Rating:
    when = NOON + timedelta(minutes=minutes)
    return Rating(TRANSCRIPT.id, rater, score, parse_answers(answers), created_at=when, **fields)


def test_no_rating_is_pending_and_holds_no_number() -> None:
    result = measure(TRANSCRIPT)
    assert (result.status, result.score, result.reason) == (Status.PENDING, None, "not rated yet")
    assert result.ledger == ()


def test_the_mean_runs_over_raters() -> None:
    # (3 + 4 + 2) / 3 = 3.0: exactly the threshold passes.
    result = measure(TRANSCRIPT, [rating("Ann", 3), rating("Ben", 4), rating("Cid", 2)])
    assert (result.numerator, result.denominator, result.score) == (9.0, 3.0, 3.0)
    assert result.status is Status.PASSED
    assert result.method is Method.HUMAN
    assert [row.id for row in result.ledger] == ["engagement:Ann", "engagement:Ben", "engagement:Cid"]


def test_a_mean_below_three_fails() -> None:
    # (3 + 2) / 2 = 2.5, the rubric's edge case.
    result = measure(TRANSCRIPT, [rating("Ann", 3), rating("Ben", 2)])
    assert (result.score, result.status) == (2.5, Status.FAILED)


def test_only_a_raters_latest_rating_counts_whatever_the_order() -> None:
    # Ann's 2 of an hour later stands, not her 5: (2 + 4) / 2 = 3.
    revised = [rating("Ann", 2, minutes=60), rating("Ben", 4), rating("Ann", 5, token="first")]
    result = measure(TRANSCRIPT, revised)
    assert result.score == 3.0
    [earlier] = [row for row in result.ledger if row.verdict is RowVerdict.EXCLUDED]
    assert earlier.id == "engagement:Ann#first"
    assert (earlier.numerator, earlier.denominator) == (0.0, 0.0)
    # At the same time, the later given stands.
    assert measure(TRANSCRIPT, [rating("Ann", 5), rating("Ann", 1)]).score == 1.0


def test_ratings_of_other_transcripts_are_left_alone() -> None:
    assert measure(TRANSCRIPT, [Rating("another", "Ann", 5)]).status is Status.PENDING


def test_todays_threshold_can_be_given() -> None:
    result = measure(TRANSCRIPT, [rating("Ann", 3)], threshold=3.5)
    assert (result.status, result.threshold) == (Status.FAILED, 3.5)


def test_a_rating_whose_answers_do_not_fit_counts_and_is_flagged() -> None:
    result = measure(TRANSCRIPT, [rating("Ann", 2, answers="yyyyn")])
    assert result.score == 2.0
    told = "4 of 5 answers are yes, but the score is below 3"
    assert (result.notes, result.ledger[0].details["misfit"]) == ((f"Ann: {told}",), told)


@pytest.mark.parametrize(
    ("score", "answers", "told"),
    [
        (2, "yyyyn", "4 of 5 answers are yes, but the score is below 3"),
        (2.5, "yyyyy", "5 of 5 answers are yes, but the score is below 3"),
        *((score, answers, "") for score, answers in ((3, "yyyyy"), (3, "nnnnn"), (2, "yyynn"), (4, "yynnn"))),
        *((score, answers, "") for score, answers in ((1, "nnnnn"), (5, "yyyyy"), (5, "nnnnn"), (3.5, "nn-nn"))),
    ],
)
def test_the_rule_runs_one_way(score: float, answers: str, told: str) -> None:
    assert rating("Ann", score, answers=answers).misfit == told


@pytest.mark.parametrize("score", [0, 0.5, 6, 5.5, 3.2, float("nan"), True, "3", None])
def test_a_score_off_the_scale_is_refused(score: Any) -> None:
    with pytest.raises(InputError, match="not on the scale"):
        Rating("t", "Ann", score)


def test_a_score_takes_halves_and_shows_whole_points_as_people_write_them() -> None:
    assert [str(Rating("t", "Ann", score).score) for score in (1, 3.5, 4.0, 5)] == ["1", "3.5", "4", "5"]


@pytest.mark.parametrize("rater", ["", "   ", "a\x1b[31m", "x" * 201, "\ud800"])
def test_a_rater_needs_a_printable_name(rater: str) -> None:
    with pytest.raises(InputError) as caught:
        Rating("t", rater, 3)
    assert caught.value.place == "rater"


def test_one_person_is_one_rater_however_the_name_was_typed() -> None:
    assert Rating("t", "  Zoe\u0301 ", 3).rater == Rating("t", "Zo\u00e9", 3).rater


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Nul\x00 and \x1b[31mred\x07 and \x9b", "Nul and red and "),
        ("Two\r\nlines\tand\ra third", "Two\nlines\tand\na third"),
        ("\u200eعربي, a\u200db 👩‍🚀", "\u200eعربي, a\u200db 👩‍🚀"),
        ("", ""),
    ],
)
def test_a_comment_is_kept_without_control_characters(typed: str, kept: str) -> None:
    assert Rating("one", "Ada", 4, comment=typed).comment == kept


@pytest.mark.parametrize("fields", [{"comment": "x" * 20_001}, {"created_at": datetime(2026, 1, 1)}, {"token": ""}])
def test_other_fields_are_checked_too(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Rating("t", "Ann", 3, **fields)


@pytest.mark.parametrize("answers", [(True,) * 4, (1, 0, 1, 0, 1), ("y",) * 5])
def test_answers_are_five_of_yes_no_or_none(answers: Any) -> None:
    with pytest.raises(InputError, match="five answers"):
        Rating("t", "Ann", 3, answers)


def test_answers_are_read_from_letters() -> None:
    assert parse_answers("yN-yY") == (True, False, None, True, True)


@pytest.mark.parametrize("letters", ["", "yyyy", "yyyyyy", "yyxyy", "y y y"])
def test_other_letters_are_refused_with_the_remedy(letters: str) -> None:
    with pytest.raises(InputError, match="such as yynyy"):
        parse_answers(letters)
