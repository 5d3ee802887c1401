"""What the rating desk sends to the browser, and what it believes of what comes back."""

import pytest

from dashboard.app_pages.rate.rating_desk import FilledForm, desk_data, draft_data, read_form, read_token
from evaluation.transcript import Elimination
from tests.games import game_of

FORM = {"token": "t", "score": 3, "answers": [True, False, None, True, True], "comment": "Fine.", "rev": 4}


def test_a_filled_form_is_read() -> None:
    assert read_form(FORM) == FilledForm("t", 3, (True, False, None, True, True), "Fine.", 4)
    # JavaScript knows no integers.
    assert read_form(FORM | {"score": 3.0, "rev": 4.0}) == read_form(FORM)


def test_an_untouched_score_stays_untouched() -> None:
    form = read_form(FORM | {"score": None, "answers": [None] * 5})
    assert (form.score, form.answers) == (None, (None,) * 5)
    assert [read_form(FORM | {"score": score}) is not None for score in (1, 1.5, 4.5, 5)] == [True] * 4


WRONG = {
    "token": ("", 7),
    "score": (6, 0, 3.2, "3", True),
    "answers": ([True] * 4, [1, 0, 1, 0, 1], "yynyy"),
    "comment": (None,),
    "rev": ("x", float("inf"), float("nan")),
}


@pytest.mark.parametrize("change", [{field: value} for field, values in WRONG.items() for value in values])
def test_anything_else_is_refused(change: dict[str, object]) -> None:
    assert read_form(FORM | change) is None


def test_what_is_no_form_at_all_is_refused() -> None:
    assert [read_form(value) for value in (None, "form", [], {})] == [None] * 4
    assert [read_token(value) for value in (None, {}, {"token": 3}, {"token": "t"})] == [None, None, None, "t"]


def test_a_comment_is_cut_at_the_limit() -> None:
    form = read_form(FORM | {"comment": "x" * 30_000})
    assert len(form.comment) == 20_000


def test_a_draft_goes_back_as_it_came() -> None:
    assert draft_data(read_form(FORM)) == {key: FORM[key] for key in ("rev", "score", "answers", "comment")}
    assert draft_data(None) is None


def test_the_form_has_the_words_of_the_rubric_and_the_length_of_what_is_read() -> None:
    said = [
        ("Alpha", "Good morning"),
        ("Alpha", "A team plan", {"channel": "team"}),
        ("Bravo", "Sleep well?", {"round": 2}),
    ]
    game = game_of(said, round=1, eliminations=(Elimination(round=1, player="Bravo"),))
    data = desk_data(game, token="opaque", progress="1 of 3", storage="ab")
    assert [point["score"] for point in data["scale"]] == [1, 2, 3, 4, 5]
    assert len(data["questions"]) == 5
    length, *rows = data["rows"]
    assert [row["k"] for row in rows] == ["r", "m", "e", "r", "m"]
    # Team and private messages are not counted.
    assert length == {"k": "e", "x": "2 messages, 4 words"}
